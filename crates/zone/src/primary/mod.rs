//! The primary: the replica of a zone that decides.
//!
//! It executes actions, letters, timers and thoughts, commits each event as a record, and announces only records that
//! are safe: acknowledged by the backup, or on its own disk while it is alone.
//!
//! The primary is made of parts. Each owns its fields, and calls from part to part go one way only, from the top of this list
//! to its end; plain functions of `execution` (`newer`, `wider`) and its `VisibleObjects` serve all of them:
//!
//! - [`Primary`] takes inputs and hands them on: `players` the messages of clients, `mesh` those of other zones, this
//!   file timers, answers of the directory, and the backup's messages. It fixes the order in which the parts work.
//! - [`Coordination`] decides *when* something may be executed: at once (`perform`), or with locks of this zone and
//!   others (`jobs`, `attempt`). It grants locks to other zones (`grants`), takes their post (`post`), hands objects
//!   over (`transfers`), and does what is due (`due`).
//! - [`turn::Turn`] executes and commits: `plan` → `execute` → `finish` → `commit`, and the two halves of an event of
//!   several zones (`joint`). A turn is the only way to the log (`turn`).
//! - [`Replication`] brings committed records to backup and disk, and knows which of them are safe; it loses backups
//!   and recruits new ones.
//! - [`Audience`] announces records that are safe (`announce`): to clients (`sessions`, `client_views`), to
//!   neighbouring zones (`neighbours`), to the carrier. It keeps the ghosts that neighbours tell of, and shows them to its
//!   clients (`borders`, `ghosts`). It also tells of moves, which no record holds (`moves`, `motions`).
//! - [`PrimaryContext`] is what all of them work with: the replica's core, the outbox, the leadership.
//!
//! Text tables in `testdata` show each part at work, case by case: see `docs/protocol.md`.

mod audience;
pub(crate) mod broken;
mod context;
mod coordination;
mod execution;
mod mesh;
mod players;
mod replication;
mod turn;

use crate::carrier_update::CarrierUpdate;
use crate::core::{Core, DirectoryAnswer, DirectoryQuery, ReplicaEvent, ReplicaOutbox, ReplicaTimer};
use crate::leadership::Leadership;
use crate::load_level::LoadMeter;
use crate::msg::{BetweenReplicas, ToPlayer, ZoneMsg};
use crate::note::Note;
use crate::object_table::Object;
use crate::replica::{PrimaryStatus, ReplicaLoad, Transition};
use crate::rule::Rule;
use audience::Audience;
use context::PrimaryContext;
use coordination::{ActionCost, Coordination};
use execution::ThinkSchedule;
pub use execution::changes_of;
use machine::{Address, Lane, Span};
pub(crate) use mesh::ZoneSender;
use replication::{Acknowledgement, FollowUp, Replication};
use space::{Epoch, ZoneId};

/// The replica of a zone that decides, with its parts: see the module.
pub(crate) struct Primary {
    coordination: Coordination,
    schedule: ThinkSchedule,
    replication: Replication,
    audience: Audience,
    load: LoadMeter,
}

impl Primary {
    /// Becomes primary in a new epoch. It begins alone, and recruits a backup later.
    pub(crate) fn begin(core: &mut Core, leadership: Leadership, out: &mut ReplicaOutbox) -> Self {
        // Every other zone's primary counts as unknown: the first word of each makes this one post and watch anew.
        core.remote_primaries = crate::remote_primaries::RemotePrimaries::default();
        core.suspects = core.config.suspects.iter().chain(leadership.suspects.iter()).collect();
        let mut it = Self {
            coordination: Coordination::default(),
            schedule: ThinkSchedule::new(core.state.head),
            replication: Replication::alone(core, leadership),
            audience: Audience::new(core),
            load: LoadMeter::default(),
        };
        let mut cx = it.ctx(core, out);
        let (epoch, head, hash) = (leadership.epoch, cx.core.log.head(), cx.core.state.hash());
        cx.note(|| Note::Leads { epoch, head, hash, alone: true });
        it.audience.show_all_to_carrier(&mut cx);
        announce_leadership(&mut cx);
        // Before the first turn: no event may slip past a lock that the previous primary granted.
        it.coordination.restore_locks(cx.core);
        start_timers(cx.core);
        it.in_turn(&mut cx, |_, turn| {
            turn.write_leadership();
            // The leadership is the only record: the log was empty, and the world is new.
            if turn.cx.core.log.head() == 1 {
                turn.found_world();
            }
            turn.schedule.start(turn.cx.core);
        });
        it
    }

