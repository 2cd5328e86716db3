//! What a replica has whatever its role: state, log, disk, directory, clock, links.

use crate::carrier_update::CarrierUpdate;
use crate::clock::WorldClock;
use crate::config::{Config, SNAPSHOT_EVERY, TAIL_MAX};
use crate::entry::{self, Reign};
use crate::log::Log;
use crate::msg::{Msg, Peer};
use crate::note::Note;
use crate::peers::Peers;
use crate::record::{Index, Record};
use crate::rule::{BrokenRules, Rule};
use crate::state::{Misfit, Snapshot, State};
use machine::directory::{self, Revision, Write};
use machine::{
    Address, Lane, LatestKey, LinkNumber, Outbox, Rng, Span, Ticket, Time, TimerName, Timers, disk,
};
use space::Epoch;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a replica's owner tells it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// The disk answers.
    Disk(disk::Done),
    /// The directory answers.
    Directory(directory::Done),
    /// The owner is about to end it: hand over, bring the disk up to date, and do nothing any more.
    Leave,
}

/// What a replica tells its owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A request for the disk.
    Disk(disk::Request),
    /// A request for the directory.
    Directory(directory::Request),
    /// An update for the carrier of poses.
    Carrier(CarrierUpdate),
    /// A mistake of the game, for its author and the operator.
    Fault(String),
    /// The replica cannot go on, and why. Its owner restarts it, or not.
    Broken(String),
    /// Something for a checker.
    Note(Note),
}

/// Where a machine's effects go.
pub(crate) type Out = Outbox<Msg, Event>;

/// What a replica wakes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Say that we are here.
    Beacon,
    /// Has the other one been silent for too long?
    Suspect,
    /// Send what waits to the backup.
    Batch,
    /// Write what waits to disk.
    DiskBatch,
    /// Stream motions to the backup.
    Motions,
    /// Look who sees whom.
    Views,
    /// Ask the directory, again.
    Ask,
    /// Send the next part of a snapshot.
    Copy,
    /// Letters, timers and thoughts.
    Due,
    /// Ask for the time.
    Clock,
    /// Look after everything between zones.
    Mesh,
}

impl TimerName for Purpose {
    const ALL: &'static [Self] = &[
        Self::Beacon,
        Self::Suspect,
        Self::Batch,
        Self::DiskBatch,
        Self::Motions,
        Self::Views,
        Self::Ask,
        Self::Copy,
        Self::Due,
        Self::Clock,
        Self::Mesh,
    ];

    fn slot(self) -> usize {
        self as usize
    }
}

/// How often the time is asked for.
const CLOCK_EVERY: Span = Span::from_millis(1_000);

/// What was asked of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Who reigns?
    Look,
    /// Let this be the next reign.
    Swap(Reign),
}

/// The directory's answer, as far as roles care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// This is who reigns; [`Core::entry`] is up to date. `lost` if it answers a swap that failed.
    Looked { lost: bool },
    /// The swap happened.
    Won(Reign),
    /// Nobody knows.
    Unknown(Ask),
}

/// The disk, as a replica uses it: one append under way at a time.
#[derive(Debug, Default)]
pub(crate) struct DiskUse {
    tickets: u64,
    /// Records up to this were handed to the disk.
    pub(crate) written: Index,
    /// Records up to this survive a crash.
    pub(crate) persisted: Index,
    under_way: Option<(Ticket, Index)>,
    /// The last snapshot handed to the disk stands for this record.
    kept: Index,
}

/// What a replica has whatever its role.
pub(crate) struct Core {
    pub(crate) config: Config,
    pub(crate) now: Time,
    clock: WorldClock,
    pub(crate) state: State,
    pub(crate) log: Log,
    pub(crate) disk: DiskUse,
    pub(crate) links: BTreeMap<Address, LinkNumber>,
    /// Who decides in other zones. A reign begins without knowing any.
    pub(crate) peers: Peers,
    /// The zone's entry as last read; `None` before, or if there is none.
    pub(crate) entry: Option<Reign>,
    pub(crate) revision: Revision,
    tickets: u64,
    asked: Option<(Ticket, Ask)>,
    clock_asked: Option<(Ticket, Time)>,
    pub(crate) timers: Timers<Purpose>,
    pub(crate) rng: Rng,
}

impl Core {
    pub(crate) fn new(config: Config) -> Self {
        let rng = Rng::seeded(config.seed).fork_named(config.me.0);
        Self {
            state: State::new(config.zone),
            log: Log::default(),
            disk: DiskUse::default(),
            links: BTreeMap::new(),
            peers: Peers::default(),
            entry: None,
            revision: Revision(0),
            tickets: 0,
            asked: None,
            clock_asked: None,
            timers: Timers::new(),
            now: Time::ZERO,
            clock: WorldClock::new(),
            rng,
            config,
        }
    }

