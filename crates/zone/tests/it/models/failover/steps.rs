//! What each step does: the functions of the zone, without time.

#![allow(clippy::collapsible_match, reason = "a guard that is part of a step stands in the step")]

use super::{
    Action, Answer, Asked, Entry, Fault, Flaw, Follower, Id, Mode, Msg, NOBODY, Rec, Replica, Role, Rules,
    Said, State,
};
use zone::{Durability, Rule};

impl Rules {
    fn breaks(self, rule: Rule) -> bool {
        self.broken == Some(rule)
    }

    fn is(self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }
}

impl Replica {
    /// `DiskUse::persisted`: how much of this log a crash would leave.
    fn persisted(&self) -> usize {
        if self.log.starts_with(&self.disk) { self.disk.len() } else { 0 }
    }

    /// `Log::standing`.
    fn standing(&self) -> (u8, usize) {
        (self.log.last().map_or(0, |it| it.epoch), self.log.len())
    }

    /// `Log::has`.
    fn has(&self, last: u8, index: usize) -> bool {
        if index == 0 { last == 0 } else { self.log.get(index - 1).is_some_and(|it| it.epoch == last) }
    }

    fn follower(&mut self) -> Option<&mut Follower> {
        match &mut self.role {
            Role::Primary { mode, .. } => mode.follower(),
            _ => None,
        }
    }
}

impl State {
    pub(super) fn step(&mut self, rules: Rules, action: Action) {
        match action {
            Action::Write(id) => {
                self.writes -= 1;
                self.write(id);
                self.seen_to(rules, id);
            }
            Action::Deliver(from, to) => {
                let msg = self.link_mut(from, to).remove(0);
                self.on_peer(rules, from, to, msg);
            }
            Action::Sync(id) => self.sync(rules, id),
            Action::Look(id) => self.look(rules, id),
            Action::Say(id) => self.say_standing(id),
            Action::Suspect(id) => {
                self.alarms -= u8::from(!self.is_forgotten(id));
                self.suspect(rules, id, true);
            }
            Action::Doubt(id) => {
                self.alarms -= 1;
                self.suspect(rules, id, false);
            }
            Action::LosePatience(id) => {
                self.alarms -= u8::from(!self.is_unheard(rules, id));
                self.lose_follower(rules, id);
            }
            Action::Calm(id) => self.calm(id),
            Action::Swap(id) => self.swap(rules, id),
            Action::CarryOut(id) => self.carry_out(id),
            Action::Hear { by, silent } => self.on_answer(rules, by, silent),
            Action::Lose(id) => self.lose_answer(rules, id),
            Action::CarryOutLate(swap) => {
                self.late.remove(&swap);
                self.compare_and_swap(swap);
            }
            Action::Crash(id) => self.crash(id),
            Action::Break(one, other) => {
                self.breaks -= 1;
                self.relink(one, other);
            }
        }
    }

    // Links.

    pub(super) fn link(&self, from: Id, to: Id) -> &Vec<Msg> {
        &self.links[from * self.replicas.len() + to]
    }

    fn link_mut(&mut self, from: Id, to: Id) -> &mut Vec<Msg> {
        let count = self.replicas.len();
        &mut self.links[from * count + to]
    }

    /// `Primary::on_link_up`, at both ends: whatever was under way is lost, and records are sent again from the last
    /// acknowledgement.
    fn relink(&mut self, one: Id, other: Id) {
        self.link_mut(one, other).clear();
        self.link_mut(other, one).clear();
        for (id, peer) in [(one, other), (other, one)] {
            if let Some(follower) = self.replicas[id].follower().filter(|it| it.id == peer) {
                follower.sent = follower.acked;
                self.send_records(id);
            }
        }
    }

