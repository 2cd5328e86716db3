//! One world under trial: three hosts with a replica of every zone, their disks, a directory, players, and lines
//! between them, on the simulator.
//!
//! It drives: answers requests for disk and directory, makes connections anew, restarts what died, and tells the judge
//! everything that happens. It decides nothing about what goes wrong (see `plan`) and judges nothing (see `check`).
//!
//! [`World`] builds, runs, and hands what machines raise to its parts. Each part owns its fields. Calls go one way: `World`
//! calls its parts, a part calls none of the others but asks `setting`, and no part knows `World`:
//!
//! | part | owns |
//! |---|---|
//! | `setting` | game, map and options; makes machines and never changes |
//! | `agenda` | what the world does by itself, and when |
//! | `replica_slots` | disks, their open requests, the lives of replicas |
//! | `player_slots` | players and their sessions |
//! | `lines` | which lines are cut, and their characters |
//! | `crash_triggers` | crashes that wait for a step of a protocol |
//! | `monitor` | what was heard: the judge, the recorder, times of actions |
//!
//! The directory is [`Service`]. All chance of a world comes from one stream, which `World` owns and lends: who draws when
//! is part of a seed's history. `faults` is what can be done to a world.

mod agenda;
mod crash_triggers;
mod faults;
mod lines;
mod monitor;
mod player_slots;
mod replica_slots;
mod setting;

pub use monitor::Monitor;
pub(crate) use replica_slots::ReplicaLife;

use crate::check;
use crate::fault::Kind;
use crate::judge::{Ending, Judge};
use crate::layout::Layout;
use crate::options::Options;
use crate::recorder::Recorder;
use crate::scenario::Scenario;
use crate::service::{Question, Service, ticket};
use crate::violation::Violations;
use agenda::{Agenda, Todo};
use crash_triggers::CrashTriggers;
use history::{NamedBytes, What, directory_swapped};
use lines::Lines;
use machine::directory::Done;
use machine::{Address, Rng, Span, Time, disk};
use node::{Node, NodeCommand, NodeEvent};
use player_slots::{PlayerSlot, PlayerSlots};
use replica_slots::ReplicaSlots;
use setting::Setting;
use sim::Sim;
use space::ZoneId;
use std::sync::Arc;
use zone::{Command, Event, Happening, Player, Replica, Standing};

/// How often lost connections are made anew.
const CONNECT_EVERY: Span = Span::from_millis(100);

/// Where the directory is.
pub(crate) const DIRECTORY: Address = Address(u64::MAX);

/// A world under trial.
pub struct World {
    /// The simulator.
    pub sim: Sim<Node>,
    /// The directory.
    pub service: Service,
    /// What was heard.
    pub monitor: Monitor,
    pub(crate) setting: Arc<Setting>,
    pub(crate) rng: Rng,
    pub(crate) replica_slots: ReplicaSlots,
    pub(crate) lines: Lines,
    pub(crate) crash_triggers: CrashTriggers,
    player_slots: PlayerSlots,
    agenda: Agenda,
}

impl World {
    // Building.

    /// A world in which everything is well and no player has entered yet.
    pub fn new(scenario: impl Scenario, options: Options) -> Self {
        Self::of(scenario, options, Layout::of(&options))
    }

    /// The same with a given map.
    pub fn of(scenario: impl Scenario, options: Options, layout: Layout) -> Self {
        Self::started(Setting::new(scenario, options, layout), None)
    }

    /// The same with a recorder that writes everything down as real processes would.
    ///
    /// # Panics
    ///
    /// If there are several zones: files know of one.
    pub fn recorded(scenario: impl Scenario, options: Options) -> Self {
        let setting = Setting::new(scenario, options, Layout::of(&options));
        let recorder = Recorder::new(setting.described());
        Self::started(setting, Some(recorder))
    }

    fn started(setting: Setting, recorder: Option<Recorder>) -> Self {
        let seed = setting.options.seed;
        let setting = Arc::new(setting);
        let mut sim = Sim::new(seed);
        sim.set_give_up_after(Span::from_millis(3_000));
        let mut it = Self {
            sim,
            service: Service::new(),
            monitor: Monitor::new(Judge::new(seed, setting.abouts()), recorder),
            rng: Rng::seeded(seed).fork_named(0x0077_01d1),
            agenda: Agenda::default(),
            replica_slots: ReplicaSlots::default(),
            player_slots: PlayerSlots::default(),
            lines: Lines::new(&setting),
            crash_triggers: CrashTriggers::default(),
            setting,
        };
        it.tell(DIRECTORY, What::Started);
        it.add_replicas();
        it.add_players();
        it.agenda.plan(Time::ZERO, Todo::Connect);
        it
    }

