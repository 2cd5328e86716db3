//! What each step does: the functions of the zone and of the player, without time.

use super::{
    Action, Client, Down, Flaw, Id, Network, Outcome, Player, Primary, Rec, Rules, Says, State, Up, Wants,
};
use std::collections::BTreeMap;
use zone::Rule;

impl Rules {
    fn breaks(self, rule: Rule) -> bool {
        self.broken == Some(rule)
    }

    fn is(self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }
}

impl State {
    pub(super) fn step(&mut self, rules: Rules, action: Action) {
        match action {
            Action::Wish => self.wish(rules),
            Action::Search => self.search(rules),
            Action::Up(up) => {
                take(rules, &mut self.up, &up);
                self.on_up(rules, up);
            }
            Action::Down(down) => {
                take(rules, &mut self.down, &down);
                self.on_down(rules, down);
            }
            Action::Store => self.primary.store(),
            Action::Ack => {
                if let Some((stored, acked)) = &mut self.primary.backup {
                    *acked = *stored;
                }
                self.advance(rules);
            }
            Action::Sync => {
                self.primary.synced = self.primary.log.len();
                self.advance(rules);
            }
            Action::Recruit => self.recruit(rules),
            Action::Crash => self.crash(rules),
            Action::Cut => self.cut(),
            Action::Return => {
                self.returns -= 1;
                self.player = Player::new(self.player.session + 1);
            }
        }
    }

    /// Every action that was executed, as far as the log of whoever reigns says.
    pub(super) fn executed(&self) -> impl Iterator<Item = (u8, Outcome)> {
        self.primary.log.iter().filter_map(|it| match *it {
            Rec::Acted { number, outcome, .. } => Some((number, outcome)),
            Rec::Reign | Rec::Entered { .. } => None,
        })
    }

    pub(super) fn cursor(&self) -> u8 {
        self.executed().last().map_or(0, |it| it.0)
    }

    // Faults.

    /// A backup goes on with what it stored, and whoever is alone with what its disk has. Whatever was on its way
    /// to the dead is lost; what it sent may still arrive.
    fn crash(&mut self, rules: Rules) {
        self.crashes -= 1;
        let old = &self.primary;
        let (id, kept) = match old.backup {
            Some((stored, _)) => (1 - old.id, stored),
            None => (old.id, old.synced),
        };
        self.up.retain(|it| it.to != old.id);
        let log = old.log[..kept].to_vec();
        // The backup's disk had everything before it asked to reign.
        self.primary = Primary {
            id,
            epoch: old.epoch + 1,
            log,
            announced: kept,
            synced: kept,
            backup: None,
            client: None,
        };
        self.write(rules, Rec::Reign);
    }

    fn recruit(&mut self, rules: Rules) {
        if self.primary.backup.is_none() {
            self.recruits -= 1;
            self.primary.epoch += 1;
            let head = self.primary.log.len();
            self.primary.backup = Some((head, head));
            self.write(rules, Rec::Reign);
        }
    }

    /// `LinkDown` at both ends: `Primary::client_lost`, and `Player::handle`.
    fn cut(&mut self) {
        self.cuts -= 1;
        self.up.clear();
        self.down.clear();
        self.primary.client = None;
        self.player.home = None;
        self.player.searching = true;
    }

    // The primary.

    fn write(&mut self, rules: Rules, record: Rec) {
        self.primary.log.push(record);
        self.advance(rules);
    }

    /// `Primary::committed`.
    fn committed(&self, rules: Rules) -> usize {
        let it = &self.primary;
        match it.backup {
            _ if rules.breaks(Rule::AnnounceAfterAck) => it.log.len(),
            Some((_, acked)) => acked,
            None if rules.breaks(Rule::SoloWaitsForDisk) => it.log.len(),
            None => it.synced,
        }
    }

    /// `Primary::advance`, `tell_result`, `enter_waiting`.
    fn advance(&mut self, rules: Rules) {
        let committed = self.committed(rules);
        for index in self.primary.announced..committed {
            if let Rec::Acted { number, outcome, .. } = self.primary.log[index] {
                self.say(rules, Says::Result { number, outcome });
            }
        }
        self.primary.announced = self.primary.announced.max(committed);
        self.enter_waiting(rules);
    }