    fn crash(&mut self, id: Id) {
        self.crashes -= 1;
        let it = &mut self.replicas[id];
        if let Some(Asked { swap, answer: None }) = it.asked
            && swap.epoch == self.directory.epoch + 1
        {
            self.late.insert(swap);
        }
        *it = Replica {
            life: it.life + 1,
            log: it.disk.clone(),
            disk: it.disk.clone(),
            entry: None,
            asked: None,
            role: NOBODY,
        };
        for other in (0..self.replicas.len()).filter(|&other| other != id) {
            self.relink(id, other);
        }
    }

    // The directory.

    fn compare_and_swap(&mut self, swap: Entry) -> Answer {
        if self.directory.epoch + 1 != swap.epoch {
            return Answer::Lost(self.directory);
        }
        self.directory = swap;
        self.late.retain(|it| it.epoch == swap.epoch + 1); // The others can never happen.
        Answer::Won
    }

    fn carry_out(&mut self, id: Id) {
        let Some(Asked { swap, answer: None }) = self.replicas[id].asked else { return };
        let answer = Some(self.compare_and_swap(swap));
        self.replicas[id].asked = Some(Asked { swap, answer });
    }

    /// `Answer::Unknown`.
    fn lose_answer(&mut self, rules: Rules, id: Id) {
        self.unknowns -= 1;
        let Some(Asked { swap, answer }) = self.replicas[id].asked.take() else { return };
        if answer.is_none() && swap.epoch == self.directory.epoch + 1 {
            self.late.insert(swap);
        }
        match &mut self.replicas[id].role {
            Role::Nobody { .. } => (),
            Role::Backup { acking, .. } => *acking |= rules.breaks(Rule::UnknownSwapMayHappen),
            Role::Primary { mode, .. } => match *mode {
                Mode::Naming(_) if rules.breaks(Rule::UnknownSwapMayHappen) => *mode = Mode::Alone,
                Mode::Leaving(follower) if rules.breaks(Rule::UnknownSwapMayHappen) => {
                    *mode = Mode::Paired(follower)
                }
                Mode::Leaving(follower) if rules.is(Flaw::LeaveForgotten) => *mode = Mode::Paired(follower),
                _ => (),
            },
        }
    }

    fn ask(&mut self, id: Id, swap: Entry) {
        let it = &mut self.replicas[id];
        if it.asked.is_none() {
            it.asked = Some(Asked { swap, answer: None });
        }
    }

    /// `Replica::on_answer`.
    fn on_answer(&mut self, rules: Rules, id: Id, silent: bool) {
        let it = &mut self.replicas[id];
        let Some(Asked { swap, answer: Some(answer) }) = it.asked.take() else { return };
        let entry = match answer {
            Answer::Won => swap,
            Answer::Lost(entry) => entry,
        };
        if it.entry.is_none_or(|known| known.epoch <= entry.epoch) {
            it.entry = Some(entry);
        }
        match (it.role, answer) {
            (Role::Primary { .. }, Answer::Won) => self.reign_on(rules, id, swap),
            (_, Answer::Won) => self.begin_reign(rules, id, swap),
            (Role::Nobody { .. }, Answer::Lost(_)) => self.judge_as_nobody(rules, id),
            (Role::Backup { .. }, Answer::Lost(_)) => self.judge_as_backup(rules, id, silent),
            (Role::Primary { .. }, Answer::Lost(_)) => self.judge_as_primary(rules, id),
        }
    }

    /// A replica without a role, or one that may have lost it, reads who reigns.
    fn look(&mut self, rules: Rules, id: Id) {
        if self.replicas[id].asked.is_some() {
            return;
        }
        self.replicas[id].entry = Some(self.directory);
        match self.replicas[id].role {
            Role::Nobody { .. } => self.judge_as_nobody(rules, id),
            Role::Backup { .. } => (),
            Role::Primary { .. } => self.judge_as_primary(rules, id),
        }
    }

