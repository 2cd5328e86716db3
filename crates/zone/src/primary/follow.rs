//! The primary and its backup: sending records, losing a backup, recruiting a new one.

use super::Primary;
use crate::config::{APPEND_BYTES_MAX, COPY_BYTES, LATE_MAX};
use crate::core::{Ask, Core, Out, Purpose};
use crate::entry::Reign;
use crate::msg::Peer;
use crate::note::Note;
use crate::plant::Plant;
use crate::record::Index;
use machine::{Address, Lane, Time};
use serde_bytes::ByteBuf;
use space::Epoch;

/// Motions per message to the backup: they travel as a datagram.
const MOTIONS_MAX: usize = 24;

/// A recruit that has everything and does not answer for this long is asked again.
const ANSWER_MAX: machine::Span = machine::Span::from_millis(250);

/// Whom the primary waits for.
pub(super) enum Mode {
    /// Nobody: its disk.
    Alone,
    /// Its disk; a new backup is being brought up to date.
    Recruiting(Follower, Option<Copy>),
    /// Its disk *and* the new backup, whose swap is about to be sent or on its way. Commits alone ended before the
    /// swap was sent: if it succeeds unheard and we die, the backup has everything.
    Naming(Follower, Naming),
    /// Its backup.
    Paired(Follower),
}

/// How far the naming of a backup is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// Waiting until the backup has everything that was announced.
    CatchingUp,
    /// The swap was sent and may happen.
    Swapping,
}

/// How far a primary is that gives its backup up. From the moment the swap may happen, its own disk alone stands for
/// everything it announced: so all of that must be there before, and whatever is announced meanwhile, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// Its disk does not have everything yet.
    Syncing,
    /// The swap was sent and may happen.
    Swapping,
}

/// Somebody who gets our records.
#[derive(Debug)]
pub(super) struct Follower {
    pub(super) address: Address,
    /// Acknowledgements of an older epoch are of an older time.
    since: Epoch,
    /// Nothing is sent before the first acknowledgement says where to begin.
    confirmed: bool,
    sent: Index,
    pub(super) acked: Index,
    pub(super) synced: Index,
    /// When it last answered anything.
    heard: Time,
    /// When it was last sent something to begin with.
    invited: Time,
}

/// A snapshot on its way.
pub(super) struct Copy {
    index: Index,
    bytes: Vec<u8>,
    offset: usize,
}

impl Follower {
    pub(super) const fn new(address: Address, at: Index, since: Epoch, now: Time) -> Self {
        Self { address, since, confirmed: false, sent: at, acked: at, synced: 0, heard: now, invited: now }
    }
}

impl Mode {
    pub(super) const fn backup(&self) -> Option<Address> {
        match self {
            Self::Paired(follower) => Some(follower.address),
            _ => None,
        }
    }

    /// Records after this may still have to be sent.
    pub(super) const fn needed_after(&self) -> Index {
        match self {
            Self::Alone => Index::MAX,
            Self::Recruiting(follower, _) | Self::Naming(follower, _) | Self::Paired(follower) => {
                follower.acked
            }
        }
    }

    /// The snapshot has arrived.
    fn end_copy(&mut self) {
        if let Self::Recruiting(_, copy) = self {
            *copy = None;
        }
    }

    const fn follower(&mut self) -> Option<&mut Follower> {
        match self {
            Self::Alone => None,
            Self::Recruiting(follower, _) | Self::Naming(follower, _) | Self::Paired(follower) => {
                Some(follower)
            }
        }
    }
}

impl Primary {
    /// A reign goes on in a new epoch: with a backup, or without one any more.
    pub(super) fn reign_on(&mut self, core: &mut Core, reign: Reign, out: &mut Out) {
        self.epoch = reign.epoch;
        self.leaving = None;
        self.mode = match (std::mem::replace(&mut self.mode, Mode::Alone), reign.backup) {
            (Mode::Naming(mut follower, _), Some(backup)) if follower.address == backup => {
                follower.heard = core.now;
                Mode::Paired(follower)
            }
            _ => Mode::Alone,
        };
        let (epoch, head, hash, alone) = (self.epoch, core.log.head(), core.state.hash(), self.is_alone());
        core.note(out, || Note::Reigns { epoch, head, hash, alone });
        self.hush(false, out);
        self.write_reign(core, out);
        self.seen_to(core, out);
    }

    /// A planted mistake: an unknown answer counts as failure.
    pub(super) fn forget_swap(&mut self, _: &Core) {
        self.leaving = None;
        if let Mode::Naming(..) = self.mode {
            self.mode = Mode::Alone;
        }
    }

    // Sending.

    /// Passes new records on: at once if nothing is under way, else together with those that come soon.
    pub(super) fn pass_on(&mut self, core: &mut Core, out: &mut Out) {
        let Some(follower) = self.mode.follower() else { return };
        if follower.sent <= follower.acked {
            self.send_records(core, out);
        } else {
            core.wake_within(Purpose::Batch, core.config.timing.batch);
        }
    }

