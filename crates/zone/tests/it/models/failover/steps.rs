//! The steps of the model: the functions of the zone, without time.

#![allow(clippy::collapsible_match, reason = "a guard that is part of a step stands in the step")]

use super::{
    FailoverAction, FailoverFlaw, FailoverFollower, FailoverLeadership, FailoverMode, FailoverMsg,
    FailoverRecord, FailoverReplica, FailoverReplicaId, FailoverRole, FailoverRules, FailoverState,
    FailoverViolation, PendingSwap, StandingReport, SwapAnswer, UNASSIGNED,
};
use zone::{Durability, Rule};

impl FailoverRules {
    fn breaks(self, rule: Rule) -> bool {
        self.broken == Some(rule)
    }

    fn is(self, flaw: FailoverFlaw) -> bool {
        self.flaw == Some(flaw)
    }
}

impl FailoverReplica {
    /// `DiskUse::persisted`: the length of this log that a crash would leave.
    fn persisted(&self) -> usize {
        if self.log.starts_with(&self.disk) { self.disk.len() } else { 0 }
    }

    /// Mirrors `RecordLog::end` of the code.
    fn standing(&self) -> (u8, usize) {
        (self.log.last().map_or(0, |it| it.epoch), self.log.len())
    }

    /// Mirrors `RecordLog::has` of the code.
    fn has(&self, last: u8, index: usize) -> bool {
        if index == 0 { last == 0 } else { self.log.get(index - 1).is_some_and(|it| it.epoch == last) }
    }

    fn follower(&mut self) -> Option<&mut FailoverFollower> {
        match &mut self.role {
            FailoverRole::Primary { mode, .. } => mode.follower(),
            _ => None,
        }
    }
}

impl FailoverState {
    pub(super) fn step(&mut self, rules: FailoverRules, action: FailoverAction) {
        match action {
            FailoverAction::Write(id) => {
                self.writes -= 1;
                self.write(id);
                self.after_write(rules, id);
            }
            FailoverAction::Deliver(from, to) => {
                let msg = self.link_mut(from, to).remove(0);
                self.on_replica_message(rules, from, to, msg);
            }
            FailoverAction::Sync(id) => self.sync(rules, id),
            FailoverAction::Look(id) => self.look(rules, id),
            FailoverAction::ReportStanding(id) => self.report_standing(id),
            FailoverAction::Suspect(id) => {
                self.alarms -= u8::from(!self.is_forgotten(id));
                self.suspect(rules, id, true);
            }
            FailoverAction::Doubt(id) => {
                self.alarms -= 1;
                self.suspect(rules, id, false);
            }
            FailoverAction::LoseFollower(id) => {
                self.alarms -= u8::from(!self.is_unheard(rules, id));
                self.lose_follower(rules, id);
            }
            FailoverAction::ReturnToPaired(id) => self.return_to_paired(id),
            FailoverAction::Swap(id) => self.swap(rules, id),
            FailoverAction::CarryOut(id) => self.carry_out(id),
            FailoverAction::ReceiveAnswer { by, silent } => self.on_answer(rules, by, silent),
            FailoverAction::Lose(id) => self.lose_answer(rules, id),
            FailoverAction::CarryOutLate(swap) => {
                self.late.remove(&swap);
                self.compare_and_swap(swap);
            }
            FailoverAction::Crash(id) => self.crash(id),
            FailoverAction::Break(one, other) => {
                self.breaks -= 1;
                self.relink(one, other);
            }
        }
    }

    // Links.

    pub(super) fn link(&self, from: FailoverReplicaId, to: FailoverReplicaId) -> &Vec<FailoverMsg> {
        &self.links[from * self.replicas.len() + to]
    }

    fn link_mut(&mut self, from: FailoverReplicaId, to: FailoverReplicaId) -> &mut Vec<FailoverMsg> {
        let count = self.replicas.len();
        &mut self.links[from * count + to]
    }

    /// `Primary::on_link_up`, at both ends: messages under way are lost, and records are sent again from the last
    /// acknowledgement.
    fn relink(&mut self, one: FailoverReplicaId, other: FailoverReplicaId) {
        self.link_mut(one, other).clear();
        self.link_mut(other, one).clear();
        for (id, peer) in [(one, other), (other, one)] {
            if let Some(follower) = self.replicas[id].follower().filter(|it| it.id == peer) {
                follower.sent = follower.acked;
                self.send_records(id);
            }
        }
    }

