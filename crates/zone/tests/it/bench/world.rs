//! The world of a bench: real replicas and players, driven by hand. Time, links, disks and directory obey the table.

use super::links::{FakeLinks, LinkDirection};
use super::names::{self, TableNames};
use super::node::{BenchNode, NodeEffect, PlainInput};
use super::services::{FakeDirectory, FakeDisk};
use super::setup::BenchSetup;
use super::words::{self, HiddenKind};
use machine::{Address, Input, Lane, LinkNumber, Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use zone::{BetweenReplicas, PlayerCommand, PlayerEvent, ReplicaCommand, ZoneMsg};

/// More inputs than this at one moment are an endless loop.
const INPUTS_MAX: usize = 200_000;

/// A world on the bench, with the lines that its table gets.
pub struct BenchWorld {
    pub now: Time,
    pub setup: BenchSetup,
    pub names: TableNames,
    pub nodes: BTreeMap<Address, BenchNode>,
    pub paused: BTreeSet<Address>,
    pub links: FakeLinks,
    pub disks: BTreeMap<Address, FakeDisk>,
    pub directory: FakeDirectory,
    /// Kinds of messages that pass by themselves and get no line.
    pub hidden: BTreeSet<HiddenKind>,
    /// Answers of disks and directory on their way to replicas.
    pub answers: VecDeque<(Address, ReplicaCommand)>,
    /// Datagrams (`Lane::Latest`) on their way. They never wait for the table.
    datagrams: VecDeque<(LinkDirection, LinkNumber, ZoneMsg)>,
    /// The last message in each direction in which a replica without a role said where its log ends.
    log_ends: BTreeMap<LinkDirection, ZoneMsg>,
    lines: Vec<String>,
    /// Lines begin with the time since this moment, if it is set.
    pub counts_from: Option<Time>,
}

impl BenchWorld {
    pub fn new() -> Self {
        Self {
            now: Time::from_millis(100_000),
            setup: BenchSetup::default(),
            names: TableNames::default(),
            nodes: BTreeMap::new(),
            paused: BTreeSet::new(),
            links: FakeLinks::flowing(),
            disks: BTreeMap::new(),
            directory: FakeDirectory::default(),
            hidden: HiddenKind::QUIET.into(),
            answers: VecDeque::new(),
            datagrams: VecDeque::new(),
            log_ends: BTreeMap::new(),
            lines: Vec::new(),
            counts_from: None,
        }
    }

    /// Adds a line to the table.
    pub fn say(&mut self, line: String) {
        let line = match self.counts_from {
            Some(start) => format!("{:>5} ms  {line}", self.now.since(start).as_millis()),
            None => line,
        };
        self.lines.push(line);
    }

    /// Takes the lines since the last call.
    pub fn lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    // Inputs.

    /// Hands a machine an input that is no command.
    pub fn tell(&mut self, address: Address, input: PlainInput) {
        let Some(node) = self.nodes.get_mut(&address) else { return };
        let effects = node.handle(self.now, input);
        self.carry_out(address, effects);
    }

    pub fn command(&mut self, address: Address, command: ReplicaCommand) {
        let Some(BenchNode::Replica(replica)) = self.nodes.get_mut(&address) else { return };
        let effects =
            BenchNode::run(&mut **replica, self.now, Input::Command(command), NodeEffect::ReplicaEvent);
        self.carry_out(address, effects);
    }

    pub fn player_command(&mut self, address: Address, player_command: PlayerCommand) {
        let Some(BenchNode::Player(player)) = self.nodes.get_mut(&address) else { return };
        let effects =
            BenchNode::run(&mut **player, self.now, Input::Command(player_command), NodeEffect::PlayerEvent);
        self.carry_out(address, effects);
    }

    /// Delivers the first message in a direction, if the receiver lives.
    pub fn deliver(&mut self, direction: LinkDirection) {
        let Some(waiting) = self.links.pop(direction) else { return };
        let (from, to) = direction;
        self.tell(to, Input::Recv { from, link: waiting.link, msg: waiting.msg });
    }

    fn is_awake(&self, address: Address) -> bool {
        self.nodes.contains_key(&address) && !self.paused.contains(&address)
    }

    // What a machine does.

    fn carry_out(&mut self, address: Address, effects: Vec<NodeEffect>) {
        for it in effects {
            match it {
                NodeEffect::Send(to, lane, msg) => self.send(address, &to, lane, &msg),
                NodeEffect::ReplicaEvent(event) => self.on_event(address, event),
                NodeEffect::PlayerEvent(event) => self.on_player_event(address, event),
            }
        }
    }

    pub fn send(&mut self, from: Address, to: &[Address], lane: Lane, msg: &ZoneMsg) {
        let hidden = HiddenKind::of(msg).is_some_and(|it| self.hidden.contains(&it));
        let mut heard: Vec<Address> = Vec::new();
        for &it in to {
            let direction = (from, it);
            if let Lane::Latest(_) = lane {
                self.send_datagram(direction, msg);
                heard.push(it);
                continue;
            }
            // A replica without a role says so again and again: only the first of equal messages is shown.
            let repeats = matches!(msg, ZoneMsg::BetweenReplicas(_, BetweenReplicas::LogEnd { .. }))
                && self.log_ends.insert(direction, msg.clone()).as_ref() == Some(msg);
            let waits = self.links.push(direction, msg.clone(), hidden || repeats);
            if !waits && !repeats {
                heard.push(it);
            }
        }
        if !hidden && !heard.is_empty() {
            let to = words::list(heard.into_iter().map(|it| self.names.machine(it)));
            let line = format!("{} -> {to}: {}", self.names.machine(from), self.names.msg(msg));
            self.say(line);
        }
    }

    /// Sends a datagram: it arrives at once, or never.
    fn send_datagram(&mut self, direction: LinkDirection, msg: &ZoneMsg) {
        let Some(link) = self.links.number(direction.0, direction.1) else { return };
        if !self.links.is_cut(direction) {
            self.datagrams.push_back((direction, link, msg.clone()));
        }
    }

    fn on_player_event(&mut self, address: Address, event: PlayerEvent) {
        let name = self.names.machine(address);
        let line = match event {
            PlayerEvent::Entered(_) => {
                let Some(BenchNode::Player(player)) = self.nodes.get(&address) else { return };
                let home = player.home().map_or("nowhere".to_owned(), |it| self.names.machine(it));
                format!("{name} is in, at {home}")
            }
            PlayerEvent::Searching(_) => format!("{name} looks for a primary"),
            PlayerEvent::Answered(key, outcome, _) => {
                format!("{name} hears of action {}: {}", key.number, words::outcome(&outcome))
            }
            PlayerEvent::Notice(notice) => format!("{name} hears \"{}\"", words::said(&notice)),
            PlayerEvent::Corrected(motion) => format!("{name} is set back to {}", motion.position),
            PlayerEvent::Closed(why) => format!("{name} is turned away, {}", words::closed(why)),
            PlayerEvent::Busy => format!("{name} has too many actions under way"),
            PlayerEvent::Load(level) => format!("{name} hears that the zone is {}", words::load(level)),
            // The message that names them is shown on request.
            PlayerEvent::Contacts(_) | PlayerEvent::TooLong(_) | PlayerEvent::Note(_) => return,
        };
        self.say(line);
    }

    // Time.

    /// Runs all inputs that need neither time nor the table.
    pub fn settle(&mut self) {
        for _ in 0..INPUTS_MAX {
            if !self.step() {
                return;
            }
        }
        panic!("this never ends:\n{}", self.lines.join("\n"));
    }

    // Answers come before messages, and messages before timers: a fixed order, so that tables are reproducible.
    fn step(&mut self) -> bool {
        if let Some((address, command)) = self.answers.pop_front() {
            self.command(address, command);
        } else if let Some(((from, to), link, msg)) = self.datagrams.pop_front() {
            if self.is_awake(to) {
                self.tell(to, Input::Recv { from, link, msg });
            }
        } else if let Some(direction) = self.next_direction(false) {
            self.deliver(direction);
        } else if let Some(address) = self.next_wake().filter(|it| it.0 <= self.now).map(|it| it.1) {
            self.tell(address, Input::Wake);
        } else {
            return false;
        }
        true
    }

    /// The direction whose message passes next: by itself, or because the table lets everything pass.
    pub fn next_direction(&self, all: bool) -> Option<LinkDirection> {
        let all = all || self.links.flow;
        self.links.next(|direction, waiting| (all || waiting.passes) && self.is_awake(direction.1))
    }

    fn next_wake(&self) -> Option<(Time, Address)> {
        let awake = self.nodes.iter().filter(|it| !self.paused.contains(it.0));
        awake.filter_map(|(&address, node)| Some((node.deadline()?, address))).min()
    }

    /// Lets time pass, and runs what becomes due.
    pub fn advance(&mut self, span: Span) {
        let end = self.now + span;
        self.settle();
        while let Some((at, _)) = self.next_wake().filter(|it| it.0 <= end) {
            self.now = self.now.max(at);
            self.settle();
        }
        self.now = end;
    }

    // Machines that come and go.

    /// Starts a machine, with new links to all others.
    pub fn start(&mut self, address: Address, node: BenchNode) {
        self.nodes.insert(address, node);
        self.paused.remove(&address);
        let others: Vec<_> = self.nodes.keys().copied().filter(|&it| it != address).collect();
        for other in others {
            // Players have no links to each other.
            if names::zone_of(address).is_some() || names::zone_of(other).is_some() {
                self.disconnect((address, other));
                self.connect((address, other));
            }
        }
    }

    /// Makes a link. Both ends hear of it.
    pub fn connect(&mut self, (one, other): LinkDirection) {
        let link = self.links.connect(one, other);
        for (end, peer) in [(one, other), (other, one)] {
            self.tell(end, Input::LinkUp { peer, link });
        }
    }

    /// Ends a link. Both ends hear of it, and the messages on it are lost.
    pub fn disconnect(&mut self, (one, other): LinkDirection) {
        let Some(link) = self.links.disconnect(one, other) else { return };
        for (end, peer) in [(one, other), (other, one)] {
            self.tell(end, Input::LinkDown { peer, link });
        }
    }

    /// Kills a machine without a message. The messages that it sent are still on their way.
    pub fn kill(&mut self, address: Address) {
        self.nodes.remove(&address);
        self.answers.retain(|it| it.0 != address);
        if let Some(disk) = self.disks.get_mut(&address) {
            disk.forget();
        }
    }
}
