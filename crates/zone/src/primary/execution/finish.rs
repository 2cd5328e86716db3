//! From what the game made of a work to the record that makes it true, by the kind of work.

use super::execute::{Executed, Failed};
use super::plan::InSight;
use super::work::{GameCall, Join, Work};
use crate::core::{Core, Event};
use crate::msg::{Closed, Down};
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Outcome};
use crate::rule::Rule;
use game::{PlayerId, Product, Refused, Scope};
use machine::Span;
use space::ObjectId;

/// An object that thinks and found no room thinks again after this.
const THINK_AGAIN: Span = Span::from_millis(500);

impl Turn<'_> {
    /// Writes what came of a work.
    pub(in crate::primary) fn finish(&mut self, work: &Work, result: Result<Executed, Failed>) {
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
                match result {
                    Ok(executed) => self.write_product(cause, vec![left], executed),
                    Err(_) => self.write(cause, vec![left]),
                }
            }
            Work::Transfer(_) => (),
        }
    }

    /// There was nothing to be done: an object is gone, or the work was done already.
    pub(in crate::primary) fn finish_void(&mut self, work: &Work) {
        let state = &self.cx.core.state;
        match work {
            Work::Act { player, number, .. } => {
                let row = state.players.get(player);
                if row.is_some_and(|it| it.cursor + 1 == *number && it.avatar.is_none()) {
                    let why = Refused::Fault("there is no avatar to act".to_owned());
                    self.finish(work, Err(Failed::refused(why)));
                }
            }
            Work::Letter(stamp) if state.letters.contains_key(stamp) => {
                // Its addressee left while it waited, or is gone.
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

    fn finish_act(&mut self, player: PlayerId, number: u64, result: Result<Executed, Failed>) {
        let keeps = self.cx.enforces(Rule::KeepResults);
        let acked = if keeps { self.audience.sessions.acked(player) } else { number };
        let cause = Cause::Act(player, number);
        let acted = |outcome| vec![Change::Acted { player, number, outcome, acked }];
        match result {
            Ok(executed) => self.write_product(cause, acted(Outcome::Done), executed),
            Err(failed) => self.write_noted(cause, acted(failed.outcome()), failed.note),
        }
    }

    fn finish_delivery(&mut self, cause: Cause, done: Change, result: Result<Executed, Failed>) {
        match result {
            Ok(executed) => self.write_product(cause, vec![done], executed),
            Err(failed) => self.write_noted(cause, vec![done], failed.note),
        }
    }

    fn finish_thought(&mut self, object: ObjectId, result: Result<Executed, Failed>) {
        let now = self.cx.now();
        let executed = match result {
            Ok(executed) => executed,
            Err(Failed { why: None, .. }) => return self.schedule.think_at(object, now + THINK_AGAIN),
            Err(_) => return,
        };
        if let Some(after) = executed.ran.think_after {
            self.schedule.think_at(object, now + after);
        }
        if only_steers_here(self.cx.core, &executed.product) {
            for (object, motion) in executed.product.steered {
                self.audience.steer(&mut self.cx, object, motion);
            }
        } else {
            self.write_product(Cause::Think(object), Vec::new(), executed);
        }
    }

    fn finish_join(&mut self, join: &Join, result: Result<Executed, Failed>) {
        let refused = Down::Closed(Closed::Refused);
        let Ok(executed) = result else { return self.cx.say(join.from, refused) };
        let Some(avatar) = executed.ran.avatar.filter(|it| executed.product.writes.contains_key(it)) else {
            let fault = "Game::on_join must return an avatar that it spawned";
            self.cx.out.raise(Event::Fault(fault.to_owned()));
            return self.cx.say(join.from, refused);
        };
        let (player, session, name) = (join.player, join.session, join.name.clone());
        let entered = Change::Entered { player, session, name, avatar };
        self.write_product(Cause::Join(player), vec![entered], executed);
        if self.cx.core.links.contains_key(&join.from) {
            self.audience.attach(&mut self.cx, join.from, player, join.seen);
        }
    }

    /// Lets an object think near a border, or among locks: as long as it only changes its course it needs no lock.
    /// Whether that was so.
    pub(in crate::primary) fn think_freely(&mut self, object: ObjectId, scope: &Scope) -> bool {
        let (now, call) = (self.cx.world_now(), GameCall::Think(object));
        let view = InSight(&self.cx.core.state.objects, self.audience.ghosts());
        let Ok(executed) = self.execute_on(call.call(), scope.clone(), now, &view) else { return false };
        if !only_steers_here(self.cx.core, &executed.product) {
            return false;
        }
        self.finish_thought(object, Ok(executed));
        true
    }
}

/// Whether nothing but courses changed, and of no object of another zone: that zone must hear of it.
fn only_steers_here(core: &Core, product: &Product) -> bool {
    let here = |it: &ObjectId| core.state.objects.get(*it).is_some();
    product.is_only_moves() && product.steered.keys().all(here)
}
