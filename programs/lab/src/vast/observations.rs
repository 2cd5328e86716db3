//! Observations of a run: samples, maps, traffic, sightings, and the findings of the checkers. They read and never
//! change a run.

use super::checkers::{OverlayViolation, RunWatch};
use super::delays::Delays;
use super::network::{PresentPeer, VastNetwork};
use super::oracle::{OverlaySample, SETTLED, diagram, examine};
use super::sightings::Sightings;
use super::traffic::{BusiestSeconds, TrafficMeter};
use super::world::{MapDot, OverlayMap, VastCase};
use machine::{Address, Time};
use overlay::{Peer, SentTraffic};
use space::Position;

/// All observations of a run.
pub struct Observations<'a> {
    case: &'a VastCase,
    samples: Vec<OverlaySample>,
    maps: Vec<OverlayMap>,
    delays: Delays,
    sightings: Sightings,
    watch: RunWatch,
    /// Bytes that each peer sends and receives.
    meter: TrafficMeter,
    /// Traffic of the peers that have left.
    gone: SentTraffic,
    presence: f64,
    new_links: u64,
}

/// Traffic and delays of a run.
pub struct RunMeasures {
    /// Messages and bytes that all peers have sent.
    pub sent: SentTraffic,
    /// Bytes that all slots have received, by the paper's sizes.
    pub received: u64,
    /// Time from a step to its arrival, mean and 99th percentile, in milliseconds.
    pub delay_ms: (f64, f64),
    /// Time until a peer in view was heard, 99th percentile.
    pub discovery_p99_ms: f64,
    /// Time for which a peer lacked another in view, 99th percentile.
    pub recovery_p99_seconds: f64,
}

/// Everything that was recorded during a run.
pub struct RunNotes {
    /// The overlay at regular moments.
    pub samples: Vec<OverlaySample>,
    /// Maps of all peers at the chosen times.
    pub maps: Vec<OverlayMap>,
    /// The busiest seconds of any peer.
    pub busiest: BusiestSeconds,
    /// Time that all peers together were in, in seconds.
    pub presence: f64,
    /// Number of times a peer heard another for the first time.
    pub new_links: u64,
    /// Violations that the checkers found.
    pub violations: Vec<OverlayViolation>,
}

impl<'a> Observations<'a> {
    /// Observations of a run that has not begun.
    pub fn new(case: &'a VastCase, delays: Delays) -> Self {
        Self {
            case,
            samples: Vec::new(),
            maps: Vec::new(),
            delays,
            sightings: Sightings::new(case.config.aoi),
            watch: RunWatch::new(case),
            meter: TrafficMeter::default(),
            gone: SentTraffic::default(),
            presence: 0.0,
            new_links: 0,
        }
    }

    /// Time at which the next map is due.
    pub fn next_map(&self) -> Option<Time> {
        self.case.maps.get(self.maps.len()).copied()
    }

    /// Notes that a peer heard another for the first time.
    pub fn heard(&mut self, at: Time, by: Address, of: Address) {
        self.new_links += 1;
        self.sightings.heard(at, by, of);
    }

    /// Notes that a peer removed another from its list.
    pub fn lost(&mut self, at: Time, by: Address, of: Address) {
        self.sightings.lost(at, by, of);
        self.watch.lost(by, of);
    }

    /// Notes that a peer begins a life, in a slot that has received `received` bytes before.
    pub fn joined(&mut self, who: Address, life: u32, received: u64) {
        self.watch.joined(who, life);
        self.meter.begin(who, received);
    }

    /// Notes that a peer has left its slot.
    pub fn left(&mut self, now: Time, who: Address, peer: Option<Peer>) {
        self.sightings.gone(now, who);
        self.meter.end(who);
        if let Some(peer) = peer {
            add(&mut self.gone, peer.sent());
            self.watch.left(now, who, peer.neighbours().map(|it| it.0));
        }
    }

    /// Notes that the network is divided, or whole again.
    pub fn divided(&mut self, now: Time, apart: bool) {
        self.watch.divided(now, apart);
    }

    /// Notes that a peer in the overlay steps to a position.
    pub fn stepped(&mut self, who: Address, position: Position, network: &VastNetwork) {
        let (now, peer) = (network.now(), network.peer(who));
        if let Some(peer) = peer {
            self.watch.stepped(now, peer, position);
        }
        // A peer that has just entered cannot know its surroundings yet.
        if network.since(who).is_some_and(|since| SETTLED <= now.since(since)) {
            let knows = |of| peer.and_then(|it| it.neighbour(of)).is_some_and(|it| it.is_met());
            let sees = peer.map_or(self.case.config.aoi, |it| it.info().aoi);
            self.sightings.step(now, who, (position, sees), knows);
        }
    }

    /// Draws the maps that are due.
    pub fn draw_maps(&mut self, now: Time, network: &VastNetwork) {
        while self.next_map().is_some_and(|it| it <= now) {
            let dot = |(&address, it): (&Address, &PresentPeer<'_>)| MapDot {
                address,
                position: it.peer.info().position,
                links: it.peer.neighbours().map(|it| it.0).collect(),
            };
            let dots = network.present().iter().map(dot).collect();
            self.maps.push(OverlayMap { at: now, dots });
        }
    }

    /// Takes a sample if one is due, and runs the checkers shortly before.
    pub fn look(&mut self, next_sample: Time, network: &VastNetwork) {
        let now = network.now();
        let (is_sample, is_near) = (next_sample <= now, self.watch.is_due(now, next_sample.since(now)));
        if !is_sample && !is_near {
            return;
        }
        let present = network.present();
        let truth = diagram(&present);
        if is_sample {
            // After this span every message that was not lost has arrived.
            let arrived = self.case.line.delay() + self.case.line.jitter();
            self.samples.push(examine((now, arrived), &present, &truth));
        }
        if is_near {
            self.watch.inspect(now, &present, truth);
        }
    }

    /// Counts the bytes of all peers in the last second, also of those that are still joining.
    pub fn count_second(&mut self, network: &VastNetwork) {
        for address in self.meter.addresses() {
            let Some(peer) = network.peer(address) else { continue };
            self.meter.second(network.now(), address, peer.sent(), network.received(address));
            self.presence += f64::from(u8::from(network.since(address).is_some()));
        }
    }

    /// Traffic and delays of the run so far.
    pub fn measures(&self, network: &VastNetwork) -> RunMeasures {
        let mut sent = self.gone;
        network.slots().filter_map(|it| network.peer(it)).for_each(|it| add(&mut sent, it.sent()));
        RunMeasures {
            sent,
            received: network.slots().map(|it| network.received(it)).sum(),
            delay_ms: self.delays.mean_and_p99_ms(),
            discovery_p99_ms: self.sightings.discovery_p99_ms(),
            recovery_p99_seconds: self.sightings.recovery_p99_seconds(),
        }
    }

    /// Everything that was recorded during the run.
    pub fn into_notes(self) -> RunNotes {
        RunNotes {
            samples: self.samples,
            maps: self.maps,
            busiest: self.meter.busiest(),
            presence: self.presence,
            new_links: self.new_links,
            violations: self.watch.violations(),
        }
    }
}

fn add(all: &mut SentTraffic, sent: &SentTraffic) {
    all.held_back += sent.held_back;
    for kind in 0..all.messages.len() {
        all.messages[kind] += sent.messages[kind];
        all.paper[kind] += sent.paper[kind];
        all.wire[kind] += sent.wire[kind];
    }
}
