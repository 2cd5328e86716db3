//! The log of one zone that survived, decoded once for all checkers.

use crate::history_checker::ZoneSpec;
use crate::record_tracker::RecordName;
use crate::zone_history::ZoneHistory;
use machine::Time;
use space::{ObjectId, ZoneId};
use zone::{Change, DecidedEvent, EventId, Execution, PostItem, Record};

/// One record of a surviving log.
#[derive(Clone, Debug)]
pub struct LogLine<'a> {
    /// Time at which it was written.
    pub at: Time,
    /// The record in its decoded form.
    pub record: Record,
    /// The call of the game that led to it; `None` if no game was called.
    pub execution: Option<&'a Execution>,
}

/// All records of a zone that survived, in order.
pub struct SurvivingLog<'a> {
    /// Number of the zone that wrote the log.
    pub zone: ZoneId,
    /// Region, game and hosts of the zone.
    pub spec: &'a ZoneSpec,
    /// Records in order, up to the first that is missing.
    pub lines: Vec<LogLine<'a>>,
    /// Name of the first record that no primary wrote.
    pub missing: Option<RecordName>,
}

impl<'a> SurvivingLog<'a> {
    /// The surviving log of a zone; `None` if no replica was ever primary.
    pub fn of(history: &'a ZoneHistory) -> Option<Self> {
        let names = history.tracker.names_up_to(history.survivor()?);
        let logged = |name: &RecordName| {
            let it = history.tracker.records.get(name)?;
            Some(LogLine {
                at: it.at,
                record: Record::from_bytes(&it.bytes)?,
                execution: it.execution.as_ref(),
            })
        };
        // Records after a missing one are left out: nothing could be said about them.
        let lines: Vec<_> = names.iter().map_while(logged).collect();
        let missing = names.get(lines.len()).copied();
        Some(Self { zone: history.spec.zone, spec: &history.spec, lines, missing })
    }

    /// Every change, with the line it is in.
    pub fn changes(&self) -> impl Iterator<Item = (&LogLine<'a>, &Change)> {
        self.lines.iter().flat_map(|line| line.record.changes.iter().map(move |it| (line, it)))
    }

    /// Text that tells where a line is, for violations.
    pub fn describe(&self, line: &LogLine<'_>) -> String {
        format!("zone {}, record {} ({:?})", self.zone.0, line.record.index, line.record.cause)
    }
}

impl LogLine<'_> {
    /// The event that this record decides for several zones, if it does.
    pub fn decides(&self) -> Option<&DecidedEvent> {
        self.decisions().next().map(|it| it.2)
    }

    /// Decisions that it sends: participant, number of the post item, event.
    pub fn decisions(&self) -> impl Iterator<Item = (ZoneId, u64, &DecidedEvent)> {
        self.record.changes.iter().filter_map(|it| match it {
            Change::Posted { to, number, item: PostItem::Decided(whole) } => Some((*to, *number, whole)),
            _ => None,
        })
    }

    /// Returns whether another zone decided what this record does.
    pub const fn is_joint(&self) -> bool {
        matches!(self.record.cause, zone::Cause::Joint(_))
    }

    /// The event of another zone that this record applies.
    pub const fn joint(&self) -> Option<EventId> {
        match self.record.cause {
            zone::Cause::Joint(event) => Some(event),
            _ => None,
        }
    }

    /// Every object of the zone that is written, and its version.
    pub fn writes(&self) -> impl Iterator<Item = (ObjectId, u32)> {
        self.record.changes.iter().filter_map(|it| match it {
            Change::Put { object, version, .. } | Change::Removed { object, version } => {
                Some((*object, *version))
            }
            _ => None,
        })
    }
}
