//! What an experiment can see of a run.

use super::{Raised, Sim};
use crate::counters::Counters;
use crate::trace::Trace;
use machine::{Address, Machine, Time};
use std::fmt::Debug;
use std::hash::Hash;
use wire::Message;

impl<M: Machine<Msg: Message, Command: Hash, Event: Hash>> Sim<M> {
    /// How many inputs reached machines so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The running hash of everything that happened: each input with its time, address, link and content,
    /// each message that a link swallowed or that had no link, each event raised.
    pub fn history(&self) -> u64 {
        self.network.history.hash()
    }

    /// What became of the messages from one machine to another; `None` if they were never linked.
    ///
    /// # Panics
    /// If `from` has no machine.
    pub fn counters(&self, from: Address, to: Address) -> Option<Counters> {
        let way = self.network.way(self.host(from), to)?;
        Some(self.network.counters(way))
    }

    /// How many messages were sent to peers to which there was no link, or none that the sender had heard
    /// `LinkUp` for. They are gone, as with a real driver.
    pub fn unlinked(&self) -> u64 {
        self.network.unlinked
    }

    /// Takes everything that machines raised since the last call, in order. Drain it often: it is kept
    /// until then.
    pub fn raised(&mut self) -> std::vec::Drain<'_, Raised<M::Event>> {
        self.raised.drain(..)
    }

    /// A machine, to look at.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn machine(&self, address: Address) -> &M {
        &self.hosts[self.host(address) as usize].machine
    }

    /// A machine, to set up or to probe; what must be part of the history is a [`Sim::command`]. A
    /// deadline moved by hand counts from the machine's next input on; [`Sim::wake`] gives it one.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn machine_mut(&mut self, address: Address) -> &mut M {
        let host = self.host(address);
        &mut self.hosts[host as usize].machine
    }

    /// What a host's own clock shows; the machine gets this time with its inputs. See
    /// [`Sim::set_clock_rate`].
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn local_time(&self, address: Address) -> Time {
        self.hosts[self.host(address) as usize].local(self.network.now)
    }

    /// Whether a machine lives: it did not crash, or was restarted since.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn is_up(&self, address: Address) -> bool {
        self.hosts[self.host(address) as usize].is_up()
    }

    /// Whether a link between two machines lives, silent or not. A machine that crashed may still have links: its
    /// peers do not know yet.
    ///
    /// # Panics
    /// If an address has no machine.
    pub fn is_linked(&self, a: Address, b: Address) -> bool {
        self.network.way(self.host(a), b).is_some_and(|way| self.network.is_up(way))
    }

    /// How many links have been cut so far, by the experiment or because they gave up. Who keeps links alive need not look
    /// for dead ones while it stays the same.
    pub fn severed(&self) -> u64 {
        self.network.severed
    }

    /// How many inputs wait for a machine because its host is frozen or busy. However many of its deadlines
    /// passed meanwhile, they count as one.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn waiting(&self, address: Address) -> usize {
        let condition = &self.hosts[self.host(address) as usize].condition;
        condition.as_ref().map_or(0, |it| it.waiting())
    }

    /// How much a machine did since [`Sim::slow`] or [`Sim::burden`] was first said of its host: inputs taken and messages
    /// sent. Nobody counts for others.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn work(&self, address: Address) -> u64 {
        self.hosts[self.host(address) as usize].condition.as_ref().map_or(0, |it| it.work)
    }

    /// From now on keeps the last `capacity` inputs and faults of hosts as text; 0 keeps none, as before the
    /// first call. For people: it costs time, and enters no history.
    pub fn trace(&mut self, capacity: usize)
    where
        M::Msg: Debug,
        M::Command: Debug,
    {
        self.trace = (0 < capacity).then(|| Box::new(Trace::new(capacity)));
    }

    /// What [`Sim::trace`] kept, oldest first: the time, the address, the input.
    pub fn trace_lines(&self) -> impl Iterator<Item = &str> {
        self.trace.iter().flat_map(|it| it.lines())
    }
}
