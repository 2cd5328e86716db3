//! One simulated world: three hosts with a replica of every zone, their disks, a directory, players, and the links
//! between them, on the simulator.
//!
//! It answers requests for disk and directory, makes connections anew, restarts what died, and shows the checker
//! everything that happens. It does not choose the faults (see `plan`) and checks nothing itself (see `check`).
//!
//! [`SimulatedWorld`] builds, runs, and hands what machines raise to its parts. Each part owns its fields. Calls go one
//! way: `SimulatedWorld` calls its parts, a part calls none of the others but asks `world_setup`, and no part knows
//! `SimulatedWorld`:
//!
//! | part | owns |
//! |---|---|
//! | `world_setup` | game, map and options; makes machines and never changes |
//! | `task_queue` | what the world does by itself, and when |
//! | `replica_slots` | disks, their open requests, the lives of replicas |
//! | `player_slots` | players and their sessions |
//! | `network_links` | which links are cut, and their profiles |
//! | `poison` | whether the next action hangs its primary |
//! | `crash_triggers` | crashes that wait for a step of a protocol |
//! | `monitor` | what was heard: the checker, the recorder, times of actions |
//!
//! The directory is [`DirectoryService`]. What disks, directory and players draw comes from one stream, which `SimulatedWorld` owns
//! and lends: the order of draws is part of a seed's history. `faults` is what can be done to a world.

mod crash_triggers;
mod faults;
mod monitor;
mod network_links;
mod player_slots;
mod poison;
mod replica_slots;
mod task_queue;
mod world_setup;

pub use monitor::Monitor;
pub(crate) use replica_slots::ReplicaLife;

use crate::check;
use crate::directory_service::{DirectoryService, PendingRequest, ticket};
use crate::fault::FaultKind;
use crate::history_checker::{Ending, HistoryChecker};
use crate::history_recorder::HistoryRecorder;
use crate::layout::Layout;
use crate::run_options::RunOptions;
use crate::scenario::Scenario;
use crate::violation::Violations;
use crash_triggers::CrashTriggers;
use history::{EntryKind, NamedBytes, directory_swapped};
use machine::directory::DirectoryReply;
use machine::{Address, Rng, Span, Time, disk};
use network_links::NetworkLinks;
use node::{Node, NodeCommand, NodeEvent};
use player_slots::{PlayerSlot, PlayerSlots};
use poison::CallHangs;
use replica_slots::ReplicaSlots;
use sim::Sim;
use space::ZoneId;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use task_queue::{TaskQueue, WorldTask};
use world_setup::WorldSetup;
use zone::{Player, PlayerEvent, Replica, ReplicaCommand, ReplicaEvent, ReplicaStatus};

/// Interval at which lost connections are made anew.
const CONNECT_EVERY: Span = Span::from_millis(100);

/// Address of the directory in histories; no machine of the simulator has it.
pub(crate) const DIRECTORY: Address = Address(u64::MAX);

/// A simulated world and everything that observes it.
pub struct SimulatedWorld {
    /// The simulator that runs all machines.
    pub sim: Sim<Node>,
    /// The directory, and the path to it.
    pub directory: DirectoryService,
    /// Collects what machines say, and runs the checkers.
    pub monitor: Monitor,
    pub(crate) setup: Arc<WorldSetup>,
    pub(crate) rng: Rng,
    pub(crate) replica_slots: ReplicaSlots,
    pub(crate) network_links: NetworkLinks,
    pub(crate) crash_triggers: CrashTriggers,
    player_slots: PlayerSlots,
    task_queue: TaskQueue,
}

impl SimulatedWorld {
    // Building.

    /// A world without faults, before any player has entered.
    pub fn new(scenario: impl Scenario, options: RunOptions) -> Self {
        Self::of(scenario, options, Layout::of(&options))
    }

    /// As [`SimulatedWorld::new`], with a given map.
    pub fn of(scenario: impl Scenario, options: RunOptions, layout: Layout) -> Self {
        Self::started(WorldSetup::new(scenario, options, layout), None)
    }

