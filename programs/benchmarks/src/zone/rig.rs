//! Zones without a network: each a primary and a backup, driven directly. Every message is encoded and decoded, disks
//! answer at once, and nothing else costs anything.

use cpu_time::ThreadTime;
use directory::Directory;
use game::Rules;
use machine::{Address, Effect, Input, LinkNumber, Machine as _, Outbox, Span, Time, disk};
use space::{Partition, ZoneId};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use wire::Message as _;
use zone::{Alone, BrokenRules, Command, Config, Durability, Event, Msg, Replica, Standing, Timing};

/// Replicas of a zone: the primary, and its backup.
const REPLICAS: usize = 2;
const LINK: LinkNumber = LinkNumber(1);

/// What went where.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Bytes of records handed to the primary's disk.
    pub logged: u64,
    /// Bytes of snapshots handed to the primary's disk.
    pub snapshots: u64,
    /// Bytes from the primary to the backup.
    pub to_backup: u64,
    /// Bytes to players, counted once for each.
    pub to_players: u64,
    /// Messages to players, counted once for each.
    pub messages: u64,
}

/// One zone, or several.
pub struct Rig {
    /// The primary of the first zone, its backup, the primary of the second …
    hosts: Vec<Replica>,
    directory: Directory,
    out: Outbox<Msg, Event>,
    now: Time,
    /// Everything under way, one message after the other.
    bytes: Vec<u8>,
    to_hosts: VecDeque<Parcel>,
    to_players: Vec<(Address, Range<usize>)>,
    /// What disks and directory say.
    answers: VecDeque<(usize, Command)>,
    /// What went where so far.
    pub traffic: Traffic,
    /// CPU time of the backups so far, with its part of encoding and decoding.
    pub backup_time: Duration,
}

struct Parcel {
    from: Address,
    to: usize,
    place: Range<usize>,
}

impl Rig {
    /// The zones of a map, numbered from 1, that have primaries and backups.
    ///
    /// # Panics
    /// If two hosts that work do not become one zone.
    pub fn new(rules: &Arc<dyn Rules>, map: &Arc<Partition>, players: usize) -> Self {
        let count = REPLICAS * map.zones().len();
        let replica = |host| Replica::new(config(host, Arc::clone(rules), Arc::clone(map), players));
        let mut it = Self {
            hosts: (0..count).map(replica).collect(),
            directory: Directory::new(Time::ZERO),
            out: Outbox::new(),
            now: Time::ZERO,
            bytes: Vec::new(),
            to_hosts: VecDeque::new(),
            to_players: Vec::new(),
            answers: VecDeque::new(),
            traffic: Traffic::default(),
            backup_time: Duration::ZERO,
        };
        for (host, other) in (0..count).flat_map(|host| (0..count).map(move |other| (host, other))) {
            if host != other {
                it.link(host, address(other));
            }
        }
        let is_protected = |it: &Replica| matches!(it.standing(), Standing::Primary(_, Alone::No));
        while !it.hosts.iter().step_by(REPLICAS).all(is_protected) {
            assert!(it.now < Time::from_millis(60_000), "two healthy hosts become primary and backup");
            it.advance(Span::from_millis(1));
        }
        it
    }

    /// The primary of the first zone, to look at.
    pub fn primary(&self) -> &Replica {
        &self.hosts[0]
    }

    /// How many zones there are.
    pub fn zones(&self) -> usize {
        self.hosts.len() / REPLICAS
    }

    /// The time.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// A player's connections to all primaries.
    pub fn link_player(&mut self, player: Address) {
        for zone in 0..self.zones() {
            self.link(REPLICAS * zone, player);
        }
    }

    fn link(&mut self, host: usize, peer: Address) {
        self.handle(host, Input::LinkUp { peer, link: LINK });
        self.settle();
    }

    /// The primary of a zone hears a player.
    ///
    /// # Panics
    /// If the bytes are no message, or there is no such zone.
    pub fn hear(&mut self, zone: ZoneId, player: Address, bytes: &[u8]) {
        let msg = Msg::decode(bytes).expect("players of a benchmark send messages");
        let host = REPLICAS * (zone.0 as usize - 1);
        self.handle(host, Input::Recv { from: player, link: LINK, msg });
    }

    /// Lets everything happen that is due within `span`.
    pub fn advance(&mut self, span: Span) {
        let end = self.now + span;
        self.settle();
        loop {
            let due = |(host, it): (usize, &Replica)| it.deadline().map(|at| (at, host));
            let first = self.hosts.iter().enumerate().filter_map(due).min();
            let Some((at, host)) = first.filter(|it| it.0 <= end) else { break };
            self.now = self.now.max(at);
            self.handle(host, Input::Wake);
            self.settle();
        }
        self.now = end;
    }

