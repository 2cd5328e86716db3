//! A machine on the bench: a replica or a player, both known by the `Machine` contract alone.

use super::names;
use super::words::{self, Kind};
use super::world::World;
use machine::{Address, Effect, Input, Lane, Machine, Outbox, Time, directory, disk};
use std::convert::Infallible;
use zone::{Command, Event, Happening, Msg, Note, Player, Record, Replica, Standing};

/// A machine.
pub enum Node {
    Replica(Box<Replica>),
    Player(Box<Player>),
}

/// What any machine may hear: no commands.
pub type Plain = Input<Msg, Infallible>;

/// What a machine did.
pub enum Did {
    Send(Vec<Address>, Lane, Msg),
    Event(Event),
    Happening(Happening),
}

fn widen<C>(input: Plain) -> Input<Msg, C> {
    match input {
        Input::Command(never) => match never {},
        Input::LinkUp { peer, link } => Input::LinkUp { peer, link },
        Input::LinkDown { peer, link } => Input::LinkDown { peer, link },
        Input::Recv { from, link, msg } => Input::Recv { from, link, msg },
        Input::Wake => Input::Wake,
    }
}

impl Node {
    pub fn handle(&mut self, now: Time, input: Plain) -> Vec<Did> {
        match self {
            Self::Replica(it) => Self::run(&mut **it, now, widen(input), Did::Event),
            Self::Player(it) => Self::run(&mut **it, now, widen(input), Did::Happening),
        }
    }

    /// Hands a machine an input, and collects what it does.
    pub fn run<M: Machine<Msg = Msg>>(
        machine: &mut M,
        now: Time,
        input: Input<Msg, M::Command>,
        raised: impl Fn(M::Event) -> Did,
    ) -> Vec<Did> {
        let (mut out, mut did) = (Outbox::new(), Vec::new());
        machine.handle(now, input, &mut out);
        out.drain(|effect| {
            did.push(match effect {
                Effect::Send { to, lane, msg } => Did::Send(to.to_vec(), lane, msg),
                Effect::Raise(event) => raised(event),
            });
        });
        did
    }

    pub fn deadline(&self) -> Option<Time> {
        match self {
            Self::Replica(it) => it.deadline(),
            Self::Player(it) => it.deadline(),
        }
    }
}

impl World {
    /// A replica tells its owner something.
    pub fn on_event(&mut self, who: Address, event: Event) {
        let name = self.names.machine(who);
        match event {
            Event::Disk(request) => self.ask_disk(who, request),
            Event::Directory(request) => self.ask_directory(who, request),
            Event::Fault(why) => self.say(format!("{name} reports a mistake of the game: {why}")),
            Event::Broken(why) => self.say(format!("{name} stops for good: {why}")),
            Event::Note(note) => self.on_note(who, note),
            _ => (), // For the carrier of poses.
        }
    }

    fn ask_disk(&mut self, who: Address, request: disk::Request) {
        let disk = self.disks.entry(who).or_default();
        let recalls = matches!(request, disk::Request::Recall { .. });
        let shown = (disk.waits || !self.hidden.contains(&Kind::Disks)) && !recalls;
        let line = format!("{} -> disk: {}", self.names.machine(who), words::disk(&request));
        let done = disk.ask(request);
        if shown {
            self.say(line);
        }
        self.answers.extend(done.map(|it| (who, Command::Disk(it))));
    }

    fn ask_directory(&mut self, who: Address, request: directory::Request) {
        let line = format!("{} -> directory: {}", self.names.machine(who), words::asked(&request));
        let shown = match request {
            directory::Request::Clock { .. } => false,
            directory::Request::Swap { .. } => true,
            directory::Request::Read { .. } => {
                self.directory.waits || self.has_role(who) || !self.hidden.contains(&Kind::Reads)
            }
        };
        if shown {
            self.say(line);
        }
        if let Some(done) = self.directory.ask(self.now, who, request) {
            self.directory_answers(who, done, shown);
        }
    }

    /// The directory's answer is about to be heard.
    pub fn directory_answers(&mut self, who: Address, done: directory::Done, shown: bool) {
        if shown {
            let line = format!("directory -> {}: {}", self.names.machine(who), words::answered(&done));
            self.say(line);
        }
        self.answers.push_back((who, Command::Directory(done)));
    }

    fn has_role(&self, who: Address) -> bool {
        let Some(Node::Replica(it)) = self.nodes.get(&who) else { return false };
        matches!(it.standing(), Standing::Primary(..) | Standing::Backup(_))
    }

    fn on_note(&mut self, who: Address, note: Note) {
        let name = self.names.machine(who);
        let line = match note {
            Note::Wrote { record, .. } => {
                let record = Record::from_bytes(&record).expect("a record that was written");
                self.names.learn(&record);
                format!("{name} writes {}", self.names.record(&record))
            }
            Note::Stored { .. } | Note::Announces { .. } if self.hidden.contains(&Kind::Replication) => {
                return;
            }
            Note::Stored { index, .. } => format!("{name} stores {index}"),
            Note::Announces { index, .. } => format!("{name} announces {index}"),
            Note::Follows { epoch } => format!("{name} is a backup from now on, epoch {}", epoch.0),
            Note::Resigned { .. } if self.has_role(who) => return, // It has another role at once.
            Note::Resigned { epoch } => format!("{name} has no role any more, after epoch {}", epoch.0),
            Note::Replaced { index: 0, .. } => format!("{name} holds nothing"),
            Note::Replaced { index, epoch } => format!("{name} holds: {}", words::log_end(epoch, index)),
            Note::Differs(why) => format!("{name} differs: {why}"),
            _ => return,
        };
        self.say(line);
    }

    /// What a machine holds or sees, for a table that looks.
    pub fn look(&mut self, who: Address) {
        let name = self.names.machine(who);
        let line = match self.nodes.get(&who) {
            None => format!("{name} is dead"),
            Some(Node::Replica(it)) => {
                let role = match it.standing() {
                    Standing::Nobody => "no role".to_owned(),
                    Standing::Backup(epoch) => format!("backup in epoch {}", epoch.0),
                    Standing::Primary(epoch, zone::Alone::Yes) => {
                        format!("primary alone in epoch {}", epoch.0)
                    }
                    Standing::Primary(epoch, zone::Alone::No) => format!("primary in epoch {}", epoch.0),
                    Standing::Broken => "stopped".to_owned(),
                };
                let mut objects: Vec<_> = it.state().objects.iter().map(|it| (it.id, &it.state)).collect();
                objects.sort_unstable_by_key(|it| it.0);
                let objects = words::list(objects.into_iter().map(|it| words::thing(it.1)));
                format!("{name}: {role}, log up to {}; {objects}", it.head())
            }
            Some(Node::Player(it)) => match it.sight(self.now) {
                None => format!("{name} is not in"),
                Some(sight) => {
                    let objects = words::list(sight.objects.values().map(|it| words::thing(&it.shown)));
                    let home = it.home().and_then(names::zone_of).map_or("nowhere".to_owned(), words::zone);
                    format!("{name}, in {home}, sees: {objects}")
                }
            },
        };
        self.say(line);
    }
}
