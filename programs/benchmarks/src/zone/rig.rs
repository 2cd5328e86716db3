//! Zones without a network: each a primary and a backup, driven directly. Every message is encoded and decoded, disks
//! answer at once, and nothing else costs anything.

use cpu_time::ThreadTime;
use directory::Directory;
use game::HostedGame;
use machine::{Address, Input, LinkNumber, Machine as _, Outbox, Output, Span, Time, disk};
use space::{Partition, ZoneId};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use wire::Message as _;
use zone::{
    Alone, BrokenRules, Durability, Replica, ReplicaCommand, ReplicaEvent, ReplicaStatus, Timing, ZoneConfig,
    ZoneMsg,
};

/// Replicas of a zone: the primary, and its backup.
const REPLICAS: usize = 2;
const LINK: LinkNumber = LinkNumber(1);

/// Counts of the bytes to disks, backup and players.
#[derive(Clone, Copy, Debug, Default)]
pub struct RigTraffic {
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

/// The replicas of one zone or several, with disks and directory.
pub struct Rig {
    /// The primary of the first zone, its backup, the primary of the second …
    hosts: Vec<Replica>,
    directory: Directory,
    out: Outbox<ZoneMsg, ReplicaEvent>,
    now: Time,
    /// All messages under way, one after the other.
    bytes: Vec<u8>,
    to_hosts: VecDeque<HostMessage>,
    to_players: Vec<(Address, Range<usize>)>,
    /// Replies of disks and directory to the hosts.
    answers: VecDeque<(usize, ReplicaCommand)>,
    /// Counts of the traffic so far.
    pub traffic: RigTraffic,
    /// CPU time of the backups so far, with its part of encoding and decoding.
    pub backup_time: Duration,
}

struct HostMessage {
    from: Address,
    to: usize,
    place: Range<usize>,
}

impl Rig {
    /// The zones of a map, numbered from 1, that have primaries and backups.
    ///
    /// # Panics
    /// If two hosts that work do not become one zone.
    pub fn new(rules: &Arc<dyn HostedGame>, map: &Arc<Partition>, players: usize) -> Self {
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
            traffic: RigTraffic::default(),
            backup_time: Duration::ZERO,
        };
        for (host, other) in (0..count).flat_map(|host| (0..count).map(move |other| (host, other))) {
            if host != other {
                it.link(host, address(other));
            }
        }
        let is_protected = |it: &Replica| matches!(it.status(), ReplicaStatus::Primary(_, Alone::No));
        while !it.hosts.iter().step_by(REPLICAS).all(is_protected) {
            assert!(it.now < Time::from_millis(60_000), "two healthy hosts become primary and backup");
            it.advance(Span::from_millis(1));
        }
        it
    }

    /// Read access to the primary of the first zone.
    pub fn primary(&self) -> &Replica {
        &self.hosts[0]
    }

    /// The number of zones of the map.
    pub fn zones(&self) -> usize {
        self.hosts.len() / REPLICAS
    }

    /// The current world time of the rig.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Links a player to all primaries.
    pub fn link_player(&mut self, player: Address) {
        for zone in 0..self.zones() {
            self.link(REPLICAS * zone, player);
        }
    }

    fn link(&mut self, host: usize, peer: Address) {
        self.handle(host, Input::LinkUp { peer, link: LINK });
        self.settle();
    }

    /// The primary of a zone receives a message of a player.
    ///
    /// # Panics
    /// If the bytes are no message, or there is no such zone.
    pub fn receive_from_player(&mut self, zone: ZoneId, player: Address, bytes: &[u8]) {
        let msg = ZoneMsg::decode(bytes).expect("players of a benchmark send messages");
        let host = REPLICAS * (zone.0 as usize - 1);
        self.handle(host, Input::Recv { from: player, link: LINK, msg });
    }

    /// Wakes the replicas whose deadlines come within `span`, and advances the time.
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

    /// Hands the players all messages to them.
    pub fn deliver(&mut self, mut heard: impl FnMut(Address, &[u8])) {
        for (player, place) in self.to_players.drain(..) {
            heard(player, &self.bytes[place]);
        }
        // Messages to hosts still refer to the bytes.
        if self.to_hosts.is_empty() {
            self.bytes.clear();
        }
    }

