//! A replica that decides.
//!
//! It executes what players, letters, timers and thinkers ask for, commits each event as a record, and announces only
//! what is safe: acknowledged by the backup, or on its own disk while it is alone.
//!
//! The primary is made of parts. Each owns its fields, and calls go one way only, from the top of this list to its end:
//!
//! - [`Primary`] takes inputs and hands them on: `players` what clients want, `mesh` what other zones say, this file
//!   timers, answers of the directory, and the backup's messages. It says in which order the parts work.
//! - [`Coordination`] decides *when* something may be executed: at once (`perform`), or with locks of this zone and
//!   others (`jobs`, `attempt`). It grants locks to other zones (`grants`), takes their post (`post`), hands objects over
//!   (`transfers`), and does what is due (`due`).
//! - [`turn::Turn`] executes and commits: `plan` → `execute` → `finish` → `commit`, and the two halves of an event of several
//!   zones (`joint`). A turn is the only way to the log (`turn`).
//! - [`Replication`] brings committed records to backup and disk, and knows which of them are safe; it loses backups and
//!   recruits new ones.
//! - [`Audience`] announces what is safe (`announce`): to clients (`sessions`, `views`), to neighbouring zones
//!   (`neighbours`, `ghosts`), to the carrier. It also tells of moves, which no record holds.
//! - [`Ctx`] is what all of them work with: the replica's core, the outbox, the reign.
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

use crate::core::{Answer, Ask, Core, Out, Purpose};
use crate::entry::Reign;
use crate::msg::{Down, Msg, Peer};
use crate::note::Note;
use crate::replica::{Load, Transition};
use crate::rule::Rule;
use crate::table::Object;
use audience::Audience;
use context::Ctx;
use coordination::Coordination;
use execution::Schedule;
pub use execution::changes_of;
use machine::{Address, Lane, Span};
pub(crate) use mesh::Sender;
use replication::{Acked, Next, Replication};
use space::{Epoch, ZoneId};

/// The replica that decides.
pub(crate) struct Primary {
    coordination: Coordination,
    schedule: Schedule,
    replication: Replication,
    audience: Audience,
}

impl Primary {
    /// Begins a reign. It begins alone.
    pub(crate) fn begin(core: &mut Core, reign: Reign, out: &mut Out) -> Self {
        core.peers = crate::peers::Peers::default();
        let mut it = Self {
            coordination: Coordination::default(),
            schedule: Schedule::new(core.state.head),
            replication: Replication::alone(core, reign),
            audience: Audience::new(core),
        };
        let mut cx = it.ctx(core, out);
        let (epoch, head, hash) = (reign.epoch, cx.core.log.head(), cx.core.state.hash());
        cx.note(|| Note::Reigns { epoch, head, hash, alone: true });
        it.audience.show_all_to_carrier(&mut cx);
        it.coordination.lock_again(cx.core);
        start_timers(cx.core);
        it.in_turn(&mut cx, |_, turn| {
            turn.write_reign();
            if turn.cx.core.log.head() == 1 {
                turn.found();
            }
            turn.schedule.start(turn.cx.core);
        });
        it
    }

    /// Ends a reign: the clients here hear nothing more from this replica.
    pub(crate) fn end(&mut self, core: &Core, out: &mut Out) {
        let primary = core.entry.map(|it| it.primary);
        let away = Msg::Down(core.config.zone, self.epoch(), Down::NotHere { primary });
        out.send_many(self.audience.sessions.addresses(), Lane::Sure, away);
    }

    fn ctx<'a>(&self, core: &'a mut Core, out: &'a mut Out) -> Ctx<'a> {
        let reign = self.replication.reign(core.config.me);
        Ctx { core, out, reign }
    }

    pub(crate) const fn epoch(&self) -> Epoch {
        self.replication.epoch()
    }

    /// Whether it relies on its disk.
    pub(crate) const fn is_alone(&self) -> bool {
        self.replication.is_alone()
    }

