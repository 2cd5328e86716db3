//! A zone without a network: a primary and a backup, driven directly. Every message is encoded and decoded, disks
//! answer at once, and nothing else costs anything.

use cpu_time::ThreadTime;
use directory::Directory;
use game::Rules;
use machine::{Address, Effect, Input, LinkNumber, Machine as _, Outbox, Span, Time, disk};
use space::{Partition, Polygon, ZoneId};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use wire::Message as _;
use zone::{Alone, Command, Config, Durability, Event, Msg, Plants, Replica, Standing, Timing};

/// The primary, and its backup.
pub const HOSTS: [Address; 2] = [Address(0), Address(1)];
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

/// A zone.
pub struct Rig {
    hosts: [Replica; 2],
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
    /// CPU time of the backup so far, with its part of encoding and decoding.
    pub backup_time: Duration,
}

struct Parcel {
    from: Address,
    to: usize,
    place: Range<usize>,
}

impl Rig {
    /// A zone that has a primary and a backup.
    ///
    /// # Panics
    /// If two hosts that work do not become one zone.
    pub fn new(rules: Arc<dyn Rules>, region: &Polygon, players: usize) -> Self {
        let replica = |me: Address| Replica::new(config(me, Arc::clone(&rules), region.clone(), players));
        let mut it = Self {
            hosts: HOSTS.map(replica),
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
        it.link(0, HOSTS[1]);
        it.link(1, HOSTS[0]);
        while !matches!(it.hosts[0].standing(), Standing::Primary(_, Alone::No)) {
            assert!(it.now < Time::from_millis(60_000), "two healthy hosts become primary and backup");
            it.advance(Span::from_millis(1));
        }
        it
    }

    /// The primary, to look at.
    pub const fn primary(&self) -> &Replica {
        &self.hosts[0]
    }

    /// The time.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// A player's connection to the primary.
    pub fn link_player(&mut self, player: Address) {
        self.link(0, player);
    }

    fn link(&mut self, host: usize, peer: Address) {
        self.handle(host, Input::LinkUp { peer, link: LINK });
        self.settle();
    }

    /// The primary hears a player.
    ///
    /// # Panics
    /// If the bytes are no message.
    pub fn hear(&mut self, player: Address, bytes: &[u8]) {
        let msg = Msg::decode(bytes).expect("players of a benchmark send messages");
        self.handle(0, Input::Recv { from: player, link: LINK, msg });
    }

    /// Lets everything happen that is due within `span`.
    pub fn advance(&mut self, span: Span) {
        let end = self.now + span;
        self.settle();
        loop {
            let due = |host: usize| self.hosts[host].deadline().map(|at| (at, host));
            let Some((at, host)) = [due(0), due(1)].into_iter().flatten().min().filter(|it| it.0 <= end)
            else {
                break;
            };
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
        let start = (to == 1).then(ThreadTime::now);
        let msg = Msg::decode(&self.bytes[place]).expect("replicas send messages");
        self.handle(to, Input::Recv { from, link: LINK, msg });
        self.backup_time += start.map_or(Duration::ZERO, |it| it.elapsed());
    }

    fn handle(&mut self, host: usize, input: Input<Msg, Command>) {
        let Self { hosts, out, now, bytes, to_hosts, to_players, answers, traffic, directory, .. } = self;
        hosts[host].handle(*now, input, out);
        out.drain(|effect| match effect {
            Effect::Send { to, msg, .. } => {
                let start = bytes.len();
                msg.encode(bytes);
                let place = start..bytes.len();
                for &to in to {
                    post(host, to, place.clone(), to_hosts, to_players, traffic);
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
            Effect::Raise(Event::Stage(_) | Event::Note(_)) => (),
        });
    }
}

fn config(me: Address, rules: Arc<dyn Rules>, region: Polygon, players: usize) -> Config {
    Config {
        zone: ZoneId(1),
        map: Arc::new(Partition::new(region, ZoneId(1))),
        zone_of: Arc::new(|_| None),
        rules,
        me,
        peers: HOSTS.to_vec(),
        founds: me == HOSTS[0],
        force: false,
        durability: Durability::Batched,
        timing: Timing::default(),
        seed: 1,
        players_max: players,
        notes: false,
        plants: Plants::NONE,
    }
}

fn post(
    host: usize,
    to: Address,
    place: Range<usize>,
    to_hosts: &mut VecDeque<Parcel>,
    to_players: &mut Vec<(Address, Range<usize>)>,
    traffic: &mut Traffic,
) {
    let size = place.len() as u64;
    if let Some(other) = HOSTS.iter().position(|&it| it == to) {
        traffic.to_backup += if host == 0 { size } else { 0 };
        to_hosts.push_back(Parcel { from: HOSTS[host], to: other, place });
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
