//! The primary takes the messages of clients, which enter, act, move and leave.

use super::audience::ResumePoint;
use super::context::PrimaryContext;
use super::execution::{JoinRequest, Work, WorkKey, entrance_zone, may_refuse_actions};
use super::{Primary, broken};
use crate::config::BUSY_ANSWERS_MAX;
use crate::core::{Core, ReplicaOutbox, ReplicaTimer};
use crate::mesh::EntityId;
use crate::msg::{Closed, FromPlayer, ToPlayer};
use crate::record::{Cause, Change, Outcome};
use crate::rule::Rule;
use game::PlayerId;
use game::config::NAME_MAX;
use machine::{Address, Time};
use serde_bytes::ByteBuf;

impl Primary {
    pub(crate) fn on_player_message(
        &mut self,
        core: &mut Core,
        from: Address,
        msg: FromPlayer,
        out: &mut ReplicaOutbox,
    ) {
        let mut cx = self.ctx(core, out);
        match msg {
            FromPlayer::Enter { player, session, name, seen } => {
                let resume = ResumePoint::of(cx.core, seen);
                self.on_enter(&mut cx, JoinRequest { player, from, session, name, resume });
            }
            FromPlayer::Act { number, acked, motion, action } => {
                // The motion first: the action is executed from where the client saw its avatar.
                self.audience.on_move(&mut cx, from, &motion);
                self.on_act(&mut cx, from, number, acked, action);
            }
            FromPlayer::Move(motion) => self.audience.on_move(&mut cx, from, &motion),
            FromPlayer::Ack(acked) => drop(self.audience.sessions.acknowledge(from, acked)),
            FromPlayer::Leave => self.on_leave(&mut cx, from),
        }
    }

    // Actions.

    /// A client sends an action. The next one in order is executed; an earlier one is answered again; a later one
    /// waits.
    fn on_act(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        from: Address,
        number: u64,
        acked: u64,
        action: ByteBuf,
    ) {
        let Some(player) = self.audience.sessions.acknowledge(from, acked) else { return };
        let cursor = cx.core.state.players.get(&player).map_or(0, |it| it.cursor);
        let is_next = number == cursor + 1 || !cx.enforces(Rule::ActionsInOrder);
        let is_backlogged = self.audience.is_backlogged();
        let is_busy = self.coordination.is_busy(WorkKey::Player(player));
        let is_paced = is_next && !self.coordination.pace.allows(player, cx.now());
        if is_next && !is_backlogged && !is_busy && !is_paced {
            let since = cx.now();
            self.in_turn(cx, |coordination, turn| {
                coordination.run_action(turn, Work::Act { player, number, action }, since);
                coordination.run_waiting_actions(turn, from);
            });
        } else if number <= cursor {
            self.answer_again(cx, from, player, number);
        } else {
            // `advance` looks for waiting actions only if one waits for room: others wait for an earlier action.
            if is_backlogged {
                self.audience.sessions.wait_for_room();
            }
            if is_paced {
                self.audience.sessions.wait_for_pace();
            }
            self.audience.sessions.queue_action(from, number, action, cx.now());
        }
    }

    /// Sends the result of an earlier action again, if it is announced and still kept.
    fn answer_again(&self, cx: &mut PrimaryContext<'_>, from: Address, player: PlayerId, number: u64) {
        // A result that is not announced yet is not safe: the client hears of it with its record.
        if !cx.enforces(Rule::KeepResults) || self.audience.unannounced.answers(player, number) {
            return;
        }
        let outcome = cx.core.state.players.get(&player).and_then(|it| it.result(number)).cloned();
        if let Some(outcome) = outcome {
            cx.send_client(from, ToPlayer::Result { number, outcome, index: 0 });
        }
    }

    /// Runs the actions that waited for room, if there is room again.
    pub(super) fn resume_backlogged(&mut self, cx: &mut PrimaryContext<'_>) {
        if self.audience.is_backlogged() {
            return;
        }
        let waiting = self.audience.sessions.take_waiting_for_room();
        if waiting.is_empty() {
            return;
        }
        self.in_turn_while_announcing(cx, |coordination, turn| {
            for address in waiting {
                coordination.run_waiting_actions(turn, address);
            }
        });
    }

    /// Runs the actions that waited for their player's bucket, if it holds enough again.
    pub(super) fn resume_paced(&mut self, cx: &mut PrimaryContext<'_>) {
        let waiting = self.audience.sessions.take_paced();
        self.in_turn(cx, |coordination, turn| {
            for address in waiting {
                coordination.run_waiting_actions(turn, address);
            }
        });
    }