    fn crash(&mut self, id: FailoverReplicaId) {
        self.crashes -= 1;
        let it = &mut self.replicas[id];
        if let Some(PendingSwap { swap, answer: None }) = it.pending_swap
            && swap.epoch == self.directory.epoch + 1
        {
            self.late.insert(swap);
        }
        *it = FailoverReplica {
            life: it.life + 1,
            log: it.disk.clone(),
            disk: it.disk.clone(),
            leadership: None,
            pending_swap: None,
            role: UNASSIGNED,
        };
        for other in (0..self.replicas.len()).filter(|&other| other != id) {
            self.relink(id, other);
        }
    }

    // The directory.

    fn compare_and_swap(&mut self, swap: FailoverLeadership) -> SwapAnswer {
        if self.directory.epoch + 1 != swap.epoch {
            return SwapAnswer::Lost(self.directory);
        }
        self.directory = swap;
        self.late.retain(|it| it.epoch == swap.epoch + 1); // The others can never happen.
        SwapAnswer::Won
    }

    fn carry_out(&mut self, id: FailoverReplicaId) {
        let Some(PendingSwap { swap, answer: None }) = self.replicas[id].pending_swap else { return };
        let answer = Some(self.compare_and_swap(swap));
        self.replicas[id].pending_swap = Some(PendingSwap { swap, answer });
    }

    /// Mirrors `Answer::Unknown` of the code.
    fn lose_answer(&mut self, rules: FailoverRules, id: FailoverReplicaId) {
        self.unknowns -= 1;
        let Some(PendingSwap { swap, answer }) = self.replicas[id].pending_swap.take() else { return };
        if answer.is_none() && swap.epoch == self.directory.epoch + 1 {
            self.late.insert(swap);
        }
        match &mut self.replicas[id].role {
            FailoverRole::Unassigned { .. } => (),
            FailoverRole::Backup { acking, .. } => *acking |= rules.breaks(Rule::UnknownSwapMayHappen),
            FailoverRole::Primary { mode, .. } => match *mode {
                FailoverMode::Naming(_) if rules.breaks(Rule::UnknownSwapMayHappen) => {
                    *mode = FailoverMode::Alone
                }
                FailoverMode::Leaving(follower) if rules.breaks(Rule::UnknownSwapMayHappen) => {
                    *mode = FailoverMode::Paired(follower)
                }
                FailoverMode::Leaving(follower) if rules.is(FailoverFlaw::LeaveOnce) => {
                    *mode = FailoverMode::Paired(follower)
                }
                _ => (),
            },
        }
    }

    fn ask(&mut self, id: FailoverReplicaId, swap: FailoverLeadership) {
        let it = &mut self.replicas[id];
        if it.pending_swap.is_none() {
            it.pending_swap = Some(PendingSwap { swap, answer: None });
        }
    }

    /// Mirrors `Replica::on_answer` of the code.
    fn on_answer(&mut self, rules: FailoverRules, id: FailoverReplicaId, silent: bool) {
        let it = &mut self.replicas[id];
        let Some(PendingSwap { swap, answer: Some(answer) }) = it.pending_swap.take() else { return };
        let leadership = match answer {
            SwapAnswer::Won => swap,
            SwapAnswer::Lost(leadership) => leadership,
        };
        if it.leadership.is_none_or(|known| known.epoch <= leadership.epoch) {
            it.leadership = Some(leadership);
        }
        match (it.role, answer) {
            (FailoverRole::Primary { .. }, SwapAnswer::Won) => self.continue_leadership(rules, id, swap),
            (_, SwapAnswer::Won) => self.begin_leadership(rules, id, swap),
            (FailoverRole::Unassigned { .. }, SwapAnswer::Lost(_)) => self.decide_as_unassigned(rules, id),
            (FailoverRole::Backup { .. }, SwapAnswer::Lost(_)) => self.decide_as_backup(rules, id, silent),
            (FailoverRole::Primary { .. }, SwapAnswer::Lost(_)) => self.decide_as_primary(rules, id),
        }
    }

    /// A replica without a role, or one that may have lost it, reads the directory.
    fn look(&mut self, rules: FailoverRules, id: FailoverReplicaId) {
        if self.replicas[id].pending_swap.is_some() {
            return;
        }
        self.replicas[id].leadership = Some(self.directory);
        match self.replicas[id].role {
            FailoverRole::Unassigned { .. } => self.decide_as_unassigned(rules, id),
            FailoverRole::Backup { .. } => (),
            FailoverRole::Primary { .. } => self.decide_as_primary(rules, id),
        }
    }

