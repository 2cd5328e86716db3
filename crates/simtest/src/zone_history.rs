//! The history of one zone, as the checkers see it.

use crate::check::{Observation, ZoneCheckers};
use crate::history_checker::ZoneSpec;
use crate::record_tracker::{Announcement, RecordName, RecordTracker};
use crate::violation::Violations;
use machine::{Address, Time};
use space::Epoch;
use zone::Note;

/// One zone's part of a history, with the checkers that watch it.
pub struct ZoneHistory {
    /// Records of the zone, and the replicas that hold them.
    pub tracker: RecordTracker,
    /// Region, game and hosts of the zone.
    pub spec: ZoneSpec,
    checkers: ZoneCheckers,
    primary: Option<Address>,
    /// The highest epoch in which a replica was primary, with that replica.
    highest: Option<(Epoch, Address)>,
}

impl ZoneHistory {
    pub fn new(spec: ZoneSpec) -> Self {
        let (tracker, checkers) = (RecordTracker::default(), ZoneCheckers::default());
        Self { tracker, spec, checkers, primary: None, highest: None }
    }

    /// Takes in a note of a replica. Returns whether it is primary from now on where another replica was.
    pub fn take_note(&mut self, by: Address, note: &Note, out: &mut Violations) -> bool {
        // Checkers compare the note with what was known before it.
        self.checkers.see(Observation::Noted(by, note), &self.tracker, &self.spec, out);
        self.tracker.take_note(out.now, by, note);
        let Note::Leads { epoch, .. } = note else { return false };
        // A replica may report an old epoch late; the history of the highest one survives.
        self.highest = self.highest.max(Some((*epoch, by)));
        self.primary.replace(by).is_some_and(|it| it != by)
    }

    /// Takes in that a replica is gone, and its memory. Without a time it stopped by itself: its disk has everything.
    pub fn died(&mut self, by: Address, at: Option<Time>, out: &mut Violations) {
        self.checkers.see(Observation::Gone(by), &self.tracker, &self.spec, out);
        self.tracker.replica_died(by, at);
    }

    /// Allows a rollback after a full stop. A world that does not sync before it announces may then lose its last
    /// moments: records that only dead replicas held. Returns the time since which announcements may be undone, if any.
    pub fn allow_rollback(&mut self, host: Address, alive_since: Option<Time>) -> Option<Time> {
        let &last = self.tracker.memory.get(&host)?;
        let (first, announcement) = self.tracker.first_lost(last)?;
        // A new primary that was up when the record was announced should know it.
        let was_there = alive_since.is_some_and(|it| it <= announcement.time);
        let allowed_from = self.rollback_limit(first, announcement).filter(|_| !was_there)?;
        self.tracker.roll_back(last, first.1);
        Some(allowed_from)
    }

    /// The time since which announcements may be undone, if the loss of this one is allowed.
    fn rollback_limit(&self, lost: RecordName, announcement: Announcement) -> Option<Time> {
        let lost_max = self.spec.lost_max()?;
        // A primary that is alone has its record on disk before it announces it, and a living replica that holds it
        // can still bring it back: neither loss is allowed.
        let owed = announcement.alone && !self.spec.is_single();
        let known = self.tracker.memory.values().any(|&it| self.tracker.holds(it, lost));
        if owed || known {
            return None;
        }
        let knew = self.tracker.dead.iter().filter(|it| self.tracker.holds(it.last, lost));
        let stopped = knew.filter_map(|it| it.killed).max()?;
        let allowed_from = stopped - lost_max;
        (allowed_from <= announcement.time).then_some(allowed_from)
    }

    /// Name of the last record of the history that survived; `None` if no replica was ever primary.
    pub fn survivor(&self) -> Option<RecordName> {
        let (_, host) = self.highest?;
        self.tracker.last_of(host)
    }
}