    /// As [`SimulatedWorld::new`], with a recorder that writes histories as real processes would.
    ///
    /// # Panics
    ///
    /// If there are several zones: a recorded host has one history, of one zone.
    pub fn recorded(scenario: impl Scenario, options: RunOptions) -> Self {
        let setup = WorldSetup::new(scenario, options, Layout::of(&options));
        let recorder = HistoryRecorder::new(setup.described());
        Self::started(setup, Some(recorder))
    }

    fn started(setup: WorldSetup, recorder: Option<HistoryRecorder>) -> Self {
        let seed = setup.options.seed;
        let setup = Arc::new(setup);
        let mut sim = Sim::new(seed);
        sim.set_give_up_after(Span::from_millis(3_000));
        let mut it = Self {
            sim,
            directory: DirectoryService::new(),
            monitor: Monitor::new(HistoryChecker::new(seed, setup.specs()), recorder),
            // A stream of its own: draws of the simulator do not change draws of the world.
            rng: Rng::seeded(seed).fork_named(0x0077_01d1),
            task_queue: TaskQueue::default(),
            replica_slots: ReplicaSlots::default(),
            player_slots: PlayerSlots::default(),
            network_links: NetworkLinks::new(&setup),
            crash_triggers: CrashTriggers::default(),
            setup,
        };
        // The directory is no machine here, but its history needs a beginning.
        it.tell(DIRECTORY, EntryKind::Started);
        it.add_replicas();
        it.add_players();
        it.task_queue.plan(Time::ZERO, WorldTask::Connect);
        it
    }

    fn add_replicas(&mut self) {
        let mut clocks = vec![Span::ZERO; self.layout().hosts()];
        for address in self.layout().replicas() {
            let added = self.sim.add(self.setup.replica(address));
            assert_eq!(added, address, "replicas come first");
            self.replica_slots.add(self.setup.disk());
            self.tell(address, EntryKind::Started);
            // Replicas of one host share its clock; the first one of a host draws its offset.
            let host = self.layout().host_of(address).expect("a replica has a host");
            if address.0 as usize == host {
                clocks[host] = Span::from_millis(self.rng.below(5_000));
            }
            self.sim.step_clock(address, clocks[host]);
        }
    }

    fn add_players(&mut self) {
        for number in 0..self.options().players {
            let hostile = self.options().has(FaultKind::Hostile) && self.rng.below(8) == 0;
            let player = self.setup.scenario.player(number);
            // The machine is made from the slot, and the simulator gives the address when the machine is added.
            let mut slot = PlayerSlot { address: Address(0), player, session: 1, number, hostile };
            slot.address = self.sim.add(self.setup.client(&slot));
            let offset = Span::from_millis(self.rng.below(5_000));
            self.sim.step_clock(slot.address, offset);
            self.tell(slot.address, EntryKind::Started);
            self.player_slots.add(slot);
        }
    }

    // Looking.

    /// The options of this run.
    pub fn options(&self) -> &RunOptions {
        &self.setup.options
    }

    /// The zones, and the addresses of their replicas.
    pub fn layout(&self) -> &Layout {
        &self.setup.layout
    }

    /// The simulator's time, from zero.
    pub fn now(&self) -> Time {
        self.sim.now()
    }

    /// Replicas of all zones that are up.
    pub fn replicas(&self) -> impl Iterator<Item = (Address, &Replica)> {
        self.alive(self.layout().replicas())
    }

    /// Replicas of one zone that are up.
    pub fn replicas_of(&self, zone: ZoneId) -> impl Iterator<Item = (Address, &Replica)> {
        self.alive(self.layout().replicas_of(zone))
    }

    fn alive(
        &self,
        replicas: impl IntoIterator<Item = Address>,
    ) -> impl Iterator<Item = (Address, &Replica)> {
        let alive = replicas.into_iter().filter(|&it| self.sim.is_up(it));
        alive.filter_map(|it| Some((it, self.sim.machine(it).host()?.replica())))
    }

    /// All players with their addresses.
    pub fn players(&self) -> impl Iterator<Item = (Address, &Player)> {
        let addresses = self.player_slots.addresses().into_iter();
        addresses.filter_map(|it| Some((it, self.sim.machine(it).client()?.player())))
    }

    /// Addresses of all players, by player number.
    pub fn player_addresses(&self) -> Vec<Address> {
        self.player_slots.addresses()
    }