    /// Hands players everything that was sent to them.
    pub fn deliver(&mut self, mut heard: impl FnMut(Address, &[u8])) {
        for (player, place) in self.to_players.drain(..) {
            heard(player, &self.bytes[place]);
        }
        if self.to_hosts.is_empty() {
            self.bytes.clear();
        }
    }

    /// Gives back buffers, so that only what replicas hold is held.
    pub fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.to_hosts.shrink_to_fit();
        self.to_players.shrink_to_fit();
        self.answers.shrink_to_fit();
        self.out = Outbox::new();
    }

    /// Until everybody has heard everything.
    fn settle(&mut self) {
        loop {
            if let Some((host, command)) = self.answers.pop_front() {
                self.handle(host, Input::Command(command));
            } else if let Some(parcel) = self.to_hosts.pop_front() {
                self.open(parcel);
            } else {
                return;
            }
        }
    }

    fn open(&mut self, Parcel { from, to, place }: Parcel) {
        let start = (to % REPLICAS == 1).then(ThreadTime::now);
        let msg = Msg::decode(&self.bytes[place]).expect("replicas send messages");
        self.handle(to, Input::Recv { from, link: LINK, msg });
        self.backup_time += start.map_or(Duration::ZERO, |it| it.elapsed());
    }

    fn handle(&mut self, host: usize, input: Input<Msg, Command>) {
        let Self { hosts, out, now, bytes, to_hosts, to_players, answers, traffic, directory, .. } = self;
        let count = hosts.len();
        hosts[host].handle(*now, input, out);
        out.drain(|effect| match effect {
            Effect::Send { to, msg, .. } => {
                let start = bytes.len();
                msg.encode(bytes);
                let place = start..bytes.len();
                for &to in to {
                    post((host, count), to, place.clone(), to_hosts, to_players, traffic);
                }
            }
            Effect::Raise(Event::Disk(request)) => {
                let done = write(host, request, traffic);
                answers.push_back((host, Command::Disk(done)));
            }
            Effect::Raise(Event::Directory(request)) => {
                answers.push_back((host, Command::Directory(directory.serve(*now, request))));
            }
            Effect::Raise(Event::Fault(why) | Event::Broken(why)) => {
                panic!("a zone under measurement fails: {why}")
            }
            Effect::Raise(Event::Carrier(_) | Event::Note(_)) => (),
        });
    }
}

/// Where a host is.
const fn address(host: usize) -> Address {
    Address(host as u64)
}

fn config(host: usize, rules: Arc<dyn Rules>, map: Arc<Partition>, players: usize) -> Config {
    let count = REPLICAS * map.zones().len();
    let zone_of = |host: usize| ZoneId((host / REPLICAS) as u32 + 1);
    let first = host / REPLICAS * REPLICAS;
    Config {
        zone: zone_of(host),
        map,
        zone_of: Arc::new(move |it| ((it.0 as usize) < count).then(|| zone_of(it.0 as usize))),
        rules,
        me: address(host),
        peers: (first..first + REPLICAS).map(address).collect(),
        founds: host == first,
        force: false,
        durability: Durability::Batched,
        timing: Timing::default(),
        seed: 1,
        players_max: players,
        notes: false,
        broken_rules: BrokenRules::NONE,
    }
}

fn post(
    (host, count): (usize, usize),
    to: Address,
    place: Range<usize>,
    to_hosts: &mut VecDeque<Parcel>,
    to_players: &mut Vec<(Address, Range<usize>)>,
    traffic: &mut Traffic,
) {
    let size = place.len() as u64;
    if (to.0 as usize) < count {
        traffic.to_backup += if host == 0 { size } else { 0 };
        to_hosts.push_back(Parcel { from: address(host), to: to.0 as usize, place });
    } else {
        traffic.to_players += size;
        traffic.messages += 1;
        to_players.push((to, place));
    }
}

/// A disk that is done as soon as it is asked.
fn write(host: usize, request: disk::Request, traffic: &mut Traffic) -> disk::Done {
    let ticket = match request {
        disk::Request::Append { ticket, records, .. } => {
            let size: usize = records.iter().map(|it| it.len()).sum();
            traffic.logged += if host == 0 { size as u64 } else { 0 };
            ticket
        }
        disk::Request::Keep { ticket, snapshot, .. } => {
            traffic.snapshots += if host == 0 { snapshot.len() as u64 } else { 0 };
            ticket
        }
        disk::Request::Cut { ticket, .. } => ticket,
        disk::Request::Recall { ticket } => {
            let recalled = disk::Recalled::default();
            return disk::Done::Recalled { ticket, recalled };
        }
    };
    disk::Done::Persisted { ticket }
}
