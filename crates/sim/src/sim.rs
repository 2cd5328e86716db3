//! The driver: takes the next entry from the queue and hands its input to the machine it concerns.

mod faults;
mod service;
mod watch;

use crate::buffers::BufferId;
use crate::config::INPUTS_AT_ONCE_MAX;
use crate::history_hash::HistoryKind;
use crate::network::{Network, address};
use crate::profile::Profile;
use crate::queue_entry::{LinkRef, PendingInput, QueueEntry};
use crate::simulated_host::SimulatedHost;
use crate::slab::Slab;
use crate::trace::Trace;
use machine::{Address, Input, LinkNumber, Machine, Outbox, Output, Time};
use std::hash::Hash;
use wire::Message;

/// Machines of one type, joined by links, in virtual time.
///
/// An experiment with several kinds of machines makes one type of them, an enum that dispatches.
///
/// Commands and events are plain data with a derived [`Hash`], so that their content is part of the
/// history; messages are hashed by their bytes.
pub struct Sim<M: Machine> {
    hosts: Vec<SimulatedHost<M>>,
    network: Network,
    /// Commands that wait for their time.
    commands: Slab<M::Command>,
    outbox: Outbox<M::Msg, M::Event>,
    raised: Vec<RaisedEvent<M::Event>>,
    events: u64,
    /// The time of the last input, and the number of inputs at that time.
    at_once: (Time, u32),
    trace: Option<Box<Trace<M::Msg, M::Command>>>,
}

/// An event that a machine raised, with its time and address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaisedEvent<E> {
    /// Time of the event by the simulation's clock.
    pub at: Time,
    /// Address of the machine that raised it.
    pub by: Address,
    /// The event itself, as the machine gave it.
    pub event: E,
}

