//! One world under trial: three hosts, their disks, a directory, players, and links between them, on the simulator.
//!
//! It drives: answers requests for disk and directory, makes connections anew, restarts what died, and tells the judge
//! everything that happens. It decides nothing about what goes wrong (see `plan`) and judges nothing (see `check`).

use crate::check;
use crate::disk::Disk;
use crate::fault::Kind;
use crate::judge::{About, Judge};
use crate::options::Options;
use crate::plan::Trigger;
use crate::recorder::Recorder;
use crate::service::{Question, Service, ticket};
use crate::violation::Violations;
use carrier::{Direct, DirectConfig};
use game::{Hosted, PlayerId, Rules};
use history::{Entry, What, directory_swapped, disk_keeps};
use interest::Schedule;
use interest::policies::A3;
use kosmos::{Kosmos, bots};
use machine::directory::Done;
use machine::{Address, Rng, Span, Time, disk};
use node::{Client, Host, Node, NodeCommand, NodeEvent};
use sim::{Profile, Sim};
use space::{Distance, Polygon, Position, ZoneId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zone::{Config, Event, Happening, Note, Player, PlayerConfig, Replica, Timing};

/// How many hosts there are.
pub const HOSTS: usize = 3;

/// Half the world's side: small enough that players meet.
const HALF: i32 = 110_000;

/// How often lost connections are made anew.
const CONNECT_EVERY: Span = Span::from_millis(100);

/// Where the directory is.
pub(crate) const DIRECTORY: Address = Address(u64::MAX);

/// A host, as the world knows it.
struct HostSlot {
    address: Address,
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
    bot: &'static str,
}

/// Something the world does by itself.
enum Todo {
    Connect,
    Restart(usize),
    DiskDone { host: usize, life: u32, request: u64 },
    Arrives(Question),
    GivesUp { host: Address, life: u32, ticket: machine::Ticket },
    Answer { host: Address, life: u32, done: Done },
}

/// Why a host dies.
#[derive(Clone, Copy)]
enum Doom {
    /// It gave up.
    Broken,
    /// It came to the step at which it was to die.
    AtPoint,
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
    recorder: Option<Recorder>,
    hosts: Vec<HostSlot>,
    players: Vec<PlayerSlot>,
    rules: Arc<dyn Rules>,
    region: Polygon,
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
    /// Hosts that die as soon as everything they said has been heard.
    doomed: Vec<(usize, Doom)>,
    /// Game mistakes.
    pub faults_of_game: Vec<String>,
}

impl World {
    /// A world in which everything is well and nobody has entered yet.
    pub fn new(options: Options) -> Self {
        Self::started(options, None)
    }

    /// The same, with somebody who writes everything down as real processes would.
    pub fn recorded(options: Options) -> Self {
        let schema = Hosted(Kosmos::new(region())).schema();
        Self::started(options, Some(Recorder::new(schema, ZONE, &corners(), &hosts(), options.durability)))
    }

    fn started(options: Options, recorder: Option<Recorder>) -> Self {
        let region = region();
        let rules: Arc<dyn Rules> = Arc::new(Hosted(Kosmos::new(region.clone())));
        let mut sim = Sim::new(options.seed);
        sim.set_give_up_after(Span::from_millis(3_000));
        let about = About {
            zone: ZONE,
            region: region.clone(),
            rules: Arc::clone(&rules),
            hosts: hosts(),
            durability: options.durability,
        };
        let mut it = Self {
            rng: Rng::seeded(options.seed).fork_named(0x0077_01d1),
            judge: Judge::new(options.seed, about),
            options,
            sim,
            service: Service::new(),
            recorder,
            hosts: Vec::new(),
            players: Vec::new(),
            rules,
            region,
            agenda: BTreeMap::new(),
            todos: 0,
            requests: 0,
            cuts: BTreeSet::new(),
            profiles: BTreeMap::new(),
            triggers: Vec::new(),
            answers: Vec::new(),
            doomed: Vec::new(),
            faults_of_game: Vec::new(),
        };
        it.tell(DIRECTORY, What::Started);
        it.add_hosts();
        it.add_players();
        it.plan(Time::ZERO, Todo::Connect);
        it
    }

    fn add_hosts(&mut self) {
        for place in 0..HOSTS {
            let address = Address(place as u64);
            let machine = self.new_host(place);
            assert_eq!(self.sim.add(machine), address, "hosts come first");
            let disk = Disk::new(self.rules.schema());
            self.hosts.push(HostSlot { address, disk, life: 0, requests: BTreeMap::new(), isolated: false });
            self.tell(address, What::Started);
            let offset = Span::from_millis(self.rng.below(5_000));
            self.sim.step_clock(address, offset);
        }
    }

    fn new_host(&self, place: usize) -> Node {
        let config = Config {
            zone: self.zone(),
            region: self.region.clone(),
            rules: Arc::clone(&self.rules),
            me: Address(place as u64),
            peers: hosts(),
            founds: place == 0,
            force: false,
            durability: self.options.durability,
            timing: Timing::default(),
            seed: self.options.seed,
            players_max: 1_000,
            notes: true,
            plants: self.options.plants,
        };
        let carrier = Direct::new(DirectConfig {
            policy: Box::new(
                A3::new(Distance::of_metres(60), Distance::of_metres(20), 180.0)
                    .expect("these are distances"),
            ),
            schedule: Schedule::default(),
            budget: None,
            tick: Span::from_millis(100),
        });
        Node::Host(Box::new(Host::new(config, Box::new(carrier))))
    }

    fn add_players(&mut self) {
        for number in 0..self.options.players {
            let hostile = self.options.has(Kind::Hostile) && self.rng.below(8) == 0;
            let bot = if hostile { "hostile" } else { bots::NAMES[number as usize % bots::NAMES.len()] };
            let player = PlayerId(u64::from(number) + 1);
            let mut slot = PlayerSlot { address: Address(0), player, session: 1, bot };
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
            plants: self.options.plants,
        };
        let bot = bots::by_name(slot.bot, &self.region).expect("the bots' names are known");
        Node::Client(Box::new(Client::bot(config, bot)))
    }

    // Looking.

    /// The zone.
    pub const fn zone(&self) -> ZoneId {
        ZONE
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.sim.now()
    }

    /// The address of a host.
    pub const fn host(&self, place: usize) -> Address {
        Address(place as u64)
    }

    /// All living replicas.
    pub fn replicas(&self) -> impl Iterator<Item = (Address, &Replica)> {
        let alive = self.hosts.iter().filter(|it| self.sim.is_up(it.address));
        alive.filter_map(|it| Some((it.address, self.sim.machine(it.address).host()?.replica())))
    }

    /// A living replica.
    pub fn replica(&self, place: usize) -> Option<&Replica> {
        let address = self.host(place);
        self.sim.is_up(address).then(|| self.sim.machine(address).host().map(Host::replica)).flatten()
    }

    /// All players.
    pub fn players(&self) -> impl Iterator<Item = (Address, &Player)> {
        self.players
            .iter()
            .filter_map(|it| Some((it.address, self.sim.machine(it.address).client()?.player())))
    }

    /// Whoever reigns in the highest epoch.
    pub fn primary(&self) -> Option<(Address, &Replica)> {
        let epoch = |it: &Replica| match it.standing() {
            zone::Standing::Primary(epoch, _) => Some(epoch),
            _ => None,
        };
        self.replicas().filter_map(|it| Some((epoch(it.1)?, it))).max_by_key(|it| it.0).map(|it| it.1)
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
            Todo::Restart(place) => self.restart(place),
            Todo::DiskDone { host, life, request } => self.disk_done(host, life, request),
            Todo::Arrives(question) => self.arrives(question),
            Todo::GivesUp { host, life, ticket } => self.answer(host, life, Done::Unknown { ticket }),
            Todo::Answer { host, life, done } => self.answer(host, life, done),
        }
    }

    fn take_raised(&mut self) {
        let raised: Vec<_> = self.sim.raised().collect();
        for it in raised {
            match it.event {
                NodeEvent::Host(event) => self.on_host(it.by, event),
                NodeEvent::Client(happening) => self.on_client(it.by, happening),
            }
        }
        // What was raised together happened together: nobody dies in the middle of it.
        for (place, doom) in std::mem::take(&mut self.doomed) {
            match doom {
                Doom::Broken => self.crash(place, Span::from_millis(500)),
                Doom::AtPoint => drop(self.crash_if_safe(place, Span::from_millis(1_000))),
            }
        }
    }

    fn on_host(&mut self, host: Address, event: Event) {
        let place = host.0 as usize;
        let before = self.triggers.len();
        self.triggers.retain_mut(|it| !it.trips(host, &event));
        let trips = self.triggers.len() < before;
        match event {
            Event::Disk(request) => self.on_disk(place, request),
            Event::Directory(request) => self.on_directory(place, request),
            Event::Note(note) => self.tell(host, What::Said(note)),
            Event::Fault(text) => self.faults_of_game.push(text),
            Event::Broken(_) => self.doomed.push((place, Doom::Broken)),
            Event::Stage(_) => (),
        }
        if trips {
            self.doomed.push((place, Doom::AtPoint));
        }
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

    // Disks.

    fn on_disk(&mut self, place: usize, request: disk::Request) {
        self.requests += 1;
        let number = self.requests;
        let now = self.sim.now();
        let host = &mut self.hosts[place];
        let at = host.disk.done_at(now, &mut self.rng);
        host.requests.insert(number, request);
        let life = host.life;
        self.plan(at, Todo::DiskDone { host: place, life, request: number });
    }

    fn disk_done(&mut self, place: usize, life: u32, number: u64) {
        if self.hosts[place].disk.failing && !self.is_safe_without(place) {
            self.hosts[place].disk.failing = false; // Nobody else has what this one has.
        }
        let host = &mut self.hosts[place];
        let Some(request) = host.requests.remove(&number).filter(|_| host.life == life) else { return };
        let keeps = disk_keeps(&request);
        let done = host.disk.serve(request, &mut self.rng);
        let address = host.address;
        if let (Some(what), disk::Done::Persisted { .. }) = (keeps, &done) {
            self.tell(address, what);
        }
        let command = NodeCommand::Host(zone::Command::Disk(done));
        self.sim.command(self.sim.now(), address, command);
    }

    // The directory.

    fn on_directory(&mut self, place: usize, request: machine::directory::Request) {
        let now = self.sim.now();
        let host = &self.hosts[place];
        let (address, life) = (host.address, host.life);
        let course = self.service.course(now, !host.isolated, &mut self.rng);
        let ticket = ticket(&request);
        if let Some(at) = course.arrives {
            self.plan(at, Todo::Arrives(Question { host: address, life, request, answers: course.answers }));
        }
        self.plan(course.gives_up, Todo::GivesUp { host: address, life, ticket });
    }

    fn arrives(&mut self, question: Question) {
        let now = self.sim.now();
        let done = self.service.serve(now, question.request.clone());
        for what in directory_swapped(&question.request, &done) {
            self.tell(DIRECTORY, what);
        }
        if let Some(at) = question.answers {
            let at = at.max(now);
            self.plan(at, Todo::Answer { host: question.host, life: question.life, done });
        }
    }

    /// A host hears an answer, or that there is none. It knows its questions and ignores what comes twice.
    fn answer(&mut self, host: Address, life: u32, done: Done) {
        let slot = &self.hosts[host.0 as usize];
        if slot.life == life && self.sim.is_up(host) {
            let command = NodeCommand::Host(zone::Command::Directory(done));
            self.sim.command(self.sim.now(), host, command);
        }
    }

    // Links.

    fn connect_all(&mut self) {
        for host in 0..HOSTS {
            for other in host + 1..HOSTS {
                self.connect(self.host(host), self.host(other));
            }
            for player in 0..self.players.len() {
                self.connect(self.host(host), self.players[player].address);
            }
        }
        self.plan(self.sim.now() + CONNECT_EVERY, Todo::Connect);
    }

    fn connect(&mut self, a: Address, b: Address) {
        let cut = self.cuts.contains(&(a, b)) || self.cuts.contains(&(b, a));
        if cut || self.sim.is_linked(a, b) || !self.sim.is_up(a) || !self.sim.is_up(b) {
            return;
        }
        let (there, back) = (self.profile(a, b), self.profile(b, a));
        self.sim.connect_with(a, b, there, back);
    }

    fn profile(&self, from: Address, to: Address) -> Profile {
        self.profiles.get(&(from, to)).copied().unwrap_or_else(|| self.usual(from, to))
    }

    /// What a link is usually like in this world.
    pub fn usual(&self, from: Address, to: Address) -> Profile {
        let hosts = HOSTS as u64;
        let between_hosts = from.0 < hosts && to.0 < hosts;
        let delay = if between_hosts { self.options.host_delay } else { self.options.player_delay };
        let mut profile = Profile::new(delay).with_jitter(Span::from_micros(delay.as_micros() / 5));
        let has = |kind| self.options.has(kind);
        if has(Kind::Loss) {
            let loss = if between_hosts { 0.02 } else { 0.10 };
            profile = profile.with_loss(loss).expect("a probability");
        }
        if has(Kind::Duplicate) {
            profile = profile.with_duplication(0.1).expect("a probability");
        }
        if has(Kind::Jitter) {
            let jitter = if between_hosts { 20 } else { 100 };
            profile = profile.with_jitter(Span::from_millis(jitter));
        }
        if has(Kind::Late) {
            profile = profile.with_stragglers(0.01, Span::from_millis(60_000)).expect("a probability");
        }
        profile
    }

    /// Nothing comes through from one to the other any more.
    pub fn cut(&mut self, from: Address, to: Address) {
        if self.cuts.insert((from, to)) {
            self.sim.cut_silently(from, to);
        }
    }

    /// What [`World::cut`] did is over.
    pub fn mend(&mut self, from: Address, to: Address) {
        if self.cuts.remove(&(from, to)) {
            self.sim.heal(from, to);
        }
    }

    /// Gives a direction another character, or its usual one.
    pub fn set_profile(&mut self, from: Address, to: Address, profile: Option<Profile>) {
        match profile {
            Some(profile) => self.profiles.insert((from, to), profile),
            None => self.profiles.remove(&(from, to)),
        };
        let profile = self.profile(from, to);
        if self.sim.is_linked(from, to) {
            self.sim.set_profile(from, to, profile);
        }
    }

    /// Breaks all connections of a machine; they are made anew soon.
    pub fn reset(&mut self, address: Address) {
        let others: Vec<_> =
            (0..HOSTS as u64).map(Address).chain(self.players.iter().map(|it| it.address)).collect();
        for other in others {
            if other != address {
                self.sim.disconnect(address, other);
            }
        }
    }

    /// The addresses of all players.
    pub fn player_addresses(&self) -> Vec<Address> {
        self.players.iter().map(|it| it.address).collect()
    }

    /// Cuts a host off from the directory, or not.
    pub fn isolate(&mut self, place: usize, isolated: bool) {
        self.hosts[place].isolated = isolated;
    }

    // Hosts and players that die.

    /// Whether everything announced survives, if this host dies now: in the memory of another that has a role, or on
    /// its own disk if it is alone and will come back.
    pub fn is_safe_without(&self, place: usize) -> bool {
        let ledger = &self.judge.ledger;
        let Some(announced) = ledger.last_announced() else { return false };
        let address = self.host(place);
        let has_role =
            |it: &Replica| matches!(it.standing(), zone::Standing::Primary(..) | zone::Standing::Backup(_));
        let reign = self.service.reign(self.zone());
        let in_office = |host: Address| reign.is_some_and(|it| it.primary == host || it.backup == Some(host));
        let held_elsewhere = self.replicas().any(|(host, it)| {
            let held = ledger.memory.get(&host).is_some_and(|&last| ledger.holds(last, announced));
            host != address && has_role(it) && in_office(host) && held
        });
        let alone = reign.is_some_and(|it| it.primary == address && it.backup.is_none());
        let on_disk = ledger.disk.get(&address).is_some_and(|&last| ledger.holds(last, announced));
        held_elsewhere || alone && on_disk || !in_office(address) && reign.is_some()
    }

    /// Kills a host, if nothing announced is lost with it. Whether it died.
    pub fn crash_if_safe(&mut self, place: usize, back_after: Span) -> bool {
        let dies = self.sim.is_up(self.host(place)) && self.is_safe_without(place);
        if dies {
            self.crash(place, back_after);
        }
        dies
    }

    /// Kills a host; it comes back after a while.
    pub fn crash(&mut self, place: usize, back_after: Span) {
        let address = self.host(place);
        self.tell(address, What::Crashed);
        self.sim.crash(address);
        let host = &mut self.hosts[place];
        host.life += 1;
        let interrupted = std::mem::take(&mut host.requests).into_values().collect();
        host.disk.power_off(interrupted, &mut self.rng);
        self.plan(self.sim.now() + back_after, Todo::Restart(place));
    }

    /// The disk of a host that is down, to tamper with.
    pub fn disk_of_dead(&mut self, place: usize) -> Option<(&mut Disk, &mut Rng)> {
        let dead = !self.sim.is_up(self.host(place));
        dead.then(|| (&mut self.hosts[place].disk, &mut self.rng))
    }

    /// The disk of a host.
    pub fn disk(&mut self, place: usize) -> &mut Disk {
        &mut self.hosts[place].disk
    }

    fn restart(&mut self, place: usize) {
        let address = self.host(place);
        if self.sim.is_up(address) {
            return;
        }
        let host = &mut self.hosts[place];
        host.disk.power_on();
        let last = host.disk.last();
        self.tell(address, What::Started);
        self.tell(address, What::Holds(last));
        let machine = self.new_host(place);
        self.sim.restart(address, machine);
    }

    /// A player's program dies, and they come back with a new session.
    pub fn rejoin(&mut self, number: usize) {
        self.players[number].session += 1;
        let (address, machine) = (self.players[number].address, self.new_client(&self.players[number]));
        self.tell(address, What::Crashed);
        self.tell(address, What::Started);
        self.sim.restart(address, machine);
    }

    /// Everything that went wrong is over.
    pub fn heal(&mut self) {
        self.triggers.clear();
        for (from, to) in std::mem::take(&mut self.cuts) {
            self.sim.heal(from, to);
        }
        for (from, to) in std::mem::take(&mut self.profiles).into_keys().collect::<Vec<_>>() {
            self.set_profile(from, to, None);
        }
        for place in 0..HOSTS {
            let address = self.host(place);
            self.sim.set_clock_rate(address, 1_000_000);
            self.sim.slow(address, Span::ZERO);
            let host = &mut self.hosts[place];
            host.isolated = false;
            host.disk.slowness = Span::ZERO;
            host.disk.failing = false;
            host.disk.limit(None);
        }
        let delay = Span::from_millis(2);
        self.service.delay = delay;
        self.service.loss_percent = 0;
        self.service.late_percent = 0;
        self.service.down = false;
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
    pub fn conclude(&mut self) {
        self.judge.violations.now = self.sim.now();
        if let Some(state) = self.judge.end() {
            self.examine(|world, out| check::same_end(world, &state, out));
        }
    }

    /// The files that real processes would have written, with their names, if that was asked for.
    pub fn into_files(self) -> Vec<(String, Vec<u8>)> {
        self.recorder.map(Recorder::into_files).unwrap_or_default()
    }
}

/// The zone.
const ZONE: ZoneId = ZoneId(1);

fn hosts() -> Vec<Address> {
    (0..HOSTS as u64).map(Address).collect()
}

fn corners() -> [Position; 4] {
    let corner = |x, y| Position::new(x, y).expect("the world is small");
    [corner(-HALF, -HALF), corner(HALF, -HALF), corner(HALF, HALF), corner(-HALF, HALF)]
}

fn region() -> Polygon {
    Polygon::new(&corners()).expect("a square is convex")
}
