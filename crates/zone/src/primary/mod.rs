//! A replica that decides.
//!
//! It executes what players, letters, timers and thoughts ask for, writes each event as a record, and tells the
//! world only what is safe: acknowledged by the backup, or on its own disk while it is alone.
//!
//! - `follow`: the backup: sending records, recruiting a new one, losing one.
//! - `players`: sessions, actions, moves; `due`: letters, timers, thoughts. What is to be done comes from these.
//! - `work`: does it, at once if nothing is in the way; `reach`: which zones it touches; `jobs`: what must wait for
//!   locks; `attempt`: how they are got.
//! - `write` and `joint`: from a call of the game to a record; `finish`: what else that record says.
//! - `announce`: from a committed record to what players see; `views`: who sees whom.
//!
//! And with other zones:
//!
//! - `peers`: who decides there; `post`: what goes from log to log.
//! - `grants`: locks for their events, given and taken back; `past`: how things moved a moment ago.
//! - `passage`: objects that change zones; `borders`: ghosts, theirs and ours.

mod announce;
mod attempt;
mod borders;
mod due;
mod finish;
mod follow;
mod grants;
mod jobs;
mod joint;
mod passage;
mod past;
mod peers;
mod players;
mod post;
mod reach;
mod views;
mod work;
mod write;

use crate::config::{Durability, UNACKED_BYTES_MAX};
use crate::core::{Answer, Ask, Core, Event, Out, Purpose, Stage};
use crate::entry::Reign;
use crate::locks::{Holder, Locks};
use crate::msg::{Down, Msg, Peer};
use crate::note::Note;
use crate::plant::Plant;
use crate::record::{Cause, Change, Index};
use crate::replica::{Load, Turn};
use crate::table::Object;
use announce::Pending;
use borders::Borders;
use due::Thoughts;
use follow::{Follower, Leaving, Mode};
use grants::Grants;
use jobs::Jobs;
use machine::{Address, Lane, Time};
use passage::Passages;
use past::Past;
use peers::Peers;
use players::Clients;
use post::Post;
use rustc_hash::FxHashMap;
use space::{Epoch, ObjectId, ZoneId};
use std::collections::{BTreeSet, VecDeque};
use views::Views;
pub use write::changes_of;

/// The one that decides.
pub(crate) struct Primary {
    zone: ZoneId,
    pub(crate) epoch: Epoch,
    mode: Mode,
    /// While it is about to give its backup up.
    leaving: Option<Leaving>,
    /// Everything up to here was told.
    announced: Index,
    /// What was written and not told yet.
    pending: VecDeque<Pending>,
    pending_bytes: usize,
    /// Objects that a record not yet told changes, and how many such records there are. Nobody new may see them.
    unsettled: FxHashMap<ObjectId, u32>,
    clients: Clients,
    views: Views,
    thoughts: Thoughts,
    /// Which motion of an object a record holds: its generation and sequence.
    logged: FxHashMap<ObjectId, (u32, u32)>,
    /// Objects that moved since motions were streamed last.
    moved: BTreeSet<ObjectId>,
    /// When the next beacon was meant to be.
    next_beacon: Time,
    hushed: bool,
    last_checkpoint: Index,
    locks: Locks,
    /// Whose turn it is, and whether somebody is seeing to it.
    turns: VecDeque<Holder>,
    taking_turns: bool,
    jobs: Jobs,
    grants: Grants,
    past: Past,
    peers: Peers,
    post: Post,
    passages: Passages,
    borders: Borders,
}

impl Primary {
    /// Begins a reign. Whoever begins one is alone, but for a reign that merely gets a new backup.
    pub(crate) fn begin(core: &mut Core, reign: Reign, out: &mut Out) -> Self {
        let mut it = Self {
            zone: core.config.zone,
            epoch: reign.epoch,
            mode: Mode::Alone,
            leaving: None,
            announced: 0,
            pending: VecDeque::new(),
            pending_bytes: 0,
            unsettled: FxHashMap::default(),
            clients: Clients::default(),
            views: Views::default(),
            thoughts: Thoughts::default(),
            logged: FxHashMap::default(),
            moved: BTreeSet::new(),
            next_beacon: core.now + core.config.timing.beacon,
            hushed: false,
            last_checkpoint: core.state.head,
            locks: Locks::default(),
            turns: VecDeque::new(),
            taking_turns: false,
            jobs: Jobs::default(),
            grants: Grants::default(),
            past: Past::default(),
            peers: Peers::default(),
            post: Post::default(),
            passages: Passages::default(),
            borders: Borders::new(&core.config),
        };
        if core.config.plants.has(Plant::RestartReigns)
            && let Some(backup) = reign.backup
        {
            it.mode = Mode::Paired(Follower::new(backup, core.log.head(), reign.epoch, core.now));
        }
        let (epoch, head, hash) = (it.epoch, core.log.head(), core.state.hash());
        core.note(out, || Note::Reigns { epoch, head, hash, alone: true });
        // Everything the log holds counts: whoever had a part in it may have told somebody.
        it.announced = core.log.head();
        it.stage_all(core, out);
        it.lock_again(core);
        it.start_timers(core);
        it.write_reign(core, out);
        if core.log.head() == 1 {
            it.found(core, out);
        }
        it.start_thinking(core);
        it.seen_to(core, out);
        it
    }

