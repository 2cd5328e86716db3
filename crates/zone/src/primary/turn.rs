//! The only way to the log.
//!
//! A record can be committed only through a [`Turn`], and only [`Primary::in_turn`] opens one. When the turn ends, what
//! it committed goes to the backup and the disk, and what has become safe is announced. So no caller can forget it.

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

    /// The same in the middle of an announcement, which announces on by itself: only replicates.
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
