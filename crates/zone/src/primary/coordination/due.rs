//! What happens by itself: letters, timers and thoughts whose time has come.

use super::Coordination;
use crate::config::DUE_MAX;
use crate::core::{Core, Purpose};
use crate::primary::audience::Audience;
use crate::primary::context::Ctx;
use crate::primary::execution::{Schedule, Subject, Work};
use crate::primary::turn::Turn;
use crate::record::Stamp;
use machine::{Span, Time};

impl Coordination {
    /// Does what is due, up to a limit; how much that was.
    pub(in crate::primary) fn do_due(&mut self, turn: &mut Turn<'_>) -> usize {
        let mut done = 0;
        while done < DUE_MAX && !turn.audience.is_choked() && self.do_one(turn) {
            done += 1;
        }
        done
    }

    fn do_one(&mut self, turn: &mut Turn<'_>) -> bool {
        if let Some(stamp) = self.next_letter(turn.cx.core) {
            if !turn.forward_letter(stamp) {
                self.perform(turn, Work::Letter(stamp));
            }
            return true;
        }
        let now = turn.cx.world_now();
        if let Some((at, stamp)) = self.next_timer(turn.cx.core).filter(|it| it.0 <= now) {
            self.perform(turn, Work::Timer(at, stamp));
            return true;
        }
        let Some(object) = turn.schedule.take_due(turn.cx.now()) else { return false };
        if turn.cx.core.state.objects.get(object).is_some() {
            self.perform(turn, Work::Think(object));
        }
        true
    }

    /// Sets the timer for whatever is due next.
    pub(in crate::primary) fn set_due(&self, cx: &mut Ctx<'_>, audience: &Audience, schedule: &Schedule) {
        let letters = self.next_letter(cx.core).map(|_| cx.now());
        let timer = self.next_timer(cx.core).map(|it| it.0);
        let timer = timer.map(|at| world_to_own(cx.core, at));
        let next = [letters, timer, schedule.next()].into_iter().flatten().min();
        match next {
            // While choked, time moves on before the next try.
            Some(at) if audience.is_choked() => {
                let soonest = cx.now() + cx.core.config.timing.batch;
                cx.core.timers.set(Purpose::Due, at.max(soonest));
            }
            Some(at) => cx.core.timers.set(Purpose::Due, at),
            None => cx.core.timers.stop(Purpose::Due),
        }
    }

    /// The first letter that no job deals with yet.
    fn next_letter(&self, core: &Core) -> Option<Stamp> {
        let mut letters = core.state.letters.keys().copied();
        if self.jobs.is_idle() {
            return letters.next();
        }
        letters.find(|&it| !self.jobs.is_busy(Subject::Letter(it)))
    }

    /// The first timer that no job deals with yet.
    fn next_timer(&self, core: &Core) -> Option<(Time, Stamp)> {
        let mut timers = core.state.timers.keys().copied();
        if self.jobs.is_idle() {
            return timers.next();
        }
        timers.find(|it| !self.jobs.is_busy(Subject::Timer(it.1)))
    }
}

/// When to wake for a moment of world time. The world's clock may run slower than ours for a while, so not too soon: no
/// player notices a millisecond.
fn world_to_own(core: &mut Core, at: Time) -> Time {
    let left = at.since(core.world_now());
    if left == Span::ZERO { core.now } else { core.now + left.max(Span::from_millis(1)) }
}
