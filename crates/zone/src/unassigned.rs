//! A replica without a role: it has just started, or another one leads.
//!
//! It loads its log from disk, reads the leadership in the directory, and tells the other replicas where its log ends.
//! A primary that is alone takes it on as the new backup. If there is no primary because all hosts were stopped, that
//! one of the last primary and backup whose log is longer becomes primary.

use crate::backup;
use crate::core::{Core, DirectoryAnswer, DirectoryQuery, ReplicaOutbox, ReplicaTimer};
use crate::leadership::Leadership;
use crate::msg::BetweenReplicas;
use crate::record::Index;
use crate::replica::Transition;
use crate::rule::Rule;
use machine::{Address, Lane};
use space::Epoch;
use std::collections::BTreeMap;

/// The role of a replica that has none.
#[derive(Debug)]
pub(crate) struct Unassigned {
    /// Whether the log was loaded from disk.
    recalled: bool,
    asked_disk: bool,
    /// The log ends of other replicas without a role, and the epoch of the leadership they knew then.
    others: BTreeMap<Address, (Epoch, (Epoch, Index))>,
    snapshot: Option<backup::SnapshotAssembly>,
    /// Doublings of the pause between two questions: it grows while primary and backup are others.
    doublings: u32,
}

/// The most doublings: with many zones on many hosts, most replicas have no role, and none may keep the directory busy.
const DOUBLINGS_MAX: u32 = 3;

impl Unassigned {
    pub(crate) const fn starting() -> Self {
        Self { recalled: false, asked_disk: false, others: BTreeMap::new(), snapshot: None, doublings: 0 }
    }

    pub(crate) fn after_losing_role(core: &mut Core) -> Self {
        core.wake_after(ReplicaTimer::Ask, core.config.timing.ask);
        Self { recalled: true, asked_disk: true, others: BTreeMap::new(), snapshot: None, doublings: 0 }
    }

    pub(crate) fn on_recalled(&mut self, core: &mut Core, out: &mut ReplicaOutbox) -> Transition {
        self.recalled = true;
        core.ask_directory(DirectoryQuery::Read, out);
        Transition::Stay
    }

    pub(crate) fn on_timer(
        &mut self,
        core: &mut Core,
        timer: ReplicaTimer,
        out: &mut ReplicaOutbox,
    ) -> Transition {
        if timer != ReplicaTimer::Ask {
            return Transition::Stay;
        }
        // Random, so that replicas that started together do not keep asking together.
        let jitter = machine::Span::from_micros(core.rng.below(20_000));
        let pause = core.config.timing.ask.times(1 << self.doublings);
        core.wake_after(ReplicaTimer::Ask, pause + jitter);
        // The disk first: until it answers, the replica does not know where its log ends.
        if !self.asked_disk {
            self.asked_disk = true;
            core.recall(out);
            return Transition::Stay;
        }
        if self.recalled {
            self.send_log_end(core, out);
            core.ask_directory(DirectoryQuery::Read, out);
        }
        Transition::Stay
    }

    pub(crate) fn on_answer(
        &mut self,
        core: &mut Core,
        answer: DirectoryAnswer,
        out: &mut ReplicaOutbox,
    ) -> Transition {
        match answer {
            DirectoryAnswer::Won(leadership) => Transition::Lead(leadership),
            DirectoryAnswer::Read { .. } => self.on_leadership_read(core, out),
            // Whatever happened, the next read will tell.
            DirectoryAnswer::Unknown(_) => Transition::Stay,
        }
    }

