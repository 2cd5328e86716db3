//! A run: walkers join, step and leave, the network carries what their peers say, and everything is observed.

use super::checkers::Violation;
use super::delays::Delays;
use super::network::Network;
use super::node::{Order, Signature};
use super::observations::{Measures, Observations};
use super::oracle::{Sample, is_exact};
use super::traffic::Busiest;
use super::walkers::Walkers;
use machine::{Address, Rng, Span, Time};
use overlay::{Command, Config, Event, Info, Peer, Rendezvous, Sent};
use sim::Profile;
use sim::crowd::{
    Crowd, CrowdError, Ground, Instruction, Manner, Movement, Population, Schedule, Sides, WalkerId,
};
use space::Position;
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

/// Everything of a run: where peers walk, the network between them, and what is seen of it.
struct World<'a> {
    case: &'a Case,
    rng: Rng,
    walkers: Walkers,
    network: Network,
    seen: Observations<'a>,
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
        let delays = Delays::new(case.peers);
        Self {
            case,
            walkers: Walkers::new(case, &rng),
            network: Network::new(case, &delays, Rendezvous::new(rng.fork_named(1))),
            seen: Observations::new(case, delays),
            rng,
        }
    }

    fn live(mut self, progress: &dyn Fn(u64)) -> Ran {
        let end = Time::ZERO + self.case.lasts;
        let second = Span::from_secs(1);
        let (mut next_second, mut next_sample) = (Time::ZERO + second, Time::ZERO + self.case.sample);
        while self.network.now() < end {
            let next_map = self.seen.next_map().unwrap_or(end);
            let until = next_second.min(next_sample).min(next_map).min(end);
            self.advance(until);
            self.seen.draw_maps(until, &self.network);
            if next_second <= until {
                self.seen.count_second(&self.network);
                next_second += second;
                progress(until.as_secs());
            }
            self.seen.look(next_sample, &self.network);
            if next_sample <= until {
                next_sample += self.case.sample;
            }
        }
        let measures = self.seen.measures(&self.network);
        let exact_after = self.freeze();
        self.ran(measures, exact_after)
    }

    fn ran(self, measures: Measures, exact_after: Option<Span>) -> Ran {
        let notes = self.seen.into_notes();
        Ran {
            samples: notes.samples,
            sent: measures.sent,
            presence: notes.presence,
            received: measures.received,
            busiest: notes.busiest,
            new_links: notes.new_links,
            delay_ms: measures.delay_ms,
            joined: self.case.schedule.joined(self.case.peers),
            discovery_p99_ms: measures.discovery_p99_ms,
            recovery_p99_seconds: measures.recovery_p99_seconds,
            maps: notes.maps,
            exact_after,
            violations: notes.violations,
            events: self.network.events(),
            history: self.network.history(),
        }
    }

    /// Lets everything happen up to a time.
    fn advance(&mut self, end: Time) {
        while self.network.now() < end {
            let until = self.walkers.next(end);
            while self.network.step_until(until) {
                self.hear();
            }
            self.hear();
            while let Some(it) = self.walkers.pop_instruction(until) {
                self.follow(it);
            }
            while let Some(walker) = self.walkers.pop_tick(until) {
                self.step(walker);
            }
        }
    }

    /// No peer walks, comes or goes any more, and no message is lost. Says how long it takes until every list is exactly
    /// right, if that does not take too long.
    fn freeze(&mut self) -> Option<Span> {
        self.walkers.freeze();
        self.divide(None);
        self.network.calm();
        let start = self.network.now();
        while self.network.now().since(start) < EXACT_WITHIN {
            self.advance(self.network.now() + Span::from_millis(250));
            if is_exact(&self.case.config, &self.network.sitting()) {
                return Some(self.network.now().since(start));
            }
        }
        None
    }

    /// What peers told of themselves.
    fn hear(&mut self) {
        for it in self.network.raised() {
            match it.event {
                Event::Ready => self.on_ready(it.at, it.by),
                Event::Heard(of) => self.seen.heard(it.at, it.by, of),
                Event::Lost(of) => self.seen.lost(it.at, it.by, of),
            }
        }
    }

    fn on_ready(&mut self, at: Time, who: Address) {
        self.network.enter(at, who);
        let phase = self.rng.below(self.case.config.interval.as_micros());
        self.walkers.step_at(at + Span::from_micros(phase), WalkerId(who.0 as u32));
    }

    fn follow(&mut self, instruction: Instruction) {
        match instruction {
            Instruction::Join { walker, life } => self.join(walker, life),
            Instruction::Leave { walker, manner } => self.leave(walker, manner),
            Instruction::Cut(sides) => self.divide(Some(&Arc::new(sides))),
            Instruction::Mend => self.divide(None),
        }
    }

    fn join(&mut self, walker: WalkerId, life: u32) {
        let address = Address(u64::from(walker.0));
        let (position, group) = self.walkers.join(walker);
        let aoi = self.case.config.aoi;
        let me = Info { address, life: life + 1, sequence: 0, position, aoi, group };
        let rng = self.rng.fork_named(u64::from(walker.0) << 32 | u64::from(life));
        let peer = Peer::new(self.case.config, me, self.network.rendezvous(), rng);
        self.network.sit(peer.with_credentials(Arc::new(Signature)));
        self.seen.joined(address, me.life, self.network.received(address));
        self.network.order(address, Order::Peer(Command::Join(position)));
    }

    fn leave(&mut self, walker: WalkerId, manner: Manner) {
        let address = Address(u64::from(walker.0));
        self.walkers.leave(walker);
        if manner == Manner::Graceful {
            self.network.order(address, Order::Peer(Command::Leave));
            while self.network.step_until(self.network.now()) {}
        }
        let peer = self.network.stand(address);
        self.seen.left(self.network.now(), address, peer);
    }

    fn divide(&mut self, sides: Option<&Arc<Sides>>) {
        self.seen.divided(self.network.now(), sides.is_some());
        self.network.divide(sides);
    }

    /// A peer walks on, if it is still there.
    fn step(&mut self, walker: WalkerId) {
        let address = Address(u64::from(walker.0));
        if self.network.since(address).is_none() {
            return;
        }
        let position = self.walkers.step(self.network.now(), walker);
        self.network.order(address, Order::Peer(Command::Move(position)));
        self.seen.stepped(address, position, &self.network);
    }
}
