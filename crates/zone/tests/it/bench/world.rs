//! Real replicas and players, driven by hand: time, links, disks and the directory do what the table says.

use super::links::{Links, Way};
use super::names::{self, Names};
use super::node::{Did, Node, Plain};
use super::services::{Directory, Disk};
use super::setup::Setup;
use super::words::{self, Kind};
use machine::{Address, Input, Lane, LinkNumber, Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use zone::{Command, Happening, Msg, Peer, Want};

/// More inputs than this without an end are a mistake.
const INPUTS_MAX: usize = 200_000;

/// A world on the bench.
pub struct World {
    pub now: Time,
    pub setup: Setup,
    pub names: Names,
    pub nodes: BTreeMap<Address, Node>,
    pub paused: BTreeSet<Address>,
    pub links: Links,
    pub disks: BTreeMap<Address, Disk>,
    pub directory: Directory,
    /// Messages and requests that pass by themselves, unseen.
    pub hidden: BTreeSet<Kind>,
    /// Answers of disks and the directory that are about to be heard.
    pub answers: VecDeque<(Address, Command)>,
    /// Datagrams that are about to arrive.
    datagrams: VecDeque<(Way, LinkNumber, Msg)>,
    /// The last words on each link that a replica without a role said.
    standing: BTreeMap<Way, Msg>,
    lines: Vec<String>,
    /// Whether lines say how late it is, counted from here.
    pub counts_from: Option<Time>,
}

impl World {
    pub fn new() -> Self {
        Self {
            now: Time::from_millis(100_000),
            setup: Setup::default(),
            names: Names::default(),
            nodes: BTreeMap::new(),
            paused: BTreeSet::new(),
            links: Links::flowing(),
            disks: BTreeMap::new(),
            directory: Directory::default(),
            hidden: Kind::QUIET.into(),
            answers: VecDeque::new(),
            datagrams: VecDeque::new(),
            standing: BTreeMap::new(),
            lines: Vec::new(),
            counts_from: None,
        }
    }

    /// A line of what happened.
    pub fn say(&mut self, line: String) {
        let line = match self.counts_from {
            Some(start) => format!("{:>5} ms  {line}", self.now.since(start).as_millis()),
            None => line,
        };
        self.lines.push(line);
    }

    /// Everything that was said since the last time.
    pub fn lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    // Inputs.

    /// Hands a machine something that any machine may hear.
    pub fn tell(&mut self, who: Address, input: Plain) {
        let Some(node) = self.nodes.get_mut(&who) else { return };
        let did = node.handle(self.now, input);
        self.carry_out(who, did);
    }

    pub fn command(&mut self, who: Address, command: Command) {
        let Some(Node::Replica(replica)) = self.nodes.get_mut(&who) else { return };
        let did = Node::run(&mut **replica, self.now, Input::Command(command), Did::Event);
        self.carry_out(who, did);
    }

    pub fn want(&mut self, who: Address, want: Want) {
        let Some(Node::Player(player)) = self.nodes.get_mut(&who) else { return };
        let did = Node::run(&mut **player, self.now, Input::Command(want), Did::Happening);
        self.carry_out(who, did);
    }

    /// A message arrives, if there is a machine to hear it.
    pub fn deliver(&mut self, way: Way) {
        let Some(waiting) = self.links.pop(way) else { return };
        let (from, to) = way;
        self.tell(to, Input::Recv { from, link: waiting.link, msg: waiting.msg });
    }

    fn is_awake(&self, who: Address) -> bool {
        self.nodes.contains_key(&who) && !self.paused.contains(&who)
    }

    // What a machine does.

    fn carry_out(&mut self, who: Address, did: Vec<Did>) {
        for it in did {
            match it {
                Did::Send(to, lane, msg) => self.send(who, &to, lane, &msg),
                Did::Event(event) => self.on_event(who, event),
                Did::Happening(happening) => self.on_happening(who, happening),
            }
        }
    }

    pub fn send(&mut self, from: Address, to: &[Address], lane: Lane, msg: &Msg) {
        let hidden = Kind::of(msg).is_some_and(|it| self.hidden.contains(&it));
        let mut heard: Vec<Address> = Vec::new();
        for &it in to {
            let way = (from, it);
            if let Lane::Latest(_) = lane {
                self.send_datagram(way, msg);
                heard.push(it);
                continue;
            }
            let repeats = matches!(msg, Msg::Peer(_, Peer::Standing { .. }))
                && self.standing.insert(way, msg.clone()).as_ref() == Some(msg);
            let waits = self.links.push(way, msg.clone(), hidden || repeats);
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

    /// A datagram arrives at once, or never.
    fn send_datagram(&mut self, way: Way, msg: &Msg) {
        let Some(link) = self.links.number(way.0, way.1) else { return };
        if !self.links.is_cut(way) {
            self.datagrams.push_back((way, link, msg.clone()));
        }
    }

    fn on_happening(&mut self, who: Address, happening: Happening) {
        let name = self.names.machine(who);
        let line = match happening {
            Happening::Entered(_) => {
                let Some(Node::Player(player)) = self.nodes.get(&who) else { return };
                let home = player.home().map_or("nowhere".to_owned(), |it| self.names.machine(it));
                format!("{name} is in, at {home}")
            }
            Happening::Searching => format!("{name} looks for a primary"),
            Happening::Answered(key, outcome, _) => {
                format!("{name} hears of action {}: {}", key.number, words::outcome(&outcome))
            }
            Happening::Notice(notice) => format!("{name} hears \"{}\"", words::said(&notice)),
            Happening::Corrected(motion) => format!("{name} is set back to {}", motion.position),
            Happening::Closed(why) => format!("{name} is turned away, {}", words::closed(why)),
            Happening::Busy => format!("{name} has too many actions under way"),
            Happening::TooLong(_) | Happening::Note(_) => return,
        };
        self.say(line);
    }

    // Time.

    /// Lets everything happen that needs neither time nor the table.
    pub fn settle(&mut self) {
        for _ in 0..INPUTS_MAX {
            if !self.step() {
                return;
            }
        }
        panic!("this never ends:\n{}", self.lines.join("\n"));
    }

    fn step(&mut self) -> bool {
        if let Some((who, command)) = self.answers.pop_front() {
            self.command(who, command);
        } else if let Some(((from, to), link, msg)) = self.datagrams.pop_front() {
            if self.is_awake(to) {
                self.tell(to, Input::Recv { from, link, msg });
            }
        } else if let Some(way) = self.next_way(false) {
            self.deliver(way);
        } else if let Some(who) = self.next_wake().filter(|it| it.0 <= self.now).map(|it| it.1) {
            self.tell(who, Input::Wake);
        } else {
            return false;
        }
        true
    }

    /// The direction whose message passes next: by itself, or because the table lets everything pass.
    pub fn next_way(&self, all: bool) -> Option<Way> {
        let all = all || self.links.flow;
        self.links.next(|way, waiting| (all || waiting.passes) && self.is_awake(way.1))
    }

    fn next_wake(&self) -> Option<(Time, Address)> {
        let awake = self.nodes.iter().filter(|it| !self.paused.contains(it.0));
        awake.filter_map(|(&who, node)| Some((node.deadline()?, who))).min()
    }

    /// Time passes.
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
    pub fn start(&mut self, who: Address, node: Node) {
        self.nodes.insert(who, node);
        self.paused.remove(&who);
        let others: Vec<_> = self.nodes.keys().copied().filter(|&it| it != who).collect();
        for other in others {
            if names::zone_of(who).is_some() || names::zone_of(other).is_some() {
                self.disconnect((who, other));
                self.connect((who, other));
            }
        }
    }

    /// Both ends hear that they can reach each other.
    pub fn connect(&mut self, (one, other): Way) {
        let link = self.links.connect(one, other);
        for (end, peer) in [(one, other), (other, one)] {
            self.tell(end, Input::LinkUp { peer, link });
        }
    }

    /// Both ends hear that they cannot reach each other any more. What was under way is lost.
    pub fn disconnect(&mut self, (one, other): Way) {
        let Some(link) = self.links.disconnect(one, other) else { return };
        for (end, peer) in [(one, other), (other, one)] {
            self.tell(end, Input::LinkDown { peer, link });
        }
    }

    /// A machine dies without a word. What it sent is still on its way.
    pub fn kill(&mut self, who: Address) {
        self.nodes.remove(&who);
        self.answers.retain(|it| it.0 != who);
        if let Some(disk) = self.disks.get_mut(&who) {
            disk.forget();
        }
    }
}
