//! The primary and its backup: which records are safe, how they get there, and what happens when the backup is silent.
//!
//! `recruiting` finds a new backup. This part decides nothing about the zone: it moves records that are committed.

mod follower;
mod recruiting;

use super::context::PrimaryContext;
use crate::carrier_update::CarrierUpdate;
use crate::config::{APPEND_BYTES_MAX, Durability, LATE_MAX, UNSYNCED_MAX};
use crate::core::{Core, DirectoryQuery, ReplicaTimer};
use crate::lateness::{EXTENSION_MAX, extended};
use crate::leadership::Leadership;
use crate::msg::BetweenReplicas;
use crate::primary::broken;
use crate::record::Index;
use crate::rule::Rule;
pub(super) use follower::Acknowledgement;
use follower::{Follower, NamingStage, ReplicationMode};
use machine::{Address, Lane, Span, Time};
use serde_bytes::ByteBuf;
use space::{Epoch, ObjectId};
use std::collections::BTreeSet;

/// Motions per message to the backup: they travel as a datagram.
const MOTIONS_MAX: usize = 24;

/// The steps by which a primary gives its backup up. From the moment the swap may happen, its own disk alone stands for
/// everything it announced: so all of that must be there before, and each record that is announced meanwhile, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BackupRemoval {
    /// Its disk does not have everything yet.
    Syncing,
    /// The swap was sent and may happen.
    Swapping,
}

/// The work that a change in the relation to the backup leaves for the primary.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(super) enum FollowUp {
    Nothing,
    /// The primary waits for its own disk only: records that are there already are safe now.
    Alone,
    /// This replica stays primary in a new epoch.
    NewEpoch(Leadership),
}

/// The primary's relation to its backup.
#[derive(Debug)]
pub(super) struct Replication {
    epoch: Epoch,
    mode: ReplicationMode,
    /// While the primary is about to give its backup up.
    removal: Option<BackupRemoval>,
    /// The time at which the next beacon is due: a primary that sends it much later was itself asleep.
    next_beacon: Time,
    /// True if the carrier was told to send no poses.
    poses_paused: bool,
    /// The log had this many records at this time. While no disk has them all, the disks are late.
    disk_mark: (Index, Time),
}

impl Replication {
    /// The replication of a new primary: it is alone, and relies on its disk.
    pub(super) fn alone(core: &Core, leadership: Leadership) -> Self {
        let mode = match leadership.backup {
            Some(backup) if !core.enforces(Rule::RestartLosesRole) => {
                ReplicationMode::Paired(Follower::new(backup, core.log.head(), leadership.epoch, core.now))
            }
            _ => ReplicationMode::Alone,
        };
        let next_beacon = core.next_multiple(core.config.timing.beacon);
        Self {
            epoch: leadership.epoch,
            mode,
            removal: None,
            next_beacon,
            poses_paused: false,
            disk_mark: (0, core.now),
        }
    }

    pub(super) const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The backup that must acknowledge, if there is one.
    pub(super) const fn backup(&self) -> Option<Address> {
        self.mode.backup()
    }

    /// Returns whether records are safe on the primary's own disk, without a backup.
    pub(super) const fn is_alone(&self) -> bool {
        matches!(self.mode, ReplicationMode::Alone | ReplicationMode::Recruiting(..))
    }

    /// Returns whether the primary gives its backup up, and its own disk lacks announced records.
    pub(super) fn is_syncing(&self) -> bool {
        self.removal == Some(BackupRemoval::Syncing)
    }

    /// Records after this may still have to be sent.
    pub(super) const fn needed_after(&self) -> Index {
        self.mode.needed_after()
    }

    /// Returns whether the replica at this address gets our records.
    pub(super) fn is_follower(&mut self, address: Address) -> bool {
        self.mode.follower().is_some_and(|it| it.address == address)
    }

    // What is safe.

