//! Work is executed at once if nothing is in the way; otherwise it waits as a job.

use super::Coordination;
use crate::config::STALE_AFTER;
use crate::primary::execution::{Failed, Subject, Work, may_be_refused};
use crate::primary::turn::Turn;
use crate::rule::Rule;
use machine::{Address, Time};

impl Coordination {
    /// Does something, at once if nothing is in the way.
    pub(in crate::primary) fn perform(&mut self, turn: &mut Turn<'_>, work: Work) {
        let now = turn.cx.now();
        self.perform_since(turn, work, now);
    }

    /// Does something that was wanted a while ago.
    fn perform_since(&mut self, turn: &mut Turn<'_>, work: Work, since: Time) {
        let Some(call) = work.game_call(&turn.cx.core.state) else { return turn.finish_void(&work) };
        let now = turn.cx.world_now();
        turn.cx.core.state.objects.refresh(now);
        let reach = turn.reach(call.call(), now);
        let objects = &turn.cx.core.state.objects;
        let free = self.locks.is_empty() || !self.locks.blocks(&reach.claim(), objects, now);
        if reach.zones == [turn.cx.zone()] && free {
            let executed = match reach.refused {
                Some(why) => Err(Failed::refused(why)),
                None => turn.execute(call.call(), reach.scope),
            };
            return turn.finish(&work, executed);
        }
        if let Work::Think(object) = work
            && turn.think_freely(object, &reach.scope)
        {
            return;
        }
        // An action that has waited for so long, and would have to wait on, is answered "busy": a backlog must not grow
        // older and older.
        if STALE_AFTER < turn.cx.now().since(since) && may_be_refused(&turn.cx.core.state, &work) {
            return turn.finish(&work, Err(Failed::busy()));
        }
        self.start_job(turn, work, reach);
    }

    /// Executes an action that its player's client sent a while ago.
    pub(in crate::primary) fn act(&mut self, turn: &mut Turn<'_>, work: Work, since: Time) {
        if turn.cx.enforces(Rule::ActionsInOrder) {
            self.perform_since(turn, work, since);
        } else {
            turn.act_out_of_order(&work);
        }
    }

    /// Executes the actions of a client that waited for the one before them.
    pub(in crate::primary) fn act_waiting(&mut self, turn: &mut Turn<'_>, from: Address) {
        while !turn.audience.is_choked() {
            let Some(player) = turn.audience.sessions.player(from) else { return };
            if self.is_busy(Subject::Player(player)) {
                return;
            }
            let cursor = turn.cx.core.state.players.get(&player).map_or(0, |it| it.cursor);
            let Some((action, since)) = turn.audience.sessions.take_next(from, cursor) else { return };
            self.act(turn, Work::Act { player, number: cursor + 1, action }, since);
        }
        turn.audience.sessions.starve();
    }

    /// Goes on with what had to wait for a work: the next action of the same player.
    pub(super) fn resume_waiting(&mut self, turn: &mut Turn<'_>, work: &Work) {
        if let Work::Act { player, .. } = work
            && let Some(address) = turn.audience.sessions.of_player(*player)
        {
            self.act_waiting(turn, address);
        }
    }
}
