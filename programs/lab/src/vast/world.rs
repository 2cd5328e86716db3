//! A world of peers: who joins, walks and leaves when, and what is seen of it.

use super::checkers::{Violation, Watch};
use super::delays::Delays;
use super::node::{Left, Node, Order, Seat, Signature};
use super::oracle::{SETTLED, Sample, diagram, examine, is_exact};
use super::sightings::Sightings;
use super::traffic::{Busiest, Meter};
use machine::{Address, Rng, Span, Time};
use overlay::{Command, Config, Event, Info, Member, Peer, Rendezvous, Sent};
use sim::crowd::{Crowd, CrowdError, Ground, Instruction, Manner, Movement, Population, Schedule, WalkerId};
use sim::{Profile, Sim};
use space::Position;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a run is like.
#[derive(Clone, Debug)]
pub struct Case {
    /// How peers behave.
    pub config: Config,
    /// How they walk.
    pub movement: Movement,
    /// How many there are.
    pub peers: u32,
    /// Where.
    pub ground: Ground,
    /// Who comes and goes, and when.
    pub schedule: Schedule,
    /// What lines between peers are like.
    pub line: Profile,
    /// How long it lasts.
    pub lasts: Span,
    /// How often the overlay is examined.
    pub sample: Span,
    /// When maps are drawn, in order.
    pub maps: Vec<Time>,
    /// Where chance starts.
    pub seed: u64,
}

impl Case {
    /// Refuses a crowd or a schedule that cannot be.
    pub fn check(&self) -> Result<(), CrowdError> {
        let rng = Rng::seeded(self.seed);
        Crowd::new(self.movement, self.peers, self.ground, &rng)?;
        Population::new(self.peers, self.schedule.clone(), &rng)?;
        Ok(())
    }
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The overlay as it was, now and then.
    pub samples: Vec<Sample>,
    /// Bytes that a peer sent per second, over everybody's time in.
    pub sent: Sent,
    /// How long all peers together were in, in seconds.
    pub presence: f64,
    /// Bytes that reached all peers together, by the paper's sizes.
    pub received: u64,
    /// The most bytes of one peer in one second.
    pub busiest: Busiest,
    /// How often somebody heard another for the first time.
    pub new_links: u64,
    /// From a step to the hearing of it: the mean and what 99 of 100 are below, in milliseconds.
    pub delay_ms: (f64, f64),
    /// From when on everybody has joined.
    pub joined: Time,
    /// How long it took until somebody in view was heard, 99 of 100 times.
    pub discovery_p99_ms: f64,
    /// How long a peer lacked somebody in view, 99 of 100 times.
    pub recovery_p99_seconds: f64,
    /// Everybody, when maps were to be drawn.
    pub maps: Vec<Map>,
    /// After everything had come to rest, how long it took until every list was exactly right; `None` if it was not.
    pub exact_after: Option<Span>,
    /// What the checkers found wrong.
    pub violations: Vec<Violation>,
    /// How many inputs reached machines.
    pub events: u64,
    /// The hash of the history.
    pub history: u64,
}

/// Everybody at one moment.
#[derive(Clone, Debug)]
pub struct Map {
    /// When.
    pub at: Time,
    /// Who was where, and knew whom.
    pub dots: Vec<Dot>,
}

/// A peer on a map.
#[derive(Clone, Debug)]
pub struct Dot {
    /// Who.
    pub address: Address,
    /// Where.
    pub position: Position,
    /// Whom it knows.
    pub links: Vec<Address>,
}

/// A peer that is in.
pub struct Sitting<'a> {
    /// Who.
    pub peer: &'a Peer,
    /// Since when.
    pub since: Time,
    /// What has left its seat.
    pub left: Left,
}

struct World<'a> {
    case: &'a Case,
    sim: Sim<Node>,
    crowd: Crowd,
    population: Population,
    rng: Rng,
    /// When whom moves next.
    ticks: BTreeMap<(Time, u32), ()>,
    /// Since when whom is in.
    ready: BTreeMap<Address, Time>,
    /// What each sends and receives, and what those had sent who left.
    meter: Meter,
    gone: Sent,
    presence: f64,
    new_links: u64,
    samples: Vec<Sample>,
    maps: Vec<Map>,
    delays: Delays,
    sightings: Sightings,
    watch: Watch,
    /// Whether everybody stands still.
    frozen: bool,
}

