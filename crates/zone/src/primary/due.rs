//! What happens by itself: letters, timers, thoughts, and checkpoints.

use super::Primary;
use super::work::{Subject, Work};
use crate::config::{CHECKPOINT_EVERY, DUE_MAX};
use crate::core::{Core, Out, Purpose};
use crate::record::{Cause, Change, Stamp};
use machine::{Span, Time};
use space::ObjectId;
use std::collections::{BTreeMap, BTreeSet};

/// When a reign begins, everybody thinks again within this time, not all at once.
const THINK_SPREAD: Span = Span::from_millis(500);

/// Who thinks when, by the replica's own clock. No part of the log: a new primary starts anew.
#[derive(Debug, Default)]
pub(super) struct Thoughts {
    queue: BTreeSet<(Time, ObjectId)>,
    at: BTreeMap<ObjectId, Time>,
}

impl Thoughts {
    pub(super) fn think_at(&mut self, object: ObjectId, at: Time) {
        if let Some(old) = self.at.insert(object, at) {
            self.queue.remove(&(old, object));
        }
        self.queue.insert((at, object));
    }

    fn take_due(&mut self, now: Time) -> Option<ObjectId> {
        let &(at, object) = self.queue.first().filter(|it| it.0 <= now)?;
        self.queue.remove(&(at, object));
        self.at.remove(&object);
        Some(object)
    }

    fn next(&self) -> Option<Time> {
        self.queue.first().map(|it| it.0)
    }
}

impl Primary {
    pub(super) fn start_thinking(&mut self, core: &mut Core) {
        let rules = std::sync::Arc::clone(&core.config.rules);
        let mut thinkers: Vec<_> =
            core.state.objects.iter().filter(|it| rules.thinks(&it.state)).map(|it| it.id).collect();
        thinkers.sort_unstable();
        for object in thinkers {
            let wait = core.rng.below(THINK_SPREAD.as_micros());
            self.thoughts.think_at(object, core.now + Span::from_micros(wait));
        }
    }

    /// Wakes when the next of them is due.
    pub(super) fn set_due(&mut self, core: &mut Core) {
        let letters = self.next_letter(core).map(|_| core.now);
        let timer = self.next_timer(core).map(|it| it.0);
        let timer = timer.map(|at| Self::world_to_own(core, at));
        let next = [letters, timer, self.thoughts.next()].into_iter().flatten().min();
        match next {
            // While choked, time moves on before the next try.
            Some(at) if self.is_choked() => {
                core.timers.set(Purpose::Due, at.max(core.now + core.config.timing.batch))
            }
            Some(at) => core.timers.set(Purpose::Due, at),
            None => core.timers.stop(Purpose::Due),
        }
    }

    pub(super) fn do_due(&mut self, core: &mut Core, out: &mut Out) {
        let mut done = 0;
        while done < DUE_MAX && !self.is_choked() && self.do_one(core, out) {
            done += 1;
        }
        if self.last_checkpoint + CHECKPOINT_EVERY <= core.log.head() {
            let change = Change::Checkpoint { hash: core.state.hash() };
            self.write(core, Cause::Checkpoint, vec![change], out);
            self.last_checkpoint = core.log.head();
        }
        self.seen_to(core, out);
        if core.timers.at(Purpose::Due).is_some_and(|at| at <= core.now) && 0 < done {
            // More is due: let others have their turn first.
            core.wake_after(Purpose::Due, Span::from_micros(100));
        } else if core.timers.at(Purpose::Due).is_some_and(|at| at <= core.now) {
            core.wake_after(Purpose::Due, core.config.timing.batch);
        }
    }

    fn do_one(&mut self, core: &mut Core, out: &mut Out) -> bool {
        if let Some(stamp) = self.next_letter(core) {
            if !self.send_on(core, stamp, out) {
                self.perform(core, Work::Letter(stamp), out);
            }
            return true;
        }
        let now = core.world_now();
        if let Some((at, stamp)) = self.next_timer(core).filter(|it| it.0 <= now) {
            self.perform(core, Work::Timer(at, stamp), out);
            return true;
        }
        let Some(object) = self.thoughts.take_due(core.now) else { return false };
        if core.state.objects.get(object).is_some() {
            self.perform(core, Work::Think(object), out);
        }
        true
    }

    /// The first letter that nobody deals with yet.
    fn next_letter(&self, core: &Core) -> Option<Stamp> {
        let mut letters = core.state.letters.keys().copied();
        if self.jobs.is_idle() {
            return letters.next();
        }
        letters.find(|&it| !self.jobs.is_busy(Subject::Letter(it)))
    }

    /// The first timer that nobody deals with yet.
    fn next_timer(&self, core: &Core) -> Option<(Time, Stamp)> {
        let mut timers = core.state.timers.keys().copied();
        if self.jobs.is_idle() {
            return timers.next();
        }
        timers.find(|it| !self.jobs.is_busy(Subject::Timer(it.1)))
    }

    /// Somebody who came thinks here from now on.
    pub(super) fn start_to_think(&mut self, core: &mut Core, object: ObjectId) {
        let Some(it) = core.state.objects.get(object) else { return };
        if core.config.rules.thinks(&it.state) {
            self.thoughts.think_at(object, core.now);
        }
    }
}