    /// Gives back the buffers, so that only the replicas hold memory.
    pub fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.to_hosts.shrink_to_fit();
        self.to_players.shrink_to_fit();
        self.answers.shrink_to_fit();
        self.out = Outbox::new();
    }

    /// Handles messages and replies until none is left.
    fn settle(&mut self) {
        loop {
            if let Some((host, command)) = self.answers.pop_front() {
                self.handle(host, Input::Command(command));
            } else if let Some(message) = self.to_hosts.pop_front() {
                self.open(message);
            } else {
                return;
            }
        }
    }

    fn open(&mut self, HostMessage { from, to, place }: HostMessage) {
        // Odd hosts are backups.
        let start = (to % REPLICAS == 1).then(ThreadTime::now);
        let msg = ZoneMsg::decode(&self.bytes[place]).expect("replicas send messages");
        self.handle(to, Input::Recv { from, link: LINK, msg });
        self.backup_time += start.map_or(Duration::ZERO, |it| it.elapsed());
    }

    fn handle(&mut self, host: usize, input: Input<ZoneMsg, ReplicaCommand>) {
        let Self { hosts, out, now, bytes, to_hosts, to_players, answers, traffic, directory, .. } = self;
        let count = hosts.len();
        hosts[host].handle(*now, input, out);
        out.drain(|effect| match effect {
            Output::Send { to, msg, .. } => {
                let start = bytes.len();
                msg.encode(bytes);
                let place = start..bytes.len();
                for &to in to {
                    post((host, count), to, place.clone(), to_hosts, to_players, traffic);
                }
            }
            Output::Raise(ReplicaEvent::Disk(request)) => {
                let done = write(host, request, traffic);
                answers.push_back((host, ReplicaCommand::Disk(done)));
            }
            Output::Raise(ReplicaEvent::Directory(request)) => {
                answers.push_back((host, ReplicaCommand::Directory(directory.serve(*now, request))));
            }
            Output::Raise(ReplicaEvent::Fault(why) | ReplicaEvent::Broken(why)) => {
                panic!("a zone under measurement fails: {why}")
            }
            Output::Raise(ReplicaEvent::Carrier(_) | ReplicaEvent::Note(_) | ReplicaEvent::Load(_)) => (),
        });
    }
}

/// The address of a host: its number.
const fn address(host: usize) -> Address {
    Address(host as u64)
}

fn config(host: usize, rules: Arc<dyn HostedGame>, map: Arc<Partition>, players: usize) -> ZoneConfig {
    let count = REPLICAS * map.zones().len();
    let zone_of = |host: usize| ZoneId((host / REPLICAS) as u32 + 1);
    let first = host / REPLICAS * REPLICAS;
    ZoneConfig {
        zone: zone_of(host),
        map,
        zone_of: Arc::new(move |it| ((it.0 as usize) < count).then(|| zone_of(it.0 as usize))),
        rules,
        me: address(host),
        replicas: (first..first + REPLICAS).map(address).collect(),
        founds: host == first,
        force: false,
        durability: Durability::Batched,
        timing: Timing::default(),
        seed: 1,
        players_max: players,
        notes: false,
        calls: Arc::default(),
        suspects: zone::Suspects::NONE,
        broken_rules: BrokenRules::NONE,
    }
}

fn post(
    (host, count): (usize, usize),
    to: Address,
    place: Range<usize>,
    to_hosts: &mut VecDeque<HostMessage>,
    to_players: &mut Vec<(Address, Range<usize>)>,
    traffic: &mut RigTraffic,
) {
    let size = place.len() as u64;
    if (to.0 as usize) < count {
        traffic.to_backup += if host == 0 { size } else { 0 };
        to_hosts.push_back(HostMessage { from: address(host), to: to.0 as usize, place });
    } else {
        traffic.to_players += size;
        traffic.messages += 1;
        to_players.push((to, place));
    }
}

/// A disk that replies at once.
fn write(host: usize, request: disk::DiskRequest, traffic: &mut RigTraffic) -> disk::DiskReply {
    let ticket = match request {
        disk::DiskRequest::Append { ticket, records, .. } => {
            let size: usize = records.iter().map(|it| it.len()).sum();
            traffic.logged += if host == 0 { size as u64 } else { 0 };
            ticket
        }
        disk::DiskRequest::Keep { ticket, snapshot, .. }
        | disk::DiskRequest::Replace { ticket, snapshot, .. } => {
            traffic.snapshots += if host == 0 { snapshot.len() as u64 } else { 0 };
            ticket
        }
        disk::DiskRequest::Cut { ticket, .. } => ticket,
        disk::DiskRequest::Recall { ticket } => {
            let recalled = disk::DiskContents::default();
            return disk::DiskReply::Recalled { ticket, recalled };
        }
    };
    disk::DiskReply::Persisted { ticket }
}
