//! What is seen of a run: samples, maps, traffic, sightings, and what the checkers find. Looks and never touches.

use super::checkers::{Violation, Watch};
use super::delays::Delays;
use super::network::{Network, Sitting};
use super::oracle::{SETTLED, Sample, diagram, examine};
use super::sightings::Sightings;
use super::traffic::{Busiest, Meter};
use super::world::{Case, Dot, Map};
use machine::{Address, Time};
use overlay::{Peer, Sent};
use space::Position;

/// See the module.
pub struct Observations<'a> {
    case: &'a Case,
    samples: Vec<Sample>,
    maps: Vec<Map>,
    delays: Delays,
    sightings: Sightings,
    watch: Watch,
    /// What each peer sends and receives.
    meter: Meter,
    /// What those peers had sent that left.
    gone: Sent,
    presence: f64,
    new_links: u64,
}

/// What a run costs its peers, and how soon they hear each other.
pub struct Measures {
    /// What all peers have sent.
    pub sent: Sent,
    /// What all seats have received, in bytes by the paper's sizes.
    pub received: u64,
    /// From a step to the hearing of it: the mean and what 99 of 100 are below, in milliseconds.
    pub delay_ms: (f64, f64),
    /// How long it took until a peer in view was heard, 99 of 100 times.
    pub discovery_p99_ms: f64,
    /// How long a peer lacked another in view, 99 of 100 times.
    pub recovery_p99_seconds: f64,
}

/// Everything that was noted down during a run.
pub struct Notes {
    /// The overlay as it was, now and then.
    pub samples: Vec<Sample>,
    /// All peers, when maps were to be drawn.
    pub maps: Vec<Map>,
    /// The most bytes of one peer in one second.
    pub busiest: Busiest,
    /// How long all peers together were in, in seconds.
    pub presence: f64,
    /// How often a peer heard another for the first time.
    pub new_links: u64,
    /// What the checkers found wrong.
    pub violations: Vec<Violation>,
}

impl<'a> Observations<'a> {
    /// Of a run that has not begun.
    pub fn new(case: &'a Case, delays: Delays) -> Self {
        Self {
            case,
            samples: Vec::new(),
            maps: Vec::new(),
            delays,
            sightings: Sightings::new(case.config.aoi),
            watch: Watch::new(case),
            meter: Meter::default(),
            gone: Sent::default(),
            presence: 0.0,
            new_links: 0,
        }
    }

    /// When the next map is to be drawn.
    pub fn next_map(&self) -> Option<Time> {
        self.case.maps.get(self.maps.len()).copied()
    }

    /// A peer hears another for the first time.
    pub fn heard(&mut self, at: Time, by: Address, of: Address) {
        self.new_links += 1;
        self.sightings.heard(at, by, of);
    }

    /// A peer has forgotten another.
    pub fn lost(&mut self, at: Time, by: Address, of: Address) {
        self.sightings.lost(at, by, of);
        self.watch.lost(by, of);
    }

    /// A peer begins a life, in a seat that has received so much before.
    pub fn joined(&mut self, who: Address, life: u32, received: u64) {
        self.watch.joined(who, life);
        self.meter.begin(who, received);
    }

    /// A peer has left its seat.
    pub fn left(&mut self, now: Time, who: Address, peer: Option<Peer>) {
        self.sightings.gone(now, who);
        self.meter.end(who);
        if let Some(peer) = peer {
            add(&mut self.gone, peer.sent());
            self.watch.left(now, who, peer.list().map(|it| it.0));
        }
    }

    /// The network is divided, or whole again.
    pub fn divided(&mut self, now: Time, apart: bool) {
        self.watch.divided(now, apart);
    }

    /// A peer that is in steps to a place.
    pub fn stepped(&mut self, who: Address, position: Position, network: &Network) {
        let (now, peer) = (network.now(), network.peer(who));
        if let Some(peer) = peer {
            self.watch.stepped(now, peer, position);
        }
        if network.since(who).is_some_and(|since| SETTLED <= now.since(since)) {
            let knows = |of| peer.and_then(|it| it.entry(of)).is_some_and(|it| it.is_met());
            let sees = peer.map_or(self.case.config.aoi, |it| it.info().aoi);
            self.sightings.step(now, who, (position, sees), knows);
        }
    }

    /// Draws the maps that are due.
    pub fn draw_maps(&mut self, now: Time, network: &Network) {
        while self.next_map().is_some_and(|it| it <= now) {
            let dot = |(&address, it): (&Address, &Sitting<'_>)| Dot {
                address,
                position: it.peer.info().position,
                links: it.peer.list().map(|it| it.0).collect(),
            };
            let dots = network.sitting().iter().map(dot).collect();
            self.maps.push(Map { at: now, dots });
        }
    }

    /// Looks at the overlay, if a sample is due or near.
    pub fn look(&mut self, next_sample: Time, network: &Network) {
        let now = network.now();
        let (is_sample, is_near) = (next_sample <= now, self.watch.is_due(now, next_sample.since(now)));
        if !is_sample && !is_near {
            return;
        }
        let sitting = network.sitting();
        let truth = diagram(&sitting);
        if is_sample {
            let arrived = self.case.line.delay() + self.case.line.jitter();
            self.samples.push(examine((now, arrived), &sitting, &truth));
        }
        if is_near {
            self.watch.look(now, &sitting, truth);
        }
    }

    /// Counts what all peers sent and received in the last second, also those that are about to join.
    pub fn count_second(&mut self, network: &Network) {
        for address in self.meter.everybody() {
            let Some(peer) = network.peer(address) else { continue };
            self.meter.second(network.now(), address, peer.sent(), network.received(address));
            self.presence += f64::from(u8::from(network.since(address).is_some()));
        }
    }

    /// What the run has cost so far.
    pub fn measures(&self, network: &Network) -> Measures {
        let mut sent = self.gone;
        network.seats().filter_map(|it| network.peer(it)).for_each(|it| add(&mut sent, it.sent()));
        Measures {
            sent,
            received: network.seats().map(|it| network.received(it)).sum(),
            delay_ms: self.delays.mean_and_p99_ms(),
            discovery_p99_ms: self.sightings.discovery_p99_ms(),
            recovery_p99_seconds: self.sightings.recovery_p99_seconds(),
        }
    }

    /// Everything that was noted down.
    pub fn into_notes(self) -> Notes {
        Notes {
            samples: self.samples,
            maps: self.maps,
            busiest: self.meter.busiest(),
            presence: self.presence,
            new_links: self.new_links,
            violations: self.watch.violations(),
        }
    }
}

fn add(all: &mut Sent, sent: &Sent) {
    all.held += sent.held;
    for kind in 0..all.messages.len() {
        all.messages[kind] += sent.messages[kind];
        all.paper[kind] += sent.paper[kind];
        all.wire[kind] += sent.wire[kind];
    }
}