    /// `Backup::swap` and `Primary::ask_again`: sends what is wanted, again as it was.
    fn swap(&mut self, rules: Rules, id: Id) {
        let it = &self.replicas[id];
        let Some(entry) = it.entry else { return };
        match it.role {
            Role::Backup { acking: false, .. } => {
                let skips = rules.is(Flaw::PromoteUnsynced) || rules.breaks(Rule::StopAckBeforeSwap);
                if it.persisted() == it.log.len() || skips {
                    self.ask(id, entry.next(id, None));
                }
            }
            Role::Primary { mode: Mode::Naming(follower), .. } => {
                self.ask(id, entry.next(id, Some(follower.id)));
            }
            Role::Primary { mode: Mode::Syncing(follower), epoch, announced } => {
                if announced <= it.persisted() || rules.is(Flaw::LeaveUnsynced) {
                    let mode = Mode::Leaving(follower);
                    self.replicas[id].role = Role::Primary { epoch, mode, announced };
                    self.ask(id, entry.next(id, None));
                }
            }
            Role::Primary { mode: Mode::Leaving(_), .. } => self.ask(id, entry.next(id, None)),
            _ => (),
        }
    }

    // Nobody.

    /// `Nobody::say_standing`.
    fn say_standing(&mut self, id: Id) {
        let said = self.standing_of(id);
        for other in (0..self.replicas.len()).filter(|&other| other != id) {
            let link = self.link_mut(id, other);
            if !link.iter().any(|it| matches!(it, Msg::Standing { .. })) {
                link.push(said.clone());
            }
        }
    }

    fn standing_of(&self, id: Id) -> Msg {
        let it = &self.replicas[id];
        let (last, index) = it.standing();
        Msg::Standing { reign: it.entry.map_or(0, |it| it.epoch), last, index }
    }

    /// `Nobody::judge`.
    fn judge_as_nobody(&mut self, rules: Rules, id: Id) {
        let it = &self.replicas[id];
        let (Some(entry), Role::Nobody { others }) = (it.entry, it.role) else { return };
        if rules.breaks(Rule::RestartLosesRole) && entry.primary == id && !it.log.is_empty() {
            return self.begin_reign(rules, id, entry);
        }
        if rules.breaks(Rule::RestartedBackupRejoins) && entry.backup == Some(id) {
            return self.follow(id, entry.epoch, entry.primary);
        }
        let partner = match entry {
            Entry { primary, backup: None, .. } if primary == id => return self.claim(rules, id, entry),
            Entry { primary, backup: Some(partner), .. } if primary == id => partner,
            Entry { primary, backup: Some(backup), .. } if backup == id => primary,
            _ => return,
        };
        let mine = it.standing();
        let is_fresh = |it: &Said| it.0 == entry.epoch;
        let longer = match others[partner].filter(is_fresh).map(|it| it.1) {
            Some(theirs) if rules.breaks(Rule::LongerLogWins) => (mine, id) < (theirs, partner),
            Some(theirs) => (theirs, partner) < (mine, id),
            None => false,
        };
        if longer {
            self.claim(rules, id, entry);
        }
    }

    /// `Nobody::claim`.
    fn claim(&mut self, rules: Rules, id: Id, entry: Entry) {
        let it = &self.replicas[id];
        let is_synced = it.persisted() == it.log.len() || rules.is(Flaw::ClaimUnsynced);
        if is_synced && !(it.log.is_empty() && 1 < entry.epoch) {
            self.ask(id, entry.next(id, None));
        }
    }

    // Peers.

    fn on_peer(&mut self, rules: Rules, from: Id, to: Id, msg: Msg) {
        match self.replicas[to].role {
            Role::Nobody { .. } => self.on_peer_as_nobody(rules, from, to, msg),
            Role::Backup { epoch, primary, acking } => {
                self.on_peer_as_backup(rules, from, to, (epoch, primary, acking), msg);
            }
            Role::Primary { .. } => match msg {
                Msg::Acked { epoch, index, synced } => self.on_acked(rules, from, to, epoch, index, synced),
                Msg::Missing { epoch, after } => self.on_missing(from, to, epoch, after),
                Msg::Standing { last, index, .. } => self.on_standing(rules, from, to, last, index),
                // `Action::Look` stands for what this may lead to.
                Msg::Append { .. } | Msg::Copy { .. } | Msg::Follow { .. } => (),
            },
        }
    }

