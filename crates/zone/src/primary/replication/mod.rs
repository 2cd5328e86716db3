//! The primary and its backup: which records are safe, how they get there, and what happens when the backup is silent.
//!
//! A new backup is found in `recruiting`. This part decides nothing about the zone: it moves records that are committed.

mod follower;
mod recruiting;

use super::context::Ctx;
use crate::carrier_update::CarrierUpdate;
use crate::config::{APPEND_BYTES_MAX, Durability, LATE_MAX};
use crate::core::{Ask, Core, Purpose};
use crate::entry::Reign;
use crate::msg::Peer;
use crate::primary::broken;
use crate::record::Index;
use crate::rule::Rule;
pub(super) use follower::Acked;
use follower::{Follower, Mode, Naming};
use machine::{Address, Lane, Time};
use serde_bytes::ByteBuf;
use space::{Epoch, ObjectId};
use std::collections::BTreeSet;

/// Motions per message to the backup: they travel as a datagram.
const MOTIONS_MAX: usize = 24;

/// How far a primary is that gives its backup up. From the moment the swap may happen, its own disk alone stands for
/// everything it announced: so all of that must be there before, and whatever is announced meanwhile, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaving {
    /// Its disk does not have everything yet.
    Syncing,
    /// The swap was sent and may happen.
    Swapping,
}

/// What a change in the relation to the backup asks of the primary.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(super) enum Next {
    /// Nothing.
    Nothing,
    /// The primary waits for its own disk only: what it committed may be safe by that.
    Alone,
    /// A new reign begins.
    Reign(Reign),
}

/// The primary's relation to its backup.
#[derive(Debug)]
pub(super) struct Replication {
    epoch: Epoch,
    mode: Mode,
    /// While the primary is about to give its backup up.
    leaving: Option<Leaving>,
    /// When the next beacon was meant to be sent.
    next_beacon: Time,
    hushed: bool,
}

impl Replication {
    /// A primary whose reign begins: it relies on its disk.
    pub(super) fn alone(core: &Core, reign: Reign) -> Self {
        let mode = match reign.backup {
            Some(backup) if !core.enforces(Rule::RestartLosesRole) => {
                Mode::Paired(Follower::new(backup, core.log.head(), reign.epoch, core.now))
            }
            _ => Mode::Alone,
        };
        let next_beacon = core.now + core.config.timing.beacon;
        Self { epoch: reign.epoch, mode, leaving: None, next_beacon, hushed: false }
    }

    pub(super) const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The reign as this replica, at `me`, leads it.
    pub(super) const fn reign(&self, me: Address) -> Reign {
        Reign { epoch: self.epoch, primary: me, backup: self.mode.backup() }
    }

    /// Whether the primary relies on its disk.
    pub(super) const fn is_alone(&self) -> bool {
        matches!(self.mode, Mode::Alone | Mode::Recruiting(..))
    }

    /// Whether the primary gives its backup up and waits for its own disk to have everything.
    pub(super) fn is_syncing(&self) -> bool {
        self.leaving == Some(Leaving::Syncing)
    }

    /// Records after this may still have to be sent.
    pub(super) const fn needed_after(&self) -> Index {
        self.mode.needed_after()
    }

    /// Whether the replica at this address gets our records.
    pub(super) fn follows(&mut self, address: Address) -> bool {
        self.mode.follower().is_some_and(|it| it.address == address)
    }

    // What is safe.

    /// Everything up to here is committed for good, and may be announced.
    pub(super) fn committed(&self, core: &Core) -> Index {
        let (head, persisted) = (core.log.head(), core.disk.persisted);
        match &self.mode {
            _ if !core.enforces(Rule::AnnounceAfterAck) => head,
            Mode::Alone | Mode::Recruiting(..) if !core.enforces(Rule::SoloWaitsForDisk) => head,
            Mode::Alone if trusts_itself(core) => head,
            Mode::Alone | Mode::Recruiting(..) => persisted,
            Mode::Naming(..) if !core.enforces(Rule::NamedBackupCounts) => persisted,
            Mode::Naming(follower, _) => follower.acked.min(persisted),
            Mode::Paired(follower) if self.leaving.is_some() => follower.acked.min(persisted),
            Mode::Paired(follower) => match core.config.durability {
                Durability::Synced => follower.acked.min(follower.synced).min(persisted),
                Durability::Batched | Durability::Lazy => follower.acked,
            },
        }
    }

