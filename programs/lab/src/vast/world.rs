//! A run: walkers join, step and leave, the network carries the messages of their peers, and everything is observed.

use super::checkers::OverlayViolation;
use super::delays::Delays;
use super::network::VastNetwork;
use super::node::{SignatureCredentials, VastCommand};
use super::observations::{Observations, RunMeasures};
use super::oracle::{OverlaySample, is_exact};
use super::traffic::BusiestSeconds;
use super::walkers::Walkers;
use machine::{Address, Rng, Span, Time};
use overlay::{Info, Peer, PeerCommand, PeerConfig, PeerEvent, Rendezvous, SentTraffic};
use sim::Profile;
use sim::crowd::{
    Crowd, CrowdError, CutSides, Ground, Instruction, Manner, Movement, Population, PopulationSchedule,
    WalkerId,
};
use space::Position;
use std::sync::Arc;

/// The checked parameters of a run.
#[derive(Clone, Debug)]
pub struct VastCase {
    /// Configuration that all peers share.
    pub config: PeerConfig,
    /// Pattern by which peers walk.
    pub movement: Movement,
    /// Number of peers, at most that many at a time.
    pub peers: u32,
    /// Size of the world and walking speed.
    pub ground: Ground,
    /// Times at which peers join, leave and fail.
    pub schedule: PopulationSchedule,
    /// Delay, jitter and loss of lines between peers.
    pub line: Profile,
    /// Simulated length of the run.
    pub lasts: Span,
    /// Time between two samples of the overlay.
    pub sample: Span,
    /// Times at which maps are drawn, in order.
    pub maps: Vec<Time>,
    /// Random seed of the run.
    pub seed: u64,
}

impl VastCase {
    /// Returns an error if the crowd or the schedule is invalid.
    pub fn check(&self) -> Result<(), CrowdError> {
        let rng = Rng::seeded(self.seed);
        Crowd::new(self.movement, self.peers, self.ground, &rng)?;
        Population::new(self.peers, self.schedule.clone(), &rng)?;
        Ok(())
    }
}

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct VastOutcome {
    /// The overlay at regular moments.
    pub samples: Vec<OverlaySample>,
    /// Messages and bytes that all peers together sent.
    pub sent: SentTraffic,
    /// Time that all peers together were in, in seconds.
    pub presence: f64,
    /// Bytes that reached all peers together, by the paper's sizes.
    pub received: u64,
    /// The busiest seconds of any peer.
    pub busiest: BusiestSeconds,
    /// Number of times a peer heard another for the first time.
    pub new_links: u64,
    /// Time from a step to its arrival, mean and 99th percentile, in milliseconds.
    pub delay_ms: (f64, f64),
    /// Time from which on all peers have joined.
    pub joined: Time,
    /// Time until a peer in view was heard, 99th percentile.
    pub discovery_p99_ms: f64,
    /// Time for which a peer lacked a peer in view, 99th percentile.
    pub recovery_p99_seconds: f64,
    /// Maps of all peers at the chosen times.
    pub maps: Vec<OverlayMap>,
    /// Time at rest until every list was exactly right; `None` if that never happened.
    pub exact_after: Option<Span>,
    /// Violations that the checkers found.
    pub violations: Vec<OverlayViolation>,
    /// Number of inputs that machines took.
    pub events: u64,
    /// The history hash of the run.
    pub history: u64,
}

/// All peers at one moment.
#[derive(Clone, Debug)]
pub struct OverlayMap {
    /// Time at which it was drawn.
    pub at: Time,
    /// All peers in the overlay, by address.
    pub dots: Vec<MapDot>,
}

/// A peer on a map.
#[derive(Clone, Debug)]
pub struct MapDot {
    /// Address that identifies the peer.
    pub address: Address,
    /// True position of the peer.
    pub position: Position,
    /// Addresses in its list, sorted.
    pub links: Vec<Address>,
}

/// A run under way: the walkers, the network between their peers, and the observations.
struct VastWorld<'a> {
    case: &'a VastCase,
    rng: Rng,
    walkers: Walkers,
    network: VastNetwork,
    seen: Observations<'a>,
}

/// Time within which every list must be exactly right once the world is at rest.
const EXACT_WITHIN: Span = Span::from_secs(5);

/// Runs a case. `progress` is called with the simulated seconds so far.
///
/// # Panics
/// If the case is invalid: settings are checked before.
pub fn run(case: &VastCase, progress: &dyn Fn(u64)) -> VastOutcome {
    VastWorld::new(case).run_to_end(progress)
}