    /// The last record that is safe: one failure cannot undo it, so it may be announced.
    pub(super) fn safe(&self, core: &Core) -> Index {
        let (head, persisted) = (core.log.head(), core.disk.persisted);
        match &self.mode {
            _ if !core.enforces(Rule::AnnounceAfterAck) => head,
            ReplicationMode::Alone | ReplicationMode::Recruiting(..)
                if !core.enforces(Rule::SoloWaitsForDisk) =>
            {
                head
            }
            // No other replica could take over with less, and the operator accepts the loss of its last moments.
            ReplicationMode::Alone if trusts_itself(core) => head,
            ReplicationMode::Alone | ReplicationMode::Recruiting(..) => persisted,
            ReplicationMode::Naming(..) if !core.enforces(Rule::NamedBackupCounts) => persisted,
            // The swap may have happened or not: the record must survive either way.
            ReplicationMode::Naming(follower, _) => follower.acked.min(persisted),
            // Likewise while the swap that removes the backup may have happened.
            ReplicationMode::Paired(follower) if self.removal.is_some() => follower.acked.min(persisted),
            ReplicationMode::Paired(follower) => match core.config.durability {
                Durability::Synced => follower.acked.min(follower.synced).min(persisted),
                Durability::Batched | Durability::Lazy => {
                    follower.acked.min(self.disks_allow(core, follower))
                }
            },
        }
    }

    /// The last record that may be announced although not both disks have it. Normally that is any; but a full stop must not
    /// lose more than a moment, and a replica whose disk is slow must not hold records without end.
    fn disks_allow(&self, core: &Core, follower: &Follower) -> Index {
        let (persisted, synced) = (core.disk.persisted, follower.synced);
        let late = core.config.disk_late();
        let is_late = persisted.max(synced) < self.disk_mark.0 && late < core.now.since(self.disk_mark.1);
        let by_time = if is_late { persisted.max(synced) } else { Index::MAX };
        by_time.min(persisted.min(synced).saturating_add(UNSYNCED_MAX))
    }

    /// Notes how late the disks are.
    fn mark_disks(&mut self, core: &Core) {
        let synced = self.mode.follower().map_or(0, |it| it.synced);
        if self.disk_mark.0 <= core.disk.persisted.max(synced) {
            self.disk_mark = (core.log.head(), core.now);
        }
    }

    /// Returns whether records are not safe before this primary's own disk has them.
    fn needs_disk(&self, core: &Core) -> bool {
        !matches!(self.mode, ReplicationMode::Paired(_)) && !trusts_itself(core)
            || self.removal.is_some()
            || core.config.durability == Durability::Synced
    }

    // Sending.

    /// Brings committed records to the disk, if announcements wait for it, and to the backup.
    pub(super) fn replicate(&mut self, cx: &mut PrimaryContext<'_>) {
        self.write_disk_if_needed(cx);
        self.mark_disks(cx.core);
        cx.core.plan_append();
        let Some(follower) = self.mode.follower() else { return };
        // At once if nothing is under way. Otherwise a batch: the follower is busy, and more records may come soon.
        if follower.sent <= follower.acked {
            self.send_records(cx);
        } else {
            cx.core.wake_within(ReplicaTimer::Batch, cx.core.config.timing.batch);
        }
    }

    pub(super) fn write_disk_if_needed(&self, cx: &mut PrimaryContext<'_>) {
        if self.needs_disk(cx.core) {
            cx.core.write_disk(cx.out);
        }
    }

    /// Sends the follower all records that were not sent yet, in messages of limited size.
    pub(super) fn send_records(&mut self, cx: &mut PrimaryContext<'_>) {
        let Some(follower) = self.mode.follower() else { return };
        // Before the first acknowledgement it is unknown where the follower's log ends.
        if !follower.confirmed || !cx.core.links.contains_key(&follower.address) {
            return;
        }
        while follower.sent < cx.core.log.head() {
            let first = follower.sent + 1;
            let batch = cx.core.log.batch(first, APPEND_BYTES_MAX);
            let records: Vec<_> = batch.into_iter().map(|it| ByteBuf::from(it.to_vec())).collect();
            follower.sent += records.len() as Index;
            if records.is_empty() {
                return; // The log no longer holds them; `on_log_end` will send a snapshot.
            }
            cx.send_replica(follower.address, Lane::Sure, BetweenReplicas::Append { first, records });
        }
    }

    /// Takes in an acknowledgement. Returns whether it is the follower's, so that more records may be safe now.
    pub(super) fn on_acked(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        from: Address,
        acked: Acknowledgement,
        announced: Index,
    ) -> bool {
        let Some(follower) = self.following(from, acked.epoch) else { return false };
        // The first acknowledgement says that the snapshot has arrived.
        if follower.acknowledge(acked, cx.now()) {
            self.mode.end_snapshot();
        }
        self.send_records(cx);
        self.name_if_ready(cx, announced);
        true
    }

