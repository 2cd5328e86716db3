//! The simulated network of a run: a seat for every peer, the rendezvous, and who is in since when.

use super::delays::Delays;
use super::node::{Left, Node, Order, Seat};
use super::world::Case;
use machine::{Address, Time};
use overlay::{Event, Member, Peer, Rendezvous};
use sim::crowd::Sides;
use sim::{Profile, Raised, Sim};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A peer that is in.
pub struct Sitting<'a> {
    /// The peer.
    pub peer: &'a Peer,
    /// Since when it is in.
    pub since: Time,
    /// What has left its seat.
    pub left: Left,
}

/// See the module.
pub struct Network {
    sim: Sim<Node>,
    peers: u32,
    line: Profile,
    /// Since when a peer is in.
    ready: BTreeMap<Address, Time>,
}

impl Network {
    /// Empty seats for all peers of a case, and the rendezvous.
    pub fn new(case: &Case, delays: &Delays, rendezvous: Rendezvous) -> Self {
        let mut sim = Sim::new(case.seed);
        sim.open(case.line);
        for _ in 0..case.peers {
            sim.add(Node::Seat(Box::new(Seat::new(Address(u64::from(case.peers)), delays.clone()))));
        }
        sim.add(Node::Rendezvous(rendezvous));
        Self { sim, peers: case.peers, line: case.line, ready: BTreeMap::new() }
    }

    /// The simulated time.
    pub fn now(&self) -> Time {
        self.sim.now()
    }

    /// Where searches begin.
    pub const fn rendezvous(&self) -> Address {
        Address(self.peers as u64)
    }

    /// The addresses of all seats.
    pub fn seats(&self) -> impl Iterator<Item = Address> + use<> {
        (0..self.peers).map(|it| Address(u64::from(it)))
    }

    /// Lets the next thing happen, if it happens until then; whether something did.
    pub fn step_until(&mut self, until: Time) -> bool {
        self.sim.step_until(until)
    }

    /// What peers have told since the last call.
    pub fn raised(&mut self) -> Vec<Raised<Event>> {
        self.sim.raised().collect()
    }

    /// Gives an order, now.
    pub fn order(&mut self, to: Address, order: Order) {
        self.sim.command(self.sim.now(), to, order);
    }

    /// The peer in a seat.
    pub fn peer(&self, address: Address) -> Option<&Peer> {
        self.sim.machine(address).seat()?.peer()
    }

    /// How many bytes a seat has received, by the paper's sizes.
    pub fn received(&self, address: Address) -> u64 {
        self.sim.machine(address).seat().map_or(0, |it| it.received)
    }

    /// Since when a peer is in, if it is.
    pub fn since(&self, address: Address) -> Option<Time> {
        self.ready.get(&address).copied()
    }

    /// All peers that are in.
    pub fn sitting(&self) -> BTreeMap<Address, Sitting<'_>> {
        let sitting = |(&address, &since)| {
            let seat = self.sim.machine(address).seat()?;
            Some((address, Sitting { peer: seat.peer()?, since, left: seat.left() }))
        };
        self.ready.iter().filter_map(sitting).collect()
    }

    /// A peer takes its seat.
    pub fn sit(&mut self, peer: Peer) {
        let address = peer.info().address;
        if let Some(seat) = self.sim.machine_mut(address).seat_mut() {
            seat.sit(peer);
        }
    }

    /// A peer says that it is in; the rendezvous is told.
    pub fn enter(&mut self, at: Time, who: Address) {
        self.ready.insert(who, at);
        self.order(self.rendezvous(), Order::Member(Member::In(who)));
    }

    /// A peer is not in any more and leaves its seat; the rendezvous is told.
    pub fn stand(&mut self, who: Address) -> Option<Peer> {
        self.ready.remove(&who);
        self.order(self.rendezvous(), Order::Member(Member::Out(who)));
        self.sim.machine_mut(who).seat_mut().and_then(Seat::stand)
    }

    /// Divides the network, or makes it whole.
    pub fn divide(&mut self, sides: Option<&Arc<Sides>>) {
        for address in self.seats() {
            if let Some(seat) = self.sim.machine_mut(address).seat_mut() {
                seat.sides = sides.cloned();
            }
        }
    }

    /// From now on no message is lost.
    pub fn calm(&mut self) {
        let calm = self.line.with_loss(0.0).expect("a probability");
        self.sim.open(calm);
        for (a, b) in (0..=self.peers).flat_map(|a| (0..=self.peers).map(move |b| (a, b))) {
            self.sim.set_profile(Address(u64::from(a)), Address(u64::from(b)), calm);
        }
    }

    /// How many inputs reached machines.
    pub fn events(&self) -> u64 {
        self.sim.events()
    }

    /// The hash of the history.
    pub fn history(&self) -> u64 {
        self.sim.history()
    }
}