    /// Stops being primary: sends the clients here away, to the primary that the directory names.
    pub(crate) fn end(&mut self, core: &Core, out: &mut ReplicaOutbox) {
        let primary = core.leadership.map(|it| it.primary);
        let away = ZoneMsg::ToPlayer(core.config.zone, self.epoch(), ToPlayer::NotHere { primary });
        out.send_many(self.audience.sessions.addresses(), Lane::Sure, away);
    }

    fn ctx<'a>(&self, core: &'a mut Core, out: &'a mut ReplicaOutbox) -> PrimaryContext<'a> {
        let (epoch, backup) = (self.replication.epoch(), self.replication.backup());
        PrimaryContext { core, out, epoch, backup }
    }

    pub(crate) const fn epoch(&self) -> Epoch {
        self.replication.epoch()
    }

    /// Returns whether records are safe on its own disk, without a backup.
    pub(crate) const fn is_alone(&self) -> bool {
        self.replication.is_alone()
    }

    /// Counts jobs, locks and records in memory, for limits and metrics.
    pub(crate) fn load(&self, core: &Core) -> ReplicaLoad {
        let (head, tail, progress) = (core.log.head(), core.log.tail(), self.audience.announced());
        // A record stays in memory while the backup, the clients or the disk lack it.
        let kept_from = self.replication.needed_after().min(progress).min(core.disk.written);
        let (pending_bytes, ahead) = (self.audience.unannounced.bytes(), self.audience.sessions.ahead());
        let (jobs, locks) = self.coordination.load();
        let (needed, repeated_entries) =
            (head - kept_from.min(head), self.audience.sessions.repeated_entries());
        ReplicaLoad {
            jobs,
            locks,
            pending_bytes,
            ahead,
            tail,
            needed,
            progress,
            repeated_entries,
            grace: Span::ZERO,
        }
    }

    /// What its host reports of this primary.
    pub(crate) fn status(&self, core: &Core) -> PrimaryStatus {
        let players = core.state.players.values().filter(|it| it.present).count();
        PrimaryStatus { players, level: self.load.level(), late: core.lateness() }
    }

    /// The ghosts, each with the zone that owns the object.
    pub(crate) fn ghosts(&self) -> Vec<(ZoneId, Object)> {
        self.audience.borders.all()
    }

    // Inputs.

    pub(crate) fn on_timer(
        &mut self,
        core: &mut Core,
        purpose: ReplicaTimer,
        out: &mut ReplicaOutbox,
    ) -> Transition {
        let mut cx = self.ctx(core, out);
        match purpose {
            ReplicaTimer::Beacon => self.on_beacon_due(&mut cx),
            ReplicaTimer::Batch => self.replication.send_records(&mut cx),
            ReplicaTimer::DiskBatch => {
                cx.core.write_disk(cx.out);
                cx.core.plan_append(); // The disk may be busy, or take less than all at once.
            }
            ReplicaTimer::Motions => {
                let next = cx.core.next_multiple(cx.core.config.timing.motions);
                cx.core.timers.set(ReplicaTimer::Motions, next);
                let moved = self.audience.motions.take_unsent();
                self.replication.stream_motions(&mut cx, &moved);
            }
            ReplicaTimer::Views => self.on_views_due(&mut cx),
            ReplicaTimer::Due => self.on_due(&mut cx),
            ReplicaTimer::Copy => self.replication.send_snapshot_part(&mut cx),
            ReplicaTimer::Ask => self.replication.request_swap(&mut cx, self.audience.announced()),
            ReplicaTimer::Mesh => self.on_mesh_tick(&mut cx),
            // A primary suspects its backup with the beacon; the replica itself asks for the clock.
            ReplicaTimer::Suspect | ReplicaTimer::Clock => (),
        }
        Transition::Stay
    }