    /// Whether the replica keeps a rule of the protocol: always, but in tests of checkers.
    pub(crate) const fn enforces(&self, rule: Rule) -> bool {
        !self.config.broken_rules.has(rule)
    }

    /// Whether any rule is broken on purpose: then what always holds otherwise may not.
    pub(crate) fn breaks_rules(&self) -> bool {
        self.config.broken_rules != BrokenRules::NONE
    }

    /// World time: never before the last record.
    pub(crate) fn world_now(&mut self) -> Time {
        if self.enforces(Rule::TimeFollowsLog) {
            self.clock.at_least(self.now, self.state.time);
        }
        self.clock.now(self.now)
    }

    /// Another zone is as late as this.
    pub(crate) fn hear_time(&mut self, time: Time) {
        self.clock.follow(self.now, time);
    }

    /// World time at `now`, for somebody who only looks.
    pub(crate) fn world_time(&self, now: Time) -> Time {
        self.clock.now(now).max(self.state.time)
    }

    /// Wakes for this after a while.
    pub(crate) fn wake_after(&mut self, purpose: Purpose, span: Span) {
        self.timers.set(purpose, self.now + span);
    }

    /// Wakes for this after a while, unless it would earlier anyway.
    pub(crate) fn wake_within(&mut self, purpose: Purpose, span: Span) {
        let at = self.now + span;
        if self.timers.at(purpose).is_none_or(|it| at < it) {
            self.timers.set(purpose, at);
        }
    }

    pub(crate) fn note(&self, out: &mut Out, note: impl FnOnce() -> Note) {
        if self.config.notes {
            out.raise(Event::Note(note()));
        }
    }

    pub(crate) fn send_peer(&self, to: Address, lane: Lane, epoch: Epoch, msg: Peer, out: &mut Out) {
        if self.links.contains_key(&to) {
            out.send(to, lane, Msg::Peer(epoch, msg));
        }
    }

    /// The key of a kind of `Latest` message.
    pub(crate) const fn key(kind: u64) -> Lane {
        Lane::Latest(LatestKey(kind))
    }

    // The log.

    /// Takes a record into state and log.
    pub(crate) fn store(&mut self, record: &Record, bytes: Arc<[u8]>) -> Result<(), Misfit> {
        self.state.apply(record)?;
        self.log.push(record.epoch, bytes);
        Ok(())
    }

    /// Replaces everything by a snapshot. On disk, too.
    pub(crate) fn install(&mut self, snapshot: Snapshot, bytes: Vec<u8>, out: &mut Out) {
        let (index, epoch) = (snapshot.head, snapshot.epoch);
        self.state = State::from_snapshot(snapshot);
        self.log = Log::after(index, epoch);
        let ticket = self.disk.ticket();
        out.raise(Event::Disk(disk::Request::Cut { ticket, from: index + 1 }));
        let ticket = self.disk.ticket();
        self.disk.under_way = Some((ticket, index));
        self.disk.written = index;
        self.disk.persisted = 0;
        self.disk.kept = index;
        out.raise(Event::Disk(disk::Request::Keep { ticket, index, snapshot: bytes }));
        self.note(out, || Note::Replaced { index, epoch });
    }

    /// Forgets what nobody needs any more: records that are old, and on disk.
    pub(crate) fn trim(&mut self, needed_after: Index) {
        let old = self.log.head().saturating_sub(TAIL_MAX as u64);
        self.log.forget_to(old.min(self.disk.written).min(needed_after));
    }

    // The disk.

    /// Hands waiting records to the disk, unless it is busy: then they go together when it is done.
    pub(crate) fn write_disk(&mut self, out: &mut Out) {
        let head = self.log.head();
        if self.disk.under_way.is_some() || head <= self.disk.written {
            return;
        }
        let first = self.disk.written + 1;
        let records = (first..=head).map(|index| {
            let stored = self.log.get(index).expect("what is not on disk is in the tail");
            stored.bytes.to_vec()
        });
        let records = records.collect();
        let ticket = self.disk.ticket();
        self.disk.under_way = Some((ticket, head));
        self.disk.written = head;
        out.raise(Event::Disk(disk::Request::Append { ticket, first, records }));
    }

    /// Whether the whole log survives a crash.
    pub(crate) fn is_synced(&self) -> bool {
        self.log.head() <= self.disk.persisted
    }

    /// Writes a snapshot now and then, so that the log on disk stays short.
    pub(crate) fn keep_snapshot(&mut self, out: &mut Out) {
        let due = self.disk.kept + SNAPSHOT_EVERY <= self.state.head;
        if !due || self.disk.under_way.is_some() || self.disk.written < self.state.head {
            return;
        }
        let (ticket, index) = (self.disk.ticket(), self.state.head);
        self.disk.under_way = Some((ticket, index));
        self.disk.kept = index;
        let snapshot = self.snapshot_bytes();
        out.raise(Event::Disk(disk::Request::Keep { ticket, index, snapshot }));
    }