    /// Answers "busy" to the actions that have waited for their player's bucket for too long: all of them in one record,
    /// which makes sure that no later primary executes them.
    pub(super) fn answer_old_actions(&mut self, cx: &mut PrimaryContext<'_>) {
        if self.audience.is_backlogged() {
            return;
        }
        let now = cx.now();
        let mut changes = Vec::new();
        for address in self.audience.sessions.with_actions() {
            let Some(player) = self.audience.sessions.player(address) else { continue };
            let row = cx.core.state.players.get(&player);
            let Some(mut number) = row.map(|it| it.cursor) else { continue };
            if self.coordination.is_busy(WorkKey::Player(player))
                || !may_refuse_actions(&cx.core.state, player)
            {
                continue;
            }
            let old = self.audience.sessions.take_old_actions(address, number, now);
            if !cx.enforces(Rule::LogBusyAnswers) {
                broken::answer_busy_unlogged(cx, &mut self.audience, address, number, old);
                continue;
            }
            let acked = self.audience.sessions.acked(player);
            for _ in old {
                number += 1;
                changes.push(Change::Acted { player, number, outcome: Outcome::Busy, acked });
            }
            if BUSY_ANSWERS_MAX <= changes.len() {
                break; // The rest is answered in the next turn.
            }
        }
        if !changes.is_empty() {
            self.in_turn(cx, |_, turn| turn.write(Cause::Busy, changes));
        }
    }

    // Coming and going.

    fn on_enter(&mut self, cx: &mut PrimaryContext<'_>, join: JoinRequest) {
        let JoinRequest { player, from, session, resume, .. } = join;
        if self.audience.sessions.is_entering(from, player) {
            return; // Asked twice; the answer is on its way.
        }
        let is_repeated = self.audience.sessions.is_in_over(cx.core, from, player, session);
        if is_repeated && cx.enforces(Rule::RecogniseRepeatedEntries) {
            // Nothing is lost over one link: the client has seen, or will see, all that it was sent.
            return self.audience.tell_entered(cx, from);
        }
        if self.coordination.is_busy(WorkKey::Player(player)) {
            return; // An event of the player is under way; the client asks again.
        }
        self.audience.sessions.count_repeated_entry(is_repeated);
        let row = cx.core.state.players.get(&player);
        if row.is_some_and(|it| session < it.session) {
            return cx.send_client(from, ToPlayer::Closed(Closed::Superseded));
        }
        let resumes = row.is_some_and(|it| it.present && it.session == session && it.avatar.is_some());
        // A player who reconnects has a place already; only new sessions count against the limit.
        if !resumes && cx.core.config.players_max <= self.audience.sessions.len() {
            return cx.send_client(from, ToPlayer::Closed(Closed::Full));
        }
        // Another zone knows this player, or will: the client asks there.
        if row.is_none() && !may_begin(cx.core, player) {
            return cx.send_client(from, ToPlayer::NotHere { primary: None });
        }
        let avatar = row.and_then(|it| it.avatar);
        let name: String = join.name.chars().filter(|it| !it.is_control()).take(NAME_MAX).collect();
        self.in_turn(cx, |coordination, turn| {
            // Without an avatar the game must spawn one, which may have to wait for locks.
            let Some(avatar) = avatar else {
                return coordination.perform(turn, Work::Join(JoinRequest { name, ..join }));
            };
            if !resumes {
                let entered = Change::Entered { player, session, name, avatar };
                turn.write(Cause::Join(player), vec![entered]);
            }
            turn.audience.attach(&mut turn.cx, from, player, resume);
        });
        self.audience.admit_waiting(cx);
    }

    fn on_leave(&mut self, cx: &mut PrimaryContext<'_>, from: Address) {
        let Some(player) = self.audience.detach(cx, from) else { return };
        if self.coordination.is_busy(WorkKey::Player(player)) {
            // Missing since the beginning of time: `overdue` ends the session as soon as the event under way is over.
            return self.audience.sessions.mark_missing(player, Time::ZERO);
        }
        self.leave(cx, player);
    }

    fn leave(&mut self, cx: &mut PrimaryContext<'_>, player: PlayerId) {
        self.in_turn(cx, |coordination, turn| {
            if turn.cx.core.state.players.get(&player).is_some_and(|it| it.present) {
                coordination.perform(turn, Work::Leave(player));
            }
        });
    }

    pub(super) fn on_views_due(&mut self, cx: &mut PrimaryContext<'_>) {
        cx.core.wake_after(ReplicaTimer::Views, cx.core.config.timing.views);
        self.audience.update_views(cx);
        self.end_overdue_sessions(cx);
    }

    fn end_overdue_sessions(&mut self, cx: &mut PrimaryContext<'_>) {
        for player in self.audience.sessions.overdue(cx.core) {
            if self.audience.is_backlogged() {
                return;
            }
            // A player who moved to another zone is only forgotten here.
            let is_here = cx.core.state.players.contains_key(&player);
            if is_here && self.coordination.is_busy(WorkKey::Player(player)) {
                continue;
            }
            self.audience.sessions.forget_missing(player);
            self.leave(cx, player);
        }
    }
}

/// Returns whether a player whom this zone does not know may begin here: each begins once, in the zone of its entrance.
fn may_begin(core: &Core, player: PlayerId) -> bool {
    !core.config.is_meshed()
        || entrance_zone(core, player) == core.config.zone
            && !core.state.mesh.locations.contains_key(&EntityId::Player(player))
}