    pub(crate) fn on_answer(
        &mut self,
        core: &mut Core,
        answer: DirectoryAnswer,
        out: &mut ReplicaOutbox,
    ) -> Transition {
        let mut cx = self.ctx(core, out);
        match answer {
            DirectoryAnswer::Won(leadership) => self.begin_epoch(&mut cx, leadership),
            DirectoryAnswer::Read { lost } => match cx.core.leadership {
                // This primary's own swap may have happened although its answer was lost.
                Some(entry) if entry.primary == cx.core.config.me => {
                    if self.epoch() < entry.epoch {
                        self.begin_epoch(&mut cx, entry);
                    } else if lost {
                        // A watchdog has added a suspect to the entry meanwhile: primary and backup are as they were.
                        cx.core.wake_after(ReplicaTimer::Ask, cx.core.config.timing.ask);
                    }
                }
                _ => return Transition::LoseRole,
            },
            // The swap may have happened. It is sent again: if it did happen, the repeat loses and shows the entry.
            DirectoryAnswer::Unknown(ask) => {
                if !cx.enforces(Rule::UnknownSwapMayHappen) && matches!(ask, DirectoryQuery::Swap(_)) {
                    self.replication.forget_swap();
                }
                cx.core.wake_after(ReplicaTimer::Ask, cx.core.config.timing.ask);
            }
        }
        Transition::Stay
    }

    pub(crate) fn on_replica_message(
        &mut self,
        core: &mut Core,
        from: Address,
        epoch: Epoch,
        peer: BetweenReplicas,
        out: &mut ReplicaOutbox,
    ) -> Transition {
        let mut cx = self.ctx(core, out);
        let announced = self.audience.announced();
        match peer {
            BetweenReplicas::Acked { index, synced } => {
                self.on_acked(&mut cx, from, Acknowledgement { epoch, index, synced })
            }
            BetweenReplicas::Missing { after } => self.replication.on_missing(&mut cx, from, epoch, after),
            BetweenReplicas::Heard { sent, synced, late, grace } => {
                self.replication.on_heard(&mut cx, (from, epoch), (sent, synced), (late, grace));
                self.advance(&mut cx); // The backup's disk may have caught up.
            }
            BetweenReplicas::LogEnd { epoch: last, index } => {
                let next = self.replication.on_log_end(&mut cx, from, (last, index), announced);
                self.follow_up(&mut cx, next);
            }
            // Another replica leads in a later epoch: the directory knows whether this one still leads.
            BetweenReplicas::Append { .. } | BetweenReplicas::Beacon { .. } if self.epoch() < epoch => {
                cx.core.ask_directory(DirectoryQuery::Read, cx.out)
            }
            _ => (),
        }
        Transition::Stay
    }

    fn on_acked(&mut self, cx: &mut PrimaryContext<'_>, from: Address, acked: Acknowledgement) {
        if self.replication.on_acked(cx, from, acked, self.audience.announced()) {
            self.advance(cx);
        }
    }

    pub(crate) fn on_persisted(&mut self, core: &mut Core, out: &mut ReplicaOutbox) {
        let mut cx = self.ctx(core, out);
        // The disk takes one append at a time: the records that waited for it come first.
        self.replication.write_disk_if_needed(&mut cx);
        self.advance(&mut cx);
        // Also when `advance` announced nothing: post waits for the disk even while a backup makes records safe.
        self.coordination.send_settled(&mut cx, self.audience.announced());
        if self.replication.is_syncing() {
            self.replication.request_swap(&mut cx, self.audience.announced());
        }
    }

    pub(crate) fn on_link_up(&mut self, core: &mut Core, peer: Address, out: &mut ReplicaOutbox) {
        let mut cx = self.ctx(core, out);
        self.replication.on_link_up(&mut cx, peer);
        self.audience.borders.seek_primary_at(&mut cx, peer);
    }

    pub(crate) fn on_link_down(&mut self, core: &mut Core, peer: Address, out: &mut ReplicaOutbox) {
        let mut cx = self.ctx(core, out);
        for zone in cx.core.remote_primaries.on_link_down(peer) {
            self.audience.borders.on_neighbour_lost(zone);
        }
        // A follower is given up for its silence (see `Replication::beacon`), not for a lost link.
        if !self.replication.is_follower(peer) {
            self.audience.client_lost(&mut cx, peer);
        }
    }

    fn on_beacon_due(&mut self, cx: &mut PrimaryContext<'_>) {
        let next = self.replication.beacon(cx, self.audience.announced());
        self.follow_up(cx, next);
        self.advance(cx); // The disks may have caught up.
        self.shed_load(cx);
    }

