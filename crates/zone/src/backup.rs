//! A replica that follows: it stores what the primary sends, says so, and takes over when the primary is silent.
//!
//! It acknowledges until it prepares the swap that would make it primary, and again only after it has read that the
//! swap failed. So a primary that still gets acknowledgements still reigns.
//!
//! It sends the swap only when its whole log is on its disk. From the moment the swap may happen, its disk alone stands
//! for everything that was announced: if it dies, it comes back from there.

use crate::config::{Durability, LATE_MAX};
use crate::core::{Answer, Ask, Core, Out, Purpose};
use crate::hash;
use crate::msg::Peer;
use crate::note::Note;
use crate::primary::broken;
use crate::record::{Index, Record};
use crate::replica::Transition;
use crate::rule::Rule;
use crate::state::Snapshot;
use machine::{Address, Lane, Time};
use serde_bytes::ByteBuf;
use space::Epoch;
use std::sync::Arc;

/// A follower.
#[derive(Debug)]
pub(crate) struct Backup {
    pub(crate) epoch: Epoch,
    primary: Address,
    /// When the primary was heard last.
    heard: Time,
    /// Not between preparing a swap and knowing that it failed. Nothing is stored then, either.
    acking: bool,
    /// When the next look for silence was meant to be.
    expected: Time,
    copy: CopyIn,
}

impl Backup {
    /// Begins to follow. The first acknowledgement tells the primary where to go on.
    pub(crate) fn begin(core: &mut Core, epoch: Epoch, primary: Address, out: &mut Out) -> Self {
        let expected = core.now + core.config.timing.grace;
        core.timers.set(Purpose::Suspect, expected);
        core.wake_after(Purpose::DiskBatch, core.config.disk_pause());
        let it = Self { epoch, primary, heard: core.now, acking: true, expected, copy: CopyIn::default() };
        it.ack(core, out);
        it
    }

    pub(crate) fn on_peer(
        &mut self,
        core: &mut Core,
        from: Address,
        epoch: Epoch,
        peer: Peer,
        out: &mut Out,
    ) -> Transition {
        if let Peer::Standing { .. } = peer {
            if from == self.primary {
                // The primary has lost its memory: no need to wait for its silence.
                self.heard = self.heard.min(core.now - core.config.timing.grace);
                self.look(core, out);
            }
            return Transition::Stay;
        }
        if epoch < self.epoch || from != self.primary {
            return Transition::Stay;
        }
        self.epoch = epoch;
        self.heard = core.now;
        match peer {
            Peer::Append { first, records } => return self.on_append(core, first, &records, out),
            Peer::Beacon { sent } => core.send_peer(from, Core::key(1), epoch, Peer::Heard { sent }, out),
            Peer::Motions(motions) => {
                for (object, motion) in motions {
                    core.state.hear_motion(object, &motion);
                }
            }
            // Late, or sent again: what we have is newer.
            Peer::Copy { index, .. } if index <= core.log.head() => (),
            Peer::Copy { index, offset, total, bytes } => {
                if let Some((snapshot, bytes)) = self.copy.take(index, offset, total, &bytes) {
                    core.install(snapshot, bytes, out);
                    self.ack(core, out);
                }
            }
            // It does not know that we follow already.
            Peer::Follow { .. } if self.acking => self.ack(core, out),
            Peer::Acked { .. }
            | Peer::Heard { .. }
            | Peer::Standing { .. }
            | Peer::Follow { .. }
            | Peer::Missing { .. } => (),
        }
        Transition::Stay
    }

    fn on_append(&mut self, core: &mut Core, first: Index, records: &[ByteBuf], out: &mut Out) -> Transition {
        if !self.acking && core.enforces(Rule::StopAckBeforeSwap) {
            return Transition::Stay;
        }
        if core.log.head() + 1 < first {
            let after = core.log.head();
            core.send_peer(self.primary, Lane::Sure, self.epoch, Peer::Missing { after }, out);
            return Transition::Stay;
        }
        for (index, bytes) in (first..).zip(records) {
            if index <= core.log.head() {
                continue; // Sent again.
            }
            if let Err(why) = store(core, bytes, out) {
                return Transition::Break(why);
            }
        }
        if core.config.durability == Durability::Synced {
            core.write_disk(out);
        }
        self.ack(core, out);
        core.wake_within(Purpose::DiskBatch, core.config.disk_pause());
        Transition::Stay
    }

    pub(crate) fn on_persisted(&mut self, core: &mut Core, out: &mut Out) {
        if !self.acking {
            self.swap(core, out); // It may have waited for this.
        }
        if core.config.durability == Durability::Synced {
            core.write_disk(out);
            if self.acking {
                self.ack(core, out);
            }
        }
        core.keep_snapshot(out);
    }