impl<M: Machine<Msg: Message, Command: Hash, Event: Hash>> Sim<M> {
    /// An empty simulation at [`Time::ZERO`]. All draws of its links come from the seed.
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
        self.hosts.push(SimulatedHost::new(machine));
        self.network.hosts = host + 1;
        self.set_alarm(host);
        address(host)
    }

    /// Opens the network: from now on every machine can send to every other whose address it knows. The first message
    /// between two machines without a link makes one with `profile`, both ways. The machines get neither `LinkUp` nor
    /// `LinkDown` for it: like datagrams, it does not tell whether a machine is at the other end.
    pub fn open(&mut self, profile: Profile) {
        self.network.open = Some(profile);
    }

    /// Joins two machines by a link that is the same both ways. See [`Sim::connect_with`].
    pub fn connect(&mut self, a: Address, b: Address, profile: Profile) -> LinkNumber {
        self.connect_with(a, b, profile, profile)
    }

    /// Joins two machines by a link with the profile `there` from `a` to `b` and `back` from `b` to `a`.
    /// A link they already have is cut first. Both get `LinkUp` now, but after everything that already waits
    /// for this instant; messages that they send to each other before `LinkUp` go nowhere.
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

    /// Cuts the link between two machines; without one, does nothing. Both get `LinkDown` now,
    /// after everything that already waits for this instant. Messages that wait or are in flight on the link are lost.
    ///
    /// # Panics
    /// If an address has no machine.
    pub fn disconnect(&mut self, a: Address, b: Address) {
        if let Some(direction) = self.network.direction(self.host(a), b) {
            self.network.cut(direction);
        }
    }

    /// Hands a machine a command at `at`. It is meant for the machine that is there now: if that machine
    /// has crashed by then, or crashed already, the command is dropped.
    ///
    /// # Panics
    /// If `at` lies in the past, or the address has no machine.
    pub fn command(&mut self, at: Time, to: Address, command: M::Command) {
        let (host, number) = (self.host(to), self.commands.insert(command));
        let meant_for = self.hosts[host as usize].machine_number();
        self.notify(at, PendingInput::Command { host, number, meant_for });
    }

    /// Wakes a machine at `at`, whether its deadline is due or not: real drivers wake early, too. Like
    /// a command, the wake is meant for the machine that is there now.
    ///
    /// # Panics
    /// If `at` lies in the past, or the address has no machine.
    pub fn wake(&mut self, at: Time, address: Address) {
        let host = self.host(address);
        let meant_for = self.hosts[host as usize].machine_number();
        self.notify(at, PendingInput::Wake { host, meant_for });
    }

    /// Goes on to the next input that reaches a machine; false if no input is left.
    pub fn step(&mut self) -> bool {
        self.next_input(Time::MAX)
    }

    /// Goes on to the next input that reaches a machine, unless it lies after `limit`: then false, and the
    /// time is `limit`. For experiments that react to events of machines at the time of the event; a
    /// command for that instant comes after everything that already waits for it.
    pub fn step_until(&mut self, limit: Time) -> bool {
        let found = self.next_input(limit);
        if !found {
            // `max`, because a limit in the past must not turn the time back.
            self.network.now = self.network.now.max(limit);
        }
        found
    }

    /// Drops what a machine pushed when it was interrupted by a panic that the caller caught. The machine is in no valid state:
    /// it must be crashed.
    pub fn drop_outputs(&mut self) {
        self.outbox = Outbox::new();
    }

    /// Runs everything up to and including `time`, which is then the simulation's time. With a time in the past, does
    /// nothing.
    pub fn run_until(&mut self, time: Time) {
        while self.step_until(time) {}
    }

    /// The current time of the simulation.
    pub fn now(&self) -> Time {
        self.network.now
    }

    fn host(&self, address: Address) -> u32 {
        let host = u32::try_from(address.0).ok().filter(|&it| (it as usize) < self.hosts.len());
        host.expect("only addresses that Sim::add gave have a machine")
    }

    fn notify(&mut self, at: Time, pending: PendingInput) {
        self.network.queue.push(self.not_past(at), QueueEntry::Input(pending));
    }

    fn not_past(&self, at: Time) -> Time {
        assert!(self.network.now <= at, "{at} is past: it is {} already", self.network.now);
        at
    }

    /// Takes entries until one of them reaches a machine; false if none does up to `limit`.
    fn next_input(&mut self, limit: Time) -> bool {
        while let Some((now, entry)) = self.network.queue.pop_until(limit) {
            self.network.now = now;
            if self.process(entry) {
                return true;
            }
        }
        false
    }

    /// Processes one entry; false if it gave no machine an input.
    fn process(&mut self, entry: QueueEntry) -> bool {
        match entry {
            QueueEntry::Input(pending) => return self.on_input(pending),
            QueueEntry::Alarm { host } => return self.on_alarm(host),
            QueueEntry::Service { host } => return self.on_service(host),
            QueueEntry::Release(link_ref) => return self.on_release(link_ref),
            QueueEntry::Thaw { host } => self.on_thaw(host),
            QueueEntry::Departure(link_ref) => self.network.depart(link_ref),
            QueueEntry::GivingUp(link_ref) => self.network.give_up(link_ref),
            QueueEntry::Expiry(link_ref) => self.network.expire(link_ref),
        }
        false
    }

    fn on_input(&mut self, pending: PendingInput) -> bool {
        self.network.addressee(pending).is_some_and(|host| self.offer(host, pending))
    }

    fn on_release(&mut self, link_ref: LinkRef) -> bool {
        self.network.release(link_ref).is_some_and(|(host, pending)| self.offer(host, pending))
    }

    /// Only the alarm set last counts. If the deadline moved on since, the alarm follows it: a machine
    /// that puts its deadline off with every input costs one stale entry, not one per input.
    fn on_alarm(&mut self, host: u32) -> bool {
        let now = self.network.now;
        let it = &mut self.hosts[host as usize];
        // An entry of an older deadline: the alarm was moved since.
        if it.alarm != now {
            return false;
        }
        // Due by the host's own clock, which need not be the simulation's.
        let (due, has_condition) = (it.is_due(now), it.condition.is_some());
        if due && has_condition && !self.admit(host, PendingInput::Deadline { host }) {
            return false;
        }
        self.use_alarm(host, due)
    }

    /// Ends the alarm: wakes the machine if its deadline has come, or sets the next alarm.
    fn use_alarm(&mut self, host: u32, due: bool) -> bool {
        self.hosts[host as usize].alarm = Time::MAX;
        if due {
            self.on_wake(host);
        } else {
            self.set_alarm(host);
        }
        due
    }

    /// Gives a machine an input as soon as its host allows; false if that is not now.
    fn offer(&mut self, host: u32, pending: PendingInput) -> bool {
        let has_condition = self.hosts[host as usize].condition.is_some();
        (!has_condition || self.admit(host, pending)) && self.hand_over(host, pending)
    }

    /// Turns a pending input into an input of the machine; false if the machine gets none.
    #[inline] // Every input passes here.
    fn hand_over(&mut self, host: u32, pending: PendingInput) -> bool {
        match pending {
            PendingInput::Command { number, .. } => self.on_command(host, number),
            PendingInput::Wake { .. } => self.on_wake(host),
            PendingInput::Deadline { .. } => return self.on_late_deadline(host),
            PendingInput::LinkUp(link_ref) => self.on_link_up(link_ref),
            PendingInput::LinkDown(link_ref) => self.on_link_down(link_ref),
            PendingInput::Arrival { link_ref, buffer, .. } => return self.on_arrival(link_ref, buffer),
        }
        true
    }

    fn on_command(&mut self, host: u32, number: u32) {
        let command = self.commands.take(number);
        self.network.history.note(HistoryKind::Command, self.network.now, host);
        self.network.history.note_value(&command);
        self.deliver(host, Input::Command(command));
    }

    fn on_wake(&mut self, host: u32) {
        self.network.history.note(HistoryKind::Wake, self.network.now, host);
        self.deliver(host, Input::Wake);
    }

    fn on_link_up(&mut self, link_ref: LinkRef) {
        let (host, peer) = self.network.note_link_up(link_ref);
        let link = LinkNumber(u64::from(link_ref.link));
        self.deliver(host, Input::LinkUp { peer, link });
    }

    fn on_link_down(&mut self, link_ref: LinkRef) {
        let (host, peer) = self.network.note_link_down(link_ref);
        let link = LinkNumber(u64::from(link_ref.link));
        self.deliver(host, Input::LinkDown { peer, link });
    }

    fn on_arrival(&mut self, link_ref: LinkRef, buffer: BufferId) -> bool {
        let received = self.network.receive(link_ref, buffer, |bytes| M::Msg::decode(bytes).ok());
        let Some(received) = received else { return false };
        let link = LinkNumber(u64::from(link_ref.link));
        self.deliver(received.to, Input::Recv { from: address(received.from), link, msg: received.msg });
        true
    }

    /// The one place where an input reaches a machine, and where its effects leave it.
    fn deliver(&mut self, host: u32, input: Input<M::Msg, M::Command>) {
        // Counted even if nothing comes of it: the limit stops loops of inputs without effect, too.
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
            Output::Send { to, lane, msg } => {
                sent += to.len() as u64;
                network.send(host, to, lane, |out| msg.encode(out));
            }
            Output::Raise(event) => {
                network.history.note(HistoryKind::Raised, network.now, host);
                network.history.note_value(&event);
                raised.push(RaisedEvent { at: network.now, by: address(host), event });
            }
        });
        if let Some(condition) = &mut it.condition {
            condition.worked(sent);
        }
        // Last, because the input or its effects may have moved the deadline.
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

    /// Ensures that the queue holds an entry at the machine's deadline or before.
    fn set_alarm(&mut self, host: u32) {
        let it = &mut self.hosts[host as usize];
        // A deadline in the past wakes the machine now: the queue takes no entry before the current time.
        let due = it.due().max(self.network.now);
        // An earlier entry may stay although the deadline moved on: `on_alarm` then follows it.
        if due < it.alarm {
            it.alarm = due;
            self.network.queue.push(due, QueueEntry::Alarm { host });
        }
    }
}
