//! Objects that were born in a zone and live, by its records: the birth zone hears of every new owner, and of the end.

use game::Addressee;
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{Change, EntityId};

/// The newest report of an object: its incarnation, and whether it lives. Reports come from several zones, so a later
/// one may be older.
#[derive(Clone, Copy)]
struct LifeReport {
    incarnation: u32,
    lives: bool,
}

/// Reports of objects, as one zone has written them.
pub(super) struct LivingObjects {
    zone: ZoneId,
    reports: BTreeMap<ObjectId, LifeReport>,
}

impl LivingObjects {
    pub(super) const fn of(zone: ZoneId) -> Self {
        Self { zone, reports: BTreeMap::new() }
    }

    /// Takes in a change that the zone wrote.
    pub(super) fn apply(&mut self, change: &Change) {
        let (object, incarnation, lives) = match *change {
            Change::Put { object, incarnation, .. } | Change::Departed { object, incarnation, .. } => {
                (object, incarnation, true)
            }
            Change::Location { entity: EntityId::Object(object), zone, incarnation } => {
                (object, incarnation, zone.is_some())
            }
            Change::Removed { object, .. } => {
                (object, self.reports.get(&object).map_or(0, |it| it.incarnation), false)
            }
            _ => return,
        };
        let report = LifeReport { incarnation, lives };
        let known = self.reports.entry(object).or_insert(report);
        // A lower incarnation is an older report that came late.
        if known.incarnation <= incarnation {
            *known = report;
        }
    }

    /// Returns whether the zone knows for sure that no object is there to read a letter. Only the birth zone can: other
    /// zones have only heard of the object.
    pub(super) fn is_certainly_gone(&self, to: &Addressee) -> bool {
        let Addressee::Object(object) = to else { return false };
        *object != game::WORLD
            && object.zone == self.zone
            && self.reports.get(object).is_none_or(|it| !it.lives)
    }
}