    /// `Backup::swap` and `Replication::request_swap`: sends the wanted swap, again as it was.
    fn swap(&mut self, rules: FailoverRules, id: FailoverReplicaId) {
        let it = &self.replicas[id];
        let Some(leadership) = it.leadership else { return };
        match it.role {
            FailoverRole::Backup { acking: false, .. } => {
                let skips = rules.is(FailoverFlaw::PromoteUnsynced) || rules.breaks(Rule::StopAckBeforeSwap);
                if it.persisted() == it.log.len() || skips {
                    self.ask(id, leadership.next(id, None));
                }
            }
            FailoverRole::Primary { mode: FailoverMode::Naming(follower), .. } => {
                self.ask(id, leadership.next(id, Some(follower.id)));
            }
            FailoverRole::Primary { mode: FailoverMode::Syncing(follower), epoch, announced } => {
                if announced <= it.persisted() || rules.is(FailoverFlaw::LeaveUnsynced) {
                    let mode = FailoverMode::Leaving(follower);
                    self.replicas[id].role = FailoverRole::Primary { epoch, mode, announced };
                    self.ask(id, leadership.next(id, None));
                }
            }
            FailoverRole::Primary { mode: FailoverMode::Leaving(_), .. } => {
                self.ask(id, leadership.next(id, None))
            }
            _ => (),
        }
    }

    // A replica without a role.

    /// Mirrors `Unassigned::send_log_end` of the code.
    fn report_standing(&mut self, id: FailoverReplicaId) {
        let said = self.standing_of(id);
        for other in (0..self.replicas.len()).filter(|&other| other != id) {
            let link = self.link_mut(id, other);
            if !link.iter().any(|it| matches!(it, FailoverMsg::Standing { .. })) {
                link.push(said.clone());
            }
        }
    }

    fn standing_of(&self, id: FailoverReplicaId) -> FailoverMsg {
        let it = &self.replicas[id];
        let (last, index) = it.standing();
        FailoverMsg::Standing { epoch_known: it.leadership.map_or(0, |it| it.epoch), last, index }
    }

    /// Mirrors `Unassigned::on_leadership_read` of the code.
    fn decide_as_unassigned(&mut self, rules: FailoverRules, id: FailoverReplicaId) {
        let it = &self.replicas[id];
        let (Some(leadership), FailoverRole::Unassigned { others }) = (it.leadership, it.role) else {
            return;
        };
        if rules.breaks(Rule::RestartLosesRole) && leadership.primary == id && !it.log.is_empty() {
            return self.begin_leadership(rules, id, leadership);
        }
        if rules.breaks(Rule::RestartedBackupRejoins) && leadership.backup == Some(id) {
            return self.follow(id, leadership.epoch, leadership.primary);
        }
        let partner = match leadership {
            FailoverLeadership { primary, backup: None, .. } if primary == id => {
                return self.claim(rules, id, leadership);
            }
            FailoverLeadership { primary, backup: Some(partner), .. } if primary == id => partner,
            FailoverLeadership { primary, backup: Some(backup), .. } if backup == id => primary,
            _ => return,
        };
        let mine = it.standing();
        let is_fresh = |it: &StandingReport| it.0 == leadership.epoch;
        let longer = match others[partner].filter(is_fresh).map(|it| it.1) {
            Some(theirs) if rules.breaks(Rule::LongerLogWins) => (mine, id) < (theirs, partner),
            Some(theirs) => (theirs, partner) < (mine, id),
            None => false,
        };
        if longer {
            self.claim(rules, id, leadership);
        }
    }

    /// Mirrors `Unassigned::claim_leadership` of the code.
    fn claim(&mut self, rules: FailoverRules, id: FailoverReplicaId, leadership: FailoverLeadership) {
        let it = &self.replicas[id];
        let is_synced = it.persisted() == it.log.len() || rules.is(FailoverFlaw::ClaimUnsynced);
        if is_synced && !(it.log.is_empty() && 1 < leadership.epoch) {
            self.ask(id, leadership.next(id, None));
        }
    }

    // Peers.