    /// Tells how loaded the primary is, and limits its players while it is late.
    fn shed_load(&mut self, cx: &mut PrimaryContext<'_>) {
        let (now, late) = (cx.now(), cx.core.lateness());
        if let Some(level) = self.load.measure(now, late) {
            cx.out.raise(ReplicaEvent::Load(level));
            cx.update_carrier(CarrierUpdate::SetLoad(level));
            cx.send_clients(self.audience.sessions.addresses(), ToPlayer::Load(level));
            self.audience.load = level;
        }
        self.coordination.pace.measure(now, late);
        if self.audience.sessions.has_paced() {
            self.answer_old_actions(cx);
            self.resume_paced(cx);
        }
    }

    fn on_due(&mut self, cx: &mut PrimaryContext<'_>) {
        let done = self.in_turn(cx, |coordination, turn| {
            let done = coordination.run_due(turn);
            turn.write_checkpoint();
            done
        });
        if cx.core.timers.at(ReplicaTimer::Due).is_some_and(|at| at <= cx.now()) {
            // More is due than one turn runs. A short pause lets messages be handled in between; a longer one if
            // nothing could be run, so that the primary does not spin.
            let pause = if 0 < done { Span::from_micros(100) } else { cx.core.config.timing.batch };
            cx.core.wake_after(ReplicaTimer::Due, pause);
        }
    }

    // From safe to announced.

    /// Announces the records that have become safe, and resumes the clients, grants and actions that waited for them.
    fn advance(&mut self, cx: &mut PrimaryContext<'_>) {
        // A follower's first acknowledgement is taken as it comes, and might name a record that the log lacks.
        let safe = self.replication.safe(cx.core).min(cx.core.log.head());
        if safe <= self.audience.announced() {
            return;
        }
        let (epoch, alone) = (self.epoch(), self.is_alone());
        cx.note(|| Note::Announces { epoch, index: safe, alone });
        for (player, hearers) in self.audience.announce_to(cx, safe) {
            self.coordination.pace.charge(player, cx.now(), ActionCost::Hearers(hearers));
        }
        self.coordination.send_settled(cx, safe);
        self.audience.admit_waiting(cx);
        if cx.enforces(Rule::TrimTail) {
            cx.core.trim_log(self.replication.needed_after().min(safe));
        }
        self.resume_backlogged(cx);
    }

    // Epochs.

    /// Acts on a change in the relation to the backup.
    fn follow_up(&mut self, cx: &mut PrimaryContext<'_>, next: FollowUp) {
        match next {
            FollowUp::Nothing => (),
            // An empty turn announces what the disk alone makes safe now.
            FollowUp::Alone => self.in_turn(cx, |_, _| ()),
            FollowUp::NewEpoch(leadership) => self.begin_epoch(cx, leadership),
        }
    }

    /// This replica stays primary in a new epoch: with a new backup, or without one.
    fn begin_epoch(&mut self, cx: &mut PrimaryContext<'_>, leadership: Leadership) {
        self.replication.begin_epoch(cx, leadership);
        (cx.epoch, cx.backup) = (self.replication.epoch(), self.replication.backup());
        let (epoch, head, hash) = (self.epoch(), cx.core.log.head(), cx.core.state.hash());
        let alone = self.is_alone();
        cx.note(|| Note::Leads { epoch, head, hash, alone });
        self.replication.set_poses_paused(cx, false);
        self.in_turn(cx, |_, turn| turn.write_leadership());
    }
}

/// Tells every client that can be reached who leads: those of the zone need not wait for the silence of the one before.
fn announce_leadership(cx: &mut PrimaryContext<'_>) {
    let is_client = |it: &Address| (cx.core.config.zone_of)(*it).is_none();
    let clients: Vec<_> = cx.core.links.keys().copied().filter(is_client).collect();
    cx.send_clients(clients, ToPlayer::Leads);
}

fn start_timers(core: &mut Core) {
    let timing = core.config.timing;
    core.wake_after(ReplicaTimer::Views, timing.views);
    core.timers.set(ReplicaTimer::Motions, core.next_multiple(timing.motions));
    core.timers.set(ReplicaTimer::Beacon, core.next_multiple(timing.beacon));
    core.wake_after(ReplicaTimer::Due, Span::ZERO);
    if core.config.is_meshed() {
        core.wake_after(ReplicaTimer::Mesh, Span::ZERO);
    }
}
