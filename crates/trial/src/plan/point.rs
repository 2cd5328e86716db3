//! Crashes at a named step of a protocol: where it hurts, not where chance would have it.

use crate::layout::Layout;
use machine::Address;
use space::Epoch;
use std::collections::BTreeSet;
use std::fmt;
use zone::{Cause, Change, Event, Index, Item, Note, Record};

/// Who dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// Everything on a host.
    Host(usize),
    /// One replica.
    Replica(Address),
}

/// Somebody dies right after a host did this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    host: usize,
    point: Point,
    /// Whether the other replicas on the host live on.
    spares: bool,
    victim: Victim,
    /// Who has asked for a swap and has no answer, as far as can be seen.
    swapping: BTreeSet<Address>,
    /// A record with the step that is waited for, and who wrote it.
    written: Option<(Address, Epoch, Index)>,
}

/// A step of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    Wrote,
    Stored,
    Announces,
    Reigns,
    Follows,
    Replaced,
    AsksDisk,
    Swaps,
    Looks,
    /// It stores something although it has asked to reign. It should not; if it does, this is when it hurts.
    StoredWhileSwapping,
    /// A step of what zones do together, and how far its record has come.
    Between(Step, Moment),
}

const POINTS: [Point; 10] = [
    Point::Wrote,
    Point::Stored,
    Point::Announces,
    Point::Reigns,
    Point::Follows,
    Point::Replaced,
    Point::AsksDisk,
    Point::Swaps,
    Point::Looks,
    Point::StoredWhileSwapping,
];

/// What zones do together: locks, decisions, transfers, post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
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

const STEPS: [Step; 11] = [
    Step::Granted,
    Step::Released,
    Step::Decided,
    Step::Joint,
    Step::Offered,
    Step::Arrived,
    Step::Declined,
    Step::Departed,
    Step::Kept,
    Step::Posted,
    Step::Delivered,
];

/// How far a record has come when its writer dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// Nobody else has it: it never happened.
    Written,
    /// The backup has it, and nobody was told: it happened.
    Held,
    /// Somebody may have been told.
    Told,
}

const MOMENTS: [Moment; 3] = [Moment::Written, Moment::Held, Moment::Told];

impl Trigger {
    /// Draws one for a host.
    pub fn drawn(host: usize, chance: u64, zones: u32) -> Self {
        let pick = |chance: u64, count: usize| (chance % count as u64) as usize;
        // What is found out in the simplest world need not be looked for in all others.
        let between = 1 < zones && chance >> 32 & 3 != 0;
        let point = if between {
            Point::Between(STEPS[pick(chance, STEPS.len())], MOMENTS[pick(chance >> 8, MOMENTS.len())])
        } else {
            POINTS[pick(chance, POINTS.len())]
        };
        let spares = 1 < zones && chance >> 34 & 1 != 0;
        Self { host, point, spares, victim: Victim::Host(host), swapping: BTreeSet::new(), written: None }
    }

    /// Who dies, once it has tripped.
    pub const fn victim(&self) -> Victim {
        self.victim
    }

    /// Whether the host did it.
    pub fn trips(&mut self, replica: Address, event: &Event, layout: &Layout) -> bool {
        let Some(host) = layout.host_of(replica) else { return false };
        let who = match self.point {
            Point::Between(step, moment) => self.who_did(replica, host, event, step, moment),
            point => self.does(replica, host, event, point).then_some(replica),
        };
        let Some(who) = who else { return false };
        let whole = layout.host_of(who).map_or(Victim::Replica(who), Victim::Host);
        self.victim = if self.spares { Victim::Replica(who) } else { whole };
        true
    }

    fn does(&mut self, replica: Address, host: usize, event: &Event, point: Point) -> bool {
        use machine::directory::Request;
        match event {
            Event::Directory(Request::Swap { .. }) => {
                self.swapping.insert(replica);
            }
            Event::Note(Note::Reigns { .. } | Note::Resigned { .. } | Note::Follows { .. }) => {
                self.swapping.remove(&replica);
            }
            Event::Note(Note::Stored { .. }) if point == Point::StoredWhileSwapping => {
                return self.swapping.contains(&replica); // Whoever it is.
            }
            _ => (),
        }
        let did = match event {
            Event::Note(Note::Wrote { .. }) => Point::Wrote,
            Event::Note(Note::Stored { .. }) => Point::Stored,
            Event::Note(Note::Announces { .. }) => Point::Announces,
            Event::Note(Note::Reigns { .. }) => Point::Reigns,
            Event::Note(Note::Follows { .. }) => Point::Follows,
            Event::Note(Note::Replaced { .. }) => Point::Replaced,
            Event::Disk(_) => Point::AsksDisk,
            Event::Directory(Request::Swap { .. }) => Point::Swaps,
            Event::Directory(Request::Read { .. }) => Point::Looks,
            _ => return false,
        };
        host == self.host && did == point
    }