    /// How much it holds.
    pub(crate) fn load(&self, core: &Core) -> Load {
        let (head, tail, progress) = (core.log.head(), core.log.tail(), self.audience.announced());
        let kept_from = self.replication.needed_after().min(progress).min(core.disk.written);
        let (pending_bytes, ahead) = (self.audience.unannounced.bytes(), self.audience.sessions.ahead());
        let (jobs, locks) = self.coordination.load();
        Load { jobs, locks, pending_bytes, ahead, tail, needed: head - kept_from.min(head), progress }
    }

    /// The neighbours' objects that are known here, and whose they are.
    pub(crate) fn ghosts(&self) -> Vec<(ZoneId, Object)> {
        self.audience.borders.all()
    }

    // Inputs.

    pub(crate) fn on_timer(&mut self, core: &mut Core, purpose: Purpose, out: &mut Out) -> Transition {
        let mut cx = self.ctx(core, out);
        match purpose {
            Purpose::Beacon => self.on_beacon_due(&mut cx),
            Purpose::Batch => self.replication.send_records(&mut cx),
            Purpose::DiskBatch => {
                cx.core.write_disk(cx.out);
                cx.core.wake_after(Purpose::DiskBatch, cx.core.config.disk_pause());
            }
            Purpose::Motions => {
                cx.core.wake_after(Purpose::Motions, cx.core.config.timing.motions);
                let moved = self.audience.motions.take_unsent();
                self.replication.stream_motions(&mut cx, &moved);
            }
            Purpose::Views => self.on_views_due(&mut cx),
            Purpose::Due => self.on_due(&mut cx),
            Purpose::Copy => self.replication.send_copy(&mut cx),
            Purpose::Ask => self.replication.ask_again(&mut cx, self.audience.announced()),
            Purpose::Mesh => self.on_mesh_tick(&mut cx),
            Purpose::Suspect | Purpose::Clock => (),
        }
        Transition::Stay
    }

    pub(crate) fn on_answer(&mut self, core: &mut Core, answer: Answer, out: &mut Out) -> Transition {
        let mut cx = self.ctx(core, out);
        match answer {
            Answer::Won(reign) => self.reign_on(&mut cx, reign),
            Answer::Looked { .. } => match cx.core.entry {
                // Our own swap may have happened although its answer was lost.
                Some(entry) if entry.primary == cx.core.config.me => {
                    if self.epoch() < entry.epoch {
                        self.reign_on(&mut cx, entry);
                    }
                }
                _ => return Transition::Resign,
            },
            Answer::Unknown(ask) => {
                if !cx.enforces(Rule::UnknownSwapMayHappen) && matches!(ask, Ask::Swap(_)) {
                    self.replication.forget_swap();
                }
                cx.core.wake_after(Purpose::Ask, cx.core.config.timing.ask);
            }
        }
        Transition::Stay
    }

    pub(crate) fn on_peer(
        &mut self,
        core: &mut Core,
        from: Address,
        epoch: Epoch,
        peer: Peer,
        out: &mut Out,
    ) -> Transition {
        let mut cx = self.ctx(core, out);
        let announced = self.audience.announced();
        match peer {
            Peer::Acked { index, synced } => self.on_acked(&mut cx, from, Acked { epoch, index, synced }),
            Peer::Missing { after } => self.replication.on_missing(&mut cx, from, epoch, after),
            Peer::Heard { sent } => self.replication.on_heard(&mut cx, from, sent),
            Peer::Standing { epoch: last, index } => {
                let next = self.replication.on_standing(&mut cx, from, (last, index), announced);
                self.go_on(&mut cx, next);
            }
            // Another replica reigns, later than this one does: find out.
            Peer::Append { .. } | Peer::Beacon { .. } if self.epoch() < epoch => {
                cx.core.ask(Ask::Look, cx.out)
            }
            _ => (),
        }
        Transition::Stay
    }

    fn on_acked(&mut self, cx: &mut Ctx<'_>, from: Address, acked: Acked) {
        if self.replication.on_acked(cx, from, acked, self.audience.announced()) {
            self.advance(cx);
        }
    }

