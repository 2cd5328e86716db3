//! Crashes at a named step of a protocol: at the moments that hurt most, which random times rarely hit.

use crate::layout::Layout;
use machine::Address;
use space::Epoch;
use std::collections::BTreeSet;
use std::fmt;
use zone::{Cause, Change, Index, Note, PostItem, Record, ReplicaEvent};

/// The replicas that a trigger kills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// All replicas on a host.
    Host(usize),
    /// One replica of a host.
    Replica(Address),
}

/// A crash that happens right after a replica took a certain step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashTrigger {
    host: usize,
    point: CrashPoint,
    /// True if the other replicas on the host stay up.
    spares: bool,
    victim: Victim,
    /// Replicas that have asked for a swap and have no answer, as far as their notes tell.
    swapping: BTreeSet<Address>,
    /// A record with the step that the trigger waits for, and the replica that wrote it.
    written: Option<(Address, Epoch, Index)>,
}

/// A step of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CrashPoint {
    Wrote,
    Stored,
    Announces,
    Leads,
    Follows,
    Replaced,
    AsksDisk,
    Swaps,
    Looks,
    /// It stores a record although it has asked for a swap. It should not; if it does, a crash now shows it.
    StoredWhileSwapping,
    /// A step that zones take together, and how far its record has come.
    Between(MeshStep, RecordProgress),
}

const POINTS: [CrashPoint; 10] = [
    CrashPoint::Wrote,
    CrashPoint::Stored,
    CrashPoint::Announces,
    CrashPoint::Leads,
    CrashPoint::Follows,
    CrashPoint::Replaced,
    CrashPoint::AsksDisk,
    CrashPoint::Swaps,
    CrashPoint::Looks,
    CrashPoint::StoredWhileSwapping,
];

/// Steps that zones take together: locks, decisions, transfers, post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MeshStep {
    Granted,
    Released,
    Decided,
    Joint,
    Offered,
    Arrived,
    Declined,
    Departed,
    Kept,
    Posted,
    Delivered,
}

const STEPS: [MeshStep; 11] = [
    MeshStep::Granted,
    MeshStep::Released,
    MeshStep::Decided,
    MeshStep::Joint,
    MeshStep::Offered,
    MeshStep::Arrived,
    MeshStep::Declined,
    MeshStep::Departed,
    MeshStep::Kept,
    MeshStep::Posted,
    MeshStep::Delivered,
];

/// Progress of a record at the moment at which its writer dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordProgress {
    /// No other replica has it: it never happened.
    Written,
    /// The backup has it, and it is not announced: it happened.
    Stored,
    /// It is announced: clients and other zones may have been told.
    Announced,
}

const ALL_PROGRESS: [RecordProgress; 3] =
    [RecordProgress::Written, RecordProgress::Stored, RecordProgress::Announced];

impl CrashTrigger {
    /// Draws a trigger for a host. Different bits of `chance` decide about different things.
    pub fn draw(host: usize, chance: u64, zones: u32) -> Self {
        let pick = |chance: u64, count: usize| (chance % count as u64) as usize;
        // Mostly steps between zones: the steps within one zone are tried in worlds of one zone, too.
        let between = 1 < zones && chance >> 32 & 3 != 0;
        let point = if between {
            CrashPoint::Between(
                STEPS[pick(chance, STEPS.len())],
                ALL_PROGRESS[pick(chance >> 8, ALL_PROGRESS.len())],
            )
        } else {
            POINTS[pick(chance, POINTS.len())]
        };
        let spares = 1 < zones && chance >> 34 & 1 != 0;
        Self { host, point, spares, victim: Victim::Host(host), swapping: BTreeSet::new(), written: None }
    }

    /// The replicas to kill, once the trigger has tripped.
    pub const fn victim(&self) -> Victim {
        self.victim
    }

    /// Returns whether this event is the step that the trigger waits for; sets the victim.
    pub fn trips(&mut self, replica: Address, event: &ReplicaEvent, layout: &Layout) -> bool {
        let Some(host) = layout.host_of(replica) else { return false };
        let victim = match self.point {
            CrashPoint::Between(step, progress) => self.writer_at(replica, host, event, step, progress),
            point => self.is_at(replica, host, event, point).then_some(replica),
        };
        let Some(victim) = victim else { return false };
        let whole = layout.host_of(victim).map_or(Victim::Replica(victim), Victim::Host);
        self.victim = if self.spares { Victim::Replica(victim) } else { whole };
        true
    }

    fn is_at(&mut self, replica: Address, host: usize, event: &ReplicaEvent, point: CrashPoint) -> bool {
        use machine::directory::DirectoryRequest;
        match event {
            ReplicaEvent::Directory(DirectoryRequest::Swap { .. }) => {
                self.swapping.insert(replica);
            }
            // Each of these notes tells that the swap was answered.
            ReplicaEvent::Note(Note::Leads { .. } | Note::RoleLost { .. } | Note::Follows { .. }) => {
                self.swapping.remove(&replica);
            }
            ReplicaEvent::Note(Note::Stored { .. }) if point == CrashPoint::StoredWhileSwapping => {
                return self.swapping.contains(&replica); // On any host: the step is rare.
            }
            _ => (),
        }
        let did = match event {
            ReplicaEvent::Note(Note::Wrote { .. }) => CrashPoint::Wrote,
            ReplicaEvent::Note(Note::Stored { .. }) => CrashPoint::Stored,
            ReplicaEvent::Note(Note::Announces { .. }) => CrashPoint::Announces,
            ReplicaEvent::Note(Note::Leads { .. }) => CrashPoint::Leads,
            ReplicaEvent::Note(Note::Follows { .. }) => CrashPoint::Follows,
            ReplicaEvent::Note(Note::Replaced { .. }) => CrashPoint::Replaced,
            ReplicaEvent::Disk(_) => CrashPoint::AsksDisk,
            ReplicaEvent::Directory(DirectoryRequest::Swap { .. }) => CrashPoint::Swaps,
            ReplicaEvent::Directory(DirectoryRequest::Read { .. }) => CrashPoint::Looks,
            _ => return false,
        };
        host == self.host && did == point
    }

