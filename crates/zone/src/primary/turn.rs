//! The only way to commit a record.
//!
//! `Turn::commit` needs a [`Turn`], and only this file opens one. When the turn ends, what it committed goes to the backup
//! and the disk, and what has become safe is announced. So no caller can forget it.
//!
//! *Committed* here means in this replica's state and log; it is *safe* when [`Replication::committed`] covers it.
//!
//! [`Replication::committed`]: super::replication::Replication::committed

use super::Primary;
use super::audience::Audience;
use super::context::Ctx;
use super::coordination::Coordination;
use super::execution::Schedule;

/// A turn of the primary, in which records may be committed: what `execution` works with.
pub(super) struct Turn<'a> {
    pub(super) cx: Ctx<'a>,
    pub(super) audience: &'a mut Audience,
    pub(super) schedule: &'a mut Schedule,
    /// Keeps every other module from opening a turn.
    _opened_here: (),
}

impl Primary {
    /// Lets `work` commit records; then replicates them, announces what is safe, and sets the timer for what is due.
    pub(super) fn in_turn<R>(
        &mut self,
        cx: &mut Ctx<'_>,
        work: impl FnOnce(&mut Coordination, &mut Turn<'_>) -> R,
    ) -> R {
        let result = self.open_turn(cx, work);
        self.replication.replicate(cx);
        self.advance(cx);
        self.coordination.set_due(cx, &self.audience, &self.schedule);
        result
    }

    /// The same at the end of an announcement, for actions that had to wait for room: only replicates. What it committed is
    /// announced when it is acknowledged, and what is due is looked at with the next turn.
    pub(super) fn in_turn_while_announcing(
        &mut self,
        cx: &mut Ctx<'_>,
        work: impl FnOnce(&mut Coordination, &mut Turn<'_>),
    ) {
        let before = cx.core.log.head();
        self.open_turn(cx, work);
        if before < cx.core.log.head() {
            self.replication.replicate(cx);
        }
    }

    fn open_turn<R>(
        &mut self,
        cx: &mut Ctx<'_>,
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