    /// Who wrote a record with this step, once the record has come so far.
    fn who_did(
        &mut self,
        replica: Address,
        host: usize,
        event: &Event,
        step: Step,
        moment: Moment,
    ) -> Option<Address> {
        match event {
            Event::Note(Note::Wrote { record, .. }) if host == self.host => {
                let record = Record::from_bytes(record).filter(|it| step.is_in(it))?;
                self.written = Some((replica, record.epoch, record.index));
                (moment == Moment::Written).then_some(replica)
            }
            Event::Note(Note::Stored { epoch, index, .. }) if moment == Moment::Held => {
                let (writer, ..) = self.written.filter(|it| (it.1, it.2) == (*epoch, *index))?;
                (writer != replica).then_some(writer)
            }
            Event::Note(Note::Announces { index, .. }) if moment == Moment::Told => {
                self.written.filter(|it| it.0 == replica && it.2 <= *index).map(|it| it.0)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = if self.spares { "one replica" } else { "all of it" };
        match self.point {
            Point::Between(step, moment) => {
                let moment = match moment {
                    Moment::Written => "only its writer has the record",
                    Moment::Held => "the backup has the record",
                    Moment::Told => "the record is announced",
                };
                write!(f, "{who} dies at {step:?}, when {moment}")
            }
            point => write!(f, "{who} dies at {point:?}"),
        }
    }
}

impl Step {
    fn is_in(self, record: &Record) -> bool {
        let is_joint = matches!(record.cause, Cause::Joint(_));
        record.changes.iter().any(|change| match (self, change) {
            (Self::Granted, Change::Granted { .. })
            | (Self::Offered, Change::Offered { .. })
            | (Self::Arrived, Change::Posted { item: Item::Answer { taken: true, .. }, .. })
            | (Self::Declined, Change::Posted { item: Item::Answer { taken: false, .. }, .. })
            | (Self::Departed, Change::Departed { .. })
            | (Self::Kept, Change::Kept { .. })
            | (Self::Decided, Change::Posted { item: Item::Decided(_), .. })
            | (Self::Posted, Change::Posted { item: Item::Letter { .. } | Item::Lives { .. }, .. })
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
    use crate::check::story::{event, record};
    use crate::options::{Asked, Options};
    use space::ZoneId;

    const WRITER: Address = Address(4);
    const BACKUP: Address = Address(5);

    /// After which of these the writer dies: written, stored by another, announced.
    fn trips(moment: Moment, changes: &[Change]) -> Vec<usize> {
        let layout = Layout::of(&Options { zones: 2, ..Options::drawn(1, &Asked::MESH) });
        let mut trigger = Trigger::drawn(1, 0, 2);
        trigger.point = Point::Between(Step::Released, moment);
        trigger.spares = true;
        let record = record(7, Cause::Lock(event(1, 1)), changes);
        let (epoch, index) = (record.epoch, record.index);
        let notes = [
            (WRITER, Note::Wrote { record: record.to_bytes(), ran: None }),
            (BACKUP, Note::Stored { epoch, index: 6, hash: 0 }),
            (BACKUP, Note::Stored { epoch, index, hash: 0 }),
            (WRITER, Note::Announces { epoch, index: 6, alone: false }),
            (WRITER, Note::Announces { epoch, index: 8, alone: false }),
        ];
        let numbered = notes.into_iter().enumerate();
        let tripped = numbered.filter(|(_, (by, note))| {
            let trips = trigger.trips(*by, &Event::Note(note.clone()), &layout);
            assert!(!trips || trigger.victim() == Victim::Replica(WRITER));
            trips
        });
        tripped.map(|it| it.0).collect()
    }

    #[test]
    fn a_writer_dies_when_its_record_has_come_so_far() {
        let released = [Change::Released { event: event(1, 1) }];
        assert_eq!(trips(Moment::Written, &released), [0]);
        assert_eq!(trips(Moment::Held, &released), [2]);
        assert_eq!(trips(Moment::Told, &released), [4]);
        let kept = Change::Delivered { to: ZoneId(1), upto: 3 };
        assert!(MOMENTS.iter().all(|&it| trips(it, std::slice::from_ref(&kept)).is_empty()));
    }
}
