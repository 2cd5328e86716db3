//! The history of one zone that survived, decoded once for all who judge it.

use crate::court::Court;
use crate::judge::About;
use crate::ledger::Name;
use machine::Time;
use space::{ObjectId, ZoneId};
use zone::{Change, EventId, Item, Ran, Record, Whole};

/// One record of it.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// When it was written.
    pub at: Time,
    /// The record.
    pub record: Record,
    /// What the game was asked.
    pub ran: Option<&'a Ran>,
}

/// All records of a zone, in order.
pub struct Chain<'a> {
    /// Which zone.
    pub zone: ZoneId,
    /// What is known of it.
    pub about: &'a About,
    /// The records.
    pub lines: Vec<Line<'a>>,
    /// The first one that nobody wrote.
    pub missing: Option<Name>,
}

impl<'a> Chain<'a> {
    /// A zone's history, if anybody ever reigned.
    pub fn of(court: &'a Court) -> Option<Self> {
        let names = court.ledger.chain(court.survivor()?);
        let logged = |name: &Name| {
            let it = court.ledger.records.get(name)?;
            Some(Line { at: it.at, record: Record::from_bytes(&it.bytes)?, ran: it.ran.as_ref() })
        };
        let lines: Vec<_> = names.iter().map_while(logged).collect();
        let missing = names.get(lines.len()).copied();
        Some(Self { zone: court.about.zone, about: &court.about, lines, missing })
    }

    /// Every change, with the record it is in.
    pub fn changes(&self) -> impl Iterator<Item = (&Line<'a>, &Change)> {
        self.lines.iter().flat_map(|line| line.record.changes.iter().map(move |it| (line, it)))
    }

    /// A line to say where something is.
    pub fn place(&self, line: &Line<'_>) -> String {
        format!("zone {}, record {} ({:?})", self.zone.0, line.record.index, line.record.cause)
    }
}

impl Line<'_> {
    /// The event that this record decides for several zones, if it does.
    pub fn decides(&self) -> Option<&Whole> {
        self.decisions().next().map(|it| it.2)
    }

    /// To whom it sends a decision, under which number.
    pub fn decisions(&self) -> impl Iterator<Item = (ZoneId, u64, &Whole)> {
        self.record.changes.iter().filter_map(|it| match it {
            Change::Posted { to, number, item: Item::Decided(whole) } => Some((*to, *number, whole)),
            _ => None,
        })
    }

    /// Whether another zone decided what this record does.
    pub const fn is_joint(&self) -> bool {
        matches!(self.record.cause, zone::Cause::Joint(_))
    }

    /// The event that another zone decided.
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