/// Everything at rest must be right within this.
const EXACT_WITHIN: Span = Span::from_secs(5);

/// Runs a case; says how far it is, in simulated seconds.
///
/// # Panics
/// If the case cannot be: settings are checked before.
pub fn run(case: &Case, progress: &dyn Fn(u64)) -> Ran {
    World::new(case).live(progress)
}

impl<'a> World<'a> {
    fn new(case: &'a Case) -> Self {
        let rng = Rng::seeded(case.seed).fork_named(0x7661_7374);
        let mut sim = Sim::new(case.seed);
        sim.open(case.line);
        let delays = Delays::new(case.peers);
        for _ in 0..case.peers {
            sim.add(Node::Seat(Box::new(Seat::new(Address(u64::from(case.peers)), delays.clone()))));
        }
        sim.add(Node::Rendezvous(Rendezvous::new(rng.fork_named(1))));
        Self {
            crowd: Crowd::new(case.movement, case.peers, case.ground, &rng).expect("settings are checked"),
            population: Population::new(case.peers, case.schedule.clone(), &rng)
                .expect("settings are checked"),
            case,
            sim,
            rng,
            ticks: BTreeMap::new(),
            ready: BTreeMap::new(),
            meter: Meter::default(),
            gone: Sent::default(),
            presence: 0.0,
            new_links: 0,
            samples: Vec::new(),
            maps: Vec::new(),
            delays,
            sightings: Sightings::new(case.config.aoi),
            watch: Watch::new(case),
            frozen: false,
        }
    }

    const fn rendezvous(&self) -> Address {
        Address(self.case.peers as u64)
    }

    fn live(mut self, progress: &dyn Fn(u64)) -> Ran {
        let end = Time::ZERO + self.case.lasts;
        let second = Span::from_secs(1);
        let (mut next_second, mut next_sample) = (Time::ZERO + second, Time::ZERO + self.case.sample);
        while self.sim.now() < end {
            let next_map = self.case.maps.get(self.maps.len()).copied().unwrap_or(end);
            let until = next_second.min(next_sample).min(next_map).min(end);
            self.advance(until);
            self.draw_maps(until);
            if next_second <= until {
                self.count_second();
                next_second += second;
                progress(until.as_secs());
            }
            self.look(next_sample);
            if next_sample <= until {
                next_sample += self.case.sample;
            }
        }
        let mut sent = self.gone;
        for walker in 0..self.case.peers {
            if let Some(peer) = self.peer(Address(u64::from(walker))) {
                add(&mut sent, peer.sent());
            }
        }
        let discovery_p99_ms = self.sightings.discovery_p99_ms();
        let recovery_p99_seconds = self.sightings.recovery_p99_seconds();
        let received = (0..self.case.peers).map(|it| self.received(Address(u64::from(it)))).sum();
        let delay_ms = self.delays.mean_and_p99_ms();
        let exact_after = self.freeze();
        Ran {
            samples: self.samples,
            sent,
            presence: self.presence,
            received,
            busiest: self.meter.busiest(),
            new_links: self.new_links,
            delay_ms,
            joined: self.case.schedule.joined(self.case.peers),
            discovery_p99_ms,
            recovery_p99_seconds,
            maps: self.maps,
            exact_after,
            violations: self.watch.violations(),
            events: self.sim.events(),
            history: self.sim.history(),
        }
    }

    /// Lets everything happen up to a time.
    fn advance(&mut self, end: Time) {
        while self.sim.now() < end {
            let tick = self.ticks.keys().next().map_or(end, |it| it.0);
            let instruction = self.population.deadline().filter(|_| !self.frozen).unwrap_or(end);
            let until = tick.min(instruction).min(end);
            while self.sim.step_until(until) {
                self.hear();
            }
            self.hear();
            while !self.frozen
                && let Some((_, it)) = self.population.pop_due(until)
            {
                self.follow(it);
            }
            while let Some((&(at, walker), ())) = self.ticks.first_key_value().filter(|it| it.0.0 <= until) {
                self.ticks.remove(&(at, walker));
                self.step(WalkerId(walker));
            }
        }
    }

