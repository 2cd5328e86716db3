//! The steps of the model: the functions of the zone and of the player, without time.

use super::{
    CursorAction, CursorClient, CursorFlaw, CursorFromPlayer, CursorNetwork, CursorOutcome, CursorPlayer,
    CursorPrimary, CursorRecord, CursorReplicaId, CursorReply, CursorRequest, CursorRules, CursorState,
    CursorToPlayer,
};
use std::collections::BTreeMap;
use zone::Rule;

impl CursorRules {
    fn breaks(self, rule: Rule) -> bool {
        self.broken == Some(rule)
    }

    fn is(self, flaw: CursorFlaw) -> bool {
        self.flaw == Some(flaw)
    }
}

impl CursorState {
    pub(super) fn step(&mut self, rules: CursorRules, action: CursorAction) {
        match action {
            CursorAction::Wish => self.wish(rules),
            CursorAction::Search => self.search(rules),
            CursorAction::Up(up) => {
                take(rules, &mut self.up, &up);
                self.on_up(rules, up);
            }
            CursorAction::Down(down) => {
                take(rules, &mut self.down, &down);
                self.on_down(rules, down);
            }
            CursorAction::Store => self.primary.store(),
            CursorAction::Ack => {
                if let Some((stored, acked)) = &mut self.primary.backup {
                    *acked = *stored;
                }
                self.advance(rules);
            }
            CursorAction::Sync => {
                self.primary.synced = self.primary.log.len();
                self.advance(rules);
            }
            CursorAction::Recruit => self.recruit(rules),
            CursorAction::Crash => self.crash(rules),
            CursorAction::Cut => self.cut(),
            CursorAction::Return => {
                self.returns -= 1;
                self.player = CursorPlayer::new(self.player.session + 1);
            }
        }
    }

    /// Every action that was executed, according to the primary's log.
    pub(super) fn executed(&self) -> impl Iterator<Item = (u8, CursorOutcome)> {
        self.primary.log.iter().filter_map(|it| match *it {
            CursorRecord::Acted { number, outcome, .. } => Some((number, outcome)),
            CursorRecord::Leadership | CursorRecord::Entered { .. } => None,
        })
    }

    pub(super) fn cursor(&self) -> u8 {
        self.executed().last().map_or(0, |it| it.0)
    }

    // Faults.

    /// A backup goes on with its log, and a primary without backup with its disk. Messages on their way
    /// to the crashed primary are lost; messages that it sent may still arrive.
    fn crash(&mut self, rules: CursorRules) {
        self.crashes -= 1;
        let old = &self.primary;
        let (id, kept) = match old.backup {
            Some((stored, _)) => (1 - old.id, stored),
            None => (old.id, old.synced),
        };
        self.up.retain(|it| it.to != old.id);
        let log = old.log[..kept].to_vec();
        // The backup's disk had everything before it asked to be promoted.
        self.primary = CursorPrimary {
            id,
            epoch: old.epoch + 1,
            log,
            announced: kept,
            synced: kept,
            backup: None,
            client: None,
        };
        self.write(rules, CursorRecord::Leadership);
    }

    fn recruit(&mut self, rules: CursorRules) {
        if self.primary.backup.is_none() {
            self.recruits -= 1;
            self.primary.epoch += 1;
            let head = self.primary.log.len();
            self.primary.backup = Some((head, head));
            self.write(rules, CursorRecord::Leadership);
        }
    }

    /// `LinkDown` at both ends: `Primary::client_lost`, and `Player::handle`.
    fn cut(&mut self) {
        self.cuts -= 1;
        self.up.clear();
        self.down.clear();
        self.primary.client = None;
        self.player.primary_id = None;
        self.player.searching = true;
    }

    // The primary.

    fn write(&mut self, rules: CursorRules, record: CursorRecord) {
        self.primary.log.push(record);
        self.advance(rules);
    }

    /// Mirrors `Replication::safe` of the code.
    fn committed(&self, rules: CursorRules) -> usize {
        let it = &self.primary;
        match it.backup {
            _ if rules.breaks(Rule::AnnounceAfterAck) => it.log.len(),
            Some((_, acked)) => acked,
            None if rules.breaks(Rule::SoloWaitsForDisk) => it.log.len(),
            None => it.synced,
        }
    }

    /// Mirrors `Primary::advance`, `tell_results`, `admit_waiting` of the code.
    fn advance(&mut self, rules: CursorRules) {
        let committed = self.committed(rules);
        for index in self.primary.announced..committed {
            if let CursorRecord::Acted { number, outcome, .. } = self.primary.log[index] {
                self.send(rules, CursorReply::Result { number, outcome });
            }
        }
        self.primary.announced = self.primary.announced.max(committed);
        self.enter_waiting(rules);
    }

