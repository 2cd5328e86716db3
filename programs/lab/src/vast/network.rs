//! The simulated network of a run: a slot for every peer, the rendezvous, and the times at which peers entered.

use super::delays::Delays;
use super::node::{OutgoingBytes, PeerSlot, VastCommand, VastNode};
use super::world::VastCase;
use machine::{Address, Time};
use overlay::{Peer, PeerEvent, Rendezvous, RendezvousCommand};
use sim::crowd::CutSides;
use sim::{Profile, RaisedEvent, Sim};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A peer that is in the overlay.
pub struct PresentPeer<'a> {
    /// The machine of the peer.
    pub peer: &'a Peer,
    /// Time at which the peer entered.
    pub since: Time,
    /// Bytes that have left its slot.
    pub left: OutgoingBytes,
}

/// The simulated network of a run.
pub struct VastNetwork {
    sim: Sim<VastNode>,
    peers: u32,
    line: Profile,
    /// Time at which each peer in the overlay entered.
    ready: BTreeMap<Address, Time>,
}

impl VastNetwork {
    /// A network with an empty slot for every peer of a case, and the rendezvous.
    pub fn new(case: &VastCase, delays: &Delays, rendezvous: Rendezvous) -> Self {
        let mut sim = Sim::new(case.seed);
        sim.open(case.line);
        // Peers have the addresses from 0 on, the rendezvous the one after them.
        for _ in 0..case.peers {
            sim.add(VastNode::PeerSlot(Box::new(PeerSlot::new(
                Address(u64::from(case.peers)),
                delays.clone(),
            ))));
        }
        sim.add(VastNode::Rendezvous(rendezvous));
        Self { sim, peers: case.peers, line: case.line, ready: BTreeMap::new() }
    }

    /// The simulated time of now.
    pub fn now(&self) -> Time {
        self.sim.now()
    }

    /// Address of the rendezvous, where searches begin.
    pub const fn rendezvous(&self) -> Address {
        Address(self.peers as u64)
    }

    /// The addresses of all slots.
    pub fn slots(&self) -> impl Iterator<Item = Address> + use<> {
        (0..self.peers).map(|it| Address(u64::from(it)))
    }

    /// Simulates the next input, if it is due by then. Returns whether there was one.
    pub fn step_until(&mut self, until: Time) -> bool {
        self.sim.step_until(until)
    }

    /// Events that peers have raised since the last call.
    pub fn raised(&mut self) -> Vec<RaisedEvent<PeerEvent>> {
        self.sim.raised().collect()
    }

    /// Gives a command to a node now.
    pub fn command(&mut self, to: Address, command: VastCommand) {
        self.sim.command(self.sim.now(), to, command);
    }

    /// The peer in a slot, if there is one.
    pub fn peer(&self, address: Address) -> Option<&Peer> {
        self.sim.machine(address).slot()?.peer()
    }

    /// Bytes that a slot has received, by the paper's sizes.
    pub fn received(&self, address: Address) -> u64 {
        self.sim.machine(address).slot().map_or(0, |it| it.received)
    }

    /// Time at which a peer entered, if it is in.
    pub fn since(&self, address: Address) -> Option<Time> {
        self.ready.get(&address).copied()
    }

    /// All peers that are in the overlay.
    pub fn present(&self) -> BTreeMap<Address, PresentPeer<'_>> {
        let present = |(&address, &since)| {
            let slot = self.sim.machine(address).slot()?;
            Some((address, PresentPeer { peer: slot.peer()?, since, left: slot.left() }))
        };
        self.ready.iter().filter_map(present).collect()
    }

    /// Puts a new peer into its slot.
    pub fn place_peer(&mut self, peer: Peer) {
        let address = peer.info().address;
        if let Some(slot) = self.sim.machine_mut(address).slot_mut() {
            slot.place_peer(peer);
        }
    }

    /// Notes that a peer has entered, and tells the rendezvous.
    pub fn enter(&mut self, at: Time, who: Address) {
        self.ready.insert(who, at);
        self.command(self.rendezvous(), VastCommand::Rendezvous(RendezvousCommand::Joined(who)));
    }

    /// Takes a peer out of its slot, and tells the rendezvous that it has left.
    pub fn remove_peer(&mut self, who: Address) -> Option<Peer> {
        self.ready.remove(&who);
        self.command(self.rendezvous(), VastCommand::Rendezvous(RendezvousCommand::Left(who)));
        self.sim.machine_mut(who).slot_mut().and_then(PeerSlot::remove_peer)
    }

    /// Divides the network into two sides, or makes it whole.
    pub fn divide(&mut self, sides: Option<&Arc<CutSides>>) {
        for address in self.slots() {
            if let Some(slot) = self.sim.machine_mut(address).slot_mut() {
                slot.sides = sides.cloned();
            }
        }
    }

    /// From now on no message is lost.
    pub fn stop_losses(&mut self) {
        let lossless = self.line.with_loss(0.0).expect("a probability");
        self.sim.open(lossless);
        // `open` is for links to come; links that exist keep their profile unless it is set.
        for (a, b) in (0..=self.peers).flat_map(|a| (0..=self.peers).map(move |b| (a, b))) {
            self.sim.set_profile(Address(u64::from(a)), Address(u64::from(b)), lossless);
        }
    }

    /// Number of inputs that machines have taken.
    pub fn events(&self) -> u64 {
        self.sim.events()
    }

    /// The history hash of the run so far.
    pub fn history(&self) -> u64 {
        self.sim.history()
    }
}