    /// The writer of a record with this step, once the record has come so far.
    fn writer_at(
        &mut self,
        replica: Address,
        host: usize,
        event: &ReplicaEvent,
        step: MeshStep,
        progress: RecordProgress,
    ) -> Option<Address> {
        match event {
            ReplicaEvent::Note(Note::Wrote { record, .. }) if host == self.host => {
                let record = Record::from_bytes(record).filter(|it| step.is_in(it))?;
                // Later notes name the record by epoch and number only.
                self.written = Some((replica, record.epoch, record.index));
                (progress == RecordProgress::Written).then_some(replica)
            }
            ReplicaEvent::Note(Note::Stored { epoch, index, .. }) if progress == RecordProgress::Stored => {
                let (writer, ..) = self.written.filter(|it| (it.1, it.2) == (*epoch, *index))?;
                (writer != replica).then_some(writer)
            }
            ReplicaEvent::Note(Note::Announces { index, .. }) if progress == RecordProgress::Announced => {
                self.written.filter(|it| it.0 == replica && it.2 <= *index).map(|it| it.0)
            }
            _ => None,
        }
    }
}

impl fmt::Display for CrashTrigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let victims = if self.spares { "one replica" } else { "all of it" };
        match self.point {
            CrashPoint::Between(step, progress) => {
                let progress = match progress {
                    RecordProgress::Written => "only its writer has the record",
                    RecordProgress::Stored => "the backup has the record",
                    RecordProgress::Announced => "the record is announced",
                };
                write!(f, "{victims} dies at {step:?}, when {progress}")
            }
            point => write!(f, "{victims} dies at {point:?}"),
        }
    }
}

impl MeshStep {
    fn is_in(self, record: &Record) -> bool {
        let is_joint = matches!(record.cause, Cause::Joint(_));
        record.changes.iter().any(|change| match (self, change) {
            (Self::Granted, Change::Granted { .. })
            | (Self::Offered, Change::Offered { .. })
            | (Self::Arrived, Change::Posted { item: PostItem::Answer { taken: true, .. }, .. })
            | (Self::Declined, Change::Posted { item: PostItem::Answer { taken: false, .. }, .. })
            | (Self::Departed, Change::Departed { .. })
            | (Self::Kept, Change::Kept { .. })
            | (Self::Decided, Change::Posted { item: PostItem::Decided(_), .. })
            | (
                Self::Posted,
                Change::Posted { item: PostItem::Letter { .. } | PostItem::Location { .. }, .. },
            )
            | (Self::Delivered, Change::Delivered { .. }) => true,
            (Self::Joint, Change::Released { .. }) => is_joint,
            (Self::Released, Change::Released { .. }) => !is_joint,
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::scripted_log::{event, record};
    use crate::run_options::{RunOptions, RunRequest};
    use space::ZoneId;

    const WRITER: Address = Address(4);
    const BACKUP: Address = Address(5);

    /// Places in the list of notes after which the writer dies: written, stored by another, announced.
    fn trips(progress: RecordProgress, changes: &[Change]) -> Vec<usize> {
        let layout = Layout::of(&RunOptions { zones: 2, ..RunOptions::draw(1, &RunRequest::MESH) });
        let mut trigger = CrashTrigger::draw(1, 0, 2);
        trigger.point = CrashPoint::Between(MeshStep::Released, progress);
        trigger.spares = true;
        let record = record(7, Cause::Lock(event(1, 1)), changes);
        let (epoch, index) = (record.epoch, record.index);
        let notes = [
            (WRITER, Note::Wrote { record: record.to_bytes(), execution: None }),
            (BACKUP, Note::Stored { epoch, index: 6, hash: 0 }),
            (BACKUP, Note::Stored { epoch, index, hash: 0 }),
            (WRITER, Note::Announces { epoch, index: 6, alone: false }),
            (WRITER, Note::Announces { epoch, index: 8, alone: false }),
        ];
        let numbered = notes.into_iter().enumerate();
        let tripped = numbered.filter(|(_, (by, note))| {
            let trips = trigger.trips(*by, &ReplicaEvent::Note(note.clone()), &layout);
            assert!(!trips || trigger.victim() == Victim::Replica(WRITER));
            trips
        });
        tripped.map(|it| it.0).collect()
    }

    #[test]
    fn a_writer_dies_when_its_record_has_come_so_far() {
        let released = [Change::Released { event: event(1, 1) }];
        assert_eq!(trips(RecordProgress::Written, &released), [0]);
        assert_eq!(trips(RecordProgress::Stored, &released), [2]);
        assert_eq!(trips(RecordProgress::Announced, &released), [4]);
        let kept = Change::Delivered { to: ZoneId(1), upto: 3 };
        assert!(ALL_PROGRESS.iter().all(|&it| trips(it, std::slice::from_ref(&kept)).is_empty()));
    }
}