    pub(super) fn send_records(&mut self, core: &mut Core, out: &mut Out) {
        let epoch = self.epoch;
        let Some(follower) = self.mode.follower() else { return };
        if !follower.confirmed || !core.links.contains_key(&follower.address) {
            return;
        }
        while follower.sent < core.log.head() {
            let (first, mut bytes, mut records) = (follower.sent + 1, 0, Vec::new());
            while let Some(stored) = core.log.get(follower.sent + 1) {
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
            core.send_peer(follower.address, Lane::Sure, epoch, Peer::Append { first, records }, out);
        }
    }

    pub(super) fn on_acked(
        &mut self,
        core: &mut Core,
        from: Address,
        epoch: Epoch,
        index: Index,
        synced: Index,
        out: &mut Out,
    ) {
        let now = core.now;
        let Some(follower) = self.mode.follower().filter(|it| it.address == from && it.since <= epoch) else {
            return;
        };
        follower.heard = now;
        if !follower.confirmed {
            follower.confirmed = true;
            follower.acked = index;
            follower.sent = index;
            self.mode.end_copy();
        }
        let Some(follower) = self.mode.follower() else { return };
        follower.acked = follower.acked.max(index.min(follower.sent));
        follower.synced = follower.synced.max(synced);
        self.send_records(core, out);
        self.seek_name(core, out);
        self.advance(core, out);
    }

    /// The backup lacks something: send it again.
    pub(super) fn on_missing(
        &mut self,
        core: &mut Core,
        from: Address,
        epoch: Epoch,
        after: Index,
        out: &mut Out,
    ) {
        let Some(follower) = self.mode.follower().filter(|it| it.address == from && it.since <= epoch) else {
            return;
        };
        if follower.confirmed && follower.acked <= after && after < follower.sent {
            follower.sent = after;
            self.send_records(core, out);
        }
    }

    // Beacons and silence.

    pub(super) fn beacon(&mut self, core: &mut Core, out: &mut Out) {
        let (now, epoch, timing) = (core.now, self.epoch, core.config.timing);
        let slept = LATE_MAX < now.since(self.next_beacon);
        self.next_beacon = now + timing.beacon;
        core.timers.set(Purpose::Beacon, self.next_beacon);
        let Some(follower) = self.mode.follower() else { return };
        if slept {
            // We were the silent one. The other may be there, and gets time to say so; poses wait until it does.
            follower.heard = follower.heard.max(now - (timing.lease + timing.beacon));
        }
        // Answers to beacons say that it lives, not that it got the invitation: until it acknowledges, only that counts.
        let since = if follower.confirmed { follower.heard } else { follower.invited };
        let (address, silence) = (follower.address, now.since(since));
        core.send_peer(address, Core::key(0), epoch, Peer::Beacon { sent: now }, out);
        if let Mode::Paired(_) = self.mode {
            self.hush(timing.lease < silence, out);
        }
        if timing.patience < silence {
            self.lose_follower(core, out);
        }
    }

    pub(super) fn on_heard(&mut self, core: &Core, from: Address, sent: Time, out: &mut Out) {
        let Some(follower) = self.mode.follower().filter(|it| it.address == from) else { return };
        // Only as late as the question: an answer that took long proves little.
        follower.heard = follower.heard.max(sent.min(core.now));
        if self.leaving == Some(Leaving::Syncing) {
            self.leaving = None; // In time: nothing was sent.
        }
        self.hush(false, out);
    }

    /// The backup, or who was to become it, is silent.
    fn lose_follower(&mut self, core: &mut Core, out: &mut Out) {
        match &self.mode {
            Mode::Paired(_) => {
                if core.config.plants.has(Plant::SoloUnasked) {
                    let (me, epoch) = (core.config.me, self.epoch);
                    let reign = Reign { epoch, primary: me, backup: None };
                    return self.reign_on(core, reign.next(me, None), out);
                }
                self.leaving.get_or_insert(Leaving::Syncing);
                core.write_disk(out);
                self.ask_again(core, out);
            }
            // It was not named and nobody told it so: nothing has to be decided.
            Mode::Recruiting(..) | Mode::Naming(_, Naming::CatchingUp) => {
                self.mode = Mode::Alone;
                self.seen_to(core, out);
            }
            // The swap may happen. It must be known before anything else is tried.
            Mode::Naming(_, Naming::Swapping) => self.ask_again(core, out),
            Mode::Alone => (),
        }
    }

    /// Asks for what is wanted of the directory, once more.
    pub(super) fn ask_again(&mut self, core: &mut Core, out: &mut Out) {
        let me = core.config.me;
        let Some(entry) = core.entry else { return };
        match &self.mode {
            Mode::Naming(follower, Naming::Swapping) => {
                core.ask(Ask::Swap(entry.next(me, Some(follower.address))), out);
            }
            Mode::Paired(_) => match self.leaving {
                Some(Leaving::Syncing) if self.announced <= core.disk.persisted => {
                    self.leaving = Some(Leaving::Swapping);
                    core.ask(Ask::Swap(entry.next(me, None)), out);
                }
                Some(Leaving::Swapping) => core.ask(Ask::Swap(entry.next(me, None)), out),
                Some(Leaving::Syncing) | None => (),
            },
            _ => (),
        }
    }

    // Recruiting.

    /// Somebody without a role says how far its log goes.
    pub(super) fn on_standing(
        &mut self,
        core: &mut Core,
        from: Address,
        last: Epoch,
        index: Index,
        out: &mut Out,
    ) {
        match &mut self.mode {
            Mode::Alone => self.recruit(core, from, last, index, out),
            // Our backup has lost its memory, though we heard from it: it acknowledges nothing any more.
            Mode::Paired(follower) | Mode::Naming(follower, Naming::Swapping) if follower.address == from => {
                follower.heard =
                    follower.heard.min(core.now - (core.config.timing.patience + core.config.timing.beacon));
                self.lose_follower(core, out);
            }
            Mode::Recruiting(follower, copy) if follower.address == from => {
                let unheard = copy.is_none() && ANSWER_MAX < core.now.since(follower.invited);
                if follower.confirmed || unheard {
                    self.recruit(core, from, last, index, out);
                }
            }
            // It followed, and then gave us up. The swap that would name it has not been sent.
            Mode::Naming(follower, Naming::CatchingUp) if follower.address == from => {
                self.recruit(core, from, last, index, out);
            }
            _ => (),
        }
    }

    fn recruit(&mut self, core: &mut Core, from: Address, last: Epoch, index: Index, out: &mut Out) {
        if core.state.head == 0 || core.config.me == from {
            return;
        }
        let keeps = core.config.plants.has(Plant::KeepSuffix) && core.log.base() <= index && 0 < index;
        let (at, copy) = if core.log.has(last, index) || keeps {
            (index, None)
        } else {
            let bytes = core.snapshot_bytes();
            (core.state.head, Some(Copy { index: core.state.head, bytes, offset: 0 }))
        };
        let follower = Follower::new(from, at, self.epoch, core.now);
        if copy.is_none() {
            core.send_peer(from, Lane::Sure, self.epoch, Peer::Follow { epoch: last, index }, out);
        }
        self.mode = Mode::Recruiting(follower, copy);
        core.wake_after(Purpose::Copy, machine::Span::ZERO);
    }

    pub(super) fn send_copy(&mut self, core: &mut Core, out: &mut Out) {
        let epoch = self.epoch;
        let Mode::Recruiting(follower, copy) = &mut self.mode else { return };
        let Some(sent) = copy else { return };
        let end = sent.bytes.len().min(sent.offset + COPY_BYTES);
        let part = Peer::Copy {
            index: sent.index,
            offset: sent.offset as u32,
            total: sent.bytes.len() as u32,
            bytes: ByteBuf::from(sent.bytes[sent.offset..end].to_vec()),
        };
        core.send_peer(follower.address, Lane::Sure, epoch, part, out);
        sent.offset = end;
        follower.invited = core.now;
        if end == sent.bytes.len() {
            *copy = None;
        } else {
            core.wake_after(Purpose::Copy, core.config.timing.copy);
        }
    }

    /// Brings a follower that is nearly up to date into office.
    fn seek_name(&mut self, core: &mut Core, out: &mut Out) {
        let announced = self.announced;
        match &mut self.mode {
            Mode::Recruiting(follower, None)
                if follower.confirmed && core.log.head() <= follower.acked + 64 =>
            {
                let Mode::Recruiting(follower, _) = std::mem::replace(&mut self.mode, Mode::Alone) else {
                    return;
                };
                self.mode = Mode::Naming(follower, Naming::CatchingUp);
                self.seek_name(core, out);
            }
            Mode::Naming(follower, naming @ Naming::CatchingUp) if announced <= follower.acked => {
                *naming = Naming::Swapping;
                self.ask_again(core, out);
            }
            _ => (),
        }
    }

    // Links.

    pub(crate) fn on_link_up(&mut self, core: &mut Core, peer: Address, out: &mut Out) {
        if let Some(follower) = self.mode.follower().filter(|it| it.address == peer) {
            // What was under way on the old link may be lost.
            follower.sent = follower.acked;
            self.send_records(core, out);
        }
        self.peer_linked(core, peer, out);
    }

    pub(crate) fn on_link_down(&mut self, core: &mut Core, peer: Address, out: &mut Out) {
        self.peer_lost(peer);
        if self.mode.follower().is_none_or(|it| it.address != peer) {
            self.client_lost(core, peer, out);
        }
    }

    /// Streams where things are, so that a backup that takes over knows it nearly as well.
    pub(super) fn stream_motions(&mut self, core: &mut Core, out: &mut Out) {
        core.wake_after(Purpose::Motions, core.config.timing.motions);
        let moved = std::mem::take(&mut self.moved);
        let Some(follower) = self.mode.follower() else { return };
        let motions: Vec<_> =
            moved.iter().filter_map(|&id| core.state.objects.get(id).map(|it| (id, it.motion))).collect();
        for (part, motions) in motions.chunks(MOTIONS_MAX).enumerate() {
            let lane = Core::key(2 + part as u64);
            core.send_peer(follower.address, lane, self.epoch, Peer::Motions(motions.to_vec()), out);
        }
    }
}