    fn enter_waiting(&mut self, rules: Rules) {
        let (announced, cursor) = (self.primary.announced, self.cursor());
        let Some(client) = &mut self.primary.client else { return };
        if client.entering.take_if(|after| *after <= announced).is_some() {
            self.say(rules, Says::Entered { cursor });
        }
    }

    fn say(&mut self, rules: Rules, what: Says) {
        let Primary { id: from, epoch, client: Some(client), .. } = &self.primary else { return };
        put(rules, &mut self.down, Down { from: *from, epoch: *epoch, session: client.session, what });
    }

    fn on_up(&mut self, rules: Rules, up: Up) {
        if up.to != self.primary.id {
            return;
        }
        match up.what {
            Wants::Enter => self.on_enter(rules, up.session),
            Wants::Act { number, wish, acked } => self.on_act(rules, up.session, number, wish, acked),
        }
    }

    /// `Primary::on_enter`, `attach`.
    fn on_enter(&mut self, rules: Rules, session: u8) {
        if self.primary.client.as_ref().is_some_and(|it| it.session == session && it.entering.is_some()) {
            return;
        }
        let sessions = self.primary.log.iter().filter_map(|it| match it {
            Rec::Entered { session } => Some(*session),
            _ => None,
        });
        let known = sessions.max().unwrap_or(0);
        if session < known {
            return;
        }
        if known < session {
            self.write(rules, Rec::Entered { session });
        }
        let entering = Some(self.primary.log.len());
        self.primary.client = Some(Client { session, entering, acked: 0, ahead: BTreeMap::new() });
        self.enter_waiting(rules);
    }

    /// `Primary::on_act`.
    fn on_act(&mut self, rules: Rules, session: u8, number: u8, wish: u8, acked: u8) {
        let cursor = self.cursor();
        let Some(client) = self.primary.client.as_mut().filter(|it| it.session == session) else { return };
        client.acked = client.acked.max(acked);
        let runs = number == cursor + 1
            || rules.breaks(Rule::ActionsInOrder)
            || rules.is(Flaw::RunAhead) && cursor < number;
        if runs {
            self.act(rules, number, wish);
            self.act_waiting(rules);
        } else if number <= cursor {
            self.answer_again(rules, number);
        } else {
            client.ahead.insert(number, wish);
        }
    }

    /// `Primary::act_waiting`.
    fn act_waiting(&mut self, rules: Rules) {
        loop {
            let cursor = self.cursor();
            let Some(client) = &mut self.primary.client else { return };
            client.ahead.retain(|&number, _| cursor < number);
            let Some(wish) = client.ahead.remove(&(cursor + 1)) else { return };
            self.act(rules, cursor + 1, wish);
        }
    }

    /// `Primary::act`.
    fn act(&mut self, rules: Rules, number: u8, wish: u8) {
        let acked = self.primary.client.as_ref().map_or(0, |it| it.acked);
        let acked = if rules.breaks(Rule::KeepResults) { number } else { acked };
        let outcome = Outcome { wish, epoch: self.primary.epoch };
        self.write(rules, Rec::Acted { number, outcome, acked });
    }

    /// `Primary::answer_again`: what this reign wrote is answered when it is safe; what it inherited is.
    fn answer_again(&mut self, rules: Rules, number: u8) {
        if rules.breaks(Rule::KeepResults) {
            return;
        }
        let untold = &self.primary.log[self.primary.announced..];
        let is_pending = untold.iter().any(|it| matches!(it, Rec::Acted { number: it, .. } if *it == number));
        if let Some(outcome) = self.result(number).filter(|_| !is_pending) {
            self.say(rules, Says::Result { number, outcome });
        }
    }

    /// `PlayerRow::result`, of the results kept as `State::make` keeps them.
    fn result(&self, number: u8) -> Option<Outcome> {
        let mut kept: Vec<(u8, Outcome)> = Vec::new();
        for record in &self.primary.log {
            if let Rec::Acted { number, outcome, acked } = *record {
                kept.push((number, outcome));
                let unacked = usize::from(number.saturating_sub(acked).max(1));
                kept.drain(..kept.len().saturating_sub(unacked));
            }
        }
        kept.iter().find(|it| it.0 == number).map(|it| it.1)
    }

    // The player.

