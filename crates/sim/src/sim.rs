//! The driver: takes what happens next from the queue and hands it to the machine it concerns.

use crate::buffers::BufferId;
use crate::config::INPUTS_AT_ONCE_MAX;
use crate::happening::{Happening, Passage};
use crate::history::Kind;
use crate::link::Counters;
use crate::network::{Network, address};
use crate::profile::Profile;
use crate::slab::Slab;
use machine::{Address, Effect, Input, LinkNumber, Machine, Outbox, Time};
use std::hash::Hash;
use wire::Message;

/// Machines of one type, joined by links, in virtual time.
///
/// An experiment with several kinds of machines makes one type of them, an enum that dispatches.
///
/// Commands and events are plain data with a derived [`Hash`], so that what they say is part of the
/// history; messages have their bytes.
pub struct Sim<M: Machine> {
    hosts: Vec<Host<M>>,
    network: Network,
    /// Commands that wait for their time.
    commands: Slab<M::Command>,
    outbox: Outbox<M::Msg, M::Event>,
    raised: Vec<Raised<M::Event>>,
    events: u64,
    /// When the last input reached a machine, and how many did then.
    at_once: (Time, u32),
}

/// Something a machine told its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raised<E> {
    /// When.
    pub at: Time,
    /// Which machine.
    pub by: Address,
    /// What.
    pub event: E,
}

/// A machine and what the driver knows about it.
struct Host<M> {
    machine: M,
    /// The earliest deadline in the queue that still counts; [`Time::MAX`] if there is none.
    alarm: Time,
}

impl<M: Machine<Msg: Message, Command: Hash, Event: Hash>> Sim<M> {
    /// An empty simulation at [`Time::ZERO`]. The seed decides all chance on its links.
    pub fn new(seed: u64) -> Self {
        Self {
            hosts: Vec::new(),
            network: Network::new(seed),
            commands: Slab::new(),
            outbox: Outbox::new(),
            raised: Vec::new(),
            events: 0,
            at_once: (Time::ZERO, 0),
        }
    }

    /// Adds a machine. Addresses are given in order from `Address(0)`, so that an experiment can tell
    /// machines of each other before they exist.
    pub fn add(&mut self, machine: M) -> Address {
        let host = u32::try_from(self.hosts.len()).expect("fewer than 2^32 machines");
        self.hosts.push(Host { machine, alarm: Time::MAX });
        self.set_alarm(host);
        address(host)
    }

    /// Joins two machines by a link that is the same both ways. See [`Sim::connect_with`].
    pub fn connect(&mut self, a: Address, b: Address, profile: Profile) -> LinkNumber {
        self.connect_with(a, b, profile, profile)
    }

    /// Joins two machines by a link that is like `there` from `a` to `b` and like `back` from `b` to `a`.
    /// A link they already have is cut first. Both hear of it now, but after everything that already waits
    /// for this instant; what they send to each other before they heard `LinkUp` goes nowhere.
    ///
    /// # Panics
    /// If an address has no machine, or both are the same.
    pub fn connect_with(&mut self, a: Address, b: Address, there: Profile, back: Profile) -> LinkNumber {
        assert_ne!(a, b, "a link joins two machines");
        let link = self.network.connect(self.host(a), self.host(b), there, back);
        LinkNumber(u64::from(link))
    }

    /// Cuts the link between two machines; without one, does nothing. Both hear `LinkDown` now,
    /// after everything that already waits for this instant. What waits or flies on the link is lost.
    ///
    /// # Panics
    /// If an address has no machine.
    pub fn disconnect(&mut self, a: Address, b: Address) {
        if let Some(way) = self.network.way(self.host(a), b) {
            self.network.cut(way);
        }
    }

    /// Hands a machine a command when `at` comes.
    ///
    /// # Panics
    /// If `at` lies in the past, or the address has no machine.
    pub fn command(&mut self, at: Time, to: Address, command: M::Command) {
        let (host, number) = (self.host(to), self.commands.insert(command));
        self.network.queue.push(self.not_past(at), Happening::Command { host, number });
    }

    /// Wakes a machine when `at` comes, whether anything is due or not: real drivers wake early, too.
    ///
    /// # Panics
    /// If `at` lies in the past, or the address has no machine.
    pub fn wake(&mut self, at: Time, address: Address) {
        let host = self.host(address);
        self.network.queue.push(self.not_past(at), Happening::Wake { host });
    }

    /// Goes on to the next input that reaches a machine; false if nothing waits any more.
    pub fn step(&mut self) -> bool {
        self.next_input(Time::MAX)
    }

    /// Goes on to the next input that reaches a machine, unless it lies after `limit`: then false, and the
    /// time is `limit`. For experiments that react to what machines raise at the time they raise it; a
    /// command for that instant comes after everything that already waits for it.
    pub fn step_until(&mut self, limit: Time) -> bool {
        let found = self.next_input(limit);
        if !found {
            self.network.now = self.network.now.max(limit);
        }
        found
    }