    /// The reign is over: nobody here hears from us any more.
    pub(crate) fn end(&mut self, core: &Core, out: &mut Out) {
        let primary = core.entry.map(|it| it.primary);
        let away = Msg::Down(self.zone, self.epoch, Down::NotHere { primary });
        out.send_many(self.clients.addresses(), Lane::Sure, away);
    }

    /// Whether it relies on its disk.
    pub(crate) const fn is_alone(&self) -> bool {
        matches!(self.mode, Mode::Alone | Mode::Recruiting(..))
    }

    /// How much it holds.
    pub(crate) fn load(&self, core: &Core) -> Load {
        let (head, tail, progress) = (core.log.head(), core.log.tail(), self.announced);
        let kept_from = self.mode.needed_after().min(self.announced).min(core.disk.written);
        let (pending_bytes, ahead) = (self.pending_bytes, self.clients.ahead());
        let (held, wanted) = self.locks.len();
        let needed = head - kept_from.min(head);
        Load { jobs: self.jobs.len(), locks: held + wanted, pending_bytes, ahead, tail, needed, progress }
    }

    /// What is known of the neighbours' objects.
    pub(crate) fn ghosts(&self) -> Vec<(ZoneId, Object)> {
        let ghosts = self.borders.ghosts().iter();
        ghosts.filter_map(|it| Some((self.borders.owner(it.id)?, it.clone()))).collect()
    }

    fn start_timers(&self, core: &mut Core) {
        let timing = core.config.timing;
        core.wake_after(Purpose::Views, timing.views);
        core.wake_after(Purpose::Motions, timing.motions);
        core.wake_after(Purpose::Beacon, timing.beacon);
        core.wake_after(Purpose::Due, machine::Span::ZERO);
        core.wake_after(Purpose::DiskBatch, machine::Span::ZERO);
        if core.config.is_meshed() {
            core.wake_after(Purpose::Abroad, machine::Span::ZERO);
        }
    }

    fn write_reign(&mut self, core: &mut Core, out: &mut Out) {
        let backup = self.mode.backup();
        let change = Change::Reigns { primary: core.config.me, backup };
        self.write(core, Cause::Reign, vec![change], out);
    }

    pub(crate) fn on_timer(&mut self, core: &mut Core, purpose: Purpose, out: &mut Out) -> Turn {
        match purpose {
            Purpose::Beacon => self.beacon(core, out),
            Purpose::Batch => self.send_records(core, out),
            Purpose::DiskBatch => {
                core.write_disk(out);
                core.wake_after(Purpose::DiskBatch, core.config.disk_pause());
            }
            Purpose::Motions => self.stream_motions(core, out),
            Purpose::Views => self.look_around(core, out),
            Purpose::Due => self.do_due(core, out),
            Purpose::Copy => self.send_copy(core, out),
            Purpose::Ask => self.ask_again(core, out),
            Purpose::Abroad => self.look_abroad(core, out),
            Purpose::Suspect | Purpose::Clock => (),
        }
        Turn::Stay
    }

    pub(crate) fn on_answer(&mut self, core: &mut Core, answer: Answer, out: &mut Out) -> Turn {
        match answer {
            Answer::Won(reign) => {
                self.reign_on(core, reign, out);
                Turn::Stay
            }
            Answer::Looked { .. } => match core.entry {
                // Our own swap may have happened although its answer was lost.
                Some(entry) if entry.primary == core.config.me => {
                    if self.epoch < entry.epoch {
                        self.reign_on(core, entry, out);
                    }
                    Turn::Stay
                }
                _ => Turn::Resign,
            },
            Answer::Unknown(ask) => {
                if core.config.plants.has(Plant::UnknownIsLost) && matches!(ask, Ask::Swap(_)) {
                    self.forget_swap(core);
                }
                core.wake_after(Purpose::Ask, core.config.timing.ask);
                Turn::Stay
            }
        }
    }