    /// `Nobody::on_peer`.
    fn on_peer_as_nobody(&mut self, rules: Rules, from: Id, id: Id, msg: Msg) {
        let it = &mut self.replicas[id];
        let entry = it.entry;
        let is_primary = |epoch| entry.is_some_and(|it| it.epoch <= epoch && it.primary == from);
        match msg {
            Msg::Standing { reign, last, index } => {
                if let Role::Nobody { others } = &mut it.role {
                    others[from] = Some((reign, (last, index)));
                }
            }
            Msg::Copy { epoch, log } if is_primary(epoch) => {
                it.log = log;
                self.follow(id, epoch, from);
            }
            Msg::Follow { epoch, last, index } if is_primary(epoch) => {
                if it.standing() == (last, index) {
                    self.follow(id, epoch, from);
                }
            }
            Msg::Append { epoch, first, .. } if is_primary(epoch) && rules.is(Flaw::FollowMidway) => {
                if first <= it.log.len() + 1 {
                    self.follow(id, epoch, from);
                }
            }
            _ => (),
        }
    }

    /// `Backup::begin`.
    fn follow(&mut self, id: Id, epoch: u8, primary: Id) {
        self.replicas[id].role = Role::Backup { epoch, primary, acking: true };
        self.ack(id);
    }

    fn ack(&mut self, id: Id) {
        let it = &self.replicas[id];
        let Role::Backup { epoch, primary, .. } = it.role else { return };
        let (index, synced) = (it.log.len(), it.persisted());
        self.link_mut(id, primary).push(Msg::Acked { epoch, index, synced });
    }

    /// `Backup::on_peer`.
    fn on_peer_as_backup(&mut self, rules: Rules, from: Id, id: Id, was: (u8, Id, bool), msg: Msg) {
        let (known, primary, acking) = was;
        let it = &mut self.replicas[id];
        match msg {
            Msg::Standing { .. } if from == primary => self.suspect(rules, id, true),
            Msg::Append { epoch, first, records } if known <= epoch && from == primary => {
                it.role = Role::Backup { epoch, primary, acking };
                self.on_append(rules, id, first, &records);
            }
            Msg::Copy { epoch, log } if known <= epoch && from == primary => {
                it.role = Role::Backup { epoch, primary, acking };
                if it.log.len() < log.len() {
                    it.log = log;
                    self.ack(id);
                }
            }
            Msg::Follow { epoch, .. } if known <= epoch && from == primary => {
                it.role = Role::Backup { epoch, primary, acking };
            }
            _ => (),
        }
    }

    /// `Backup::on_append`.
    fn on_append(&mut self, rules: Rules, id: Id, first: usize, records: &[Rec]) {
        let it = &mut self.replicas[id];
        let Role::Backup { epoch, primary, acking } = it.role else { return };
        if !acking && !rules.breaks(Rule::StopAckBeforeSwap) {
            return;
        }
        let after = it.log.len();
        if after + 1 < first {
            if !rules.is(Flaw::RefusedUntold) {
                self.link_mut(id, primary).push(Msg::Missing { epoch, after });
            }
            return;
        }
        it.log.extend(records.iter().skip(after + 1 - first));
        self.ack(id);
    }

    /// `Backup::resume`.
    fn resume(&mut self, rules: Rules, id: Id) {
        let it = &mut self.replicas[id];
        let Role::Backup { epoch, primary, acking: false } = it.role else { return };
        it.role = Role::Backup { epoch, primary, acking: true };
        let after = it.log.len();
        self.ack(id);
        if !rules.is(Flaw::RefusedUntold) {
            self.link_mut(id, primary).push(Msg::Missing { epoch, after });
        }
    }

