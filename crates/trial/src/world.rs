//! One world under trial: three hosts with a replica of every zone, their disks, a directory, players, and links
//! between them, on the simulator.
//!
//! It drives: answers requests for disk and directory, makes connections anew, restarts what died, and tells the judge
//! everything that happens. It decides nothing about what goes wrong (see `plan`) and judges nothing (see `check`).

mod links;
mod lives;
mod requests;

use crate::check;
use crate::disk::Disk;
use crate::fault::Kind;
use crate::judge::{About, Ending, Judge};
use crate::layout::{self, Layout};
use crate::options::Options;
use crate::plan::{Trigger, Victim};
use crate::recorder::Recorder;
use crate::scenario::Scenario;
use crate::service::{Question, Service};
use crate::violation::Violations;
use game::{PlayerId, Rules};
use history::{Entry, NamedBytes, What};
use machine::directory::Done;
use machine::{Address, Rng, Span, Time, disk};
use node::carrier::{self, CarrierSettings};
use node::{Client, Host, Node, NodeEvent};
use sim::{Profile, Sim};
use space::ZoneId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zone::{Config, Event, Happening, Note, Player, PlayerConfig, Replica, Timing};

/// How often lost connections are made anew.
const CONNECT_EVERY: Span = Span::from_millis(100);

/// Where the directory is.
pub(crate) const DIRECTORY: Address = Address(u64::MAX);

/// A replica, as the world knows it.
struct ReplicaSlot {
    disk: Disk,
    /// Counts its lives: answers to an earlier one are nobody's.
    life: u32,
    /// Requests that the disk has not done.
    requests: BTreeMap<u64, disk::Request>,
    /// Cut off from the directory.
    isolated: bool,
}

/// A player, as the world knows them.
struct PlayerSlot {
    address: Address,
    player: PlayerId,
    session: u64,
    number: u32,
    hostile: bool,
}

/// Something the world does by itself.
enum Todo {
    Connect,
    Restart(Address),
    DiskDone { replica: Address, life: u32, request: u64 },
    Arrives(Question),
    GivesUp { replica: Address, life: u32, ticket: machine::Ticket },
    Answer { replica: Address, life: u32, done: Done },
}

/// Why somebody dies.
#[derive(Clone, Copy)]
enum Doom {
    /// It gave up.
    Broken(Address),
    /// It came to the step at which it was to die.
    AtPoint(Victim),
}

/// A world under trial.
pub struct World {
    /// What it is like.
    pub options: Options,
    /// The simulator.
    pub sim: Sim<Node>,
    /// Who hears everything.
    pub judge: Judge,
    /// The directory.
    pub service: Service,
    /// Who is where.
    pub layout: Layout,
    recorder: Option<Recorder>,
    /// By address: replicas come first.
    slots: Vec<ReplicaSlot>,
    players: Vec<PlayerSlot>,
    rules: Arc<dyn Rules>,
    scenario: Arc<dyn Scenario>,
    /// Whether every link that can be is there, and how many had been cut by then.
    linked: (bool, u64),
    agenda: BTreeMap<(Time, u64), Todo>,
    todos: u64,
    requests: u64,
    rng: Rng,
    /// Directions in which nothing comes through.
    cuts: BTreeSet<(Address, Address)>,
    /// The character of links while it is not the usual one.
    profiles: BTreeMap<(Address, Address), Profile>,
    /// Crashes that wait for a step of a protocol.
    pub triggers: Vec<Trigger>,
    /// Times at which players heard of actions done, for measurements.
    pub answers: Vec<(Time, PlayerId, u64)>,
    /// What players wanted to do: when, who, which action.
    pub asked: Vec<(Time, PlayerId, u64)>,
    /// Who dies as soon as everything that was said has been heard.
    doomed: Vec<Doom>,
    /// Game mistakes.
    pub faults_of_game: Vec<String>,
}

impl World {
    /// A world in which everything is well and nobody has entered yet.
    pub fn new(scenario: impl Scenario, options: Options) -> Self {
        Self::of(scenario, options, Layout::of(&options))
    }

    /// The same with a given map.
    pub fn of(scenario: impl Scenario, options: Options, layout: Layout) -> Self {
        Self::started(Arc::new(scenario), options, layout, None)
    }

    /// The same, with somebody who writes everything down as real processes would.
    ///
    /// # Panics
    ///
    /// If there are several zones: files know of one.
    pub fn recorded(scenario: impl Scenario, options: Options) -> Self {
        let layout = Layout::of(&options);
        assert!(!layout.is_meshed(), "histories are of one zone");
        let zone = ZoneId(1);
        let recorder = Recorder::new(history::World {
            game: scenario.name().to_owned(),
            schema: scenario.rules(layout.world()).schema(),
            zone,
            region: layout::corners().to_vec(),
            hosts: layout.replicas_of(zone),
            durability: options.durability,
        });
        Self::started(Arc::new(scenario), options, layout, Some(recorder))
    }