    fn enter_waiting(&mut self, rules: CursorRules) {
        let (announced, cursor) = (self.primary.announced, self.cursor());
        let Some(client) = &mut self.primary.client else { return };
        if client.entering.take_if(|after| *after <= announced).is_some() {
            self.send(rules, CursorReply::Entered { cursor });
        }
    }

    fn send(&mut self, rules: CursorRules, what: CursorReply) {
        let CursorPrimary { id: from, epoch, client: Some(client), .. } = &self.primary else { return };
        put(
            rules,
            &mut self.down,
            CursorToPlayer { from: *from, epoch: *epoch, session: client.session, what },
        );
    }

    fn on_up(&mut self, rules: CursorRules, up: CursorFromPlayer) {
        if up.to != self.primary.id {
            return;
        }
        match up.what {
            CursorRequest::Enter => self.on_enter(rules, up.session),
            CursorRequest::Act { number, wish, acked } => self.on_act(rules, up.session, number, wish, acked),
        }
    }

    /// Mirrors `Primary::on_enter`, `attach` of the code.
    fn on_enter(&mut self, rules: CursorRules, session: u8) {
        if self.primary.client.as_ref().is_some_and(|it| it.session == session && it.entering.is_some()) {
            return;
        }
        let sessions = self.primary.log.iter().filter_map(|it| match it {
            CursorRecord::Entered { session } => Some(*session),
            _ => None,
        });
        let known = sessions.max().unwrap_or(0);
        if session < known {
            return;
        }
        if known < session {
            self.write(rules, CursorRecord::Entered { session });
        }
        let entering = Some(self.primary.log.len());
        self.primary.client = Some(CursorClient { session, entering, acked: 0, ahead: BTreeMap::new() });
        self.enter_waiting(rules);
    }

    /// Mirrors `Primary::on_act` of the code.
    fn on_act(&mut self, rules: CursorRules, session: u8, number: u8, wish: u8, acked: u8) {
        let cursor = self.cursor();
        let Some(client) = self.primary.client.as_mut().filter(|it| it.session == session) else { return };
        client.acked = client.acked.max(acked);
        let runs = number == cursor + 1
            || rules.breaks(Rule::ActionsInOrder)
            || rules.is(CursorFlaw::RunAhead) && cursor < number;
        if runs {
            self.act(rules, number, wish);
            self.act_waiting(rules);
        } else if number <= cursor {
            self.answer_again(rules, number);
        } else {
            client.ahead.insert(number, wish);
        }
    }

    /// Mirrors `Coordination::run_waiting_actions` of the code.
    fn act_waiting(&mut self, rules: CursorRules) {
        loop {
            let cursor = self.cursor();
            let Some(client) = &mut self.primary.client else { return };
            client.ahead.retain(|&number, _| cursor < number);
            let Some(wish) = client.ahead.remove(&(cursor + 1)) else { return };
            self.act(rules, cursor + 1, wish);
        }
    }

    /// Mirrors `Coordination::run_action` of the code.
    fn act(&mut self, rules: CursorRules, number: u8, wish: u8) {
        let acked = self.primary.client.as_ref().map_or(0, |it| it.acked);
        let acked = if rules.breaks(Rule::KeepResults) { number } else { acked };
        let outcome = CursorOutcome { wish, epoch: self.primary.epoch };
        self.write(rules, CursorRecord::Acted { number, outcome, acked });
    }

    /// `Primary::answer_again`: results of this epoch's records are sent when they are safe; inherited ones are safe.
    fn answer_again(&mut self, rules: CursorRules, number: u8) {
        if rules.breaks(Rule::KeepResults) {
            return;
        }
        let untold = &self.primary.log[self.primary.announced..];
        let is_pending =
            untold.iter().any(|it| matches!(it, CursorRecord::Acted { number: it, .. } if *it == number));
        if let Some(outcome) = self.result(number).filter(|_| !is_pending) {
            self.send(rules, CursorReply::Result { number, outcome });
        }
    }

    /// `PlayerState::result`, of the results kept as `ZoneState::apply_change` keeps them.
    fn result(&self, number: u8) -> Option<CursorOutcome> {
        let mut kept: Vec<(u8, CursorOutcome)> = Vec::new();
        for record in &self.primary.log {
            if let CursorRecord::Acted { number, outcome, acked } = *record {
                kept.push((number, outcome));
                let unacked = usize::from(number.saturating_sub(acked).max(1));
                kept.drain(..kept.len().saturating_sub(unacked));
            }
        }
        kept.iter().find(|it| it.0 == number).map(|it| it.1)
    }

