//! A machine on the bench: a replica or a player, used through the `Machine` contract alone.

use super::names;
use super::words::{self, HiddenKind};
use super::world::BenchWorld;
use machine::{Address, Input, Lane, Machine, Outbox, Output, Time, directory, disk};
use std::convert::Infallible;
use zone::{
    Note, Player, PlayerEvent, Record, Replica, ReplicaCommand, ReplicaEvent, ReplicaStatus, ZoneMsg,
};

/// A machine of the bench.
pub enum BenchNode {
    Replica(Box<Replica>),
    Player(Box<Player>),
}

/// An input that any machine may get: all but commands.
pub type PlainInput = Input<ZoneMsg, Infallible>;

/// An effect of a machine.
pub enum NodeEffect {
    Send(Vec<Address>, Lane, ZoneMsg),
    ReplicaEvent(ReplicaEvent),
    PlayerEvent(PlayerEvent),
}

fn widen<C>(input: PlainInput) -> Input<ZoneMsg, C> {
    match input {
        Input::Command(never) => match never {},
        Input::LinkUp { peer, link } => Input::LinkUp { peer, link },
        Input::LinkDown { peer, link } => Input::LinkDown { peer, link },
        Input::Recv { from, link, msg } => Input::Recv { from, link, msg },
        Input::Wake => Input::Wake,
    }
}

impl BenchNode {
    pub fn handle(&mut self, now: Time, input: PlainInput) -> Vec<NodeEffect> {
        match self {
            Self::Replica(it) => Self::run(&mut **it, now, widen(input), NodeEffect::ReplicaEvent),
            Self::Player(it) => Self::run(&mut **it, now, widen(input), NodeEffect::PlayerEvent),
        }
    }

    /// Hands a machine an input, and collects its effects.
    pub fn run<M: Machine<Msg = ZoneMsg>>(
        machine: &mut M,
        now: Time,
        input: Input<ZoneMsg, M::Command>,
        wrap: impl Fn(M::Event) -> NodeEffect,
    ) -> Vec<NodeEffect> {
        let (mut out, mut effects) = (Outbox::new(), Vec::new());
        machine.handle(now, input, &mut out);
        out.drain(|effect| {
            effects.push(match effect {
                Output::Send { to, lane, msg } => NodeEffect::Send(to.to_vec(), lane, msg),
                Output::Raise(event) => wrap(event),
            });
        });
        effects
    }

    pub fn deadline(&self) -> Option<Time> {
        match self {
            Self::Replica(it) => it.deadline(),
            Self::Player(it) => it.deadline(),
        }
    }
}

impl BenchWorld {
    /// Handles an event that a replica raises for its owner.
    pub fn on_event(&mut self, address: Address, event: ReplicaEvent) {
        let name = self.names.machine(address);
        match event {
            ReplicaEvent::Disk(request) => self.ask_disk(address, request),
            ReplicaEvent::Directory(request) => self.ask_directory(address, request),
            ReplicaEvent::Fault(why) => self.say(format!("{name} reports a mistake of the game: {why}")),
            ReplicaEvent::Broken(why) => self.say(format!("{name} stops for good: {why}")),
            ReplicaEvent::Note(note) => self.on_note(address, note),
            ReplicaEvent::Load(level) => self.say(format!("{name} is {}", words::load(level))),
            _ => (), // Updates for the carrier of poses, which the bench lacks.
        }
    }

    fn ask_disk(&mut self, address: Address, request: disk::DiskRequest) {
        let disk = self.disks.entry(address).or_default();
        // A replica recalls its log when it starts: that would be in every table.
        let recalls = matches!(request, disk::DiskRequest::Recall { .. });
        let shown = (disk.waits || !self.hidden.contains(&HiddenKind::Disks)) && !recalls;
        let line = format!("{} -> disk: {}", self.names.machine(address), words::disk(&request));
        let done = disk.ask(request);
        if shown {
            self.say(line);
        }
        self.answers.extend(done.map(|it| (address, ReplicaCommand::Disk(it))));
    }

