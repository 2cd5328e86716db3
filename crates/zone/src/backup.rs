//! The backup: it stores the records that the primary sends, acknowledges them, and takes over when the primary is
//! silent.
//!
//! It acknowledges until it prepares the swap that would make it primary, and again only after it has read that the
//! swap failed. So a primary that still gets acknowledgements still leads.
//!
//! It sends the swap only when its whole log is on its disk. From the moment the swap may happen, its disk alone stands
//! for everything that was announced: if its host crashes, it comes back from there.

use crate::config::{Durability, LATE_MAX};
use crate::core::{Core, DirectoryAnswer, DirectoryQuery, ReplicaOutbox, ReplicaTimer};
use crate::hash;
use crate::lateness::{extended, extension};
use crate::msg::BetweenReplicas;
use crate::note::Note;
use crate::primary::broken;
use crate::record::{Index, Record};
use crate::replica::Transition;
use crate::rule::Rule;
use crate::zone_state::StateSnapshot;
use machine::{Address, Lane, Span, Time};
use serde_bytes::ByteBuf;
use space::Epoch;
use std::sync::Arc;

/// The role of a replica that follows a primary.
#[derive(Debug)]
pub(crate) struct Backup {
    pub(crate) epoch: Epoch,
    primary: Address,
    /// Own time at which the primary was heard last.
    heard: Time,
    /// How late the primary is, as it told last.
    told_late: Span,
    /// False between preparing a swap and knowing that it failed. Nothing is stored then, either.
    acking: bool,
    /// Own time for which the next check for silence is set.
    next_check: Time,
    snapshot: SnapshotAssembly,
}

impl Backup {
    /// Begins to follow. The first acknowledgement tells the primary where to go on.
    pub(crate) fn begin(core: &mut Core, epoch: Epoch, primary: Address, out: &mut ReplicaOutbox) -> Self {
        let next_check = core.now + core.config.timing.grace;
        core.timers.set(ReplicaTimer::Suspect, next_check);
        core.plan_append();
        let it = Self {
            epoch,
            primary,
            heard: core.now,
            told_late: Span::ZERO,
            acking: true,
            next_check,
            snapshot: SnapshotAssembly::default(),
        };
        it.ack(core, out);
        it
    }

    pub(crate) fn on_replica_message(
        &mut self,
        core: &mut Core,
        from: Address,
        epoch: Epoch,
        msg: BetweenReplicas,
        out: &mut ReplicaOutbox,
    ) -> Transition {
        if let BetweenReplicas::LogEnd { .. } = msg {
            if from == self.primary {
                // The primary has restarted or leaves: no need to wait for its silence.
                self.told_late = Span::ZERO;
                self.heard = self.heard.min(core.now - core.config.timing.grace);
                self.read_leadership(core, out);
            }
            return Transition::Stay;
        }
        if epoch < self.epoch || from != self.primary {
            return Transition::Stay; // From an epoch that is over, or from a replica that we do not follow.
        }
        // The same primary may lead in a later epoch, for instance since it has named us backup.
        self.epoch = epoch;
        self.heard = core.now;
        match msg {
            BetweenReplicas::Append { first, records } => return self.on_append(core, first, &records, out),
            BetweenReplicas::Beacon { sent, late } => {
                self.told_late = late;
                let (synced, late, grace) = (core.disk.persisted, core.lateness(), self.grace(core));
                let heard = BetweenReplicas::Heard { sent, synced, late, grace };
                core.send_replica(from, Core::latest_lane(1), epoch, heard, out);
            }
            BetweenReplicas::Motions(motions) => {
                for (object, motion) in motions {
                    core.state.update_motion(object, &motion);
                }
            }
            // Late, or sent again: what we have is newer.
            BetweenReplicas::Copy { index, .. } if index <= core.log.head() => (),
            BetweenReplicas::Copy { index, offset, total, bytes } => {
                if let Some((snapshot, bytes)) = self.snapshot.take(index, offset, total, &bytes) {
                    core.install(snapshot, bytes, out);
                    self.ack(core, out);
                }
            }
            // The primary does not know that we follow already.
            BetweenReplicas::Follow { .. } if self.acking => self.ack(core, out),
            // Messages to a primary or to a replica without a role, from before the roles changed.
            BetweenReplicas::Acked { .. }
            | BetweenReplicas::Heard { .. }
            | BetweenReplicas::LogEnd { .. }
            | BetweenReplicas::Follow { .. }
            | BetweenReplicas::Missing { .. } => (),
        }
        Transition::Stay
    }