impl<'a> VastWorld<'a> {
    fn new(case: &'a VastCase) -> Self {
        let rng = Rng::seeded(case.seed).fork_named(0x7661_7374);
        let delays = Delays::new(case.peers);
        Self {
            case,
            walkers: Walkers::new(case, &rng),
            network: VastNetwork::new(case, &delays, Rendezvous::new(rng.fork_named(1))),
            seen: Observations::new(case, delays),
            rng,
        }
    }

    fn run_to_end(mut self, progress: &dyn Fn(u64)) -> VastOutcome {
        let end = Time::ZERO + self.case.lasts;
        let second = Span::from_secs(1);
        let (mut next_second, mut next_sample) = (Time::ZERO + second, Time::ZERO + self.case.sample);
        while self.network.now() < end {
            let next_map = self.seen.next_map().unwrap_or(end);
            // Up to the nearest of all due times, so that each is observed exactly on time.
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
        // Why before `freeze`: the time at rest is not part of what is measured.
        let measures = self.seen.measures(&self.network);
        let exact_after = self.freeze();
        self.outcome(measures, exact_after)
    }

    fn outcome(self, measures: RunMeasures, exact_after: Option<Span>) -> VastOutcome {
        let notes = self.seen.into_notes();
        VastOutcome {
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

    /// Simulates everything up to a time.
    fn advance(&mut self, end: Time) {
        while self.network.now() < end {
            let until = self.walkers.next(end);
            // Events are taken after every input, so that the rendezvous learns at once of peers that enter.
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

    /// Brings the world to rest: no peer walks, joins or leaves any more, and no message is lost. Returns the time
    /// until every list is exactly right, if that is short enough.
    fn freeze(&mut self) -> Option<Span> {
        self.walkers.freeze();
        self.divide(None);
        self.network.stop_losses();
        let start = self.network.now();
        while self.network.now().since(start) < EXACT_WITHIN {
            self.advance(self.network.now() + Span::from_millis(250));
            if is_exact(&self.case.config, &self.network.present()) {
                return Some(self.network.now().since(start));
            }
        }
        None
    }

    /// Takes in the events that peers have raised.
    fn hear(&mut self) {
        for it in self.network.raised() {
            match it.event {
                PeerEvent::Ready => self.on_ready(it.at, it.by),
                PeerEvent::Heard(of) => self.seen.heard(it.at, it.by, of),
                PeerEvent::Lost(of) => self.seen.lost(it.at, it.by, of),
            }
        }
    }

    fn on_ready(&mut self, at: Time, who: Address) {
        self.network.enter(at, who);
        // A random phase, so that peers do not all step at once.
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
        // Lives count from 1: 0 stands for an unknown one.
        let me = Info { address, life: life + 1, sequence: 0, position, aoi, group };
        let rng = self.rng.fork_named(u64::from(walker.0) << 32 | u64::from(life));
        let peer = Peer::new(self.case.config, me, self.network.rendezvous(), rng);
        self.network.place_peer(peer.with_credentials(Arc::new(SignatureCredentials)));
        self.seen.joined(address, me.life, self.network.received(address));
        self.network.command(address, VastCommand::Peer(PeerCommand::Join(position)));
    }

    fn leave(&mut self, walker: WalkerId, manner: Manner) {
        let address = Address(u64::from(walker.0));
        self.walkers.leave(walker);
        if manner == Manner::Graceful {
            self.network.command(address, VastCommand::Peer(PeerCommand::Leave));
            // The peer must send its farewell before it is taken out of its slot.
            while self.network.step_until(self.network.now()) {}
        }
        let peer = self.network.remove_peer(address);
        self.seen.left(self.network.now(), address, peer);
    }

    fn divide(&mut self, sides: Option<&Arc<CutSides>>) {
        self.seen.divided(self.network.now(), sides.is_some());
        self.network.divide(sides);
    }

    /// A peer walks on, if it is still in the overlay.
    fn step(&mut self, walker: WalkerId) {
        let address = Address(u64::from(walker.0));
        if self.network.since(address).is_none() {
            return;
        }
        let position = self.walkers.step(self.network.now(), walker);
        self.network.command(address, VastCommand::Peer(PeerCommand::Move(position)));
        self.seen.stepped(address, position, &self.network);
    }
}
