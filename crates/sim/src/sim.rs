//! The driver: takes what happens next from the queue and hands it to the machine it concerns.

mod faults;
mod service;
mod watch;

use crate::buffers::BufferId;
use crate::config::INPUTS_AT_ONCE_MAX;
use crate::happening::{Happening, Notice, Passage};
use crate::history::Kind;
use crate::host::Host;
use crate::network::{Network, address};
use crate::profile::Profile;
use crate::slab::Slab;
use crate::trace::Trace;
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
    trace: Option<Box<Trace<M::Msg, M::Command>>>,
}

/// Something a machine told its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raised<E> {
    /// When, by the simulation's clock.
    pub at: Time,
    /// Which machine.
    pub by: Address,
    /// What.
    pub event: E,
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
            trace: None,
        }
    }

    /// Adds a machine. Addresses are given in order from `Address(0)`, so that an experiment can tell
    /// machines of each other before they exist.
    pub fn add(&mut self, machine: M) -> Address {
        let host = u32::try_from(self.hosts.len()).expect("fewer than 2^32 machines");
        self.hosts.push(Host::new(machine));
        self.network.hosts = host + 1;
        self.set_alarm(host);
        address(host)
    }

    /// Opens the network: from now on every machine can send to every other whose address it knows. The first message
    /// between two that have no link makes one like `profile`, both ways. Nobody hears of it, neither when it comes nor
    /// when it goes: like datagrams, it does not tell whether anybody is at the other end.
    pub fn open(&mut self, profile: Profile) {
        self.network.open = Some(profile);
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
    /// If an address has no machine, or one that crashed, or both are the same.
    pub fn connect_with(&mut self, a: Address, b: Address, there: Profile, back: Profile) -> LinkNumber {
        assert_ne!(a, b, "a link joins two machines");
        for end in [a, b] {
            assert!(self.is_up(end), "{end:?} has crashed and can hear of no link: restart it first");
        }
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

    /// Hands a machine a command when `at` comes. It is meant for the machine that is there now: if that
    /// has crashed by then, or crashed already, nobody gets it.
    ///
    /// # Panics
    /// If `at` lies in the past, or the address has no machine.
    pub fn command(&mut self, at: Time, to: Address, command: M::Command) {
        let (host, number) = (self.host(to), self.commands.insert(command));
        let meant_for = self.hosts[host as usize].incarnation();
        self.notify(at, Notice::Command { host, number, meant_for });
    }

    /// Wakes a machine when `at` comes, whether anything is due or not: real drivers wake early, too. Like
    /// a command it is meant for the machine that is there now.
    ///
    /// # Panics
    /// If `at` lies in the past, or the address has no machine.
    pub fn wake(&mut self, at: Time, address: Address) {
        let host = self.host(address);
        let meant_for = self.hosts[host as usize].incarnation();
        self.notify(at, Notice::Wake { host, meant_for });
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

    fn host(&self, address: Address) -> u32 {
        let host = u32::try_from(address.0).ok().filter(|&it| (it as usize) < self.hosts.len());
        host.expect("only addresses that Sim::add gave have a machine")
    }

    fn notify(&mut self, at: Time, notice: Notice) {
        self.network.queue.push(self.not_past(at), Happening::Notice(notice));
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
            Happening::Notice(notice) => return self.on_notice(notice),
            Happening::Alarm { host } => return self.on_alarm(host),
            Happening::Service { host } => return self.on_service(host),
            Happening::Release(passage) => return self.on_release(passage),
            Happening::Thaw { host } => self.on_thaw(host),
            Happening::Departure(passage) => self.network.depart(passage),
            Happening::GivingUp(passage) => self.network.give_up(passage),
            Happening::Expiry(passage) => self.network.expire(passage),
        }
        false
    }

    fn on_notice(&mut self, notice: Notice) -> bool {
        self.network.addressee(notice).is_some_and(|host| self.offer(host, notice))
    }

    fn on_release(&mut self, passage: Passage) -> bool {
        self.network.release(passage).is_some_and(|(host, notice)| self.offer(host, notice))
    }

    /// Only the alarm set last counts. If the deadline moved on since, the alarm follows it: a machine
    /// that puts its deadline off with every input costs one stale entry, not one per input.
    fn on_alarm(&mut self, host: u32) -> bool {
        let now = self.network.now;
        let it = &mut self.hosts[host as usize];
        if it.alarm != now {
            return false;
        }
        let (due, troubled) = (it.is_due(now), it.condition.is_some());
        if due && troubled && !self.admit(host, Notice::Deadline { host }) {
            return false;
        }
        self.ring(host, due)
    }

    /// The alarm is used up: the machine is woken if its deadline has come.
    fn ring(&mut self, host: u32, due: bool) -> bool {
        self.hosts[host as usize].alarm = Time::MAX;
        if due {
            self.on_wake(host);
        } else {
            self.set_alarm(host);
        }
        due
    }

    /// Lets a machine hear something as soon as its host allows; false if that is not now.
    fn offer(&mut self, host: u32, notice: Notice) -> bool {
        let troubled = self.hosts[host as usize].condition.is_some();
        (!troubled || self.admit(host, notice)) && self.hand_over(host, notice)
    }

    /// Turns a notice into an input; false if it comes to nothing.
    #[inline] // Every input passes here.
    fn hand_over(&mut self, host: u32, notice: Notice) -> bool {
        match notice {
            Notice::Command { number, .. } => self.on_command(host, number),
            Notice::Wake { .. } => self.on_wake(host),
            Notice::Deadline { .. } => return self.on_late_deadline(host),
            Notice::LinkUp(passage) => self.on_link_up(passage),
            Notice::LinkDown(passage) => self.on_link_down(passage),
            Notice::Arrival { passage, buffer, .. } => return self.on_arrival(passage, buffer),
        }
        true
    }

    fn on_command(&mut self, host: u32, number: u32) {
        let command = self.commands.take(number);
        self.network.history.note(Kind::Command, self.network.now, host);
        self.network.history.note_value(&command);
        self.deliver(host, Input::Command(command));
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
        let Self { hosts, network, outbox, raised, trace, .. } = self;
        if let Some(trace) = trace {
            trace.note_input(network.now, address(host), &input);
        }
        let it = &mut hosts[host as usize];
        let local = it.local(network.now);
        it.machine.handle(local, input, outbox);
        let mut sent = 0;
        outbox.drain(|effect| match effect {
            Effect::Send { to, lane, msg } => {
                sent += to.len() as u64;
                network.send(host, to, lane, |out| msg.encode(out));
            }
            Effect::Raise(event) => {
                network.history.note(Kind::Raised, network.now, host);
                network.history.note_value(&event);
                raised.push(Raised { at: network.now, by: address(host), event });
            }
        });
        if let Some(condition) = &mut it.condition {
            condition.worked(sent);
        }
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
        let due = it.due().max(self.network.now);
        if due < it.alarm {
            it.alarm = due;
            self.network.queue.push(due, Happening::Alarm { host });
        }
    }
}