    /// `Backup::suspect`.
    fn suspect(&mut self, rules: Rules, id: Id, silent: bool) {
        let Role::Backup { epoch, acking, .. } = self.replicas[id].role else { return };
        if rules.breaks(Rule::PromoteBySwap) {
            return self.begin_reign(rules, id, Entry { epoch: epoch + 1, primary: id, backup: None });
        }
        if acking && self.replicas[id].asked.is_none() {
            self.replicas[id].entry = Some(self.directory);
            self.judge_as_backup(rules, id, silent);
        }
    }

    /// `Backup::judge`.
    fn judge_as_backup(&mut self, rules: Rules, id: Id, silent: bool) {
        let it = &mut self.replicas[id];
        let (Some(entry), Role::Backup { epoch, primary, acking }) = (it.entry, it.role) else { return };
        if entry.primary == id && !acking {
            return self.begin_reign(rules, id, entry);
        }
        if entry.primary != primary || entry.backup != Some(id) && silent {
            it.role = NOBODY;
            return;
        }
        if entry.backup != Some(id) {
            return self.resume(rules, id);
        }
        let epoch = if rules.is(Flaw::RefusedUntold) { epoch.max(entry.epoch) } else { epoch };
        it.role = Role::Backup { epoch, primary, acking: acking && !silent };
        if silent {
            self.swap(rules, id);
        } else {
            self.resume(rules, id);
        }
    }

    // Primary.

    /// `Primary::begin`.
    fn begin_reign(&mut self, rules: Rules, id: Id, entry: Entry) {
        if !self.replicas[id].log.starts_with(&self.told) {
            self.blame(Fault::Forgot);
        }
        let head = self.replicas[id].log.len();
        let mode = match entry.backup {
            Some(backup) if rules.breaks(Rule::RestartLosesRole) => Mode::Paired(Follower {
                id: backup,
                since: entry.epoch,
                confirmed: false,
                sent: head,
                acked: head,
                synced: 0,
            }),
            _ => Mode::Alone,
        };
        self.replicas[id].role = Role::Primary { epoch: entry.epoch, mode, announced: head };
        self.write(id);
        self.seen_to(rules, id);
    }

    /// `Primary::on_answer`, after a swap that was lost or a look.
    fn judge_as_primary(&mut self, rules: Rules, id: Id) {
        let it = &mut self.replicas[id];
        let (Some(entry), Role::Primary { epoch, .. }) = (it.entry, it.role) else { return };
        if entry.primary != id {
            it.role = NOBODY;
        } else if epoch < entry.epoch {
            self.reign_on(rules, id, entry);
        }
    }

    /// `Primary::reign_on`.
    fn reign_on(&mut self, rules: Rules, id: Id, entry: Entry) {
        let Role::Primary { mode, announced, .. } = self.replicas[id].role else { return };
        let mode = match (mode, entry.backup) {
            (Mode::Naming(follower), Some(backup)) if follower.id == backup => Mode::Paired(follower),
            _ => Mode::Alone,
        };
        self.replicas[id].role = Role::Primary { epoch: entry.epoch, mode, announced };
        self.write(id);
        self.seen_to(rules, id);
    }

    /// `Primary::commit_to_log`.
    fn write(&mut self, id: Id) {
        let it = &mut self.replicas[id];
        let Role::Primary { epoch, .. } = it.role else { return };
        it.log.push(Rec { epoch, writer: id, life: it.life });
    }

    fn seen_to(&mut self, rules: Rules, id: Id) {
        self.send_records(id);
        self.advance(rules, id);
    }

