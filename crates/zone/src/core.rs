//! The parts that a replica has in every role: state, log, disk, directory, clock, links.

use crate::carrier_update::CarrierUpdate;
use crate::clock::WorldClock;
use crate::config::{DISK_BYTES_MAX, SNAPSHOT_EVERY, TAIL_MAX, ZoneConfig};
use crate::disk_use::DiskUse;
use crate::lateness::Lateness;
use crate::leadership::{Leadership, leadership_key};
use crate::load_level::LoadLevel;
use crate::msg::{BetweenReplicas, ZoneMsg};
use crate::note::Note;
use crate::record::{Index, Record};
use crate::record_log::RecordLog;
use crate::remote_primaries::RemotePrimaries;
use crate::rule::{BrokenRules, Rule};
use crate::suspect::Suspects;
use crate::zone_state::{ApplyError, StateSnapshot, ZoneState};
use machine::directory::{self, DirectoryWrite, Revision};
use machine::{
    Address, Lane, LatestKey, LinkNumber, Outbox, Rng, Span, Ticket, Time, TimerName, Timers, disk,
};
use space::Epoch;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A command of the host that holds a replica.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReplicaCommand {
    /// The disk answers a request.
    Disk(disk::DiskReply),
    /// The directory answers a request.
    Directory(directory::DirectoryReply),
    /// The host is about to end the replica: hand over, bring the disk up to date, and do nothing any more.
    Leave,
    /// A part of the host hangs, and the host may have to start again: as a backup, do not take over for the next two seconds.
    /// What looks like the silence of the primary may be the host's own.
    Hold,
}

/// An event that a replica raises for its host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReplicaEvent {
    /// A request for the disk.
    Disk(disk::DiskRequest),
    /// A request for the directory.
    Directory(directory::DirectoryRequest),
    /// An update for the carrier of poses.
    Carrier(CarrierUpdate),
    /// The primary's load level has changed.
    Load(LoadLevel),
    /// A mistake of the game, for its author and the operator.
    Fault(String),
    /// The replica cannot go on, and why. The host restarts it, or not.
    Broken(String),
    /// A report for the checkers.
    Note(Note),
}

/// The outbox of a replica.
pub(crate) type ReplicaOutbox = Outbox<ZoneMsg, ReplicaEvent>;

/// The timers of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplicaTimer {
    /// Send a beacon to the backup.
    Beacon,
    /// Check whether the other replica has been silent for too long.
    Suspect,
    /// Send waiting records to the backup.
    Batch,
    /// Write waiting records to disk.
    DiskBatch,
    /// Stream motions to the backup.
    Motions,
    /// Compute which player sees which objects.
    Views,
    /// Ask the directory once more.
    Ask,
    /// Send the next part of a snapshot.
    Copy,
    /// Execute letters, timers and thoughts that are due.
    Due,
    /// Ask the directory for the time.
    Clock,
    /// Look after everything between zones.
    Mesh,
}

impl TimerName for ReplicaTimer {
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

/// Time for which a replica does not take over because its host may have to start again.
const HOLD_BACK: Span = Span::from_millis(2_000);

/// Interval between two questions for the directory's time.
const CLOCK_EVERY: Span = Span::from_millis(1_000);

/// A question to the directory about the zone's leadership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectoryQuery {
    /// Read the leadership as it is.
    Read,
    /// Replace the leadership last read by this one.
    Swap(Leadership),
}

/// The directory's answer, as far as roles care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectoryAnswer {
    /// [`Core::leadership`] is up to date. `lost` if this answers a swap that failed.
    Read { lost: bool },
    /// The swap happened: this leadership counts.
    Won(Leadership),
    /// The directory did not answer: a swap may have happened or not.
    Unknown(DirectoryQuery),
}