    fn add_replicas(&mut self) {
        let mut clocks = vec![Span::ZERO; self.layout().hosts()];
        for address in self.layout().replicas() {
            let added = self.sim.add(self.setting.replica(address));
            assert_eq!(added, address, "replicas come first");
            self.replica_slots.add(self.setting.disk());
            self.tell(address, What::Started);
            // A host has one clock.
            let host = self.layout().host_of(address).expect("a replica has a host");
            if address.0 as usize == host {
                clocks[host] = Span::from_millis(self.rng.below(5_000));
            }
            self.sim.step_clock(address, clocks[host]);
        }
    }

    fn add_players(&mut self) {
        for number in 0..self.options().players {
            let hostile = self.options().has(Kind::Hostile) && self.rng.below(8) == 0;
            let player = self.setting.scenario.player(number);
            let mut slot = PlayerSlot { address: Address(0), player, session: 1, number, hostile };
            slot.address = self.sim.add(self.setting.client(&slot));
            let offset = Span::from_millis(self.rng.below(5_000));
            self.sim.step_clock(slot.address, offset);
            self.tell(slot.address, What::Started);
            self.player_slots.add(slot);
        }
    }

    // Looking.

    /// What the trial is like.
    pub fn options(&self) -> &Options {
        &self.setting.options
    }

    /// The zones, and which address is whose.
    pub fn layout(&self) -> &Layout {
        &self.setting.layout
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.sim.now()
    }

    /// All living replicas.
    pub fn replicas(&self) -> impl Iterator<Item = (Address, &Replica)> {
        self.alive(self.layout().replicas())
    }

    /// A zone's living replicas.
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

    /// All players.
    pub fn players(&self) -> impl Iterator<Item = (Address, &Player)> {
        let addresses = self.player_slots.addresses().into_iter();
        addresses.filter_map(|it| Some((it, self.sim.machine(it).client()?.player())))
    }

    /// The addresses of all players.
    pub fn player_addresses(&self) -> Vec<Address> {
        self.player_slots.addresses()
    }

    /// The replica that reigns over a zone in the highest epoch.
    pub fn primary(&self, zone: ZoneId) -> Option<(Address, &Replica)> {
        let epoch = |it: &Replica| match it.standing() {
            Standing::Primary(epoch, _) => Some(epoch),
            _ => None,
        };
        self.replicas_of(zone).filter_map(|it| Some((epoch(it.1)?, it))).max_by_key(|it| it.0).map(|it| it.1)
    }

    // Running.

    /// Lets everything happen up to `time`, or until a checker finds something.
    pub fn run_until(&mut self, time: Time) {
        while !self.monitor.is_violated() {
            let next = self.agenda.next().min(time);
            while self.sim.step_until(next) {
                self.take_raised();
                if self.monitor.is_violated() {
                    return;
                }
                if self.agenda.next() < next {
                    break;
                }
            }
            if let Some(todo) = self.agenda.take_due(self.sim.now()) {
                self.carry_out(todo);
                self.take_raised();
            } else if time <= self.sim.now() {
                return;
            }
        }
    }

    fn carry_out(&mut self, todo: Todo) {
        match todo {
            Todo::Connect => self.connect_all(),
            Todo::Restart(replica) => self.restart(replica),
            Todo::DiskDone { life, request } => self.disk_done(life, request),
            Todo::Arrives(question) => self.arrives(question),
            Todo::GivesUp { life, ticket } => self.answer(life, Done::Unknown { ticket }),
            Todo::Answer { life, done } => self.answer(life, done),
        }
    }

    fn connect_all(&mut self) {
        self.agenda.plan(self.sim.now() + CONNECT_EVERY, Todo::Connect);
        self.lines.connect_all(&mut self.sim, &self.player_slots.addresses());
    }

    // What machines raise.