    fn send_records(&mut self, id: Id) {
        let it = &mut self.replicas[id];
        let Role::Primary { epoch, mut mode, announced } = it.role else { return };
        let Some(follower) = mode.follower().filter(|follower| follower.confirmed) else { return };
        let (first, to) = (follower.sent + 1, follower.id);
        let records = it.log.get(follower.sent..).unwrap_or_default().to_vec();
        if !records.is_empty() {
            follower.sent = it.log.len();
            it.role = Role::Primary { epoch, mode, announced };
            self.link_mut(id, to).push(Msg::Append { epoch, first, records });
        }
    }

    /// `Primary::on_acked`.
    fn on_acked(&mut self, rules: Rules, from: Id, id: Id, epoch: u8, index: usize, synced: usize) {
        let Some(follower) = self.replicas[id].follower() else { return };
        if follower.id != from || epoch < follower.since {
            return;
        }
        if !follower.confirmed {
            follower.confirmed = true;
            follower.acked = index;
            follower.sent = index;
        }
        follower.acked = follower.acked.max(index.min(follower.sent));
        follower.synced = follower.synced.max(synced);
        self.send_records(id);
        self.seek_name(rules, id);
        self.advance(rules, id);
    }

    /// `Primary::on_missing`.
    fn on_missing(&mut self, from: Id, id: Id, epoch: u8, after: usize) {
        let Some(follower) = self.replicas[id].follower() else { return };
        if follower.id != from || epoch < follower.since || !follower.confirmed {
            return;
        }
        if follower.acked <= after && after < follower.sent {
            follower.sent = after;
            self.send_records(id);
        }
    }

    /// `Primary::seek_name`.
    fn seek_name(&mut self, rules: Rules, id: Id) {
        let Role::Primary { mode, announced, .. } = &mut self.replicas[id].role else { return };
        if let Mode::Recruiting(follower) = *mode
            && follower.confirmed
        {
            *mode = Mode::Reaching(follower);
        }
        if let Mode::Reaching(follower) = *mode
            && *announced <= follower.acked
        {
            *mode = Mode::Naming(follower);
            self.swap(rules, id);
        }
    }

    /// `Primary::lose_follower`.
    fn lose_follower(&mut self, rules: Rules, id: Id) {
        let Role::Primary { epoch, mode, .. } = &mut self.replicas[id].role else { return };
        match *mode {
            Mode::Paired(_) if rules.breaks(Rule::SoloBySwap) => {
                let alone = Entry { epoch: *epoch + 1, primary: id, backup: None };
                self.reign_on(rules, id, alone);
            }
            Mode::Paired(follower) => {
                *mode = Mode::Syncing(follower);
                self.swap(rules, id);
            }
            Mode::Recruiting(_) | Mode::Reaching(_) => {
                *mode = Mode::Alone;
                self.advance(rules, id);
            }
            Mode::Naming(_) | Mode::Syncing(_) | Mode::Leaving(_) | Mode::Alone => self.swap(rules, id),
        }
    }

    /// `Primary::on_heard`.
    fn calm(&mut self, id: Id) {
        if let Role::Primary { mode, .. } = &mut self.replicas[id].role
            && let Mode::Syncing(follower) = *mode
        {
            *mode = Mode::Paired(follower);
        }
    }

    /// `Primary::on_standing`.
    fn on_standing(&mut self, rules: Rules, from: Id, id: Id, last: u8, index: usize) {
        let is_unanswered = self.link(id, from).is_empty();
        let Role::Primary { mode, .. } = &mut self.replicas[id].role else { return };
        match *mode {
            Mode::Alone => self.recruit(rules, from, id, last, index),
            Mode::Naming(follower)
            | Mode::Paired(follower)
            | Mode::Syncing(follower)
            | Mode::Leaving(follower)
                if follower.id == from =>
            {
                self.lose_follower(rules, id);
            }
            // It waited for the answer in vain: what was sent has arrived, and led to nothing.
            Mode::Recruiting(follower) if follower.id == from && is_unanswered => {
                self.recruit(rules, from, id, last, index);
            }
            Mode::Reaching(follower) if follower.id == from && !rules.is(Flaw::NamingDeaf) => {
                self.recruit(rules, from, id, last, index);
            }
            _ => (),
        }
    }