    pub(crate) fn on_persisted(&mut self, core: &mut Core, out: &mut Out) {
        let mut cx = self.ctx(core, out);
        self.replication.write_disk_if_needed(&mut cx);
        cx.core.keep_snapshot(cx.out);
        self.advance(&mut cx);
        self.coordination.send_safe(&mut cx, self.audience.announced());
        if self.replication.is_syncing() {
            self.replication.ask_again(&mut cx, self.audience.announced());
        }
    }

    pub(crate) fn on_link_up(&mut self, core: &mut Core, peer: Address, out: &mut Out) {
        let mut cx = self.ctx(core, out);
        self.replication.on_link_up(&mut cx, peer);
        self.audience.borders.greet(&mut cx, peer);
    }

    pub(crate) fn on_link_down(&mut self, core: &mut Core, peer: Address, out: &mut Out) {
        let mut cx = self.ctx(core, out);
        for zone in cx.core.peers.lose(peer) {
            self.audience.borders.unwatched(zone);
        }
        if !self.replication.follows(peer) {
            self.audience.client_lost(&mut cx, peer);
        }
    }

    fn on_beacon_due(&mut self, cx: &mut Ctx<'_>) {
        let next = self.replication.beacon(cx, self.audience.announced());
        self.go_on(cx, next);
    }

    fn on_due(&mut self, cx: &mut Ctx<'_>) {
        let done = self.in_turn(cx, |coordination, turn| {
            let done = coordination.do_due(turn);
            turn.write_checkpoint();
            done
        });
        if cx.core.timers.at(Purpose::Due).is_some_and(|at| at <= cx.now()) {
            // More is due: let others have their turn first.
            let pause = if 0 < done { Span::from_micros(100) } else { cx.core.config.timing.batch };
            cx.core.wake_after(Purpose::Due, pause);
        }
    }

    // From safe to announced.

    /// Announces what has become safe, and goes on with what had to wait for that.
    fn advance(&mut self, cx: &mut Ctx<'_>) {
        let committed = self.replication.committed(cx.core).min(cx.core.log.head());
        if committed <= self.audience.announced() {
            return;
        }
        let (epoch, alone) = (self.epoch(), self.is_alone());
        cx.note(|| Note::Announces { epoch, index: committed, alone });
        self.audience.announce_to(cx, committed);
        self.coordination.send_safe(cx, committed);
        self.audience.admit_waiting(cx);
        if cx.enforces(Rule::TrimTail) {
            cx.core.trim(self.replication.needed_after().min(committed));
        }
        self.resume_choked(cx);
    }

    // Reigns.

    /// Does what a change in the relation to the backup asks for.
    fn go_on(&mut self, cx: &mut Ctx<'_>, next: Next) {
        match next {
            Next::Nothing => (),
            Next::Alone => self.in_turn(cx, |_, _| ()),
            Next::Reign(reign) => self.reign_on(cx, reign),
        }
    }

    /// The reign goes on in a new epoch: with a new backup, or without one.
    fn reign_on(&mut self, cx: &mut Ctx<'_>, reign: Reign) {
        self.replication.reign_on(cx, reign);
        cx.reign = self.replication.reign(cx.core.config.me);
        let (epoch, head, hash) = (self.epoch(), cx.core.log.head(), cx.core.state.hash());
        let alone = self.is_alone();
        cx.note(|| Note::Reigns { epoch, head, hash, alone });
        self.replication.hush(cx, false);
        self.in_turn(cx, |_, turn| turn.write_reign());
    }
}

fn start_timers(core: &mut Core) {
    let timing = core.config.timing;
    core.wake_after(Purpose::Views, timing.views);
    core.wake_after(Purpose::Motions, timing.motions);
    core.wake_after(Purpose::Beacon, timing.beacon);
    core.wake_after(Purpose::Due, Span::ZERO);
    core.wake_after(Purpose::DiskBatch, Span::ZERO);
    if core.config.is_meshed() {
        core.wake_after(Purpose::Mesh, Span::ZERO);
    }
}