    /// Whether announcements wait for the own disk.
    fn needs_disk(&self, core: &Core) -> bool {
        !matches!(self.mode, Mode::Paired(_)) && !trusts_itself(core)
            || self.leaving.is_some()
            || core.config.durability == Durability::Synced
    }

    // Sending.

    /// Brings committed records to disk, if announcements wait for it, and to the backup.
    pub(super) fn replicate(&mut self, cx: &mut Ctx<'_>) {
        self.write_disk_if_needed(cx);
        let Some(follower) = self.mode.follower() else { return };
        // At once if nothing is under way, else together with the records that come soon.
        if follower.sent <= follower.acked {
            self.send_records(cx);
        } else {
            cx.core.wake_within(Purpose::Batch, cx.core.config.timing.batch);
        }
    }

    pub(super) fn write_disk_if_needed(&self, cx: &mut Ctx<'_>) {
        if self.needs_disk(cx.core) {
            cx.core.write_disk(cx.out);
        }
    }

    pub(super) fn send_records(&mut self, cx: &mut Ctx<'_>) {
        let Some(follower) = self.mode.follower() else { return };
        if !follower.confirmed || !cx.core.links.contains_key(&follower.address) {
            return;
        }
        while follower.sent < cx.core.log.head() {
            let (first, mut bytes, mut records) = (follower.sent + 1, 0, Vec::new());
            while let Some(stored) = cx.core.log.get(follower.sent + 1) {
                if !records.is_empty() && APPEND_BYTES_MAX < bytes + stored.bytes.len() {
                    break;
                }
                bytes += stored.bytes.len();
                records.push(ByteBuf::from(stored.bytes.to_vec()));
                follower.sent += 1;
            }
            if records.is_empty() {
                return; // The log no longer holds them; `on_standing` will send a snapshot.
            }
            cx.send_replica(follower.address, Lane::Sure, Peer::Append { first, records });
        }
    }

    /// The follower acknowledges; whether it is a follower of ours, so that more may be safe now.
    pub(super) fn on_acked(
        &mut self,
        cx: &mut Ctx<'_>,
        from: Address,
        acked: Acked,
        announced: Index,
    ) -> bool {
        let Some(follower) = self.following(from, acked.epoch) else { return false };
        if follower.take(acked, cx.now()) {
            self.mode.end_copy();
        }
        self.send_records(cx);
        self.seek_name(cx, announced);
        true
    }

    /// The follower at an address, if it speaks in an epoch in which it followed.
    fn following(&mut self, from: Address, epoch: Epoch) -> Option<&mut Follower> {
        self.mode.follower().filter(|it| it.address == from && it.since <= epoch)
    }

    /// The follower lacks records: they are sent again.
    pub(super) fn on_missing(&mut self, cx: &mut Ctx<'_>, from: Address, epoch: Epoch, after: Index) {
        let Some(follower) = self.following(from, epoch) else { return };
        if follower.confirmed && follower.acked <= after && after < follower.sent {
            follower.sent = after;
            self.send_records(cx);
        }
    }

    pub(super) fn on_link_up(&mut self, cx: &mut Ctx<'_>, peer: Address) {
        if let Some(follower) = self.mode.follower().filter(|it| it.address == peer) {
            // What was under way on the old link may be lost.
            follower.sent = follower.acked;
            self.send_records(cx);
        }
    }

    /// Streams how objects move, so that a backup that takes over knows it nearly as well.
    pub(super) fn stream_motions(&mut self, cx: &mut Ctx<'_>, moved: &BTreeSet<ObjectId>) {
        let Some(follower) = self.mode.follower() else { return };
        let objects = &cx.core.state.objects;
        let motions: Vec<_> =
            moved.iter().filter_map(|&id| objects.get(id).map(|it| (id, it.motion))).collect();
        for (part, motions) in motions.chunks(MOTIONS_MAX).enumerate() {
            let lane = Core::key(2 + part as u64);
            cx.send_replica(follower.address, lane, Peer::Motions(motions.to_vec()));
        }
    }

    // Beacons and silence.