    /// `Primary::recruit`.
    fn recruit(&mut self, rules: Rules, from: Id, id: Id, last: u8, index: usize) {
        let it = &mut self.replicas[id];
        let Role::Primary { epoch, announced, .. } = it.role else { return };
        let keeps = rules.breaks(Rule::DropUnacknowledgedSuffix) && 0 < index;
        let (at, msg) = if it.has(last, index) || keeps {
            (index, Msg::Follow { epoch, last, index })
        } else {
            (it.log.len(), Msg::Copy { epoch, log: it.log.clone() })
        };
        let follower = Follower { id: from, since: epoch, confirmed: false, sent: at, acked: at, synced: 0 };
        it.role = Role::Primary { epoch, mode: Mode::Recruiting(follower), announced };
        self.link_mut(id, from).push(msg);
        self.advance(rules, id);
    }

    /// `Core::disk_done`, then `on_persisted` of the role.
    fn sync(&mut self, rules: Rules, id: Id) {
        let it = &mut self.replicas[id];
        it.disk = it.log.clone();
        match it.role {
            Role::Backup { acking: true, .. } if rules.durability == Durability::Synced => self.ack(id),
            Role::Primary { .. } => self.advance(rules, id),
            _ => (),
        }
        self.swap(rules, id);
    }

    /// `Primary::committed`.
    fn committed(&self, rules: Rules, id: Id) -> usize {
        let it = &self.replicas[id];
        let Role::Primary { mode, .. } = it.role else { return 0 };
        let (head, persisted) = (it.log.len(), it.persisted());
        if rules.breaks(Rule::AnnounceAfterAck) {
            return head;
        }
        let paired = |follower: Follower| match rules.durability {
            Durability::Synced => follower.acked.min(follower.synced).min(persisted),
            Durability::Batched | Durability::Lazy => follower.acked,
        };
        let committed = match mode {
            Mode::Alone | Mode::Recruiting(_) if rules.breaks(Rule::SoloWaitsForDisk) => head,
            Mode::Alone | Mode::Recruiting(_) => persisted,
            Mode::Reaching(_) | Mode::Naming(_) if rules.breaks(Rule::NamedBackupCounts) => persisted,
            Mode::Reaching(follower) | Mode::Naming(follower) => follower.acked.min(persisted),
            Mode::Syncing(follower) | Mode::Leaving(follower) if !rules.is(Flaw::LeaveUnsynced) => {
                follower.acked.min(persisted)
            }
            Mode::Paired(follower) | Mode::Syncing(follower) | Mode::Leaving(follower) => paired(follower),
        };
        committed.min(head)
    }

    /// `Primary::advance`.
    fn advance(&mut self, rules: Rules, id: Id) {
        let committed = self.committed(rules, id);
        let Role::Primary { epoch, announced, .. } = &mut self.replicas[id].role else { return };
        if committed <= *announced {
            return;
        }
        *announced = committed;
        let epoch = *epoch;
        self.tell(id, epoch, committed);
    }

    // What the world hears, and what it must not hear.

    /// Everything up to a record becomes visible: what a reign inherited with its first own record.
    fn tell(&mut self, id: Id, epoch: u8, committed: usize) {
        let it = &self.replicas[id];
        let (life, telling) = (it.life, it.log[..committed].to_vec());
        if !telling.starts_with(&self.told) && !self.told.starts_with(&telling) {
            return self.blame(Fault::TwoHistories);
        }
        if self.told.len() < telling.len() {
            let successor = self.directory.primary;
            if !self.replicas[successor].log.starts_with(&telling) {
                self.blame(Fault::Deposed);
            }
            self.told = telling;
        }
        if *self.spoke.entry(epoch).or_insert((id, life)) != (id, life) {
            self.blame(Fault::TwoReigns);
        }
    }