    fn on_append(
        &mut self,
        core: &mut Core,
        first: Index,
        records: &[ByteBuf],
        out: &mut ReplicaOutbox,
    ) -> Transition {
        if !self.acking && core.enforces(Rule::StopAckBeforeSwap) {
            return Transition::Stay;
        }
        // A record before these was lost with a link: the log must have no gap.
        if core.log.head() + 1 < first {
            let after = core.log.head();
            core.send_replica(self.primary, Lane::Sure, self.epoch, BetweenReplicas::Missing { after }, out);
            return Transition::Stay;
        }
        for (index, bytes) in (first..).zip(records) {
            if index <= core.log.head() {
                continue; // Sent again, and stored already.
            }
            if let Err(why) = store(core, bytes, out) {
                return Transition::Break(why);
            }
        }
        if core.config.durability == Durability::Synced {
            core.write_disk(out);
        }
        self.ack(core, out);
        core.plan_append();
        Transition::Stay
    }

    pub(crate) fn on_persisted(&mut self, core: &mut Core, out: &mut ReplicaOutbox) {
        if !self.acking {
            self.swap(core, out); // The swap may have waited for the disk.
        }
        if core.config.durability == Durability::Synced {
            core.write_disk(out);
            if self.acking {
                self.ack(core, out);
            }
        }
    }

    pub(crate) fn on_timer(
        &mut self,
        core: &mut Core,
        timer: ReplicaTimer,
        out: &mut ReplicaOutbox,
    ) -> Transition {
        match timer {
            ReplicaTimer::Suspect => return self.suspect(core, out),
            ReplicaTimer::DiskBatch => {
                core.write_disk(out);
                core.trim_log(Index::MAX); // No other replica needs records from a backup.
                core.plan_append(); // The disk may be busy, or take less than all at once.
            }
            // The question was not answered: once more. After a swap only the same swap: it may have happened.
            ReplicaTimer::Ask if self.acking => self.read_leadership(core, out),
            ReplicaTimer::Ask => self.swap(core, out),
            _ => (),
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
            DirectoryAnswer::Unknown(DirectoryQuery::Read) => {
                core.wake_after(ReplicaTimer::Ask, core.config.timing.ask);
                Transition::Stay
            }
            DirectoryAnswer::Unknown(DirectoryQuery::Swap(_)) => {
                // No acknowledgement until the next answer tells: the swap may still happen.
                if !core.enforces(Rule::UnknownSwapMayHappen) {
                    self.acking = true;
                }
                core.wake_after(ReplicaTimer::Ask, core.config.timing.ask);
                Transition::Stay
            }
        }
    }

    /// Time for which the primary may be silent: longer while it tells that it is late, within a bound.
    pub(crate) fn grace(&self, core: &Core) -> Span {
        let grace = core.config.timing.grace;
        if core.enforces(Rule::LatenessIsBounded) {
            extended(grace, self.told_late)
        } else {
            grace + extension(self.told_late).times(1_000)
        }
    }

    /// Whether the primary is silent. While its own host hangs in part, a backup does not know.
    fn is_silent(&self, core: &Core) -> bool {
        core.held_until() <= core.now && self.grace(core) <= core.now.since(self.heard)
    }

