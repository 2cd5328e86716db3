//! The only way to commit a record.
//!
//! `Turn::commit` needs a [`Turn`], and only this file opens one. When the turn ends, its records go to the backup
//! and the disk, and the records that have become safe (`Replication::safe`) are announced. So no caller can forget it.

use super::Primary;
use super::audience::Audience;
use super::context::PrimaryContext;
use super::coordination::Coordination;
use super::execution::{ThinkSchedule, Work};

/// A turn of the primary, in which records may be committed: the parts that `execution` works with.
pub(super) struct Turn<'a> {
    pub(super) cx: PrimaryContext<'a>,
    pub(super) audience: &'a mut Audience,
    pub(super) schedule: &'a mut ThinkSchedule,
    /// Keeps every other module from opening a turn.
    _opened_here: (),
}

impl Turn<'_> {
    /// Notes the piece of work to which the calls of the game belong from now on, for a watchdog.
    pub(super) fn note_work(&self, work: Option<&Work>) {
        let core = &*self.cx.core;
        core.config.calls.set_work(work.and_then(|it| it.suspect(&core.state)));
    }
}

impl Primary {
    /// Lets `work` commit records; then replicates them, announces the safe ones, and sets the timer for due work.
    pub(super) fn in_turn<R>(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        work: impl FnOnce(&mut Coordination, &mut Turn<'_>) -> R,
    ) -> R {
        let result = self.open_turn(cx, work);
        self.replication.replicate(cx);
        self.advance(cx);
        // Last: what was just announced may have let actions run that sent letters or set timers.
        self.coordination.set_due_timer(cx, &self.audience, &self.schedule);
        result
    }

    /// Opens a turn at the end of an announcement, for actions that had to wait for room. It only replicates: its
    /// records are announced when they are safe, and the timer for due work is set by the next turn.
    pub(super) fn in_turn_while_announcing(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        work: impl FnOnce(&mut Coordination, &mut Turn<'_>),
    ) {
        // No `advance` here: it is what called this, and would recurse.
        let before = cx.core.log.head();
        self.open_turn(cx, work);
        if before < cx.core.log.head() {
            self.replication.replicate(cx);
        }
    }

    fn open_turn<R>(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        work: impl FnOnce(&mut Coordination, &mut Turn<'_>) -> R,
    ) -> R {
        let mut turn = Turn {
            cx: cx.reborrow(),
            audience: &mut self.audience,
            schedule: &mut self.schedule,
            _opened_here: (),
        };
        work(&mut self.coordination, &mut turn)
    }
}