    fn started(
        scenario: Arc<dyn Scenario>,
        options: Options,
        layout: Layout,
        recorder: Option<Recorder>,
    ) -> Self {
        let rules = scenario.rules(layout.world());
        let mut sim = Sim::new(options.seed);
        sim.set_give_up_after(Span::from_millis(3_000));
        let about = layout.map.zones().map(|(zone, region)| About {
            zone,
            region: region.clone(),
            rules: Arc::clone(&rules),
            count: scenario.count(),
            hosts: layout.replicas_of(zone),
            durability: options.durability,
        });
        let mut it = Self {
            rng: Rng::seeded(options.seed).fork_named(0x0077_01d1),
            judge: Judge::new(options.seed, about),
            options,
            sim,
            service: Service::new(),
            recorder,
            slots: Vec::new(),
            players: Vec::new(),
            rules,
            scenario,
            linked: (false, 0),
            agenda: BTreeMap::new(),
            todos: 0,
            requests: 0,
            cuts: BTreeSet::new(),
            profiles: BTreeMap::new(),
            triggers: Vec::new(),
            answers: Vec::new(),
            asked: Vec::new(),
            doomed: Vec::new(),
            faults_of_game: Vec::new(),
            layout,
        };
        it.tell(DIRECTORY, What::Started);
        it.add_replicas();
        it.add_players();
        it.plan(Time::ZERO, Todo::Connect);
        it
    }

    fn add_replicas(&mut self) {
        let mut clocks = vec![Span::ZERO; self.layout.hosts()];
        for address in self.layout.replicas() {
            let machine = self.new_replica(address);
            assert_eq!(self.sim.add(machine), address, "replicas come first");
            let disk = Disk::new(self.rules.schema());
            self.slots.push(ReplicaSlot { disk, life: 0, requests: BTreeMap::new(), isolated: false });
            self.tell(address, What::Started);
            // A host has one clock.
            let host = self.layout.host_of(address).expect("a replica has a host");
            if address.0 as usize == host {
                clocks[host] = Span::from_millis(self.rng.below(5_000));
            }
            self.sim.step_clock(address, clocks[host]);
        }
    }

    fn new_replica(&self, address: Address) -> Node {
        let zone = self.layout.zone_of(address).expect("a replica has a zone");
        let layout = self.layout.clone();
        let config = Config {
            zone,
            map: Arc::clone(&self.layout.map),
            zone_of: Arc::new(move |it| layout.zone_of(it)),
            rules: Arc::clone(&self.rules),
            me: address,
            peers: self.layout.replicas_of(zone),
            // Each host founds some, so that not all primaries die together.
            founds: self.layout.host_of(address) == Some((zone.0 as usize - 1) % self.layout.hosts()),
            force: false,
            durability: self.options.durability,
            timing: Timing::default(),
            seed: self.options.seed,
            players_max: 1_000,
            notes: true,
            broken_rules: self.options.plants,
        };
        let budget = self.options.budget;
        let carrier = carrier::build(CarrierSettings { budget, ..CarrierSettings::default() });
        Node::Host(Box::new(Host::new(config, carrier)))
    }

    fn add_players(&mut self) {
        for number in 0..self.options.players {
            let hostile = self.options.has(Kind::Hostile) && self.rng.below(8) == 0;
            let player = self.scenario.player(number);
            let mut slot = PlayerSlot { address: Address(0), player, session: 1, number, hostile };
            slot.address = self.sim.add(self.new_client(&slot));
            let offset = Span::from_millis(self.rng.below(5_000));
            self.sim.step_clock(slot.address, offset);
            self.tell(slot.address, What::Started);
            self.players.push(slot);
        }
    }

    fn new_client(&self, slot: &PlayerSlot) -> Node {
        let config = PlayerConfig {
            player: slot.player,
            session: slot.session,
            name: format!("player-{}", slot.player.0),
            seed: self.options.seed ^ slot.session << 32,
            notes: true,
            broken_rules: self.options.plants,
        };
        let bot = self.scenario.bot(&self.layout, slot.number, slot.hostile);
        Node::Client(Box::new(Client::bot(config, bot)))
    }

    // Looking.

    /// The time.
    pub fn now(&self) -> Time {
        self.sim.now()
    }

    /// All living replicas.
    pub fn replicas(&self) -> impl Iterator<Item = (Address, &Replica)> {
        self.alive(self.layout.replicas())
    }

    /// A zone's living replicas.
    pub fn replicas_of(&self, zone: ZoneId) -> impl Iterator<Item = (Address, &Replica)> {
        self.alive(self.layout.replicas_of(zone))
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
        self.players
            .iter()
            .filter_map(|it| Some((it.address, self.sim.machine(it.address).client()?.player())))
    }

    /// Whoever reigns over a zone in the highest epoch.
    pub fn primary(&self, zone: ZoneId) -> Option<(Address, &Replica)> {
        let epoch = |it: &Replica| match it.standing() {
            zone::Standing::Primary(epoch, _) => Some(epoch),
            _ => None,
        };
        self.replicas_of(zone).filter_map(|it| Some((epoch(it.1)?, it))).max_by_key(|it| it.0).map(|it| it.1)
    }

