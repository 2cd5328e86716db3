//! Due work: letters, timers and thoughts whose time has come.

use super::Coordination;
use crate::config::DUE_MAX;
use crate::core::{Core, ReplicaTimer};
use crate::primary::audience::Audience;
use crate::primary::context::PrimaryContext;
use crate::primary::execution::{ThinkSchedule, Work, WorkKey};
use crate::primary::turn::Turn;
use crate::record::Stamp;
use machine::{Span, Time};

impl Coordination {
    /// Executes due work, up to `DUE_MAX` pieces; returns how many.
    pub(in crate::primary) fn run_due(&mut self, turn: &mut Turn<'_>) -> usize {
        let mut done = 0;
        while done < DUE_MAX && !turn.audience.is_backlogged() && self.run_next_due(turn) {
            done += 1;
        }
        done
    }

    fn run_next_due(&mut self, turn: &mut Turn<'_>) -> bool {
        // Letters first: they are due since they were sent.
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
        // An object that was removed or departed is still in the schedule.
        if turn.cx.core.state.objects.get(object).is_some() {
            self.perform(turn, Work::Think(object));
        }
        true
    }

    /// Sets the timer for the work that is due next.
    pub(in crate::primary) fn set_due_timer(
        &self,
        cx: &mut PrimaryContext<'_>,
        audience: &Audience,
        schedule: &ThinkSchedule,
    ) {
        let letters = self.next_letter(cx.core).map(|_| cx.now());
        let timer = self.next_timer(cx.core).map(|it| it.0);
        let timer = timer.map(|at| world_to_own(cx.core, at));
        let next = [letters, timer, schedule.next()].into_iter().flatten().min();
        match next {
            // While there is a backlog no due work runs: trying again at once would spin.
            Some(at) if audience.is_backlogged() => {
                let soonest = cx.now() + cx.core.config.timing.batch;
                cx.core.timers.set(ReplicaTimer::Due, at.max(soonest));
            }
            Some(at) => cx.core.timers.set(ReplicaTimer::Due, at),
            None => cx.core.timers.stop(ReplicaTimer::Due),
        }
    }

    /// The first letter for which there is no job yet.
    fn next_letter(&self, core: &Core) -> Option<Stamp> {
        let mut letters = core.state.letters.keys().copied();
        if self.jobs.is_idle() {
            return letters.next();
        }
        letters.find(|&it| !self.jobs.is_busy(WorkKey::Letter(it)))
    }

    /// The first timer for which there is no job yet.
    fn next_timer(&self, core: &Core) -> Option<(Time, Stamp)> {
        let mut timers = core.state.timers.keys().copied();
        if self.jobs.is_idle() {
            return timers.next();
        }
        timers.find(|it| !self.jobs.is_busy(WorkKey::Timer(it.1)))
    }
}

/// The time on the replica's own clock at which to wake for a moment of world time. World time may run slower for a
/// while, so it waits a millisecond at least: otherwise it would wake too early again and again.
fn world_to_own(core: &mut Core, at: Time) -> Time {
    let left = at.since(core.world_now());
    if left == Span::ZERO { core.now } else { core.now + left.max(Span::from_millis(1)) }
}