    /// `Player::act`.
    fn wish(&mut self, rules: Rules) {
        if !self.player.is_in {
            return;
        }
        self.wished += 1;
        let (number, wish) = (self.player.next, self.wished);
        self.player.next += 1;
        self.player.unanswered.insert(number, wish);
        self.send_act(rules, number, wish);
    }

    fn send_act(&mut self, rules: Rules, number: u8, wish: u8) {
        let Player { home: Some(to), session, acked, .. } = self.player else { return };
        put(rules, &mut self.up, Up { to, session, what: Wants::Act { number, wish, acked } });
    }

    /// `Player::search`, for somebody whose home is dead or has forgotten them. They may ask twice.
    fn search(&mut self, rules: Rules) {
        let session = self.player.session;
        if self.primary.client.as_ref().is_some_and(|it| it.session == session) {
            return;
        }
        self.player.searching = true;
        if let Some(dead) = self.player.home.take() {
            self.down.retain(|it| it.from != dead);
        }
        for to in [0, 1] {
            let enter = Up { to, session, what: Wants::Enter };
            if self.up.iter().filter(|&it| *it == enter).count() < 2 {
                put(rules, &mut self.up, enter);
            }
        }
    }

    /// `Player::on_down`.
    fn on_down(&mut self, rules: Rules, down: Down) {
        let Down { from, epoch, session, what } = down;
        let player = &mut self.player;
        let is_believed = player.home == Some(from) || matches!(what, Says::Entered { .. });
        if session != player.session || epoch < player.epoch || !is_believed {
            return;
        }
        player.epoch = epoch;
        match what {
            Says::Entered { cursor } => {
                self.player.number_from(rules, cursor);
                self.on_entered(rules, from);
            }
            Says::Result { number, outcome } => self.on_result(number, outcome),
        }
    }

    /// `Player::on_entered`.
    fn on_entered(&mut self, rules: Rules, from: Id) {
        let player = &mut self.player;
        if player.home == Some(from) && !player.searching {
            return;
        }
        player.home = Some(from);
        player.searching = false;
        player.is_in = true;
        if !rules.is(Flaw::SendOnce) {
            for (number, wish) in self.player.unanswered.clone() {
                self.send_act(rules, number, wish);
            }
        }
    }

    /// `Player::on_result`.
    fn on_result(&mut self, number: u8, outcome: Outcome) {
        let player = &mut self.player;
        let Some(wish) = player.unanswered.remove(&number) else { return };
        let first = player.unanswered.first_key_value().map_or(player.next, |it| *it.0);
        player.acked = player.acked.max(first - 1);
        self.heard.insert(wish, outcome);
    }
}

impl Primary {
    fn store(&mut self) {
        if let Some((stored, _)) = &mut self.backup
            && *stored < self.log.len()
        {
            *stored += 1;
        }
    }
}

/// Sends a message.
fn put<M: Ord>(rules: Rules, link: &mut Vec<M>, msg: M) {
    match rules.network {
        Network::Ordered => link.push(msg),
        Network::Wild => {
            if let Err(place) = link.binary_search(&msg) {
                link.insert(place, msg);
            }
        }
    }
}

/// A message arrives. In a wild network it may arrive again.
fn take<M: PartialEq>(rules: Rules, link: &mut Vec<M>, msg: &M) {
    if let (Network::Ordered, Some(place)) = (rules.network, link.iter().position(|it| it == msg)) {
        link.remove(place);
    }
}

impl Player {
    /// `Player::number_from`. What an answer that was overtaken says of the cursor is out of date.
    fn number_from(&mut self, rules: Rules, cursor: u8) {
        if rules.is(Flaw::NumberAnew) || rules.network == Network::Wild && cursor < self.next {
            return;
        }
        let first = self.unanswered.first_key_value().map_or(cursor + 1, |it| *it.0);
        if self.unanswered.is_empty() {
            self.next = cursor + 1;
            self.acked = cursor;
        } else if cursor + 1 < first {
            let wishes = std::mem::take(&mut self.unanswered);
            self.unanswered = (cursor + 1..).zip(wishes.into_values()).collect();
            self.next = cursor + 1 + self.unanswered.len() as u8;
            self.acked = cursor;
        }
    }

    pub(super) const fn new(session: u8) -> Self {
        Self {
            session,
            home: None,
            epoch: 0,
            searching: true,
            is_in: false,
            next: 1,
            unanswered: BTreeMap::new(),
            acked: 0,
        }
    }
}