    fn on_replica_message(
        &mut self,
        rules: FailoverRules,
        from: FailoverReplicaId,
        to: FailoverReplicaId,
        msg: FailoverMsg,
    ) {
        match self.replicas[to].role {
            FailoverRole::Unassigned { .. } => self.on_peer_as_unassigned(rules, from, to, msg),
            FailoverRole::Backup { epoch, primary, acking } => {
                self.on_peer_as_backup(rules, from, to, (epoch, primary, acking), msg);
            }
            FailoverRole::Primary { .. } => match msg {
                FailoverMsg::Acked { epoch, index, synced } => {
                    self.on_acked(rules, from, to, epoch, index, synced)
                }
                FailoverMsg::Missing { epoch, after } => self.on_missing(from, to, epoch, after),
                FailoverMsg::Standing { last, index, .. } => self.on_standing(rules, from, to, last, index),
                // `FailoverAction::Look` stands for the consequences of these.
                FailoverMsg::Append { .. } | FailoverMsg::Copy { .. } | FailoverMsg::Follow { .. } => (),
            },
        }
    }

    /// Mirrors `Unassigned::on_replica_message` of the code.
    fn on_peer_as_unassigned(
        &mut self,
        rules: FailoverRules,
        from: FailoverReplicaId,
        id: FailoverReplicaId,
        msg: FailoverMsg,
    ) {
        let it = &mut self.replicas[id];
        let leadership = it.leadership;
        let is_primary = |epoch| leadership.is_some_and(|it| it.epoch <= epoch && it.primary == from);
        match msg {
            FailoverMsg::Standing { epoch_known, last, index } => {
                if let FailoverRole::Unassigned { others } = &mut it.role {
                    others[from] = Some((epoch_known, (last, index)));
                }
            }
            FailoverMsg::Copy { epoch, log } if is_primary(epoch) => {
                it.log = log;
                self.follow(id, epoch, from);
            }
            FailoverMsg::Follow { epoch, last, index } if is_primary(epoch) => {
                if it.standing() == (last, index) {
                    self.follow(id, epoch, from);
                }
            }
            FailoverMsg::Append { epoch, first, .. }
                if is_primary(epoch) && rules.is(FailoverFlaw::FollowMidway) =>
            {
                if first <= it.log.len() + 1 {
                    self.follow(id, epoch, from);
                }
            }
            _ => (),
        }
    }

    /// Mirrors `Backup::begin` of the code.
    fn follow(&mut self, id: FailoverReplicaId, epoch: u8, primary: FailoverReplicaId) {
        self.replicas[id].role = FailoverRole::Backup { epoch, primary, acking: true };
        self.ack(id);
    }

    fn ack(&mut self, id: FailoverReplicaId) {
        let it = &self.replicas[id];
        let FailoverRole::Backup { epoch, primary, .. } = it.role else { return };
        let (index, synced) = (it.log.len(), it.persisted());
        self.link_mut(id, primary).push(FailoverMsg::Acked { epoch, index, synced });
    }

    /// Mirrors `Backup::on_replica_message` of the code.
    fn on_peer_as_backup(
        &mut self,
        rules: FailoverRules,
        from: FailoverReplicaId,
        id: FailoverReplicaId,
        was: (u8, FailoverReplicaId, bool),
        msg: FailoverMsg,
    ) {
        let (known, primary, acking) = was;
        let it = &mut self.replicas[id];
        match msg {
            FailoverMsg::Standing { .. } if from == primary => self.suspect(rules, id, true),
            FailoverMsg::Append { epoch, first, records } if known <= epoch && from == primary => {
                it.role = FailoverRole::Backup { epoch, primary, acking };
                self.on_append(rules, id, first, &records);
            }
            FailoverMsg::Copy { epoch, log } if known <= epoch && from == primary => {
                it.role = FailoverRole::Backup { epoch, primary, acking };
                if it.log.len() < log.len() {
                    it.log = log;
                    self.ack(id);
                }
            }
            FailoverMsg::Follow { epoch, .. } if known <= epoch && from == primary => {
                it.role = FailoverRole::Backup { epoch, primary, acking };
            }
            _ => (),
        }
    }

    /// Mirrors `Backup::on_append` of the code.
    fn on_append(
        &mut self,
        rules: FailoverRules,
        id: FailoverReplicaId,
        first: usize,
        records: &[FailoverRecord],
    ) {
        let it = &mut self.replicas[id];
        let FailoverRole::Backup { epoch, primary, acking } = it.role else { return };
        if !acking && !rules.breaks(Rule::StopAckBeforeSwap) {
            return;
        }
        let after = it.log.len();
        if after + 1 < first {
            if !rules.is(FailoverFlaw::HideGap) {
                self.link_mut(id, primary).push(FailoverMsg::Missing { epoch, after });
            }
            return;
        }
        it.log.extend(records.iter().skip(after + 1 - first));
        self.ack(id);
    }

