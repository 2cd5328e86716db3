//! Read access of an experiment to a run.

use super::{RaisedEvent, Sim};
use crate::counters::Counters;
use crate::trace::Trace;
use machine::{Address, Machine, Time};
use std::fmt::Debug;
use std::hash::Hash;
use wire::Message;

impl<M: Machine<Msg: Message, Command: Hash, Event: Hash>> Sim<M> {
    /// Number of inputs that have reached machines so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The history hash so far. It covers each input with its time, address, link and content,
    /// each message that a link lost or that had no link, and each event raised.
    pub fn history(&self) -> u64 {
        self.network.history.hash()
    }

    /// Counts of the messages from one machine to another; `None` if the two were never linked.
    ///
    /// # Panics
    /// If `from` has no machine.
    pub fn counters(&self, from: Address, to: Address) -> Option<Counters> {
        let direction = self.network.direction(self.host(from), to)?;
        Some(self.network.counters(direction))
    }

    /// Number of messages to peers to which there was no link, or none for which the sender had got
    /// `LinkUp`. They are lost, as with a real driver.
    pub fn unlinked(&self) -> u64 {
        self.network.unlinked
    }

    /// Takes the events that machines raised since the last call, in order. Drain them often: they take memory
    /// until then.
    pub fn raised(&mut self) -> std::vec::Drain<'_, RaisedEvent<M::Event>> {
        self.raised.drain(..)
    }

    /// Read access to a machine.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn machine(&self, address: Address) -> &M {
        &self.hosts[self.host(address) as usize].machine
    }

    /// Write access to a machine, to set it up or to probe it; a change that must be part of the history is a
    /// [`Sim::command`]. A deadline changed this way counts from the machine's next input on; [`Sim::wake`] gives it
    /// one.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn machine_mut(&mut self, address: Address) -> &mut M {
        let host = self.host(address);
        &mut self.hosts[host as usize].machine
    }

    /// The time that a host's own clock shows; the machine gets this time with its inputs. See
    /// [`Sim::set_clock_rate`].
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn local_time(&self, address: Address) -> Time {
        self.hosts[self.host(address) as usize].local(self.network.now)
    }

    /// True if a machine did not crash, or was restarted since.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn is_up(&self, address: Address) -> bool {
        self.hosts[self.host(address) as usize].is_up()
    }

    /// True if a link between two machines is up, silently cut or not. A machine that crashed may still have links:
    /// its peers do not know yet.
    ///
    /// # Panics
    /// If an address has no machine.
    pub fn is_linked(&self, a: Address, b: Address) -> bool {
        self.network.direction(self.host(a), b).is_some_and(|direction| self.network.is_up(direction))
    }

    /// Number of links that have been cut so far, by the experiment or because they gave up. An experiment that
    /// replaces dead links need not look for them while this number stays the same.
    pub fn severed(&self) -> u64 {
        self.network.severed
    }

    /// Number of inputs that wait for a machine because its host is frozen or busy. However many of its deadlines
    /// passed meanwhile, they count as one.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn waiting(&self, address: Address) -> usize {
        let condition = &self.hosts[self.host(address) as usize].condition;
        condition.as_ref().map_or(0, |it| it.waiting())
    }

    /// Number of inputs taken and messages sent by a machine since its host first had a fault or cost, by
    /// [`Sim::slow`], [`Sim::burden`] or any other. Zero for a host that never had one: its work is not counted.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn work(&self, address: Address) -> u64 {
        self.hosts[self.host(address) as usize].condition.as_ref().map_or(0, |it| it.work)
    }

    /// Keeps the last `capacity` inputs and faults of hosts as text from now on; 0 keeps none, as before the
    /// first call. For debugging: it costs time, and is no part of the history.
    pub fn trace(&mut self, capacity: usize)
    where
        M::Msg: Debug,
        M::Command: Debug,
    {
        self.trace = (0 < capacity).then(|| Box::new(Trace::new(capacity)));
    }

    /// The lines that [`Sim::trace`] kept, oldest first: the time, the address, the input.
    pub fn trace_lines(&self) -> impl Iterator<Item = &str> {
        self.trace.iter().flat_map(|it| it.lines())
    }
}