    /// Nobody walks, comes or goes any more, and nothing is lost. Says how long it takes until every list is exactly right,
    /// if that does not take too long.
    fn freeze(&mut self) -> Option<Span> {
        self.frozen = true;
        self.divide(None);
        let calm = self.case.line.with_loss(0.0).expect("a probability");
        self.sim.open(calm);
        for (a, b) in (0..=self.case.peers).flat_map(|a| (0..=self.case.peers).map(move |b| (a, b))) {
            self.sim.set_profile(Address(u64::from(a)), Address(u64::from(b)), calm);
        }
        let start = self.sim.now();
        while self.sim.now().since(start) < EXACT_WITHIN {
            self.advance(self.sim.now() + Span::from_millis(250));
            if is_exact(&self.case.config, &sitting(&self.sim, &self.ready)) {
                return Some(self.sim.now().since(start));
            }
        }
        None
    }

    fn draw_maps(&mut self, now: Time) {
        while self.case.maps.get(self.maps.len()).is_some_and(|it| *it <= now) {
            let dot = |(&address, it): (&Address, &Sitting<'_>)| Dot {
                address,
                position: it.peer.info().position,
                links: it.peer.list().map(|it| it.0).collect(),
            };
            let dots = sitting(&self.sim, &self.ready).iter().map(dot).collect();
            self.maps.push(Map { at: now, dots });
        }
    }

    fn received(&self, address: Address) -> u64 {
        self.sim.machine(address).seat().map_or(0, |it| it.received)
    }

    fn peer(&self, address: Address) -> Option<&Peer> {
        self.sim.machine(address).seat()?.peer()
    }

    /// What peers told of themselves.
    fn hear(&mut self) {
        let raised: Vec<_> = self.sim.raised().collect();
        for it in raised {
            match it.event {
                Event::Ready => self.on_ready(it.at, it.by),
                Event::Heard(of) => {
                    self.new_links += 1;
                    self.sightings.heard(it.at, it.by, of);
                }
                Event::Lost(of) => {
                    self.sightings.lost(it.at, it.by, of);
                    self.watch.lost(it.by, of);
                }
            }
        }
    }

    fn on_ready(&mut self, at: Time, who: Address) {
        self.ready.insert(who, at);
        self.order(self.rendezvous(), Order::Member(Member::In(who)));
        let phase = self.rng.below(self.case.config.interval.as_micros());
        self.ticks.insert((at + Span::from_micros(phase), who.0 as u32), ());
    }

    fn order(&mut self, to: Address, order: Order) {
        self.sim.command(self.sim.now(), to, order);
    }

    fn follow(&mut self, instruction: Instruction) {
        match instruction {
            Instruction::Join { walker, life } => self.join(walker, life),
            Instruction::Leave { walker, manner } => self.leave(walker, manner),
            Instruction::Cut(sides) => {
                let sides = Arc::new(sides);
                self.divide(Some(&sides));
            }
            Instruction::Mend => self.divide(None),
        }
    }

    fn join(&mut self, walker: WalkerId, life: u32) {
        let address = Address(u64::from(walker.0));
        let position = self.crowd.join(walker);
        let group = self.crowd.group(walker);
        let group = if group.len() < 2 { 0 } else { group.start + 1 };
        let aoi = self.case.config.aoi;
        let me = Info { address, life: life + 1, sequence: 0, position, aoi, group };
        let rng = self.rng.fork_named(u64::from(walker.0) << 32 | u64::from(life));
        let peer = Peer::new(self.case.config, me, self.rendezvous(), rng);
        let peer = peer.with_credentials(Arc::new(Signature));
        if let Some(seat) = self.sim.machine_mut(address).seat_mut() {
            seat.sit(peer);
        }
        self.watch.joined(address, me.life);
        self.meter.begin(address, self.received(address));
        self.order(address, Order::Peer(Command::Join(position)));
    }