/// The parts that a replica has in every role.
pub(crate) struct Core {
    pub(crate) config: ZoneConfig,
    /// The host's own time; world time is [`Core::world_now`].
    pub(crate) now: Time,
    clock: WorldClock,
    pub(crate) state: ZoneState,
    pub(crate) log: RecordLog,
    pub(crate) disk: DiskUse,
    /// The last record with a grant or a post item, which other zones wait for.
    pub(crate) awaited: Index,
    pub(crate) links: BTreeMap<Address, LinkNumber>,
    /// The primaries of other zones. Empty at the beginning of a leadership.
    pub(crate) remote_primaries: RemotePrimaries,
    /// The zone's leadership as last read; `None` before, or if there is none.
    pub(crate) leadership: Option<Leadership>,
    /// The directory's revision of that leadership, which a swap must name.
    pub(crate) revision: Revision,
    /// Until then this replica does not take over.
    held_until: Time,
    /// Calls of the game that this replica answers as faults if it leads.
    pub(crate) suspects: Suspects,
    tickets: u64,
    /// The question about the leadership that waits for an answer.
    asked: Option<(Ticket, DirectoryQuery)>,
    /// The question for the time that waits for an answer, and when it was asked.
    clock_asked: Option<(Ticket, Time)>,
    pub(crate) timers: Timers<ReplicaTimer>,
    lateness: Lateness,
    pub(crate) rng: Rng,
}

impl Core {
    pub(crate) fn new(config: ZoneConfig) -> Self {
        let rng = Rng::seeded(config.seed).fork_named(config.me.0);
        Self {
            state: ZoneState::new(config.zone),
            log: RecordLog::default(),
            disk: DiskUse::default(),
            awaited: 0,
            links: BTreeMap::new(),
            remote_primaries: RemotePrimaries::default(),
            leadership: None,
            revision: Revision(0),
            held_until: Time::ZERO,
            suspects: Suspects::NONE,
            tickets: 0,
            asked: None,
            clock_asked: None,
            timers: Timers::new(),
            lateness: Lateness::default(),
            now: Time::ZERO,
            clock: WorldClock::new(),
            rng,
            config,
        }
    }

    /// Whether the replica keeps a rule of the protocol: always, except in tests of checkers.
    pub(crate) const fn enforces(&self, rule: Rule) -> bool {
        !self.config.broken_rules.has(rule)
    }

    /// Whether any rule is broken on purpose: assertions about the protocol do not hold then.
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

    /// Another zone has this world time: a clock that is far behind jumps there.
    pub(crate) fn follow_time(&mut self, time: Time) {
        self.clock.follow(self.now, time);
    }

    /// World time at `now`, for callers that must not change the clock.
    pub(crate) fn world_time(&self, now: Time) -> Time {
        self.clock.now(now).max(self.state.time)
    }

    /// Does not take over for a while: the host may have to start again.
    pub(crate) fn hold(&mut self) {
        self.held_until = self.now + HOLD_BACK;
    }

    /// Until then the replica must not take over; a time in the past if it may.
    pub(crate) const fn held_until(&self) -> Time {
        self.held_until
    }

    /// Notes how late the timer fires that is due next.
    pub(crate) fn measure_lateness(&mut self) {
        // A timer that was set for the beginning of time is for "at once".
        if let Some(at) = self.timers.deadline().filter(|it| Time::ZERO < *it) {
            self.lateness.measure(self.now, self.now.since(at));
        }
    }

    /// How late this replica was lately.
    pub(crate) fn lateness(&self) -> Span {
        self.lateness.at(self.now)
    }

    pub(crate) fn wake_after(&mut self, timer: ReplicaTimer, span: Span) {
        self.timers.set(timer, self.now + span);
    }

    /// The next multiple of an interval. Timers of all zones of a host that are set for such times fire in one turn, and what
    /// they send to other hosts shares packets.
    pub(crate) fn next_multiple(&self, interval: Span) -> Time {
        let interval = interval.as_micros().max(1);
        self.now + Span::from_micros(interval - self.now.as_micros() % interval)
    }

    /// Sets a timer, unless it is set for an earlier time.
    pub(crate) fn wake_within(&mut self, timer: ReplicaTimer, span: Span) {
        let at = self.now + span;
        if self.timers.at(timer).is_none_or(|it| at < it) {
            self.timers.set(timer, at);
        }
    }

    pub(crate) fn note(&self, out: &mut ReplicaOutbox, note: impl FnOnce() -> Note) {
        if self.config.notes {
            out.raise(ReplicaEvent::Note(note()));
        }
    }

    pub(crate) fn send_replica(
        &self,
        to: Address,
        lane: Lane,
        epoch: Epoch,
        msg: BetweenReplicas,
        out: &mut ReplicaOutbox,
    ) {
        if self.links.contains_key(&to) {
            out.send(to, lane, ZoneMsg::BetweenReplicas(epoch, msg));
        }
    }