    /// Lets everything happen up to and including `time`, which is then the time. The past is no work.
    pub fn run_until(&mut self, time: Time) {
        while self.step_until(time) {}
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.network.now
    }

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

    fn host(&self, address: Address) -> u32 {
        let host = u32::try_from(address.0).ok().filter(|&it| (it as usize) < self.hosts.len());
        host.expect("only addresses that Sim::add gave have a machine")
    }

    fn not_past(&self, at: Time) -> Time {
        assert!(self.network.now <= at, "{at} is past: it is {} already", self.network.now);
        at
    }

    /// Lets things happen until one of them reaches a machine; false if none does up to `limit`.
    fn next_input(&mut self, limit: Time) -> bool {
        while let Some((now, happening)) = self.network.queue.pop_until(limit) {
            self.network.now = now;
            if self.happen(happening) {
                return true;
            }
        }
        false
    }

    /// Lets one thing happen; false if no machine noticed.
    fn happen(&mut self, happening: Happening) -> bool {
        match happening {
            Happening::Command { host, number } => self.on_command(host, number),
            Happening::Deadline { host } => return self.on_deadline(host),
            Happening::Wake { host } => self.on_wake(host),
            Happening::LinkUp(passage) => self.on_link_up(passage),
            Happening::LinkDown(passage) => self.on_link_down(passage),
            Happening::Arrival(passage, buffer) => return self.on_arrival(passage, buffer),
            Happening::Departure(passage) => {
                self.network.depart(passage);
                return false;
            }
            Happening::GivingUp(passage) => {
                self.network.give_up(passage);
                return false;
            }
        }
        true
    }

    fn on_command(&mut self, host: u32, number: u32) {
        let command = self.commands.take(number);
        self.network.history.note(Kind::Command, self.network.now, host);
        self.network.history.note_value(&command);
        self.deliver(host, Input::Command(command));
    }

    /// Only the alarm set last counts. If the deadline moved on since, the alarm follows it: a machine
    /// that puts its deadline off with every input costs one stale entry, not one per input.
    fn on_deadline(&mut self, host: u32) -> bool {
        let now = self.network.now;
        let it = &mut self.hosts[host as usize];
        if it.alarm != now {
            return false;
        }
        it.alarm = Time::MAX;
        let due = it.machine.deadline().is_some_and(|at| at <= now);
        if due {
            self.on_wake(host);
        } else {
            self.set_alarm(host);
        }
        due
    }

    fn on_wake(&mut self, host: u32) {
        self.network.history.note(Kind::Wake, self.network.now, host);
        self.deliver(host, Input::Wake);
    }

    fn on_link_up(&mut self, passage: Passage) {
        let (host, peer) = self.network.hear_up(passage);
        let link = LinkNumber(u64::from(passage.link));
        self.deliver(host, Input::LinkUp { peer, link });
    }

    fn on_link_down(&mut self, passage: Passage) {
        let (host, peer) = self.network.hear_down(passage);
        let link = LinkNumber(u64::from(passage.link));
        self.deliver(host, Input::LinkDown { peer, link });
    }

    fn on_arrival(&mut self, passage: Passage, buffer: BufferId) -> bool {
        let landed = self.network.land(passage, buffer, |bytes| M::Msg::decode(bytes).ok());
        let Some(landed) = landed else { return false };
        let link = LinkNumber(u64::from(passage.link));
        self.deliver(landed.to, Input::Recv { from: address(landed.from), link, msg: landed.msg });
        true
    }

    /// The one place where an input reaches a machine, and where its effects leave it.
    fn deliver(&mut self, host: u32, input: Input<M::Msg, M::Command>) {
        self.count_input();
        let Self { hosts, network, outbox, raised, .. } = self;
        hosts[host as usize].machine.handle(network.now, input, outbox);
        outbox.drain(|effect| match effect {
            Effect::Send { to, lane, msg } => network.send(host, to, lane, |out| msg.encode(out)),
            Effect::Raise(event) => {
                network.history.note(Kind::Raised, network.now, host);
                network.history.note_value(&event);
                raised.push(Raised { at: network.now, by: address(host), event });
            }
        });
        self.set_alarm(host);
    }

    fn count_input(&mut self) {
        let now = self.network.now;
        let (last, count) = self.at_once;
        let count = if last == now { count + 1 } else { 1 };
        assert!(
            count <= INPUTS_AT_ONCE_MAX,
            "time does not move on from {now}: a deadline stays, or messages take no time"
        );
        self.at_once = (now, count);
        self.events += 1;
    }

    /// Makes sure that the queue holds an entry at the machine's deadline or before.
    fn set_alarm(&mut self, host: u32) {
        let it = &mut self.hosts[host as usize];
        // The end of time never comes: such a deadline is none.
        let due = it.machine.deadline().map_or(Time::MAX, |at| at.max(self.network.now));
        if due < it.alarm {
            it.alarm = due;
            self.network.queue.push(due, Happening::Deadline { host });
        }
    }
}