    /// The primary of a zone; if several replicas think they are, the one with the highest epoch.
    pub fn primary(&self, zone: ZoneId) -> Option<(Address, &Replica)> {
        let epoch = |it: &Replica| match it.status() {
            ReplicaStatus::Primary(epoch, _) => Some(epoch),
            _ => None,
        };
        self.replicas_of(zone).filter_map(|it| Some((epoch(it.1)?, it))).max_by_key(|it| it.0).map(|it| it.1)
    }

    // Running.

    /// Runs the world up to `time`, or until a checker finds a violation.
    pub fn run_until(&mut self, time: Time) {
        while !self.monitor.is_violated() {
            let next = self.task_queue.next().min(time);
            // One step at a time: a machine may raise something that adds a task before `next`.
            while self.step_until(next) {
                self.take_raised();
                if self.monitor.is_violated() {
                    return;
                }
                // A new task is due before the time that we run to.
                if self.task_queue.next() < next {
                    break;
                }
            }
            if let Some(task) = self.task_queue.take_due(self.sim.now()) {
                self.carry_out(task);
                self.take_raised();
            } else if time <= self.sim.now() {
                return;
            }
        }
    }

    /// As [`Sim::step_until`]. A machine that hangs in the step is lost.
    fn step_until(&mut self, time: Time) -> bool {
        if !self.setup.poison.is_armed() {
            return self.sim.step_until(time);
        }
        let safe = self.layout().replicas().filter(|&it| self.sim.is_up(it) && self.is_safe_without(it));
        self.setup.poison.set_safe(safe.collect());
        match catch_unwind(AssertUnwindSafe(|| self.sim.step_until(time))) {
            Ok(found) => found,
            Err(panic) if panic.is::<CallHangs>() => {
                self.sim.drop_outputs();
                if let Some((replica, suspect)) = self.setup.poison.take_hung() {
                    self.hang(replica, suspect);
                }
                true
            }
            Err(panic) => resume_unwind(panic),
        }
    }

    fn carry_out(&mut self, task: WorldTask) {
        match task {
            WorldTask::Connect => self.connect_all(),
            WorldTask::Accuse { replica, suspect, tries } => self.accuse(replica, suspect, tries),
            WorldTask::Accused { replica, suspect } => self.accused(replica, suspect),
            WorldTask::Restart(replica) => self.restart(replica),
            WorldTask::DiskDone { life, request } => self.disk_done(life, request),
            WorldTask::Arrives(pending) => self.arrives(pending),
            WorldTask::GivesUp { life, ticket } => self.answer(life, DirectoryReply::Unknown { ticket }),
            WorldTask::Answer { life, done } => self.answer(life, done),
        }
    }

    fn connect_all(&mut self) {
        self.task_queue.plan(self.sim.now() + CONNECT_EVERY, WorldTask::Connect);
        self.network_links.connect_all(&mut self.sim, &self.player_slots.addresses());
    }

    // What machines raise.

    fn take_raised(&mut self) {
        let raised: Vec<_> = self.sim.raised().collect();
        for it in raised {
            match it.event {
                NodeEvent::Host(event) => self.on_replica(it.by, event),
                NodeEvent::Client(event) => self.on_client(it.by, event),
            }
        }
        // Events raised together happened together, so a crash waits until all of them are handled.
        for crash in self.crash_triggers.take_due() {
            self.crash_due(crash);
        }
    }

    fn on_replica(&mut self, replica: Address, event: ReplicaEvent) {
        self.crash_triggers.see(replica, &event, &self.setup.layout);
        match event {
            ReplicaEvent::Disk(request) => self.on_disk(replica, request),
            ReplicaEvent::Directory(request) => self.on_directory(replica, request),
            ReplicaEvent::Note(note) => self.tell(replica, EntryKind::Said(note)),
            ReplicaEvent::Fault(text) => self.monitor.game_faults.push(text),
            // The crash triggers have seen `Broken` above.
            ReplicaEvent::Broken(_) | ReplicaEvent::Carrier(_) | ReplicaEvent::Load(_) => (),
        }
    }

