//! The faults of hosts and links that an experiment can cause.
//!
//! They happen at the time of the call and are part of the history. They draw nothing at random, except the time
//! that held messages take when a cut heals. Random faults are the experiment's business: it knows which ones its
//! world must survive.

use super::Sim;
use crate::history_hash::HistoryKind;
use crate::profile::Profile;
use crate::queue_entry::{DirectionId, QueueEntry};
use machine::{Address, Machine, Span, Time};
use std::hash::Hash;
use wire::Message;

impl<M: Machine<Msg: Message, Command: Hash, Event: Hash>> Sim<M> {
    /// Kills a machine at once; a machine that crashed already stays dead. It gets no input any more. Inputs that
    /// waited for it are lost, and so are its messages that waited to leave. Messages in flight still arrive. The
    /// machine's value can be read until [`Sim::restart`].
    ///
    /// Its peers hear nothing of it until their links give up (see [`Sim::set_give_up_after`]), or until the
    /// experiment cuts them or restarts the machine. Looks at every link of the simulation.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn crash(&mut self, address: Address) {
        let host = self.host(address);
        if !self.is_up(address) {
            return;
        }
        self.note_fault(host, HistoryKind::Crash);
        let it = &mut self.hosts[host as usize];
        // The entry in the queue becomes stale: a dead machine is not woken.
        it.alarm = Time::MAX;
        let lost = it.condition_mut().go_down();
        lost.into_iter().for_each(|pending| self.discard(host, pending));
        self.network.orphan(host);
    }

    /// Puts a new machine in the place of a crashed one; a machine that still runs is crashed first. The links of the
    /// old machine are cut: its peers get `LinkDown` now. The new machine has no links and gets no input that was meant
    /// for the old one, neither commands scheduled before nor news of its links. A slow host stays slow and its clock
    /// goes on as it was; a freeze ends with the machine that was frozen.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn restart(&mut self, address: Address, machine: M) {
        let host = self.host(address);
        self.crash(address);
        self.note_fault(host, HistoryKind::Restart);
        self.network.forget(host);
        let it = &mut self.hosts[host as usize];
        it.machine = machine;
        it.condition_mut().come_up();
        self.set_alarm(host);
    }

    /// Stops a host until `until`, as a signal stops a process. Its inputs wait in order and reach the
    /// machine from then on; its clock goes on, and its links stay up. Of two freezes the longer one counts. Freezing
    /// a crashed machine does nothing.
    ///
    /// # Panics
    /// If `until` lies in the past, or the address has no machine.
    pub fn freeze(&mut self, address: Address, until: Time) {
        let (host, until) = (self.host(address), self.not_past(until));
        let it = &mut self.hosts[host as usize];
        // A freeze that ends now, or before another one, changes nothing and must not enter the history.
        if !it.is_up() || until <= it.condition_mut().frozen_until || until == self.network.now {
            return;
        }
        it.condition_mut().frozen_until = until;
        self.note_fault(host, HistoryKind::Freeze);
        self.network.history.note_value(&until);
        // The end of time never comes: such a host stays frozen, and the run can still end.
        if until < Time::MAX {
            self.network.queue.push(until, QueueEntry::Thaw { host });
        }
    }

    /// Makes a host slow: each input keeps it busy for `service`, and inputs that come meanwhile wait in
    /// order. An input that finds the host idle reaches the machine at once, and its effects leave at once;
    /// later inputs are delayed. With [`Span::ZERO`] the host is no longer slow.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn slow(&mut self, address: Address, service: Span) {
        let host = self.host(address);
        let condition = self.hosts[host as usize].condition_mut();
        (condition.service, condition.send_cost) = (service, Span::ZERO);
        self.note_fault(host, HistoryKind::Slow);
        self.network.history.note_value(&service);
    }

    /// Gives a host one processor on which every message takes time: each input keeps it busy for `each`, as with
    /// [`Sim::slow`], and each message that the machine sends for as long again. Messages leave at once; later inputs
    /// are delayed.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn burden(&mut self, address: Address, each: Span) {
        // `slow` resets the cost of sending, so it must come first.
        self.slow(address, each);
        let host = self.host(address);
        self.hosts[host as usize].condition_mut().send_cost = each;
        self.network.history.note_value(&each);
    }

    /// Lets a host's own clock run at `rate` millionths of the true rate from now on; 1 000 000 is true. It
    /// neither jumps nor goes back. The machine gets its `now` from this clock, and its
    /// deadlines are read on it.
    ///
    /// # Panics
    /// If the rate is 0, or the address has no machine.
    pub fn set_clock_rate(&mut self, address: Address, rate: u32) {
        let (host, now) = (self.host(address), self.network.now);
        self.hosts[host as usize].condition_mut().clock.set_rate(now, rate);
        self.note_fault(host, HistoryKind::ClockRate);
        self.network.history.note_value(&rate);
        self.follow_clock(host);
    }

    /// Lets a host's own clock jump ahead. Before the first input this sets the start of the clock; later it simulates
    /// a host that slept. Clocks of machines never go back, so it cannot be undone.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn step_clock(&mut self, address: Address, by: Span) {
        let (host, now) = (self.host(address), self.network.now);
        self.hosts[host as usize].condition_mut().clock.step(now, by);
        self.note_fault(host, HistoryKind::ClockStep);
        self.network.history.note_value(&by);
        self.follow_clock(host);
    }

    /// Cuts one direction of a link silently: neither end gets `LinkDown`, but nothing comes
    /// through. `Latest` messages that are on their way, or sent before [`Sim::heal`], are lost. `Sure`
    /// messages are held and arrive in order after it, unless the link gives up first (see
    /// [`Sim::set_give_up_after`]). A direction that is cut already stays so; without a link, nothing
    /// happens.
    ///
    /// The fault is the link's: a new link between the two starts whole.
    ///
    /// # Panics
    /// If `from` has no machine.
    pub fn cut_silently(&mut self, from: Address, to: Address) {
        if let Some(direction) = self.direction(from, to) {
            self.network.cut_silently(direction);
        }
    }

    /// Ends a cut by [`Sim::cut_silently`]. The held messages arrive one trip later.
    ///
    /// # Panics
    /// If `from` has no machine.
    pub fn heal(&mut self, from: Address, to: Address) {
        if let Some(direction) = self.direction(from, to) {
            self.network.heal(direction);
        }
    }

    /// Gives one direction of a link another profile from now on: slow, late, lossy, or normal again.
    /// Messages in flight arrive as already drawn, and `Sure` messages keep their order. Messages that wait to leave
    /// stay in their queue, which a lower limit does not shorten until a new message needs room; without a rate they
    /// leave now. Without a link, nothing happens.
    ///
    /// # Panics
    /// If `from` has no machine.
    pub fn set_profile(&mut self, from: Address, to: Address, profile: Profile) {
        if let Some(direction) = self.direction(from, to) {
            self.network.set_profile(direction, profile);
        }
    }

    /// Sets the time for which a direction must be cut, or a machine dead, until the link gives up and both ends get
    /// `LinkDown`; [`crate::config::GIVE_UP_AFTER`] unless set here, never with [`Span::MAX`]. Applies to
    /// faults from now on.
    pub fn set_give_up_after(&mut self, span: Span) {
        self.network.give_up_after = span;
    }

    fn direction(&self, from: Address, to: Address) -> Option<DirectionId> {
        self.network.direction(self.host(from), to)
    }

    /// Sets the alarm anew: a clock that was changed may come to the deadline sooner.
    fn follow_clock(&mut self, host: u32) {
        if self.hosts[host as usize].is_up() {
            self.set_alarm(host);
        }
    }
}