    fn ask_directory(&mut self, address: Address, request: directory::DirectoryRequest) {
        let line =
            format!("{} -> directory: {}", self.names.machine(address), words::directory_request(&request));
        let shown = match request {
            directory::DirectoryRequest::Clock { .. } => false,
            directory::DirectoryRequest::Swap { .. } => true,
            directory::DirectoryRequest::Read { .. } => {
                self.directory.waits || self.has_role(address) || !self.hidden.contains(&HiddenKind::Reads)
            }
        };
        if shown {
            self.say(line);
        }
        if let Some(done) = self.directory.ask(self.now, address, request) {
            self.directory_answers(address, done, shown);
        }
    }

    /// Queues the directory's answer for a replica.
    pub fn directory_answers(&mut self, address: Address, done: directory::DirectoryReply, shown: bool) {
        if shown {
            let line =
                format!("directory -> {}: {}", self.names.machine(address), words::directory_reply(&done));
            self.say(line);
        }
        self.answers.push_back((address, ReplicaCommand::Directory(done)));
    }

    fn has_role(&self, address: Address) -> bool {
        let Some(BenchNode::Replica(it)) = self.nodes.get(&address) else { return false };
        matches!(it.status(), ReplicaStatus::Primary(..) | ReplicaStatus::Backup(_))
    }

    fn on_note(&mut self, address: Address, note: Note) {
        let name = self.names.machine(address);
        let line = match note {
            Note::Wrote { record, .. } => {
                let record = Record::from_bytes(&record).expect("a record that was written");
                self.names.learn(&record);
                format!("{name} writes {}", self.names.record(&record))
            }
            Note::Stored { .. } | Note::Announces { .. }
                if self.hidden.contains(&HiddenKind::Replication) =>
            {
                return;
            }
            Note::Stored { index, .. } => format!("{name} stores {index}"),
            Note::Announces { index, .. } => format!("{name} announces {index}"),
            Note::Follows { epoch } => format!("{name} is a backup from now on, epoch {}", epoch.0),
            Note::RoleLost { .. } if self.has_role(address) => return, // Its new role has its own line.
            Note::RoleLost { epoch } => format!("{name} has no role any more, after epoch {}", epoch.0),
            Note::Replaced { index: 0, .. } => format!("{name} holds nothing"),
            Note::Replaced { index, epoch } => format!("{name} holds: {}", words::log_end(epoch, index)),
            Note::Differs(why) => format!("{name} differs: {why}"),
            _ => return,
        };
        self.say(line);
    }

    /// Prints a replica's role, log and objects, or a player's view.
    pub fn look(&mut self, address: Address) {
        let name = self.names.machine(address);
        let line = match self.nodes.get(&address) {
            None => format!("{name} is dead"),
            Some(BenchNode::Replica(it)) => {
                let role = match it.status() {
                    ReplicaStatus::Unassigned => "no role".to_owned(),
                    ReplicaStatus::Backup(epoch) => format!("backup in epoch {}", epoch.0),
                    ReplicaStatus::Primary(epoch, zone::Alone::Yes) => {
                        format!("primary alone in epoch {}", epoch.0)
                    }
                    ReplicaStatus::Primary(epoch, zone::Alone::No) => format!("primary in epoch {}", epoch.0),
                    ReplicaStatus::Broken => "stopped".to_owned(),
                };
                let mut objects: Vec<_> = it.state().objects.iter().map(|it| (it.id, &it.state)).collect();
                objects.sort_unstable_by_key(|it| it.0);
                let objects = words::list(objects.into_iter().map(|it| words::object_state(it.1)));
                format!("{name}: {role}, log up to {}; {objects}", it.head())
            }
            Some(BenchNode::Player(it)) => match it.sight(self.now) {
                None => format!("{name} is not in"),
                Some(sight) => {
                    let objects =
                        words::list(sight.objects.values().map(|it| words::object_state(&it.shown)));
                    let home = it.home().and_then(names::zone_of).map_or("nowhere".to_owned(), words::zone);
                    format!("{name}, in {home}, sees: {objects}")
                }
            },
        };
        self.say(line);
    }
}