    /// Mirrors `Backup::resume` of the code.
    fn resume(&mut self, rules: FailoverRules, id: FailoverReplicaId) {
        let it = &mut self.replicas[id];
        let FailoverRole::Backup { epoch, primary, acking: false } = it.role else { return };
        it.role = FailoverRole::Backup { epoch, primary, acking: true };
        let after = it.log.len();
        self.ack(id);
        if !rules.is(FailoverFlaw::HideGap) {
            self.link_mut(id, primary).push(FailoverMsg::Missing { epoch, after });
        }
    }

    /// Mirrors `Backup::suspect` of the code.
    fn suspect(&mut self, rules: FailoverRules, id: FailoverReplicaId, silent: bool) {
        let FailoverRole::Backup { epoch, acking, .. } = self.replicas[id].role else { return };
        if rules.breaks(Rule::PromoteBySwap) {
            return self.begin_leadership(
                rules,
                id,
                FailoverLeadership { epoch: epoch + 1, primary: id, backup: None },
            );
        }
        if acking && self.replicas[id].pending_swap.is_none() {
            self.replicas[id].leadership = Some(self.directory);
            self.decide_as_backup(rules, id, silent);
        }
    }

    /// Mirrors `Backup::on_leadership_read` of the code.
    fn decide_as_backup(&mut self, rules: FailoverRules, id: FailoverReplicaId, silent: bool) {
        let it = &mut self.replicas[id];
        let (Some(leadership), FailoverRole::Backup { epoch, primary, acking }) = (it.leadership, it.role)
        else {
            return;
        };
        if leadership.primary == id && !acking {
            return self.begin_leadership(rules, id, leadership);
        }
        if leadership.primary != primary || leadership.backup != Some(id) && silent {
            it.role = UNASSIGNED;
            return;
        }
        if leadership.backup != Some(id) {
            return self.resume(rules, id);
        }
        let epoch = if rules.is(FailoverFlaw::HideGap) { epoch.max(leadership.epoch) } else { epoch };
        it.role = FailoverRole::Backup { epoch, primary, acking: acking && !silent };
        if silent {
            self.swap(rules, id);
        } else {
            self.resume(rules, id);
        }
    }

    // Primary.

    /// Mirrors `Primary::begin` of the code.
    fn begin_leadership(
        &mut self,
        rules: FailoverRules,
        id: FailoverReplicaId,
        leadership: FailoverLeadership,
    ) {
        if !self.replicas[id].log.starts_with(&self.announced_records) {
            self.record_violation(FailoverViolation::Forgot);
        }
        let head = self.replicas[id].log.len();
        let mode = match leadership.backup {
            Some(backup) if rules.breaks(Rule::RestartLosesRole) => FailoverMode::Paired(FailoverFollower {
                id: backup,
                since: leadership.epoch,
                confirmed: false,
                sent: head,
                acked: head,
                synced: 0,
            }),
            _ => FailoverMode::Alone,
        };
        self.replicas[id].role = FailoverRole::Primary { epoch: leadership.epoch, mode, announced: head };
        self.write(id);
        self.after_write(rules, id);
    }

    /// `Primary::on_answer`, after a swap that was lost or a look.
    fn decide_as_primary(&mut self, rules: FailoverRules, id: FailoverReplicaId) {
        let it = &mut self.replicas[id];
        let (Some(leadership), FailoverRole::Primary { epoch, .. }) = (it.leadership, it.role) else {
            return;
        };
        if leadership.primary != id {
            it.role = UNASSIGNED;
        } else if epoch < leadership.epoch {
            self.continue_leadership(rules, id, leadership);
        }
    }

    /// Mirrors `Primary::begin_epoch` of the code.
    fn continue_leadership(
        &mut self,
        rules: FailoverRules,
        id: FailoverReplicaId,
        leadership: FailoverLeadership,
    ) {
        let FailoverRole::Primary { mode, announced, .. } = self.replicas[id].role else { return };
        let mode = match (mode, leadership.backup) {
            (FailoverMode::Naming(follower), Some(backup)) if follower.id == backup => {
                FailoverMode::Paired(follower)
            }
            _ => FailoverMode::Alone,
        };
        self.replicas[id].role = FailoverRole::Primary { epoch: leadership.epoch, mode, announced };
        self.write(id);
        self.after_write(rules, id);
    }