    /// The lane of one kind of message of which only the newest counts.
    pub(crate) const fn latest_lane(kind: u64) -> Lane {
        Lane::Latest(LatestKey(kind))
    }

    // The log.

    /// Applies a record to the state and appends it to the log.
    pub(crate) fn store(&mut self, record: &Record, bytes: Arc<[u8]>) -> Result<(), ApplyError> {
        self.state.apply(record)?;
        self.log.push(record.epoch, bytes);
        Ok(())
    }

    /// Replaces state and log by a snapshot, in memory and on disk.
    pub(crate) fn install(&mut self, snapshot: StateSnapshot, bytes: Vec<u8>, out: &mut ReplicaOutbox) {
        let (index, epoch) = (snapshot.head, snapshot.epoch);
        self.state = ZoneState::from_snapshot(snapshot);
        self.log = RecordLog::after(index, epoch);
        self.disk.restart(index);
        let ticket = self.disk.begin(index);
        // Records on disk may be ones that were never acknowledged: they must not come back after a crash. The disk may even have
        // a newer snapshot, of a leadership that ended without telling it.
        out.raise(ReplicaEvent::Disk(disk::DiskRequest::Replace { ticket, index, snapshot: bytes }));
        self.note(out, || Note::Replaced { index, epoch });
    }

    /// Forgets records that are old, on disk, and up to `needed_after`.
    pub(crate) fn trim_log(&mut self, needed_after: Index) {
        let old = self.log.head().saturating_sub(TAIL_MAX as u64);
        self.log.forget_to(old.min(self.disk.written).min(needed_after));
    }

    // The disk.

    /// Hands waiting records to the disk, unless it is busy: then they go in one append when it is done. A snapshot follows
    /// now and then, so that the log on disk stays short.
    pub(crate) fn write_disk(&mut self, out: &mut ReplicaOutbox) {
        let head = self.log.head();
        if self.disk.is_busy() || head <= self.disk.written {
            return;
        }
        let first = self.disk.written + 1;
        // After a stall more may wait than the disk takes at once. The rest goes when this is done.
        let records: Vec<_> =
            self.log.batch(first, DISK_BYTES_MAX).into_iter().map(|it| it.to_vec()).collect();
        assert!(!records.is_empty(), "a record that is not on disk is in the tail");
        self.disk.written = first + records.len() as u64 - 1;
        let ticket = self.disk.begin(self.disk.written);
        out.raise(ReplicaEvent::Disk(disk::DiskRequest::Append { ticket, first, records }));
        self.write_snapshot(out);
    }

    /// Sets the timer for the next append, if records wait. Appends happen at multiples of the pause, so that many records
    /// share one, and all zones of a host write in the same turn. The pause is longer while no other zone waits.
    pub(crate) fn plan_append(&mut self) {
        if self.disk.written < self.log.head() {
            let is_awaited = self.disk.written < self.awaited;
            let at = self.next_multiple(self.config.disk_pause(is_awaited));
            self.wake_within(ReplicaTimer::DiskBatch, at.since(self.now));
        }
    }

    /// Whether the whole log survives a crash.
    pub(crate) fn is_synced(&self) -> bool {
        self.log.head() <= self.disk.persisted
    }

    /// Writes a snapshot if one is due. It goes with an append, and not when the disk is idle: a busy zone's never is.
    fn write_snapshot(&mut self, out: &mut ReplicaOutbox) {
        let index = self.state.head;
        // The snapshot replaces the log before it, so every record that it stands for must be handed over first.
        if index < self.disk.kept + SNAPSHOT_EVERY || self.disk.written < index {
            return;
        }
        let ticket = self.disk.begin(index);
        self.disk.kept = index;
        let snapshot = self.snapshot_bytes();
        out.raise(ReplicaEvent::Disk(disk::DiskRequest::Keep { ticket, index, snapshot }));
    }