    pub(super) fn beacon(&mut self, cx: &mut Ctx<'_>, announced: Index) -> Next {
        let (now, timing) = (cx.now(), cx.core.config.timing);
        let slept = LATE_MAX < now.since(self.next_beacon);
        self.next_beacon = now + timing.beacon;
        cx.core.timers.set(Purpose::Beacon, self.next_beacon);
        let Some(follower) = self.mode.follower() else { return Next::Nothing };
        if slept {
            // This primary was the silent one. The other may be there, and gets time to say so; poses wait until it does.
            follower.heard = follower.heard.max(now - (timing.lease + timing.beacon));
        }
        // Answers to beacons say that it lives, not that it got the invitation: until it acknowledges, only that counts.
        let since = if follower.confirmed { follower.heard } else { follower.invited };
        let (address, silence) = (follower.address, now.since(since));
        cx.send_replica(address, Core::key(0), Peer::Beacon { sent: now });
        if let Mode::Paired(_) = self.mode {
            self.hush(cx, timing.lease < silence);
        }
        if timing.patience < silence { self.lose_follower(cx, announced) } else { Next::Nothing }
    }

    pub(super) fn on_heard(&mut self, cx: &mut Ctx<'_>, from: Address, sent: Time) {
        let Some(follower) = self.mode.follower().filter(|it| it.address == from) else { return };
        // Only as late as the question: an answer that took long proves little.
        follower.heard = follower.heard.max(sent.min(cx.now()));
        if self.is_syncing() {
            self.leaving = None; // In time: nothing was sent.
        }
        self.hush(cx, false);
    }

    /// Poses are told without an acknowledgement, so they stop while this primary does not know whether it still reigns.
    pub(super) fn hush(&mut self, cx: &mut Ctx<'_>, hushed: bool) {
        if self.hushed != hushed {
            self.hushed = hushed;
            cx.update_carrier(CarrierUpdate::SetPaused(hushed));
        }
    }

    /// The follower is silent.
    fn lose_follower(&mut self, cx: &mut Ctx<'_>, announced: Index) -> Next {
        match &self.mode {
            Mode::Paired(_) => {
                if !cx.enforces(Rule::SoloBySwap) {
                    return Next::Reign(broken::solo_without_swap(cx.core, self.epoch));
                }
                self.leaving.get_or_insert(Leaving::Syncing);
                cx.core.write_disk(cx.out);
                self.ask_again(cx, announced);
                Next::Nothing
            }
            // The directory does not name it, and nothing told it so: nothing has to be decided.
            Mode::Recruiting(..) | Mode::Naming(_, Naming::CatchingUp) => {
                self.mode = Mode::Alone;
                Next::Alone
            }
            // The swap may happen. It must be known before anything else is tried.
            Mode::Naming(_, Naming::Swapping) => {
                self.ask_again(cx, announced);
                Next::Nothing
            }
            Mode::Alone => Next::Nothing,
        }
    }

    // The directory.

    /// Asks the directory for the swap that this primary wants, once more.
    pub(super) fn ask_again(&mut self, cx: &mut Ctx<'_>, announced: Index) {
        let (me, Some(entry)) = (cx.core.config.me, cx.core.entry) else { return };
        match &self.mode {
            Mode::Naming(follower, Naming::Swapping) => {
                cx.core.ask(Ask::Swap(entry.next(me, Some(follower.address))), cx.out);
            }
            Mode::Paired(_) => match self.leaving {
                Some(Leaving::Syncing) if announced <= cx.core.disk.persisted => {
                    self.leaving = Some(Leaving::Swapping);
                    cx.core.ask(Ask::Swap(entry.next(me, None)), cx.out);
                }
                Some(Leaving::Swapping) => cx.core.ask(Ask::Swap(entry.next(me, None)), cx.out),
                Some(Leaving::Syncing) | None => (),
            },
            _ => (),
        }
    }

    /// The swap happened: the reign goes on in a new epoch, with a new backup or without one.
    pub(super) fn reign_on(&mut self, cx: &Ctx<'_>, reign: Reign) {
        let is_later = self.epoch < reign.epoch || cx.core.breaks_rules();
        assert!(is_later, "every reign has a higher epoch than the one before");
        self.epoch = reign.epoch;
        self.leaving = None;
        self.mode = match (std::mem::replace(&mut self.mode, Mode::Alone), reign.backup) {
            (Mode::Naming(mut follower, _), Some(backup)) if follower.address == backup => {
                follower.heard = cx.now();
                Mode::Paired(follower)
            }
            _ => Mode::Alone,
        };
    }

    /// Only where [`Rule::UnknownSwapMayHappen`] is broken: an unknown answer counts as failure.
    pub(super) fn forget_swap(&mut self) {
        self.leaving = None;
        if let Mode::Naming(..) = self.mode {
            self.mode = Mode::Alone;
        }
    }
}

/// Whether the zone is in a world of one host that does not wait for its disk.
fn trusts_itself(core: &Core) -> bool {
    core.config.is_single() && core.config.durability != Durability::Synced
}