    fn leave(&mut self, walker: WalkerId, manner: Manner) {
        let address = Address(u64::from(walker.0));
        self.crowd.leave(walker);
        if manner == Manner::Graceful {
            self.order(address, Order::Peer(Command::Leave));
            while self.sim.step_until(self.sim.now()) {}
        }
        self.ready.remove(&address);
        self.sightings.gone(self.sim.now(), address);
        self.meter.end(address);
        self.order(self.rendezvous(), Order::Member(Member::Out(address)));
        if let Some(peer) = self.sim.machine_mut(address).seat_mut().and_then(Seat::stand) {
            add(&mut self.gone, peer.sent());
            self.watch.left(self.sim.now(), address, peer.list().map(|it| it.0));
        }
    }

    fn divide(&mut self, sides: Option<&Arc<sim::crowd::Sides>>) {
        self.watch.divided(self.sim.now(), sides.is_some());
        for walker in 0..self.case.peers {
            if let Some(seat) = self.sim.machine_mut(Address(u64::from(walker))).seat_mut() {
                seat.sides = sides.cloned();
            }
        }
    }

    /// A peer walks on, if it is still there.
    fn step(&mut self, walker: WalkerId) {
        let address = Address(u64::from(walker.0));
        let Some(&since) = self.ready.get(&address) else { return };
        let now = self.sim.now();
        let interval = self.case.config.interval;
        let position: Position =
            if self.frozen { self.crowd.position(walker) } else { self.crowd.step(walker, interval) };
        if let Some(peer) = self.sim.machine(address).seat().and_then(Seat::peer) {
            self.watch.stepped(now, peer, position);
        }
        self.order(address, Order::Peer(Command::Move(position)));
        self.ticks.insert((now + interval, walker.0), ());
        if SETTLED <= now.since(since) {
            let peer = self.sim.machine(address).seat().and_then(Seat::peer);
            let knows = |of| peer.and_then(|it| it.entry(of)).is_some_and(|it| it.is_met());
            let sees = peer.map_or(self.case.config.aoi, |it| it.info().aoi);
            self.sightings.step(now, address, (position, sees), knows);
        }
    }

    /// Looks at the overlay, if a sample is due or near.
    fn look(&mut self, next_sample: Time) {
        let now = self.sim.now();
        let (is_sample, is_near) = (next_sample <= now, self.watch.is_due(now, next_sample.since(now)));
        if !is_sample && !is_near {
            return;
        }
        let sitting = sitting(&self.sim, &self.ready);
        let truth = diagram(&sitting);
        if is_sample {
            let arrived = self.case.line.delay() + self.case.line.jitter();
            self.samples.push(examine((now, arrived), &sitting, &truth));
        }
        if is_near {
            self.watch.look(now, &sitting, truth);
        }
    }

    /// What everybody sent and received in the last second, also those who are about to join.
    fn count_second(&mut self) {
        let now = self.sim.now();
        for address in self.meter.everybody() {
            let received = self.received(address);
            let Some(peer) = self.sim.machine(address).seat().and_then(Seat::peer) else { continue };
            self.meter.second(now, address, peer.sent(), received);
            self.presence += f64::from(u8::from(self.ready.contains_key(&address)));
        }
    }
}

/// Everybody who is in.
fn sitting<'a>(sim: &'a Sim<Node>, ready: &BTreeMap<Address, Time>) -> BTreeMap<Address, Sitting<'a>> {
    let sitting = |(&address, &since)| {
        let seat = sim.machine(address).seat()?;
        Some((address, Sitting { peer: seat.peer()?, since, left: seat.left() }))
    };
    ready.iter().filter_map(sitting).collect()
}

fn add(all: &mut Sent, sent: &Sent) {
    all.held += sent.held;
    for kind in 0..all.messages.len() {
        all.messages[kind] += sent.messages[kind];
        all.paper[kind] += sent.paper[kind];
        all.wire[kind] += sent.wire[kind];
    }
}