    pub(crate) fn on_peer(
        &mut self,
        core: &mut Core,
        from: Address,
        epoch: Epoch,
        peer: Peer,
        out: &mut Out,
    ) -> Turn {
        match peer {
            Peer::Acked { index, synced } => self.on_acked(core, from, epoch, index, synced, out),
            Peer::Missing { after } => self.on_missing(core, from, epoch, after, out),
            Peer::Heard { sent } => self.on_heard(core, from, sent, out),
            Peer::Standing { epoch: last, index } => self.on_standing(core, from, last, index, out),
            // Somebody else reigns, later than we do: find out.
            Peer::Append { .. } | Peer::Beacon { .. } if self.epoch < epoch => core.ask(Ask::Look, out),
            _ => (),
        }
        Turn::Stay
    }

    pub(crate) fn on_persisted(&mut self, core: &mut Core, out: &mut Out) {
        if self.needs_disk(core) {
            core.write_disk(out);
        }
        core.keep_snapshot(out);
        self.advance(core, out);
        self.send_abroad(core, out);
        if self.leaving == Some(Leaving::Syncing) {
            self.ask_again(core, out);
        }
    }

    /// Whether announcements wait for the own disk.
    fn needs_disk(&self, core: &Core) -> bool {
        let trusts_itself = core.config.is_single() && core.config.durability != Durability::Synced;
        !matches!(self.mode, Mode::Paired(_)) && !trusts_itself
            || self.leaving.is_some()
            || core.config.durability == Durability::Synced
    }

    /// Everything up to here may be told.
    fn committed(&self, core: &Core) -> Index {
        let (head, persisted, plants) = (core.log.head(), core.disk.persisted, core.config.plants);
        if plants.has(Plant::AnnounceEarly) {
            return head;
        }
        match &self.mode {
            Mode::Alone | Mode::Recruiting(..) if plants.has(Plant::SoloUnsynced) => head,
            Mode::Alone if core.config.is_single() && core.config.durability != Durability::Synced => head,
            Mode::Alone | Mode::Recruiting(..) => persisted,
            Mode::Naming(..) if plants.has(Plant::SoloWhileNaming) => persisted,
            Mode::Naming(follower, _) => follower.acked.min(persisted),
            Mode::Paired(follower) if self.leaving.is_some() => follower.acked.min(persisted),
            Mode::Paired(follower) => match core.config.durability {
                Durability::Synced => follower.acked.min(follower.synced).min(persisted),
                Durability::Batched | Durability::Lazy => follower.acked,
            },
        }
    }

    /// Tells what has become safe to tell, and goes on with what had to wait.
    fn advance(&mut self, core: &mut Core, out: &mut Out) {
        let committed = self.committed(core).min(core.log.head());
        if committed <= self.announced {
            return;
        }
        let (epoch, alone) = (self.epoch, self.is_alone());
        core.note(out, || Note::Announces { epoch, index: committed, alone });
        self.announced = committed;
        while let Some(pending) = self.pending.front()
            && pending.record.index <= committed
        {
            let pending = self.pending.pop_front().expect("there is a front");
            self.pending_bytes -= pending.bytes;
            self.announce(core, &pending.record, out);
        }
        self.send_abroad(core, out);
        self.enter_waiting(core, out);
        if !core.config.plants.has(Plant::KeepTail) {
            core.trim(self.mode.needed_after().min(self.announced));
        }
        self.resume_choked(core, out);
    }

    /// After something was written: sees to it that backup and disk get it.
    fn seen_to(&mut self, core: &mut Core, out: &mut Out) {
        if self.needs_disk(core) {
            core.write_disk(out);
        }
        self.pass_on(core, out);
        self.advance(core, out);
        self.set_due(core);
    }

    /// Whether so much waits to be acknowledged that nothing more should be taken on.
    const fn is_choked(&self) -> bool {
        UNACKED_BYTES_MAX < self.pending_bytes
    }

    /// Poses are told without an acknowledgement, so they stop when nobody knows whether we still reign.
    fn hush(&mut self, hushed: bool, out: &mut Out) {
        if self.hushed != hushed {
            self.hushed = hushed;
            out.raise(Event::Stage(Stage::Hushed(hushed)));
        }
    }

    fn motion_logged(&mut self, object: ObjectId, motion: &space::Motion) {
        self.logged.insert(object, (motion.generation, motion.sequence));
    }

    /// When to wake for a moment of world time. The world's clock may run slower than ours for a while, so not too
    /// soon: nobody notices a millisecond.
    fn world_to_own(core: &mut Core, at: Time) -> Time {
        let left = at.since(core.world_now());
        if left == machine::Span::ZERO {
            core.now
        } else {
            core.now + left.max(machine::Span::from_millis(1))
        }
    }
}
