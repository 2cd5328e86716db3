//! Finishing: from the result of a call to its record, by the kind of work.

use super::execute::{ExecutedCall, FailedCall};
use super::plan::VisibleObjects;
use super::work::{GameCall, JoinRequest, Work};
use crate::core::{Core, ReplicaEvent};
use crate::msg::{Closed, ToPlayer};
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Outcome};
use crate::rule::Rule;
use game::{CallError, PlayerId, Product, Scope};
use machine::Span;
use space::ObjectId;

/// An NPC whose thought got no locks thinks again after this.
const THINK_AGAIN: Span = Span::from_millis(500);

impl Turn<'_> {
    /// Writes the record of a piece of work that was executed, refused, or got no locks.
    pub(in crate::primary) fn finish(&mut self, work: &Work, result: Result<ExecutedCall, FailedCall>) {
        if let Err(failed) = &result {
            self.report_fault(failed);
        }
        match work {
            Work::Act { player, number, .. } => self.finish_act(*player, *number, result),
            Work::Letter(stamp) => {
                self.finish_delivery(Cause::Letter(*stamp), Change::LetterDone { stamp: *stamp }, result);
            }
            Work::Timer(at, stamp) => {
                let done = Change::TimerDone { stamp: *stamp, at: *at };
                self.finish_delivery(Cause::Timer(*stamp), done, result);
            }
            Work::Think(object) => self.finish_thought(*object, result),
            Work::Join(join) => self.finish_join(join, result),
            Work::Leave(player) => {
                let (cause, left) = (Cause::Leave(*player), Change::Left { player: *player });
                // The player leaves even if the game's code for it fails.
                match result {
                    Ok(executed) => self.write_product(cause, vec![left], executed),
                    Err(_) => self.write(cause, vec![left]),
                }
            }
            // An offer is written by `transfers`, without a call of the game.
            Work::Transfer(_) => (),
        }
    }

    /// Finishes work that is void: an object is gone, or the work was done already. Letters, timers and leaves that are
    /// still in the state get a record, or they would come again.
    pub(in crate::primary) fn finish_void(&mut self, work: &Work) {
        let state = &self.cx.core.state;
        match work {
            Work::Act { player, number, .. } => {
                let row = state.players.get(player);
                if row.is_some_and(|it| it.cursor + 1 == *number && it.avatar.is_none()) {
                    let why = CallError::Fault("there is no avatar to act".to_owned());
                    self.finish(work, Err(FailedCall::refused(why)));
                }
            }
            Work::Letter(stamp) if state.letters.contains_key(stamp) => {
                // Its addressee departed while it waited, or was removed.
                if !self.forward_letter(*stamp) {
                    self.write(Cause::Letter(*stamp), vec![Change::LetterDone { stamp: *stamp }]);
                }
            }
            Work::Timer(at, stamp) if state.timers.contains_key(&(*at, *stamp)) => {
                let done = Change::TimerDone { stamp: *stamp, at: *at };
                self.write(Cause::Timer(*stamp), vec![done]);
            }
            Work::Leave(player) => {
                if state.players.get(player).is_some_and(|it| it.present) {
                    self.write(Cause::Leave(*player), vec![Change::Left { player: *player }]);
                }
            }
            Work::Letter(_) | Work::Timer(..) | Work::Think(_) | Work::Join(_) | Work::Transfer(_) => (),
        }
    }

    fn finish_act(&mut self, player: PlayerId, number: u64, result: Result<ExecutedCall, FailedCall>) {
        // The record also says which results the client has, so that backup and primary forget the same ones.
        let keeps = self.cx.enforces(Rule::KeepResults);
        let acked = if keeps { self.audience.sessions.acked(player) } else { number };
        let cause = Cause::Act(player, number);
        let acted = |outcome| vec![Change::Acted { player, number, outcome, acked }];
        match result {
            Ok(executed) => self.write_product(cause, acted(Outcome::Done), executed),
            Err(failed) => self.write_refused(cause, acted(failed.outcome()), failed.execution),
        }
    }

    fn finish_delivery(&mut self, cause: Cause, done: Change, result: Result<ExecutedCall, FailedCall>) {
        match result {
            Ok(executed) => self.write_product(cause, vec![done], executed),
            Err(failed) => self.write_refused(cause, vec![done], failed.execution),
        }
    }

    fn finish_thought(&mut self, object: ObjectId, result: Result<ExecutedCall, FailedCall>) {
        let now = self.cx.now();
        let executed = match result {
            Ok(executed) => executed,
            Err(FailedCall { why: None, .. }) => return self.schedule.think_at(object, now + THINK_AGAIN),
            Err(_) => return,
        };
        if let Some(after) = executed.output.think_after {
            self.schedule.think_at(object, now + after);
        }
        // A change of course is a move: it needs no record.
        if only_steers_here(self.cx.core, &executed.product) {
            for (object, motion) in executed.product.steered {
                self.audience.steer(&mut self.cx, object, motion);
            }
        } else {
            self.write_product(Cause::Think(object), Vec::new(), executed);
        }
    }

    fn finish_join(&mut self, join: &JoinRequest, result: Result<ExecutedCall, FailedCall>) {
        let refused = ToPlayer::Closed(Closed::Refused);
        let Ok(executed) = result else { return self.cx.send_client(join.from, refused) };
        let Some(avatar) = executed.output.avatar.filter(|it| executed.product.writes.contains_key(it))
        else {
            let fault = "Game::on_join must return an avatar that it spawned";
            self.cx.out.raise(ReplicaEvent::Fault(fault.to_owned()));
            return self.cx.send_client(join.from, refused);
        };
        let (player, session, name) = (join.player, join.session, join.name.clone());
        let entered = Change::Entered { player, session, name, avatar };
        self.write_product(Cause::Join(player), vec![entered], executed);
        // The client may be gone by now. Its player is in the world all the same, and leaves later as missing.
        if self.cx.core.links.contains_key(&join.from) {
            self.audience.attach(&mut self.cx, join.from, player, join.resume);
        }
    }

    /// Lets an NPC think near a border or among locks, without locks. That is allowed if it only changes courses of
    /// this zone's objects; otherwise nothing happens. Returns whether it was.
    pub(in crate::primary) fn think_freely(&mut self, object: ObjectId, scope: &Scope) -> bool {
        let (now, call) = (self.cx.world_now(), GameCall::Think(object));
        let view = VisibleObjects(&self.cx.core.state.objects, self.audience.ghosts());
        let Ok(executed) = self.execute_on(call.call(), scope.clone(), now, &view) else { return false };
        if !only_steers_here(self.cx.core, &executed.product) {
            return false;
        }
        self.finish_thought(object, Ok(executed));
        true
    }
}

/// Returns whether a product changes nothing but courses, and none of another zone's object: that zone would have to be
/// told.
fn only_steers_here(core: &Core, product: &Product) -> bool {
    let here = |it: &ObjectId| core.state.objects.get(*it).is_some();
    product.is_only_moves() && product.steered.keys().all(here)
}