    /// The follower at an address, if it speaks in an epoch in which it followed.
    fn following(&mut self, from: Address, epoch: Epoch) -> Option<&mut Follower> {
        self.mode.follower().filter(|it| it.address == from && it.since <= epoch)
    }

    /// The follower lacks the records after `after`: they are sent again.
    pub(super) fn on_missing(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        from: Address,
        epoch: Epoch,
        after: Index,
    ) {
        let Some(follower) = self.following(from, epoch) else { return };
        // Otherwise the request is old: the records it wants were acknowledged, or are to be sent anyway.
        if follower.confirmed && follower.acked <= after && after < follower.sent {
            follower.sent = after;
            self.send_records(cx);
        }
    }

    pub(super) fn on_link_up(&mut self, cx: &mut PrimaryContext<'_>, peer: Address) {
        if let Some(follower) = self.mode.follower().filter(|it| it.address == peer) {
            // Records that were under way on the old link may be lost.
            follower.sent = follower.acked;
            self.send_records(cx);
        }
    }

    /// Streams the motions of objects to the backup: no record holds moves, and a backup that takes over needs them.
    pub(super) fn stream_motions(&mut self, cx: &mut PrimaryContext<'_>, moved: &BTreeSet<ObjectId>) {
        let Some(follower) = self.mode.follower() else { return };
        let objects = &cx.core.state.objects;
        let motions: Vec<_> =
            moved.iter().filter_map(|&id| objects.get(id).map(|it| (id, it.motion))).collect();
        for (part, motions) in motions.chunks(MOTIONS_MAX).enumerate() {
            // A key per part: on one key a later part would replace an earlier one.
            let lane = Core::latest_lane(2 + part as u64);
            cx.send_replica(follower.address, lane, BetweenReplicas::Motions(motions.to_vec()));
        }
    }

    // Beacons and silence.

    /// Sends a beacon to the follower, and judges its silence: poses stop first, then the follower is given up.
    pub(super) fn beacon(&mut self, cx: &mut PrimaryContext<'_>, announced: Index) -> FollowUp {
        self.mark_disks(cx.core);
        let (now, timing) = (cx.now(), cx.core.config.timing);
        let slept = LATE_MAX < now.since(self.next_beacon);
        self.next_beacon = cx.core.next_multiple(timing.beacon);
        cx.core.timers.set(ReplicaTimer::Beacon, self.next_beacon);
        let Some(follower) = self.mode.follower() else { return FollowUp::Nothing };
        if slept {
            // This primary was the silent one. The follower may be alive, and gets time to answer; poses wait until
            // then.
            follower.heard = follower.heard.max(now - (timing.lease + timing.beacon));
        }
        // A follower that answers beacons lives, but may have missed the invitation. Until it acknowledges, the time
        // since the invitation counts.
        let since = if follower.confirmed { follower.heard } else { follower.invited };
        let (address, silence) = (follower.address, now.since(since));
        let late = cx.core.lateness();
        // As the grace of the backup grows with this primary's lateness, so does the time in which it still leads; and it
        // must not give up a backup before that could take over.
        let more = follower
            .grace
            .as_micros()
            .saturating_sub(timing.grace.as_micros())
            .min(EXTENSION_MAX.as_micros());
        let lease = timing.lease + Span::from_micros(more / 2);
        let patience =
            extended(timing.patience, follower.late.max(late)).max(timing.patience + Span::from_micros(more));
        cx.send_replica(address, Core::latest_lane(0), BetweenReplicas::Beacon { sent: now, late });
        if let ReplicationMode::Paired(_) = self.mode {
            self.set_poses_paused(cx, lease < silence);
        }
        if patience < silence { self.lose_follower(cx, announced) } else { FollowUp::Nothing }
    }

    /// The follower answers a beacon.
    pub(super) fn on_heard(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        (from, epoch): (Address, Epoch),
        (sent, synced): (Time, Index),
        (late, grace): (Span, Span),
    ) {
        let Some(follower) = self.mode.follower().filter(|it| it.address == from) else { return };
        follower.note_synced(synced, epoch);
        (follower.late, follower.grace) = (late, grace);
        // The follower was alive when it got the beacon, at the earliest when that was sent: a slow answer proves no
        // more.
        follower.heard = follower.heard.max(sent.min(cx.now()));
        if self.is_syncing() {
            self.removal = None; // The swap was not sent yet, so the backup may stay.
        }
        self.set_poses_paused(cx, false);
    }