    /// The state as bytes, for a disk or a new backup.
    pub(crate) fn snapshot_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.state.snapshot()).expect("plain data encodes")
    }

    /// The disk did something; whether it is the append (or snapshot) under way.
    pub(crate) fn disk_done(&mut self, ticket: Ticket) -> bool {
        let Some((under_way, index)) = self.disk.under_way else { return false };
        if ticket < under_way {
            return false;
        }
        self.disk.under_way = None;
        self.disk.persisted = self.disk.persisted.max(index);
        true
    }

    /// Asks the disk what it holds.
    pub(crate) fn recall(&mut self, out: &mut Out) {
        let ticket = self.disk.ticket();
        out.raise(Event::Disk(disk::Request::Recall { ticket }));
    }

    /// Takes in what the disk holds. What does not fit is left out, with everything after it.
    pub(crate) fn recalled(&mut self, recalled: disk::Recalled, out: &mut Out) -> Result<(), String> {
        if let Some((index, bytes)) = &recalled.snapshot {
            let snapshot: Snapshot = postcard::from_bytes(bytes)
                .map_err(|error| format!("the snapshot of record {index} does not decode: {error}"))?;
            self.log = Log::after(snapshot.head, snapshot.epoch);
            self.state = State::from_snapshot(snapshot);
            self.disk.kept = *index;
        }
        for (index, bytes) in (recalled.first..).zip(&recalled.records) {
            let record =
                Record::from_bytes(bytes).ok_or_else(|| format!("record {index} does not decode"))?;
            self.store(&record, Arc::from(bytes.as_slice())).map_err(|error| error.to_string())?;
        }
        self.disk.written = self.log.head();
        self.disk.persisted = self.log.head();
        let (epoch, index) = self.log.standing();
        self.note(out, || Note::Replaced { index, epoch });
        Ok(())
    }

    // The directory.

    /// Asks the directory something, unless it is thinking already.
    pub(crate) fn ask(&mut self, ask: Ask, out: &mut Out) {
        if self.asked.is_some() {
            return;
        }
        let ticket = self.ticket();
        self.asked = Some((ticket, ask));
        let key = entry::key(self.config.zone);
        let request = match ask {
            Ask::Look => directory::Request::Read { ticket, keys: vec![key] },
            Ask::Swap(reign) => {
                let write = Write { key, expected: self.revision, value: Some(reign.to_bytes()) };
                directory::Request::Swap { ticket, writes: vec![write] }
            }
        };
        out.raise(Event::Directory(request));
    }

    /// Asks for the time, again and again.
    pub(crate) fn ask_clock(&mut self, out: &mut Out) {
        let ticket = self.ticket();
        self.clock_asked = Some((ticket, self.now));
        out.raise(Event::Directory(directory::Request::Clock { ticket }));
        let pause = if self.clock.is_set() { CLOCK_EVERY } else { self.config.timing.ask };
        self.wake_after(Purpose::Clock, pause);
    }

    /// The directory answered. `None` if nobody waits for it.
    pub(crate) fn answered(&mut self, done: directory::Done) -> Option<Answer> {
        match done {
            directory::Done::Clock { ticket, time } => {
                let (_, asked) = self.clock_asked.take_if(|it| it.0 == ticket)?;
                self.clock.learn(asked, self.now, time);
                None
            }
            directory::Done::Read { ticket, entries } => {
                self.asked.take_if(|it| it.0 == ticket)?;
                self.learn_entry(&entries);
                Some(Answer::Looked { lost: false })
            }
            directory::Done::Lost { ticket, entries } => {
                self.asked.take_if(|it| it.0 == ticket)?;
                self.learn_entry(&entries);
                Some(Answer::Looked { lost: true })
            }
            directory::Done::Won { ticket, revision } => {
                let (_, ask) = self.asked.take_if(|it| it.0 == ticket)?;
                let Ask::Swap(reign) = ask else { return None };
                self.entry = Some(reign);
                self.revision = revision;
                Some(Answer::Won(reign))
            }
            directory::Done::Unknown { ticket } => {
                let (_, ask) = self.asked.take_if(|it| it.0 == ticket)?;
                Some(Answer::Unknown(ask))
            }
        }
    }

    fn learn_entry(&mut self, entries: &[directory::Entry]) {
        let Some(entry) = entries.first() else { return };
        if self.revision <= entry.revision {
            self.revision = entry.revision;
            self.entry = Reign::from_bytes(&entry.value);
        }
    }

    const fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }
}

impl DiskUse {
    const fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }
}