    fn take_raised(&mut self) {
        let raised: Vec<_> = self.sim.raised().collect();
        for it in raised {
            match it.event {
                NodeEvent::Host(event) => self.on_replica(it.by, event),
                NodeEvent::Client(happening) => self.on_client(it.by, happening),
            }
        }
        // What was raised together happened together: no replica dies in the middle of it.
        for crash in self.crash_triggers.take_due() {
            self.crash_due(crash);
        }
    }

    fn on_replica(&mut self, replica: Address, event: Event) {
        self.crash_triggers.see(replica, &event, &self.setting.layout);
        match event {
            Event::Disk(request) => self.on_disk(replica, request),
            Event::Directory(request) => self.on_directory(replica, request),
            Event::Note(note) => self.tell(replica, What::Said(note)),
            Event::Fault(text) => self.monitor.faults_of_game.push(text),
            Event::Broken(_) | Event::Carrier(_) => (),
        }
    }

    fn on_client(&mut self, by: Address, happening: Happening) {
        match happening {
            Happening::Note(note) => self.monitor.hear_player(self.sim.now(), by, note),
            Happening::Entered(_)
            | Happening::Searching
            | Happening::Answered(..)
            | Happening::Notice(_)
            | Happening::Corrected(_)
            | Happening::Closed(_)
            | Happening::Busy
            | Happening::TooLong(_) => (),
        }
    }

    /// Something happened: the monitor hears of it.
    fn tell(&mut self, by: Address, what: What) {
        self.monitor.hear(self.sim.now(), by, what);
    }

    // Disks.

    fn on_disk(&mut self, replica: Address, request: disk::Request) {
        let (at, todo) = self.replica_slots.ask(replica, request, self.sim.now(), &mut self.rng);
        self.agenda.plan(at, todo);
    }

    fn disk_done(&mut self, life: ReplicaLife, request: u64) {
        let replica = life.replica;
        if self.replica_slots.disk(replica).failing && !self.is_safe_without(replica) {
            self.replica_slots.disk(replica).failing = false; // No other replica has what this one has.
        }
        let Some((kept, done)) = self.replica_slots.serve(life, request, &mut self.rng) else { return };
        if let Some(what) = kept {
            self.tell(replica, what);
        }
        self.command(replica, Command::Disk(done));
    }

    // The directory.

    fn on_directory(&mut self, replica: Address, request: machine::directory::Request) {
        let reachable = self.replica_slots.reaches_directory(replica);
        let course = self.service.course(self.sim.now(), reachable, &mut self.rng);
        let (asker, ticket) = (self.replica_slots.life(replica), ticket(&request));
        if let Some(at) = course.arrives {
            let question = Question { asker, request, answers: course.answers };
            self.agenda.plan(at, Todo::Arrives(question));
        }
        self.agenda.plan(course.gives_up, Todo::GivesUp { life: asker, ticket });
    }

    fn arrives(&mut self, question: Question) {
        let now = self.sim.now();
        let done = self.service.serve(now, question.request.clone());
        for what in directory_swapped(&question.request, &done) {
            self.tell(DIRECTORY, what);
        }
        if let Some(at) = question.answers {
            self.agenda.plan(at.max(now), Todo::Answer { life: question.asker, done });
        }
    }

    /// A replica hears an answer, or that there is none. It knows its questions and ignores what comes twice.
    fn answer(&mut self, life: ReplicaLife, done: Done) {
        if self.replica_slots.life(life.replica) == life && self.sim.is_up(life.replica) {
            self.command(life.replica, Command::Directory(done));
        }
    }

    fn command(&mut self, replica: Address, command: Command) {
        self.sim.command(self.sim.now(), replica, NodeCommand::Host(command));
    }

    // Judging.

    /// Lets a checker look at the world as it is.
    pub fn examine(&mut self, check: impl FnOnce(&Self, &mut Violations)) {
        let unused = Violations::new(self.options().seed);
        let mut violations = std::mem::replace(&mut self.monitor.judge.violations, unused);
        violations.now = self.sim.now();
        check(self, &mut violations);
        self.monitor.judge.violations = violations;
    }

    /// Judges the history that survived, in the end.
    pub fn conclude(&mut self, ending: Ending) {
        self.monitor.judge.violations.now = self.sim.now();
        for state in self.monitor.judge.end(ending) {
            self.examine(|world, out| check::same_end(world, &state, out));
        }
    }

    /// The files that real processes would have written, with their names, if that was asked for.
    pub fn into_files(self) -> Vec<NamedBytes> {
        self.monitor.into_files()
    }
}