    // The player.

    /// Mirrors `Player::act` of the code.
    fn wish(&mut self, rules: CursorRules) {
        if !self.player.is_in {
            return;
        }
        self.wished += 1;
        let (number, wish) = (self.player.next, self.wished);
        self.player.next += 1;
        self.player.unanswered.insert(number, wish);
        self.send_act(rules, number, wish);
    }

    fn send_act(&mut self, rules: CursorRules, number: u8, wish: u8) {
        let CursorPlayer { primary_id: Some(to), session, acked, .. } = self.player else { return };
        put(
            rules,
            &mut self.up,
            CursorFromPlayer { to, session, what: CursorRequest::Act { number, wish, acked } },
        );
    }

    /// `Player::start_search`, for a player whose primary is dead or has forgotten it. It may ask twice.
    fn search(&mut self, rules: CursorRules) {
        let session = self.player.session;
        if self.primary.client.as_ref().is_some_and(|it| it.session == session) {
            return;
        }
        self.player.searching = true;
        if let Some(dead) = self.player.primary_id.take() {
            self.down.retain(|it| it.from != dead);
        }
        for to in [0, 1] {
            let enter = CursorFromPlayer { to, session, what: CursorRequest::Enter };
            if self.up.iter().filter(|&it| *it == enter).count() < 2 {
                put(rules, &mut self.up, enter);
            }
        }
    }

    /// Mirrors `Player::on_zone_msg` of the code.
    fn on_down(&mut self, rules: CursorRules, down: CursorToPlayer) {
        let CursorToPlayer { from, epoch, session, what } = down;
        let player = &mut self.player;
        let is_believed = player.primary_id == Some(from) || matches!(what, CursorReply::Entered { .. });
        if session != player.session || epoch < player.epoch || !is_believed {
            return;
        }
        player.epoch = epoch;
        match what {
            CursorReply::Entered { cursor } => {
                self.player.number_from(rules, cursor);
                self.on_entered(rules, from);
            }
            CursorReply::Result { number, outcome } => self.on_result(number, outcome),
        }
    }

    /// Mirrors `Player::on_entered` of the code.
    fn on_entered(&mut self, rules: CursorRules, from: CursorReplicaId) {
        let player = &mut self.player;
        if player.primary_id == Some(from) && !player.searching {
            return;
        }
        player.primary_id = Some(from);
        player.searching = false;
        player.is_in = true;
        if !rules.is(CursorFlaw::SendOnce) {
            for (number, wish) in self.player.unanswered.clone() {
                self.send_act(rules, number, wish);
            }
        }
    }

    /// Mirrors `Player::on_result` of the code.
    fn on_result(&mut self, number: u8, outcome: CursorOutcome) {
        let player = &mut self.player;
        let Some(wish) = player.unanswered.remove(&number) else { return };
        let first = player.unanswered.first_key_value().map_or(player.next, |it| *it.0);
        player.acked = player.acked.max(first - 1);
        self.heard.insert(wish, outcome);
    }
}

impl CursorPrimary {
    fn store(&mut self) {
        if let Some((stored, _)) = &mut self.backup
            && *stored < self.log.len()
        {
            *stored += 1;
        }
    }
}

/// Sends a message, in order or into a sorted set.
fn put<M: Ord>(rules: CursorRules, link: &mut Vec<M>, msg: M) {
    match rules.network {
        CursorNetwork::Ordered => link.push(msg),
        CursorNetwork::Wild => {
            if let Err(place) = link.binary_search(&msg) {
                link.insert(place, msg);
            }
        }
    }
}

/// A message arrives. In a wild network it may arrive again.
fn take<M: PartialEq>(rules: CursorRules, link: &mut Vec<M>, msg: &M) {
    if let (CursorNetwork::Ordered, Some(place)) = (rules.network, link.iter().position(|it| it == msg)) {
        link.remove(place);
    }
}

impl CursorPlayer {
    /// `Actions::continue_after`. An answer that was overtaken has an old cursor.
    fn number_from(&mut self, rules: CursorRules, cursor: u8) {
        if rules.is(CursorFlaw::NumberAnew) || rules.network == CursorNetwork::Wild && cursor < self.next {
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
            primary_id: None,
            epoch: 0,
            searching: true,
            is_in: false,
            next: 1,
            unanswered: BTreeMap::new(),
            acked: 0,
        }
    }
}