    /// Draws a number below `bound`.
    pub fn draw(&mut self, bound: u64) -> u64 {
        self.rng.below(bound)
    }

    // Going on.

    /// Lets everything happen up to `time`.
    pub fn run_until(&mut self, time: Time) {
        while self.judge.violations.is_empty() {
            let next = self.agenda.keys().next().map_or(Time::MAX, |it| it.0).min(time);
            while self.sim.step_until(next) {
                self.take_raised();
                if !self.judge.violations.is_empty() {
                    return;
                }
                let sooner = self.agenda.keys().next().map_or(Time::MAX, |it| it.0);
                if sooner < next {
                    break;
                }
            }
            let due = self.agenda.first_key_value().is_some_and(|it| it.0.0 <= self.sim.now());
            if due {
                let (_, todo) = self.agenda.pop_first().expect("there is a first");
                self.carry_out(todo);
                self.take_raised();
            } else if time <= self.sim.now() {
                return;
            }
        }
    }

    fn plan(&mut self, at: Time, todo: Todo) {
        self.todos += 1;
        self.agenda.insert((at, self.todos), todo);
    }

    fn carry_out(&mut self, todo: Todo) {
        match todo {
            Todo::Connect => self.connect_all(),
            Todo::Restart(replica) => self.restart(replica),
            Todo::DiskDone { replica, life, request } => self.disk_done(replica, life, request),
            Todo::Arrives(question) => self.arrives(question),
            Todo::GivesUp { replica, life, ticket } => self.answer(replica, life, Done::Unknown { ticket }),
            Todo::Answer { replica, life, done } => self.answer(replica, life, done),
        }
    }

    fn take_raised(&mut self) {
        let raised: Vec<_> = self.sim.raised().collect();
        for it in raised {
            match it.event {
                NodeEvent::Host(event) => self.on_replica(it.by, event),
                NodeEvent::Client(happening) => self.on_client(it.by, happening),
            }
        }
        // What was raised together happened together: nobody dies in the middle of it.
        for doom in std::mem::take(&mut self.doomed) {
            let soon = Span::from_millis(1_000);
            match doom {
                Doom::Broken(replica) => self.crash(replica, Span::from_millis(500)),
                Doom::AtPoint(Victim::Host(host)) => drop(self.crash_host_if_safe(host, soon)),
                Doom::AtPoint(Victim::Replica(replica)) => drop(self.crash_if_safe(replica, soon)),
            }
        }
    }

    fn on_replica(&mut self, replica: Address, event: Event) {
        let mut triggers = std::mem::take(&mut self.triggers);
        let tripped = triggers.extract_if(.., |it| it.trips(replica, &event, &self.layout));
        let dooms: Vec<_> = tripped.map(|it| Doom::AtPoint(it.victim())).collect();
        self.triggers = triggers;
        match event {
            Event::Disk(request) => self.on_disk(replica, request),
            Event::Directory(request) => self.on_directory(replica, request),
            Event::Note(note) => self.tell(replica, What::Said(note)),
            Event::Fault(text) => self.faults_of_game.push(text),
            Event::Broken(_) => self.doomed.push(Doom::Broken(replica)),
            Event::Carrier(_) => (),
        }
        self.doomed.extend(dooms);
    }

    /// Something happened: the judge hears of it.
    fn tell(&mut self, by: Address, what: What) {
        let entry = Entry { time: self.sim.now(), by, what };
        if let Some(recorder) = &mut self.recorder {
            recorder.take(&entry);
        }
        self.judge.see(&entry);
    }

    fn on_client(&mut self, by: Address, happening: Happening) {
        match happening {
            Happening::Note(note) => {
                if let Note::Asked { player, number } = &note {
                    self.asked.push((self.sim.now(), *player, *number));
                }
                if let Note::Answered { player, number, .. } = &note {
                    self.answers.push((self.sim.now(), *player, *number));
                }
                self.tell(by, What::Said(note));
            }
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

    /// Takes the bots' will away, so that the world comes to rest.
    pub fn calm(&mut self) {
        for player in 0..self.players.len() {
            let address = self.players[player].address;
            if let Some(client) = self.sim.machine_mut(address).client_mut() {
                client.calm();
            }
        }
    }

    /// Lets a checker look at the world as it is.
    pub fn examine(&mut self, check: impl FnOnce(&Self, &mut Violations)) {
        let mut violations =
            std::mem::replace(&mut self.judge.violations, Violations::new(self.options.seed));
        violations.now = self.sim.now();
        check(self, &mut violations);
        self.judge.violations = violations;
    }

    /// Judges the history that survived, in the end.
    pub fn conclude(&mut self, ending: Ending) {
        self.judge.violations.now = self.sim.now();
        for state in self.judge.end(ending) {
            self.examine(|world, out| check::same_end(world, &state, out));
        }
    }

    /// The files that real processes would have written, with their names, if that was asked for.
    pub fn into_files(self) -> Vec<NamedBytes> {
        self.recorder.map(Recorder::into_files).unwrap_or_default()
    }
}