    fn blame(&mut self, fault: Fault) {
        self.fault = self.fault.or(Some(fault));
    }

    // Rest.

    /// A backup whose primary does not speak to it. (A slow link is a false alarm.)
    pub(super) fn is_forgotten(&self, id: Id) -> bool {
        let Role::Backup { primary, epoch: known, .. } = self.replicas[id].role else { return false };
        if !self.link(primary, id).is_empty() {
            return false;
        }
        match self.replicas[primary].role {
            Role::Primary { mut mode, epoch, .. } => {
                epoch < known || mode.follower().is_none_or(|it| it.id != id)
            }
            _ => true,
        }
    }

    /// A primary that somebody else has replaced. It finds out: whoever reigns speaks of its epoch.
    pub(super) fn is_deposed(&self, id: Id) -> bool {
        matches!(self.replicas[id].role, Role::Primary { .. }) && self.directory.primary != id
    }

    /// A primary whose follower does not answer: beacons, which whoever has no role answers, too; or, as long as it has
    /// acknowledged nothing, the invitation.
    pub(super) fn is_unheard(&self, rules: Rules, id: Id) -> bool {
        let Role::Primary { mut mode, epoch, .. } = self.replicas[id].role else { return false };
        let Some(&mut Follower { id: other, confirmed, .. }) = mode.follower() else { return false };
        if !self.link(other, id).is_empty() || !self.link(id, other).is_empty() {
            return false;
        }
        if !confirmed && !rules.is(Flaw::InvitedOnce) {
            return true;
        }
        match self.replicas[other].role {
            Role::Backup { primary, epoch: known, .. } => primary != id || epoch < known,
            Role::Nobody { .. } => {
                self.replicas[other].entry.is_none_or(|it| it.primary != id || epoch < it.epoch)
            }
            Role::Primary { .. } => true,
        }
    }

    /// One reigns, another follows, and everything written has been announced.
    pub(super) fn is_whole(&self) -> bool {
        let Entry { epoch: now, primary, backup } = self.directory;
        let Role::Primary { epoch, mode: Mode::Paired(follower), announced } = self.replicas[primary].role
        else {
            return false;
        };
        let follows =
            matches!(self.replicas[follower.id].role, Role::Backup { primary: it, .. } if it == primary);
        epoch == now
            && backup == Some(follower.id)
            && follows
            && announced == self.replicas[primary].log.len()
    }

    /// Whether nothing happens any more unless something fails or somebody acts.
    pub(super) fn rests(&self, rules: Rules) -> bool {
        let is_quiet = self.links.iter().all(Vec::is_empty)
            && self.late.is_empty()
            && self.replicas.iter().all(|it| it.asked.is_none() && it.disk == it.log);
        is_quiet && (0..self.replicas.len()).all(|id| self.rests_at(rules, id))
    }

    fn rests_at(&self, rules: Rules, id: Id) -> bool {
        let changes = |step: &dyn Fn(&mut Self)| {
            let mut next = self.clone();
            step(&mut next);
            next != *self
        };
        let is_nobody = matches!(self.replicas[id].role, Role::Nobody { .. });
        let looks = is_nobody || self.is_deposed(id);
        if looks && changes(&|it| it.look(rules, id)) || changes(&|it| it.swap(rules, id)) {
            return false;
        }
        if self.is_forgotten(id) || self.is_unheard(rules, id) && changes(&|it| it.lose_follower(rules, id)) {
            return false;
        }
        let hears = |other| changes(&|it| it.on_peer(rules, id, other, self.standing_of(id)));
        !(is_nobody && (0..self.replicas.len()).any(|other| other != id && hears(other)))
    }
}