    /// The state as bytes, for a disk or a new backup.
    pub(crate) fn snapshot_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.state.snapshot()).expect("plain data encodes")
    }

    /// Asks the disk for its snapshot and records.
    pub(crate) fn recall(&mut self, out: &mut ReplicaOutbox) {
        let ticket = self.disk.ticket();
        out.raise(ReplicaEvent::Disk(disk::DiskRequest::Recall { ticket }));
    }

    /// Loads the snapshot and the records that the disk holds.
    pub(crate) fn load_recalled(
        &mut self,
        recalled: disk::DiskContents,
        out: &mut ReplicaOutbox,
    ) -> Result<(), String> {
        if let Some((index, bytes)) = &recalled.snapshot {
            let snapshot: StateSnapshot = postcard::from_bytes(bytes)
                .map_err(|error| format!("the snapshot of record {index} does not decode: {error}"))?;
            self.log = RecordLog::after(snapshot.head, snapshot.epoch);
            self.state = ZoneState::from_snapshot(snapshot);
            self.disk.kept = *index;
        }
        for (index, bytes) in (recalled.first..).zip(&recalled.records) {
            let record =
                Record::from_bytes(bytes).ok_or_else(|| format!("record {index} does not decode"))?;
            self.store(&record, Arc::from(bytes.as_slice())).map_err(|error| error.to_string())?;
        }
        self.disk.written = self.log.head();
        self.disk.persisted = self.log.head();
        let (epoch, index) = self.log.end();
        self.note(out, || Note::Replaced { index, epoch });
        Ok(())
    }

    // The directory.

    /// Asks the directory, unless an earlier question is unanswered.
    pub(crate) fn ask_directory(&mut self, query: DirectoryQuery, out: &mut ReplicaOutbox) {
        if self.asked.is_some() {
            return;
        }
        let ticket = self.ticket();
        self.asked = Some((ticket, query));
        let key = leadership_key(self.config.zone);
        let request = match query {
            DirectoryQuery::Read => directory::DirectoryRequest::Read { ticket, keys: vec![key] },
            DirectoryQuery::Swap(next) => {
                let write = DirectoryWrite { key, expected: self.revision, value: Some(next.to_bytes()) };
                directory::DirectoryRequest::Swap { ticket, writes: vec![write] }
            }
        };
        out.raise(ReplicaEvent::Directory(request));
    }

    /// Asks the directory for the time, and sets the timer for the next question.
    pub(crate) fn ask_clock(&mut self, out: &mut ReplicaOutbox) {
        let ticket = self.ticket();
        self.clock_asked = Some((ticket, self.now));
        out.raise(ReplicaEvent::Directory(directory::DirectoryRequest::Clock { ticket }));
        // Sooner while the directory's time is unknown: until then world time is only what the log says.
        let pause = if self.clock.is_set() { CLOCK_EVERY } else { self.config.timing.ask };
        self.wake_after(ReplicaTimer::Clock, pause);
    }

    /// Takes in an answer of the directory. Returns what roles must know of it; `None` for an answer that is too late.
    pub(crate) fn on_directory_reply(&mut self, reply: directory::DirectoryReply) -> Option<DirectoryAnswer> {
        match reply {
            directory::DirectoryReply::Clock { ticket, time } => {
                let (_, asked) = self.clock_asked.take_if(|it| it.0 == ticket)?;
                self.clock.learn(asked, self.now, time);
                None
            }
            directory::DirectoryReply::Read { ticket, entries } => {
                self.asked.take_if(|it| it.0 == ticket)?;
                self.learn_leadership(&entries);
                Some(DirectoryAnswer::Read { lost: false })
            }
            directory::DirectoryReply::Lost { ticket, entries } => {
                self.asked.take_if(|it| it.0 == ticket)?;
                self.learn_leadership(&entries);
                Some(DirectoryAnswer::Read { lost: true })
            }
            directory::DirectoryReply::Won { ticket, revision } => {
                let (_, query) = self.asked.take_if(|it| it.0 == ticket)?;
                let DirectoryQuery::Swap(next) = query else { return None };
                self.leadership = Some(next);
                self.revision = revision;
                Some(DirectoryAnswer::Won(next))
            }
            directory::DirectoryReply::Unknown { ticket } => {
                let (_, query) = self.asked.take_if(|it| it.0 == ticket)?;
                Some(DirectoryAnswer::Unknown(query))
            }
        }
    }

    fn learn_leadership(&mut self, entries: &[directory::DirectoryEntry]) {
        let Some(entry) = entries.first() else { return };
        // Never back to an older revision, whatever the order of answers.
        if self.revision <= entry.revision {
            self.revision = entry.revision;
            self.leadership = Leadership::from_bytes(&entry.value);
        }
    }

    const fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }
}
