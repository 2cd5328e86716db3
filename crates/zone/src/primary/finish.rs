//! From what the game made of a work to the record that makes it true.

use super::Primary;
use super::reach::InSight;
use super::work::{Asked, Work};
use super::write::{Executed, Failed};
use crate::core::{Core, Event, Out};
use crate::msg::{Closed, Down};
use crate::plant::Plant;
use crate::record::{Cause, Change, Outcome};
use game::{PlayerId, Product, Refused, Scope};
use machine::Span;
use space::ObjectId;

/// A thinker that found no room thinks again after this.
const THINK_AGAIN: Span = Span::from_millis(500);

impl Primary {
    /// Writes what came of a work.
    pub(super) fn finish(
        &mut self,
        core: &mut Core,
        work: &Work,
        result: Result<Executed, Failed>,
        out: &mut Out,
    ) {
        if let Err(failed) = &result {
            self.tell_fault(failed, out);
        }
        match work {
            Work::Act { player, number, .. } => self.finish_act(core, *player, *number, result, out),
            Work::Letter(stamp) => {
                let done = Change::LetterDone { stamp: *stamp };
                self.finish_delivery(core, Cause::Letter(*stamp), done, result, out);
            }
            Work::Timer(at, stamp) => {
                let done = Change::TimerDone { stamp: *stamp, at: *at };
                self.finish_delivery(core, Cause::Timer(*stamp), done, result, out);
            }
            Work::Think(object) => self.finish_thought(core, *object, result, out),
            Work::Join { .. } => self.finish_join(core, work, result, out),
            Work::Leave(player) => {
                let (cause, left) = (Cause::Leave(*player), Change::Left { player: *player });
                match result {
                    Ok(executed) => self.write_product(core, cause, vec![left], executed, out),
                    Err(_) => self.write(core, cause, vec![left], out),
                }
            }
            Work::Pass(_) => (),
        }
    }

    /// There was nothing to be done: somebody is gone, or it was done already.
    pub(super) fn finish_void(&mut self, core: &mut Core, work: &Work, out: &mut Out) {
        match work {
            Work::Act { player, number, .. } => {
                let row = core.state.players.get(player);
                if row.is_some_and(|it| it.cursor + 1 == *number && it.avatar.is_none()) {
                    let why = Refused::Fault("there is no avatar to act".to_owned());
                    self.finish(core, work, Err(Failed::refused(why)), out);
                }
            }
            Work::Letter(stamp) if core.state.letters.contains_key(stamp) => {
                // Whoever it is for left while it waited, or is gone.
                if !self.send_on(core, *stamp, out) {
                    self.write(core, Cause::Letter(*stamp), vec![Change::LetterDone { stamp: *stamp }], out);
                }
            }
            Work::Timer(at, stamp) if core.state.timers.contains_key(&(*at, *stamp)) => {
                let done = Change::TimerDone { stamp: *stamp, at: *at };
                self.write(core, Cause::Timer(*stamp), vec![done], out);
            }
            Work::Leave(player) => {
                if core.state.players.get(player).is_some_and(|it| it.present) {
                    let left = Change::Left { player: *player };
                    self.write(core, Cause::Leave(*player), vec![left], out);
                }
            }
            Work::Letter(_) | Work::Timer(..) | Work::Think(_) | Work::Join { .. } | Work::Pass(_) => (),
        }
    }

    /// What had to wait for a work.
    pub(super) fn go_on_with(&mut self, core: &mut Core, work: &Work, out: &mut Out) {
        if let Work::Act { player, .. } = work
            && let Some(address) = self.clients.of_player(*player)
        {
            self.act_waiting(core, address, out);
        }
    }

    fn finish_act(
        &mut self,
        core: &mut Core,
        player: PlayerId,
        number: u64,
        result: Result<Executed, Failed>,
        out: &mut Out,
    ) {
        let forgets = core.config.plants.has(Plant::ForgetResults);
        let acked = if forgets { number } else { self.clients.acked(player) };
        let cause = Cause::Act(player, number);
        match result {
            Ok(executed) => {
                let acted = Change::Acted { player, number, outcome: Outcome::Done, acked };
                self.write_product(core, cause, vec![acted], executed, out);
            }
            Err(failed) => {
                let acted = Change::Acted { player, number, outcome: failed.outcome(), acked };
                self.write_noted(core, cause, vec![acted], failed.note.map(|it| *it), out);
            }
        }
    }

    fn finish_delivery(
        &mut self,
        core: &mut Core,
        cause: Cause,
        done: Change,
        result: Result<Executed, Failed>,
        out: &mut Out,
    ) {
        match result {
            Ok(executed) => self.write_product(core, cause, vec![done], executed, out),
            Err(failed) => self.write_noted(core, cause, vec![done], failed.note.map(|it| *it), out),
        }
    }

    fn finish_thought(
        &mut self,
        core: &mut Core,
        object: ObjectId,
        result: Result<Executed, Failed>,
        out: &mut Out,
    ) {
        let executed = match result {
            Ok(executed) => executed,
            Err(Failed { why: None, .. }) => return self.thoughts.think_at(object, core.now + THINK_AGAIN),
            Err(_) => return,
        };
        if let Some(after) = executed.ran.think_after {
            self.thoughts.think_at(object, core.now + after);
        }
        if only_steers_here(core, &executed.product) {
            for (object, motion) in executed.product.steered {
                self.steer(core, object, motion, out);
            }
        } else {
            self.write_product(core, Cause::Think(object), Vec::new(), executed, out);
        }
    }

    /// A thought near a border, or among locks: as long as it only moves the thinker it needs nobody's leave.
    pub(super) fn think_freely(
        &mut self,
        core: &mut Core,
        object: ObjectId,
        scope: &Scope,
        out: &mut Out,
    ) -> bool {
        let now = core.world_now();
        let asked = Asked::Think(object);
        let view = InSight(&core.state.objects, self.borders.ghosts());
        let Ok(executed) = self.execute_on(core, asked.call(), scope.clone(), now, &view) else {
            return false;
        };
        if !only_steers_here(core, &executed.product) {
            return false;
        }
        self.finish_thought(core, object, Ok(executed), out);
        true
    }

    fn finish_join(&mut self, core: &mut Core, work: &Work, result: Result<Executed, Failed>, out: &mut Out) {
        let Work::Join { player, from, session, name, seen } = work else { return };
        let refused = Down::Closed(Closed::Refused);
        let Ok(executed) = result else { return self.say(*from, refused, out) };
        let Some(avatar) = executed.ran.avatar.filter(|it| executed.product.writes.contains_key(it)) else {
            out.raise(Event::Fault("Game::on_join must return an avatar that it spawned".to_owned()));
            return self.say(*from, refused, out);
        };
        let (player, session, name) = (*player, *session, name.clone());
        let entered = Change::Entered { player, session, name, avatar };
        self.write_product(core, Cause::Join(player), vec![entered], executed, out);
        if core.links.contains_key(from) {
            self.attach(core, *from, player, *seen, out);
        }
    }
}

/// Whether nothing but courses changed, and of nothing that is another zone's: that zone must hear of it.
fn only_steers_here(core: &Core, product: &Product) -> bool {
    let here = |it: &ObjectId| core.state.objects.get(*it).is_some();
    product.is_only_moves() && product.steered.keys().all(here)
}