    /// Checks whether the primary is silent. A backup that slept itself cannot tell, and waits on.
    fn suspect(&mut self, core: &mut Core, out: &mut ReplicaOutbox) -> Transition {
        let grace = self.grace(core);
        let slept = self.next_check + LATE_MAX < core.now;
        if slept {
            // Messages of the primary may wait unread: give them a moment to be read first.
            self.heard = self.heard.max(core.now - LATE_MAX);
        }
        let silent = self.is_silent(core);
        if silent {
            if !core.enforces(Rule::PromoteBySwap) {
                return broken::promoted_without_swap(core, self.epoch, self.primary);
            }
            self.read_leadership(core, out);
        }
        // Later where the host holds the replica back.
        self.next_check = if silent { core.now + grace } else { (self.heard + grace).max(core.held_until()) };
        core.timers.set(ReplicaTimer::Suspect, self.next_check);
        Transition::Stay
    }

    fn read_leadership(&self, core: &mut Core, out: &mut ReplicaOutbox) {
        if self.acking {
            core.ask_directory(DirectoryQuery::Read, out);
        }
    }

    /// Decides what to do about the leadership that was read.
    fn on_leadership_read(&mut self, core: &mut Core, out: &mut ReplicaOutbox) -> Transition {
        let Some(entry) = core.leadership else { return Transition::LoseRole };
        let me = core.config.me;
        if entry.primary == me && !self.acking {
            return Transition::Lead(entry); // Our swap had happened after all.
        }
        if entry.primary != self.primary {
            return Transition::LoseRole; // Another replica leads.
        }
        if entry.backup != Some(me) {
            // The directory does not name us backup (yet, or any more). While the primary speaks to us it may do so.
            self.resume(core, out);
            return if self.is_silent(core) { Transition::LoseRole } else { Transition::Stay };
        }
        if self.is_silent(core) {
            self.swap(core, out);
        } else {
            self.resume(core, out);
        }
        Transition::Stay
    }

    /// Acknowledges again, and asks for the records that were not stored meanwhile.
    fn resume(&mut self, core: &Core, out: &mut ReplicaOutbox) {
        if !self.acking {
            self.acking = true;
            self.ack(core, out);
            let after = core.log.head();
            core.send_replica(self.primary, Lane::Sure, self.epoch, BetweenReplicas::Missing { after }, out);
        }
    }

    /// Prepares the swap, and sends it when everything is on disk.
    fn swap(&mut self, core: &mut Core, out: &mut ReplicaOutbox) {
        let Some(entry) = core.leadership else { return };
        self.acking = false;
        if core.is_synced() || !core.enforces(Rule::StopAckBeforeSwap) {
            core.ask_directory(DirectoryQuery::Swap(entry.next(core.config.me, None)), out);
        } else {
            core.write_disk(out);
        }
    }

    fn ack(&self, core: &Core, out: &mut ReplicaOutbox) {
        let (index, synced) = (core.log.head(), core.disk.persisted);
        core.send_replica(
            self.primary,
            Lane::Sure,
            self.epoch,
            BetweenReplicas::Acked { index, synced },
            out,
        );
    }
}

/// Takes a record from a primary into log and state.
fn store(core: &mut Core, bytes: &[u8], out: &mut ReplicaOutbox) -> Result<(), String> {
    let record = Record::from_bytes(bytes).ok_or("the primary sent a record that does not decode")?;
    core.store(&record, Arc::from(bytes)).map_err(|error| error.to_string())?;
    core.note(out, || Note::Stored { epoch: record.epoch, index: record.index, hash: hash::of(&[bytes]) });
    Ok(())
}

/// A snapshot that arrives in parts.
#[derive(Debug, Default)]
pub(crate) struct SnapshotAssembly {
    index: Index,
    bytes: Vec<u8>,
}

impl SnapshotAssembly {
    /// Adds a part. Returns the snapshot with its bytes after the last part.
    pub(crate) fn take(
        &mut self,
        index: Index,
        offset: u32,
        total: u32,
        part: &[u8],
    ) -> Option<(StateSnapshot, Vec<u8>)> {
        if offset == 0 {
            self.index = index;
            self.bytes.clear();
        }
        if self.index != index || self.bytes.len() != offset as usize {
            return None; // A part was lost with a link, or belongs to another snapshot.
        }
        self.bytes.extend_from_slice(part);
        if self.bytes.len() < total as usize {
            return None;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let snapshot = postcard::from_bytes(&bytes).ok()?;
        Some((snapshot, bytes))
    }
}
