//! The faults of hosts and links that an experiment can cause.
//!
//! They happen at the time at which they are called, are part of the history, and draw no chance of their
//! own, but for how long what a cut held back takes when it heals. Random faults are the experiment's business: it knows which ones its world must survive.

use super::Sim;
use crate::happening::{Happening, WayId};
use crate::history::Kind;
use crate::profile::Profile;
use machine::{Address, Machine, Span, Time};
use std::hash::Hash;
use wire::Message;

impl<M: Machine<Msg: Message, Command: Hash, Event: Hash>> Sim<M> {
    /// Kills a machine at once; one that crashed already stays dead. It gets no input any more, what waited
    /// for it is lost, and so is what waited on its links to leave. Messages in flight still arrive. The
    /// value can be looked at until [`Sim::restart`].
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
        self.note_fault(host, Kind::Crash);
        let it = &mut self.hosts[host as usize];
        it.alarm = Time::MAX;
        let lost = it.condition_mut().go_down();
        lost.into_iter().for_each(|notice| self.throw_away(host, notice));
        self.network.orphan(host);
    }

    /// Puts a new machine in the place of one that crashed, or crashes it first. The links of the old one are
    /// cut: its peers hear `LinkDown` now. The new one has no links and hears nothing that was meant for the
    /// old one, neither commands scheduled before nor news of its links. A slow host stays slow and a clock
    /// goes on as it was; a freeze ends with the machine that was frozen.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn restart(&mut self, address: Address, machine: M) {
        let host = self.host(address);
        self.crash(address);
        self.note_fault(host, Kind::Restart);
        self.network.forget(host);
        let it = &mut self.hosts[host as usize];
        it.machine = machine;
        it.condition_mut().come_up();
        self.set_alarm(host);
    }

    /// Stops a host until `until`, as a signal stops a process. Its inputs wait in order and reach the
    /// machine from then on; its clock goes on, and its links stay up. Of two freezes the longer counts. A
    /// crashed machine cannot be frozen.
    ///
    /// # Panics
    /// If `until` lies in the past, or the address has no machine.
    pub fn freeze(&mut self, address: Address, until: Time) {
        let (host, until) = (self.host(address), self.not_past(until));
        let it = &mut self.hosts[host as usize];
        if !it.is_up() || until <= it.condition_mut().frozen_until || until == self.network.now {
            return;
        }
        it.condition_mut().frozen_until = until;
        self.note_fault(host, Kind::Freeze);
        self.network.history.note_value(&until);
        if until < Time::MAX {
            self.network.queue.push(until, Happening::Thaw { host });
        }
    }

    /// Makes a host slow: each input keeps it busy for `service`, and inputs that come meanwhile wait in
    /// order. An input that finds the host idle reaches the machine at once, and its effects leave at once;
    /// what comes after it is late. With [`Span::ZERO`] the host is no longer slow.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn slow(&mut self, address: Address, service: Span) {
        let host = self.host(address);
        let condition = self.hosts[host as usize].condition_mut();
        (condition.service, condition.postage) = (service, Span::ZERO);
        self.note_fault(host, Kind::Slow);
        self.network.history.note_value(&service);
    }

    /// Gives a host one processor on which every message takes time: each input keeps it busy for `each`, as with
    /// [`Sim::slow`], and each message that the machine sends for as long again. What is sent leaves at once; what comes
    /// after it is late.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn burden(&mut self, address: Address, each: Span) {
        self.slow(address, each);
        let host = self.host(address);
        self.hosts[host as usize].condition_mut().postage = each;
        self.network.history.note_value(&each);
    }

    /// Lets a host's own clock run at `rate` millionths of the true rate from now on; 1 000 000 is true. It
    /// neither jumps nor goes back. The machine lives by this clock: it is what `now` is to it, and its
    /// deadlines are read on it.
    ///
    /// # Panics
    /// If the rate is 0, or the address has no machine.
    pub fn set_clock_rate(&mut self, address: Address, rate: u32) {
        let (host, now) = (self.host(address), self.network.now);
        self.hosts[host as usize].condition_mut().clock.set_rate(now, rate);
        self.note_fault(host, Kind::ClockRate);
        self.network.history.note_value(&rate);
        self.follow_clock(host);
    }

    /// Lets a host's own clock jump ahead. Before the first input this is where it starts; later it is a host
    /// that slept. Clocks of machines never go back, so it cannot be undone.
    ///
    /// # Panics
    /// If the address has no machine.
    pub fn step_clock(&mut self, address: Address, by: Span) {
        let (host, now) = (self.host(address), self.network.now);
        self.hosts[host as usize].condition_mut().clock.step(now, by);
        self.note_fault(host, Kind::ClockStep);
        self.network.history.note_value(&by);
        self.follow_clock(host);
    }

    /// Cuts one direction of a link without a word: both ends believe that it lives, but nothing comes
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
        if let Some(way) = self.way(from, to) {
            self.network.cut_silently(way);
        }
    }

    /// Ends what [`Sim::cut_silently`] began. What was held arrives one trip later.
    ///
    /// # Panics
    /// If `from` has no machine.
    pub fn heal(&mut self, from: Address, to: Address) {
        if let Some(way) = self.way(from, to) {
            self.network.heal(way);
        }
    }

    /// Gives one direction of a living link another character from now on: slow, late, lossy, or well again.
    /// What is in flight stays as it was, and `Sure` messages keep their order. What waits to leave stays in
    /// its queue, which a lower limit does not shorten until something new needs room; without a rate it leaves
    /// now. Without a link, nothing happens.
    ///
    /// # Panics
    /// If `from` has no machine.
    pub fn set_profile(&mut self, from: Address, to: Address, profile: Profile) {
        if let Some(way) = self.way(from, to) {
            self.network.set_profile(way, profile);
        }
    }

    /// How long a direction must be cut, or a machine dead, until the link gives up and both ends hear
    /// `LinkDown`; [`crate::config::GIVE_UP_AFTER`] unless set here, never with [`Span::MAX`]. Counts for
    /// faults from now on.
    pub fn set_give_up_after(&mut self, span: Span) {
        self.network.give_up_after = span;
    }

    fn way(&self, from: Address, to: Address) -> Option<WayId> {
        self.network.way(self.host(from), to)
    }

    /// A clock that was touched may come to the deadline sooner.
    fn follow_clock(&mut self, host: u32) {
        if self.hosts[host as usize].is_up() {
            self.set_alarm(host);
        }
    }
}
