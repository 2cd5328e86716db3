//! When objects think, by the replica's own clock, and when the next checkpoint is due. No part of the log: a new primary
//! starts anew.

use crate::config::CHECKPOINT_EVERY;
use crate::core::Core;
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Index};
use machine::{Span, Time};
use space::ObjectId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// When a reign begins, every object thinks again within this time, not all at once.
const THINK_SPREAD: Span = Span::from_millis(500);

/// When objects think.
#[derive(Debug)]
pub(in crate::primary) struct Schedule {
    queue: BTreeSet<(Time, ObjectId)>,
    at: BTreeMap<ObjectId, Time>,
    last_checkpoint: Index,
}

impl Schedule {
    /// The schedule of a reign that begins after this record.
    pub(in crate::primary) const fn new(head: Index) -> Self {
        Self { queue: BTreeSet::new(), at: BTreeMap::new(), last_checkpoint: head }
    }

    /// Lets everything think that does, within a while.
    pub(in crate::primary) fn start(&mut self, core: &mut Core) {
        let rules = Arc::clone(&core.config.rules);
        let mut thinkers: Vec<_> =
            core.state.objects.iter().filter(|it| rules.thinks(&it.state)).map(|it| it.id).collect();
        thinkers.sort_unstable();
        for object in thinkers {
            let wait = core.rng.below(THINK_SPREAD.as_micros());
            self.think_at(object, core.now + Span::from_micros(wait));
        }
    }

    pub(in crate::primary) fn think_at(&mut self, object: ObjectId, at: Time) {
        if let Some(old) = self.at.insert(object, at) {
            self.queue.remove(&(old, object));
        }
        self.queue.insert((at, object));
    }

    /// An object came from another zone: if it thinks, it thinks here from now on.
    pub(in crate::primary) fn adopt(&mut self, core: &Core, object: ObjectId) {
        let Some(it) = core.state.objects.get(object) else { return };
        if core.config.rules.thinks(&it.state) {
            self.think_at(object, core.now);
        }
    }

    /// The next object that is to think now.
    pub(in crate::primary) fn take_due(&mut self, now: Time) -> Option<ObjectId> {
        let &(at, object) = self.queue.first().filter(|it| it.0 <= now)?;
        self.queue.remove(&(at, object));
        self.at.remove(&object);
        Some(object)
    }

    /// When the next object thinks.
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
