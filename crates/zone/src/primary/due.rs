//! What happens by itself: letters, timers, thoughts, and checkpoints.

use super::Primary;
use super::write::is_there;
use crate::config::{CHECKPOINT_EVERY, DUE_MAX};
use crate::core::{Core, Out, Purpose};
use crate::record::{Cause, Change};
use game::{Addressee, Call};
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
        let letters = (!core.state.letters.is_empty()).then_some(core.now);
        let timer = core.state.timers.keys().next().map(|&(at, _)| at);
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
        let now = core.world_now();
        if let Some((&stamp, letter)) = core.state.letters.iter().next() {
            let (letter, done) = (letter.clone(), Change::LetterDone { stamp });
            self.deliver(core, Cause::Letter(stamp), letter.to, &letter.letter, done, out);
            return true;
        }
        if let Some((&(at, stamp), timer)) = core.state.timers.iter().next().filter(|it| it.0.0 <= now) {
            let (timer, done) = (timer.clone(), Change::TimerDone { stamp, at });
            self.deliver(
                core,
                Cause::Timer(stamp),
                Addressee::Object(timer.object),
                &timer.letter,
                done,
                out,
            );
            return true;
        }
        let Some(object) = self.thoughts.take_due(core.now) else { return false };
        self.think(core, object, out);
        true
    }

    fn deliver(
        &mut self,
        core: &mut Core,
        cause: Cause,
        to: Addressee,
        letter: &[u8],
        done: Change,
        out: &mut Out,
    ) {
        if !is_there(core, to) {
            return self.write(core, cause, vec![done], out);
        }
        match self.execute(core, Call::Letter { to, letter }) {
            Ok(executed) => self.write_product(core, cause, vec![done], executed, out),
            Err(failed) => {
                self.tell_fault(failed.why, out);
                self.write_noted(core, cause, vec![done], failed.note.map(|it| *it), out);
            }
        }
    }

    fn think(&mut self, core: &mut Core, object: ObjectId, out: &mut Out) {
        if core.state.objects.get(object).is_none() {
            return;
        }
        match self.execute(core, Call::Think { object }) {
            Ok(executed) => {
                if let Some(after) = executed.ran.think_after {
                    self.thoughts.think_at(object, core.now + after);
                }
                if executed.product.is_only_moves() {
                    for (object, motion) in executed.product.steered {
                        self.steer(core, object, motion, out);
                    }
                } else {
                    self.write_product(core, Cause::Think(object), Vec::new(), executed, out);
                }
            }
            Err(failed) => self.tell_fault(failed.why, out),
        }
    }
}