    fn on_client(&mut self, by: Address, event: PlayerEvent) {
        match event {
            PlayerEvent::Note(note) => self.monitor.hear_player(self.sim.now(), by, note),
            // A player's notes tell the checkers all of this already.
            PlayerEvent::Entered(_)
            | PlayerEvent::Searching(_)
            | PlayerEvent::Answered(..)
            | PlayerEvent::Notice(_)
            | PlayerEvent::Corrected(_)
            | PlayerEvent::Closed(_)
            | PlayerEvent::Busy
            | PlayerEvent::TooLong(_)
            | PlayerEvent::Load(_)
            // `network_links` asks for them ten times a second.
            | PlayerEvent::Contacts(_) => (),
        }
    }

    /// Hands one occurrence to the monitor.
    fn tell(&mut self, by: Address, what: EntryKind) {
        self.monitor.hear(self.sim.now(), by, what);
    }

    // Disks.

    fn on_disk(&mut self, replica: Address, request: disk::DiskRequest) {
        let (at, task) = self.replica_slots.ask(replica, request, self.sim.now(), &mut self.rng);
        self.task_queue.plan(at, task);
    }

    fn disk_done(&mut self, life: ReplicaLife, request: u64) {
        let replica = life.replica;
        if self.replica_slots.disk(replica).failing && !self.is_safe_without(replica) {
            // The fault is cancelled: no other replica holds what this one has, so a failure would lose records.
            self.replica_slots.disk(replica).failing = false;
        }
        let Some((kept, done)) = self.replica_slots.serve(life, request, &mut self.rng) else { return };
        if let Some(what) = kept {
            self.tell(replica, what);
        }
        self.command(replica, ReplicaCommand::Disk(done));
    }

    // The directory.

    fn on_directory(&mut self, replica: Address, request: machine::directory::DirectoryRequest) {
        let reachable = self.replica_slots.reaches_directory(replica);
        let timing = self.directory.timing(self.sim.now(), reachable, &mut self.rng);
        let (asker, ticket) = (self.replica_slots.life(replica), ticket(&request));
        if let Some(at) = timing.arrives {
            let pending = PendingRequest { asker, request, answers: timing.answers };
            self.task_queue.plan(at, WorldTask::Arrives(pending));
        }
        // Planned even if an answer arrives: the replica ignores the second reply to a ticket.
        self.task_queue.plan(timing.gives_up, WorldTask::GivesUp { life: asker, ticket });
    }

    fn arrives(&mut self, pending: PendingRequest) {
        let now = self.sim.now();
        let done = self.directory.serve(now, pending.request.clone());
        for what in directory_swapped(&pending.request, &done) {
            self.tell(DIRECTORY, what);
        }
        if let Some(at) = pending.answers {
            self.task_queue.plan(at.max(now), WorldTask::Answer { life: pending.asker, done });
        }
    }

    /// Hands a replica the directory's answer, or the news that there is none. The replica knows its open tickets and
    /// ignores a second reply.
    fn answer(&mut self, life: ReplicaLife, done: DirectoryReply) {
        if self.replica_slots.life(life.replica) == life && self.sim.is_up(life.replica) {
            self.command(life.replica, ReplicaCommand::Directory(done));
        }
    }

    fn command(&mut self, replica: Address, command: ReplicaCommand) {
        self.sim.command(self.sim.now(), replica, NodeCommand::Host(command));
    }

    // Checking.

    /// Lets a checker look at the living world.
    pub fn examine(&mut self, check: impl FnOnce(&Self, &mut Violations)) {
        // The violations are taken out so that the checker can borrow the whole world beside them.
        let unused = Violations::new(self.options().seed);
        let mut violations = std::mem::replace(&mut self.monitor.checker.violations, unused);
        violations.now = self.sim.now();
        check(self, &mut violations);
        self.monitor.checker.violations = violations;
    }

    /// Checks the history that survived, once the run has ended.
    pub fn conclude(&mut self, ending: Ending) {
        self.monitor.checker.violations.now = self.sim.now();
        for state in self.monitor.checker.end(ending) {
            self.examine(|world, out| check::same_end(world, &state, out));
        }
    }

    /// Named files that real processes would have written; empty unless the world is recorded.
    pub fn into_files(self) -> Vec<NamedBytes> {
        self.monitor.into_files()
    }
}
