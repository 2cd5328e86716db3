//! The coordination executes work at once if nothing is in the way; otherwise it keeps the work as a job.

use super::{ActionCost, Coordination};
use crate::config::STALE_AFTER;
use crate::primary::execution::{FailedCall, Work, WorkKey, may_be_refused};
use crate::primary::turn::Turn;
use crate::rule::Rule;
use machine::{Address, Time};

impl Coordination {
    /// Executes work: at once if nothing is in the way, otherwise as a job.
    pub(in crate::primary) fn perform(&mut self, turn: &mut Turn<'_>, work: Work) {
        let now = turn.cx.now();
        self.perform_since(turn, work, now);
    }

    /// Executes work that has waited since `since`.
    fn perform_since(&mut self, turn: &mut Turn<'_>, work: Work, since: Time) {
        turn.note_work(Some(&work));
        self.perform_noted(turn, work, since);
        turn.note_work(None);
    }

    fn perform_noted(&mut self, turn: &mut Turn<'_>, work: Work, since: Time) {
        let Some(call) = work.game_call(&turn.cx.core.state) else { return turn.finish_void(&work) };
        let now = turn.cx.world_now();
        turn.cx.core.state.objects.refresh(now);
        let reach = turn.reach_of(&work, call.call(), now);
        let objects = &turn.cx.core.state.objects;
        // `is_empty` first: without locks, which is the rule, there is nothing to search.
        let free = self.locks.is_empty() || !self.locks.blocks(&reach.claim(), objects, now);
        let is_here = reach.zones == [turn.cx.zone()];
        if let Work::Act { player, .. } = &work {
            // Before it is known whether the game refuses it: a refused one costs as much.
            self.pace.charge(*player, turn.cx.now(), ActionCost::Zones(reach.zones.len()));
        }
        if is_here && free {
            let executed = match reach.refused {
                Some(why) => Err(FailedCall::refused(why)),
                None => turn.execute(call.call(), reach.scope),
            };
            return turn.finish(&work, executed);
        }
        if let Work::Think(object) = work
            && turn.fault_of_suspect(&work).is_none()
            && turn.think_freely(object, &reach.scope)
        {
            return;
        }
        // An action that has waited for so long, and would have to wait on, is answered "busy": otherwise a player's
        // backlog would grow older and older.
        if STALE_AFTER < turn.cx.now().since(since) && may_be_refused(&turn.cx.core.state, &work) {
            return turn.finish(&work, Err(FailedCall::busy()));
        }
        self.start_job(turn, work, reach);
    }

    /// Executes an action that arrived at `since`.
    pub(in crate::primary) fn run_action(&mut self, turn: &mut Turn<'_>, work: Work, since: Time) {
        if turn.cx.enforces(Rule::ActionsInOrder) {
            self.perform_since(turn, work, since);
        } else {
            turn.run_action_out_of_order(&work);
        }
    }

    /// Executes the actions of a client that waited, in order, until one is missing or there is no room.
    pub(in crate::primary) fn run_waiting_actions(&mut self, turn: &mut Turn<'_>, from: Address) {
        while !turn.audience.is_backlogged() {
            let Some(player) = turn.audience.sessions.player(from) else { return };
            if self.is_busy(WorkKey::Player(player)) {
                return;
            }
            if !self.pace.allows(player, turn.cx.now()) {
                return turn.audience.sessions.wait_for_pace();
            }
            let cursor = turn.cx.core.state.players.get(&player).map_or(0, |it| it.cursor);
            let Some((action, since)) = turn.audience.sessions.take_next_action(from, cursor) else { return };
            self.run_action(turn, Work::Act { player, number: cursor + 1, action }, since);
        }
        // The loop ended for lack of room: `advance` resumes the rest.
        turn.audience.sessions.wait_for_room();
    }

    /// Executes what waited for this work to end: the next actions of the same player.
    pub(super) fn resume_waiting(&mut self, turn: &mut Turn<'_>, work: &Work) {
        if let Work::Act { player, .. } = work
            && let Some(address) = turn.audience.sessions.of_player(*player)
        {
            self.run_waiting_actions(turn, address);
        }
    }
}