    /// Mirrors `commit` of the code.
    fn write(&mut self, id: FailoverReplicaId) {
        let it = &mut self.replicas[id];
        let FailoverRole::Primary { epoch, .. } = it.role else { return };
        it.log.push(FailoverRecord { epoch, writer: id, life: it.life });
    }

    fn after_write(&mut self, rules: FailoverRules, id: FailoverReplicaId) {
        self.send_records(id);
        self.advance(rules, id);
    }

    fn send_records(&mut self, id: FailoverReplicaId) {
        let it = &mut self.replicas[id];
        let FailoverRole::Primary { epoch, mut mode, announced } = it.role else { return };
        let Some(follower) = mode.follower().filter(|follower| follower.confirmed) else { return };
        let (first, to) = (follower.sent + 1, follower.id);
        let records = it.log.get(follower.sent..).unwrap_or_default().to_vec();
        if !records.is_empty() {
            follower.sent = it.log.len();
            it.role = FailoverRole::Primary { epoch, mode, announced };
            self.link_mut(id, to).push(FailoverMsg::Append { epoch, first, records });
        }
    }

    /// Mirrors `Primary::on_acked` of the code.
    fn on_acked(
        &mut self,
        rules: FailoverRules,
        from: FailoverReplicaId,
        id: FailoverReplicaId,
        epoch: u8,
        index: usize,
        synced: usize,
    ) {
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

    /// Mirrors `Primary::on_missing` of the code.
    fn on_missing(&mut self, from: FailoverReplicaId, id: FailoverReplicaId, epoch: u8, after: usize) {
        let Some(follower) = self.replicas[id].follower() else { return };
        if follower.id != from || epoch < follower.since || !follower.confirmed {
            return;
        }
        if follower.acked <= after && after < follower.sent {
            follower.sent = after;
            self.send_records(id);
        }
    }

    /// Mirrors `Replication::name_if_ready` of the code.
    fn seek_name(&mut self, rules: FailoverRules, id: FailoverReplicaId) {
        let FailoverRole::Primary { mode, announced, .. } = &mut self.replicas[id].role else { return };
        if let FailoverMode::Recruiting(follower) = *mode
            && follower.confirmed
        {
            *mode = FailoverMode::Reaching(follower);
        }
        if let FailoverMode::Reaching(follower) = *mode
            && *announced <= follower.acked
        {
            *mode = FailoverMode::Naming(follower);
            self.swap(rules, id);
        }
    }

    /// Mirrors `Primary::lose_follower` of the code.
    fn lose_follower(&mut self, rules: FailoverRules, id: FailoverReplicaId) {
        let FailoverRole::Primary { epoch, mode, .. } = &mut self.replicas[id].role else { return };
        match *mode {
            FailoverMode::Paired(_) if rules.breaks(Rule::SoloBySwap) => {
                let alone = FailoverLeadership { epoch: *epoch + 1, primary: id, backup: None };
                self.continue_leadership(rules, id, alone);
            }
            FailoverMode::Paired(follower) => {
                *mode = FailoverMode::Syncing(follower);
                self.swap(rules, id);
            }
            FailoverMode::Recruiting(_) | FailoverMode::Reaching(_) => {
                *mode = FailoverMode::Alone;
                self.advance(rules, id);
            }
            FailoverMode::Naming(_)
            | FailoverMode::Syncing(_)
            | FailoverMode::Leaving(_)
            | FailoverMode::Alone => self.swap(rules, id),
        }
    }

    /// Mirrors `Primary::on_heard` of the code.
    fn return_to_paired(&mut self, id: FailoverReplicaId) {
        if let FailoverRole::Primary { mode, .. } = &mut self.replicas[id].role
            && let FailoverMode::Syncing(follower) = *mode
        {
            *mode = FailoverMode::Paired(follower);
        }
    }

    /// Mirrors `Primary::on_standing` of the code.
    fn on_standing(
        &mut self,
        rules: FailoverRules,
        from: FailoverReplicaId,
        id: FailoverReplicaId,
        last: u8,
        index: usize,
    ) {
        let is_unanswered = self.link(id, from).is_empty();
        let FailoverRole::Primary { mode, .. } = &mut self.replicas[id].role else { return };
        match *mode {
            FailoverMode::Alone => self.recruit(rules, from, id, last, index),
            FailoverMode::Naming(follower)
            | FailoverMode::Paired(follower)
            | FailoverMode::Syncing(follower)
            | FailoverMode::Leaving(follower)
                if follower.id == from =>
            {
                self.lose_follower(rules, id);
            }
            // The primary waited in vain: its message has arrived, and led to nothing.
            FailoverMode::Recruiting(follower) if follower.id == from && is_unanswered => {
                self.recruit(rules, from, id, last, index);
            }
            FailoverMode::Reaching(follower)
                if follower.id == from && !rules.is(FailoverFlaw::IgnoreLostRole) =>
            {
                self.recruit(rules, from, id, last, index);
            }
            _ => (),
        }
    }

    /// Mirrors `Primary::recruit` of the code.
    fn recruit(
        &mut self,
        rules: FailoverRules,
        from: FailoverReplicaId,
        id: FailoverReplicaId,
        last: u8,
        index: usize,
    ) {
        let it = &mut self.replicas[id];
        let FailoverRole::Primary { epoch, announced, .. } = it.role else { return };
        let keeps = rules.breaks(Rule::DropUnacknowledgedSuffix) && 0 < index;
        let (at, msg) = if it.has(last, index) || keeps {
            (index, FailoverMsg::Follow { epoch, last, index })
        } else {
            (it.log.len(), FailoverMsg::Copy { epoch, log: it.log.clone() })
        };
        let follower =
            FailoverFollower { id: from, since: epoch, confirmed: false, sent: at, acked: at, synced: 0 };
        it.role = FailoverRole::Primary { epoch, mode: FailoverMode::Recruiting(follower), announced };
        self.link_mut(id, from).push(msg);
        self.advance(rules, id);
    }

    /// `Core::disk_done`, then `on_persisted` of the role.
    fn sync(&mut self, rules: FailoverRules, id: FailoverReplicaId) {
        let it = &mut self.replicas[id];
        it.disk = it.log.clone();
        match it.role {
            FailoverRole::Backup { acking: true, .. } if rules.durability == Durability::Synced => {
                self.ack(id)
            }
            FailoverRole::Primary { .. } => self.advance(rules, id),
            _ => (),
        }
        self.swap(rules, id);
    }

    /// Mirrors `Replication::safe` of the code.
    fn committed(&self, rules: FailoverRules, id: FailoverReplicaId) -> usize {
        let it = &self.replicas[id];
        let FailoverRole::Primary { mode, .. } = it.role else { return 0 };
        let (head, persisted) = (it.log.len(), it.persisted());
        if rules.breaks(Rule::AnnounceAfterAck) {
            return head;
        }
        let paired = |follower: FailoverFollower| match rules.durability {
            Durability::Synced => follower.acked.min(follower.synced).min(persisted),
            Durability::Batched | Durability::Lazy => follower.acked,
        };
        let committed = match mode {
            FailoverMode::Alone | FailoverMode::Recruiting(_) if rules.breaks(Rule::SoloWaitsForDisk) => head,
            FailoverMode::Alone | FailoverMode::Recruiting(_) => persisted,
            FailoverMode::Reaching(_) | FailoverMode::Naming(_) if rules.breaks(Rule::NamedBackupCounts) => {
                persisted
            }
            FailoverMode::Reaching(follower) | FailoverMode::Naming(follower) => {
                follower.acked.min(persisted)
            }
            FailoverMode::Syncing(follower) | FailoverMode::Leaving(follower)
                if !rules.is(FailoverFlaw::LeaveUnsynced) =>
            {
                follower.acked.min(persisted)
            }
            FailoverMode::Paired(follower)
            | FailoverMode::Syncing(follower)
            | FailoverMode::Leaving(follower) => paired(follower),
        };
        committed.min(head)
    }

    /// Mirrors `Primary::advance` of the code.
    fn advance(&mut self, rules: FailoverRules, id: FailoverReplicaId) {
        let committed = self.committed(rules, id);
        let FailoverRole::Primary { epoch, announced, .. } = &mut self.replicas[id].role else { return };
        if committed <= *announced {
            return;
        }
        *announced = committed;
        let epoch = *epoch;
        self.announce(id, epoch, committed);
    }

    // Announcements, and those that must not be.

    /// Everything up to a record is announced: inherited records with the first own one.
    fn announce(&mut self, id: FailoverReplicaId, epoch: u8, committed: usize) {
        let it = &self.replicas[id];
        let (life, announcing) = (it.life, it.log[..committed].to_vec());
        if !announcing.starts_with(&self.announced_records)
            && !self.announced_records.starts_with(&announcing)
        {
            return self.record_violation(FailoverViolation::TwoHistories);
        }
        if self.announced_records.len() < announcing.len() {
            let successor = self.directory.primary;
            if !self.replicas[successor].log.starts_with(&announcing) {
                self.record_violation(FailoverViolation::Deposed);
            }
            self.announced_records = announcing;
        }
        if *self.announcers.entry(epoch).or_insert((id, life)) != (id, life) {
            self.record_violation(FailoverViolation::TwoPrimaries);
        }
    }

    fn record_violation(&mut self, violation: FailoverViolation) {
        self.violation = self.violation.or(Some(violation));
    }

    // Rest.

    /// A backup whose primary does not send to it. (A slow link is a false alarm.)
    pub(super) fn is_forgotten(&self, id: FailoverReplicaId) -> bool {
        let FailoverRole::Backup { primary, epoch: known, .. } = self.replicas[id].role else { return false };
        if !self.link(primary, id).is_empty() {
            return false;
        }
        match self.replicas[primary].role {
            FailoverRole::Primary { mut mode, epoch, .. } => {
                epoch < known || mode.follower().is_none_or(|it| it.id != id)
            }
            _ => true,
        }
    }

    /// A primary that another replica has replaced. It finds out: the new primary's messages name its epoch.
    pub(super) fn is_deposed(&self, id: FailoverReplicaId) -> bool {
        matches!(self.replicas[id].role, FailoverRole::Primary { .. }) && self.directory.primary != id
    }

    /// A primary whose follower does not answer: beacons, which a replica without a role answers, too; or, as long as
    /// it has acknowledged nothing, the invitation.
    pub(super) fn is_unheard(&self, rules: FailoverRules, id: FailoverReplicaId) -> bool {
        let FailoverRole::Primary { mut mode, epoch, .. } = self.replicas[id].role else { return false };
        let Some(&mut FailoverFollower { id: other, confirmed, .. }) = mode.follower() else { return false };
        if !self.link(other, id).is_empty() || !self.link(id, other).is_empty() {
            return false;
        }
        if !confirmed && !rules.is(FailoverFlaw::InviteOnce) {
            return true;
        }
        match self.replicas[other].role {
            FailoverRole::Backup { primary, epoch: known, .. } => primary != id || epoch < known,
            FailoverRole::Unassigned { .. } => {
                self.replicas[other].leadership.is_none_or(|it| it.primary != id || epoch < it.epoch)
            }
            FailoverRole::Primary { .. } => true,
        }
    }

    /// There are a primary and a backup, and every record has been announced.
    pub(super) fn is_paired_and_announced(&self) -> bool {
        let FailoverLeadership { epoch: now, primary, backup } = self.directory;
        let FailoverRole::Primary { epoch, mode: FailoverMode::Paired(follower), announced } =
            self.replicas[primary].role
        else {
            return false;
        };
        let role = self.replicas[follower.id].role;
        let follows = matches!(role, FailoverRole::Backup { primary: it, .. } if it == primary);
        epoch == now
            && backup == Some(follower.id)
            && follows
            && announced == self.replicas[primary].log.len()
    }

    /// True if nothing happens any more without a fault or a player's action.
    pub(super) fn is_at_rest(&self, rules: FailoverRules) -> bool {
        let is_quiet = self.links.iter().all(Vec::is_empty)
            && self.late.is_empty()
            && self.replicas.iter().all(|it| it.pending_swap.is_none() && it.disk == it.log);
        is_quiet && (0..self.replicas.len()).all(|id| self.is_at_rest_at(rules, id))
    }

    fn is_at_rest_at(&self, rules: FailoverRules, id: FailoverReplicaId) -> bool {
        let changes = |step: &dyn Fn(&mut Self)| {
            let mut next = self.clone();
            step(&mut next);
            next != *self
        };
        let is_unassigned = matches!(self.replicas[id].role, FailoverRole::Unassigned { .. });
        let looks = is_unassigned || self.is_deposed(id);
        if looks && changes(&|it| it.look(rules, id)) || changes(&|it| it.swap(rules, id)) {
            return false;
        }
        if self.is_forgotten(id) || self.is_unheard(rules, id) && changes(&|it| it.lose_follower(rules, id)) {
            return false;
        }
        let hears = |other| changes(&|it| it.on_replica_message(rules, id, other, self.standing_of(id)));
        !(is_unassigned && (0..self.replicas.len()).any(|other| other != id && hears(other)))
    }
}