    /// Pauses or resumes poses. They are sent without an acknowledgement, so they stop while this primary does not know
    /// whether it still leads.
    pub(super) fn set_poses_paused(&mut self, cx: &mut PrimaryContext<'_>, paused: bool) {
        if self.poses_paused != paused {
            self.poses_paused = paused;
            cx.update_carrier(CarrierUpdate::SetPaused(paused));
        }
    }

    /// Gives up a follower that is silent for too long.
    fn lose_follower(&mut self, cx: &mut PrimaryContext<'_>, announced: Index) -> FollowUp {
        match &self.mode {
            ReplicationMode::Paired(_) => {
                if !cx.enforces(Rule::SoloBySwap) {
                    return FollowUp::NewEpoch(broken::solo_without_swap(cx.core, self.epoch));
                }
                self.removal.get_or_insert(BackupRemoval::Syncing);
                cx.core.write_disk(cx.out);
                self.request_swap(cx, announced);
                FollowUp::Nothing
            }
            // The directory does not name this follower, and no swap that would is under way: no swap is needed.
            ReplicationMode::Recruiting(..) | ReplicationMode::Naming(_, NamingStage::CatchingUp) => {
                self.mode = ReplicationMode::Alone;
                FollowUp::Alone
            }
            // The swap that names it may have happened. The primary must know before it tries anything else.
            ReplicationMode::Naming(_, NamingStage::Swapping) => {
                self.request_swap(cx, announced);
                FollowUp::Nothing
            }
            ReplicationMode::Alone => FollowUp::Nothing,
        }
    }

    // The directory.

    /// Sends the swap that this primary wants to the directory: for the first time, or because the answer is unknown.
    pub(super) fn request_swap(&mut self, cx: &mut PrimaryContext<'_>, announced: Index) {
        let (me, Some(entry)) = (cx.core.config.me, cx.core.leadership) else { return };
        match &self.mode {
            ReplicationMode::Naming(follower, NamingStage::Swapping) => {
                cx.core.ask_directory(DirectoryQuery::Swap(entry.next(me, Some(follower.address))), cx.out);
            }
            ReplicationMode::Paired(_) => match self.removal {
                // After the swap the own disk alone stands for what was announced, so it must have all of it.
                Some(BackupRemoval::Syncing) if announced <= cx.core.disk.persisted => {
                    self.removal = Some(BackupRemoval::Swapping);
                    cx.core.ask_directory(DirectoryQuery::Swap(entry.next(me, None)), cx.out);
                }
                Some(BackupRemoval::Swapping) => {
                    cx.core.ask_directory(DirectoryQuery::Swap(entry.next(me, None)), cx.out)
                }
                Some(BackupRemoval::Syncing) | None => (),
            },
            _ => (),
        }
    }

    /// The swap happened: this replica stays primary in a new epoch, with a new backup or without one.
    pub(super) fn begin_epoch(&mut self, cx: &PrimaryContext<'_>, leadership: Leadership) {
        let is_later = self.epoch < leadership.epoch || cx.core.breaks_rules();
        assert!(is_later, "every leadership has a higher epoch than the one before");
        self.epoch = leadership.epoch;
        self.removal = None;
        self.mode = match (std::mem::replace(&mut self.mode, ReplicationMode::Alone), leadership.backup) {
            (ReplicationMode::Naming(mut follower, _), Some(backup)) if follower.address == backup => {
                // The wait for the directory must not count as its silence.
                follower.heard = cx.now();
                ReplicationMode::Paired(follower)
            }
            _ => ReplicationMode::Alone,
        };
    }

    /// Treats an unknown answer as a failed swap: only where [`Rule::UnknownSwapMayHappen`] is broken.
    pub(super) fn forget_swap(&mut self) {
        self.removal = None;
        if let ReplicationMode::Naming(..) = self.mode {
            self.mode = ReplicationMode::Alone;
        }
    }
}

/// Returns whether records are safe as soon as they are committed: the zone has only one possible replica, and the
/// operator did not ask for `synced`.
fn trusts_itself(core: &Core) -> bool {
    core.config.is_single() && core.config.durability != Durability::Synced
}