    pub(crate) fn on_replica_message(
        &mut self,
        core: &mut Core,
        from: Address,
        epoch: Epoch,
        msg: BetweenReplicas,
        out: &mut ReplicaOutbox,
    ) -> Transition {
        match msg {
            BetweenReplicas::LogEnd { epoch: last, index } => {
                self.others.insert(from, (epoch, (last, index)));
                Transition::Stay
            }
            // Everything else counts only from the primary that the directory names, and after the disk has answered.
            _ if !self.recalled
                || core.leadership.is_none_or(|it| epoch < it.epoch || it.primary != from) =>
            {
                Transition::Stay
            }
            // A sign of life for a primary whose backup we are to become.
            BetweenReplicas::Beacon { sent, .. } => {
                let (late, grace) = (core.lateness(), core.config.timing.grace);
                let heard = BetweenReplicas::Heard { sent, synced: 0, late, grace };
                core.send_replica(from, Core::latest_lane(1), epoch, heard, out);
                Transition::Stay
            }
            BetweenReplicas::Copy { index, offset, total, bytes } => {
                let parts = self.snapshot.get_or_insert_default();
                match parts.take(index, offset, total, &bytes) {
                    Some((snapshot, bytes)) => {
                        core.install(snapshot, bytes, out);
                        Transition::Follow(epoch, from)
                    }
                    None => Transition::Stay,
                }
            }
            // An invitation for an older log end does not count: the log has changed since.
            BetweenReplicas::Follow { epoch: last, index } if core.log.end() == (last, index) => {
                Transition::Follow(epoch, from)
            }
            _ => Transition::Stay,
        }
    }

    fn send_log_end(&self, core: &Core, out: &mut ReplicaOutbox) {
        let (epoch, index) = core.log.end();
        let known = core.leadership.map_or(Epoch(0), |it| it.epoch);
        for &replica in core.config.replicas.iter().filter(|&&it| it != core.config.me) {
            core.send_replica(replica, Lane::Sure, known, BetweenReplicas::LogEnd { epoch, index }, out);
        }
    }

    /// Decides what to do about the leadership that was read.
    fn on_leadership_read(&mut self, core: &mut Core, out: &mut ReplicaOutbox) -> Transition {
        let me = core.config.me;
        let Some(entry) = core.leadership else {
            // Only an empty directory and an empty log mean that there is no world yet.
            if core.config.founds && core.log.head() == 0 {
                core.ask_directory(DirectoryQuery::Swap(Leadership::first(me)), out);
            }
            return Transition::Stay;
        };
        let is_paired = entry.backup.is_some_and(|it| it != me) && entry.primary != me;
        self.doublings = if is_paired { DOUBLINGS_MAX.min(self.doublings + 1) } else { 0 };
        if !core.enforces(Rule::RestartLosesRole) && entry.primary == me && 0 < core.log.head() {
            return Transition::Lead(entry);
        }
        if !core.enforces(Rule::RestartedBackupRejoins) && entry.backup == Some(me) {
            return Transition::Follow(entry.epoch, entry.primary);
        }
        // A primary that has just won this swap without hearing so finds itself here, too: its log is what it
        // was when it asked, so it may as well begin anew.
        let partner = match entry {
            Leadership { primary, backup: None, .. } if primary == me => {
                return self.claim_leadership(core, entry, out);
            }
            Leadership { primary, backup: Some(partner), .. } if primary == me => partner,
            Leadership { primary, backup: Some(backup), .. } if backup == me => primary,
            _ => return Transition::Stay,
        };
        let mine = core.log.end();
        // A log end from another epoch is out of date: the partner may have had a role since.
        let theirs = self.others.get(&partner).filter(|it| it.0 == entry.epoch).map(|it| it.1);
        let longer = match theirs {
            Some(theirs) if !core.enforces(Rule::LongerLogWins) => (mine, me) < (theirs, partner),
            Some(theirs) => (theirs, partner) < (mine, me),
            // The partner is not back. Its log may be the longer one, so only the operator can decide to go on without.
            None => core.config.force,
        };
        if longer { self.claim_leadership(core, entry, out) } else { Transition::Stay }
    }

    fn claim_leadership(&self, core: &mut Core, entry: Leadership, out: &mut ReplicaOutbox) -> Transition {
        if core.log.head() == 0 && 1 < entry.epoch.0 {
            // The world's log is not here. To lead an empty world would be to lose it for good.
            return Transition::Stay;
        }
        if core.is_synced() {
            core.ask_directory(DirectoryQuery::Swap(entry.next(core.config.me, None)), out);
        } else {
            core.write_disk(out); // From the swap on our disk alone stands for the world.
        }
        Transition::Stay
    }
}