    pub(crate) fn on_timer(&mut self, core: &mut Core, purpose: Purpose, out: &mut Out) -> Transition {
        match purpose {
            Purpose::Suspect => return self.suspect(core, out),
            Purpose::DiskBatch => {
                core.write_disk(out);
                core.trim(Index::MAX);
                if core.disk.written < core.log.head() {
                    core.wake_after(Purpose::DiskBatch, core.config.disk_pause());
                }
            }
            // An unanswered question: once more. A swap is only sent again as it was.
            Purpose::Ask if self.acking => self.look(core, out),
            Purpose::Ask => self.swap(core, out),
            _ => (),
        }
        Transition::Stay
    }

    pub(crate) fn on_answer(&mut self, core: &mut Core, answer: Answer, out: &mut Out) -> Transition {
        match answer {
            Answer::Won(reign) => Transition::Reign(reign),
            Answer::Looked { .. } => self.judge(core, out),
            Answer::Unknown(Ask::Look) => {
                core.wake_after(Purpose::Ask, core.config.timing.ask);
                Transition::Stay
            }
            Answer::Unknown(Ask::Swap(_)) => {
                if !core.enforces(Rule::UnknownSwapMayHappen) {
                    self.acking = true;
                }
                core.wake_after(Purpose::Ask, core.config.timing.ask);
                Transition::Stay
            }
        }
    }

    /// Is the primary silent? Only whoever was awake can tell.
    fn suspect(&mut self, core: &mut Core, out: &mut Out) -> Transition {
        let grace = core.config.timing.grace;
        let slept = self.expected + LATE_MAX < core.now;
        if slept {
            self.heard = self.heard.max(core.now - LATE_MAX);
        }
        let silent = grace <= core.now.since(self.heard);
        if silent {
            if !core.enforces(Rule::PromoteBySwap) {
                return broken::promoted_without_swap(core, self.epoch, self.primary);
            }
            self.look(core, out);
        }
        self.expected = if silent { core.now + grace } else { self.heard + grace };
        core.timers.set(Purpose::Suspect, self.expected);
        Transition::Stay
    }

    fn look(&self, core: &mut Core, out: &mut Out) {
        if self.acking {
            core.ask(Ask::Look, out);
        }
    }

    /// The directory said who reigns.
    fn judge(&mut self, core: &mut Core, out: &mut Out) -> Transition {
        let Some(entry) = core.entry else { return Transition::Resign };
        let me = core.config.me;
        if entry.primary == me && !self.acking {
            return Transition::Reign(entry); // Our swap had happened after all.
        }
        if entry.primary != self.primary {
            return Transition::Resign;
        }
        if entry.backup != Some(me) {
            // Not (yet, or any more) named. While the primary speaks to us it may still name us.
            self.resume(core, out);
            let silent = core.config.timing.grace <= core.now.since(self.heard);
            return if silent { Transition::Resign } else { Transition::Stay };
        }
        let silent = core.config.timing.grace <= core.now.since(self.heard);
        if silent {
            self.swap(core, out);
        } else {
            self.resume(core, out);
        }
        Transition::Stay
    }

    /// Acknowledges again, and asks for what was not stored meanwhile.
    fn resume(&mut self, core: &Core, out: &mut Out) {
        if !self.acking {
            self.acking = true;
            self.ack(core, out);
            let after = core.log.head();
            core.send_peer(self.primary, Lane::Sure, self.epoch, Peer::Missing { after }, out);
        }
    }

    /// Prepares the swap, and sends it when everything is on disk.
    fn swap(&mut self, core: &mut Core, out: &mut Out) {
        let Some(entry) = core.entry else { return };
        self.acking = false;
        if core.is_synced() || !core.enforces(Rule::StopAckBeforeSwap) {
            core.ask(Ask::Swap(entry.next(core.config.me, None)), out);
        } else {
            core.write_disk(out);
        }
    }

    fn ack(&self, core: &Core, out: &mut Out) {
        let (index, synced) = (core.log.head(), core.disk.persisted);
        core.send_peer(self.primary, Lane::Sure, self.epoch, Peer::Acked { index, synced }, out);
    }
}

/// Takes a record from a primary into log and state.
fn store(core: &mut Core, bytes: &[u8], out: &mut Out) -> Result<(), String> {
    let record = Record::from_bytes(bytes).ok_or("the primary sent a record that does not decode")?;
    core.store(&record, Arc::from(bytes)).map_err(|error| error.to_string())?;
    core.note(out, || Note::Stored { epoch: record.epoch, index: record.index, hash: hash::of(&[bytes]) });
    Ok(())
}

/// A snapshot that arrives in parts.
#[derive(Debug, Default)]
pub(crate) struct CopyIn {
    index: Index,
    bytes: Vec<u8>,
}

impl CopyIn {
    /// Takes a part; the snapshot, when it was the last one.
    pub(crate) fn take(
        &mut self,
        index: Index,
        offset: u32,
        total: u32,
        part: &[u8],
    ) -> Option<(Snapshot, Vec<u8>)> {
        if offset == 0 {
            self.index = index;
            self.bytes.clear();
        }
        if self.index != index || self.bytes.len() != offset as usize {
            return None;
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
