//! The times at which objects think, by the replica's own clock, and the last checkpoint. No part of the log: a new
//! primary begins a new schedule.

use crate::config::CHECKPOINT_EVERY;
use crate::core::Core;
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Index};
use machine::{Span, Time};
use space::ObjectId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A new primary lets every NPC think within this time, at random: not all at once.
const THINK_SPREAD: Span = Span::from_millis(500);

/// Objects think at multiples of this time, by the replica's own clock. The thoughts of a moment share messages to the
/// backup and appends, also with those of the host's other zones.
const THINK_EVERY: Span = Span::from_millis(50);

/// The times at which objects think next.
#[derive(Debug)]
pub(in crate::primary) struct ThinkSchedule {
    /// The same times twice: in order, and by object.
    queue: BTreeSet<(Time, ObjectId)>,
    at: BTreeMap<ObjectId, Time>,
    last_checkpoint: Index,
}

impl ThinkSchedule {
    /// The schedule of a primary that begins after this record.
    pub(in crate::primary) const fn new(head: Index) -> Self {
        Self { queue: BTreeSet::new(), at: BTreeMap::new(), last_checkpoint: head }
    }

    /// Schedules a first thought of every object that thinks.
    pub(in crate::primary) fn start(&mut self, core: &mut Core) {
        let rules = Arc::clone(&core.config.rules);
        let mut thinkers: Vec<_> =
            core.state.objects.iter().filter(|it| rules.thinks(&it.state)).map(|it| it.id).collect();
        // Sorted, so that the random times do not depend on the order of the table.
        thinkers.sort_unstable();
        for object in thinkers {
            let wait = core.rng.below(THINK_SPREAD.as_micros());
            self.think_at(object, core.now + Span::from_micros(wait));
        }
    }

    /// Lets an object think at this time, or up to [`THINK_EVERY`] later.
    pub(in crate::primary) fn think_at(&mut self, object: ObjectId, at: Time) {
        let at = Time::from_micros(at.as_micros().next_multiple_of(THINK_EVERY.as_micros()));
        if let Some(old) = self.at.insert(object, at) {
            self.queue.remove(&(old, object));
        }
        self.queue.insert((at, object));
    }

    /// Schedules an object that came from another zone, if it thinks.
    pub(in crate::primary) fn adopt(&mut self, core: &Core, object: ObjectId) {
        let Some(it) = core.state.objects.get(object) else { return };
        if core.config.rules.thinks(&it.state) {
            self.think_at(object, core.now);
        }
    }

    /// Takes the next object whose time to think has come.
    pub(in crate::primary) fn take_due(&mut self, now: Time) -> Option<ObjectId> {
        let &(at, object) = self.queue.first().filter(|it| it.0 <= now)?;
        self.queue.remove(&(at, object));
        self.at.remove(&object);
        Some(object)
    }

    /// The time of the next thought, if any object thinks.
    pub(in crate::primary) fn next(&self) -> Option<Time> {
        self.queue.first().map(|it| it.0)
    }
}

impl Turn<'_> {
    /// Writes the state's hash from time to time, so that replicas can compare themselves.
    pub(in crate::primary) fn write_checkpoint(&mut self) {
        if self.schedule.last_checkpoint + CHECKPOINT_EVERY <= self.cx.core.log.head() {
            let change = Change::Checkpoint { hash: self.cx.core.state.hash() };
            self.write(Cause::Checkpoint, vec![change]);
            self.schedule.last_checkpoint = self.cx.core.log.head();
        }
    }
}
