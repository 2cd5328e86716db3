//! What clients want: to enter, to act, to leave.

use super::Primary;
use super::audience::Seen;
use super::context::Ctx;
use super::execution::{Join, Subject, Work, entrance_zone};
use crate::core::{Core, Out, Purpose};
use crate::mesh::Being;
use crate::msg::{Closed, Down, Up};
use crate::record::{Cause, Change};
use crate::rule::Rule;
use game::PlayerId;
use game::config::NAME_MAX;
use machine::{Address, Time};
use serde_bytes::ByteBuf;

impl Primary {
    pub(crate) fn on_up(&mut self, core: &mut Core, from: Address, up: Up, out: &mut Out) {
        let mut cx = self.ctx(core, out);
        match up {
            Up::Enter { player, session, name, seen } => {
                let seen = Seen::of(cx.core, seen);
                self.on_enter(&mut cx, Join { player, from, session, name, seen });
            }
            Up::Act { number, acked, motion, action } => {
                self.audience.on_move(&mut cx, from, &motion);
                self.on_act(&mut cx, from, number, acked, action);
            }
            Up::Move(motion) => self.audience.on_move(&mut cx, from, &motion),
            Up::Ack(acked) => drop(self.audience.sessions.acknowledge(from, acked)),
            Up::Leave => self.on_leave(&mut cx, from),
        }
    }

    // Actions.

    /// A client sends an action. The next one in order is executed; an earlier one is answered again; a later one waits.
    fn on_act(&mut self, cx: &mut Ctx<'_>, from: Address, number: u64, acked: u64, action: ByteBuf) {
        let Some(player) = self.audience.sessions.acknowledge(from, acked) else { return };
        let cursor = cx.core.state.players.get(&player).map_or(0, |it| it.cursor);
        let is_next = number == cursor + 1 || !cx.enforces(Rule::ActionsInOrder);
        let choked = self.audience.is_choked();
        if is_next && !choked && !self.coordination.is_busy(Subject::Player(player)) {
            let since = cx.now();
            self.in_turn(cx, |coordination, turn| {
                coordination.act(turn, Work::Act { player, number, action }, since);
                coordination.act_waiting(turn, from);
            });
        } else if number <= cursor {
            self.answer_again(cx, from, player, number);
        } else {
            if choked {
                self.audience.sessions.starve();
            }
            self.audience.sessions.keep_ahead(from, number, action, cx.now());
        }
    }

    /// Answers an action that was dealt with before, if the result is announced and still kept.
    fn answer_again(&self, cx: &mut Ctx<'_>, from: Address, player: PlayerId, number: u64) {
        if !cx.enforces(Rule::KeepResults) || self.audience.unannounced.answers(player, number) {
            return;
        }
        let outcome = cx.core.state.players.get(&player).and_then(|it| it.result(number)).cloned();
        if let Some(outcome) = outcome {
            cx.say(from, Down::Result { number, outcome, index: 0 });
        }
    }

    /// There is room again: goes on with the actions that had to wait for it.
    pub(super) fn resume_choked(&mut self, cx: &mut Ctx<'_>) {
        if self.audience.is_choked() {
            return;
        }
        let waiting = self.audience.sessions.take_starved();
        if waiting.is_empty() {
            return;
        }
        self.in_turn_while_announcing(cx, |coordination, turn| {
            for address in waiting {
                coordination.act_waiting(turn, address);
            }
        });
    }

    // Coming and going.

    fn on_enter(&mut self, cx: &mut Ctx<'_>, join: Join) {
        let Join { player, from, session, seen, .. } = join;
        if self.audience.sessions.is_entering(from, player) {
            return; // Asked twice; the answer is on its way.
        }
        if self.coordination.is_busy(Subject::Player(player)) {
            return; // An event of the player is under way; the client asks again.
        }
        let row = cx.core.state.players.get(&player);
        if row.is_some_and(|it| session < it.session) {
            return cx.say(from, Down::Closed(Closed::Superseded));
        }
        let resumes = row.is_some_and(|it| it.present && it.session == session && it.avatar.is_some());
        if !resumes && cx.core.config.players_max <= self.audience.sessions.len() {
            return cx.say(from, Down::Closed(Closed::Full));
        }
        if row.is_none() && !may_begin(cx.core, player) {
            return cx.say(from, Down::NotHere { primary: None });
        }
        let avatar = row.and_then(|it| it.avatar);
        let name: String = join.name.chars().filter(|it| !it.is_control()).take(NAME_MAX).collect();
        self.in_turn(cx, |coordination, turn| {
            let Some(avatar) = avatar else {
                return coordination.perform(turn, Work::Join(Join { name, ..join }));
            };
            if !resumes {
                let entered = Change::Entered { player, session, name, avatar };
                turn.write(Cause::Join(player), vec![entered]);
            }
            turn.audience.attach(&mut turn.cx, from, player, seen);
        });
        self.audience.admit_waiting(cx);
    }

    fn on_leave(&mut self, cx: &mut Ctx<'_>, from: Address) {
        let Some(player) = self.audience.detach(cx, from) else { return };
        if self.coordination.is_busy(Subject::Player(player)) {
            // The player leaves as soon as the event under way is over.
            return self.audience.sessions.miss(player, Time::ZERO);
        }
        self.leave(cx, player);
    }

    fn leave(&mut self, cx: &mut Ctx<'_>, player: PlayerId) {
        self.in_turn(cx, |coordination, turn| {
            if turn.cx.core.state.players.get(&player).is_some_and(|it| it.present) {
                coordination.perform(turn, Work::Leave(player));
            }
        });
    }

    pub(super) fn on_views_due(&mut self, cx: &mut Ctx<'_>) {
        cx.core.wake_after(Purpose::Views, cx.core.config.timing.views);
        self.audience.look_around(cx);
        self.end_overdue_sessions(cx);
    }

    fn end_overdue_sessions(&mut self, cx: &mut Ctx<'_>) {
        for player in self.audience.sessions.overdue(cx.core) {
            if self.audience.is_choked() {
                return;
            }
            let is_here = cx.core.state.players.contains_key(&player);
            if is_here && self.coordination.is_busy(Subject::Player(player)) {
                continue;
            }
            self.audience.sessions.forget_missing(player);
            self.leave(cx, player);
        }
    }
}

/// Whether a player who was never here may begin here: a player begins in the zone of its entrance, once.
fn may_begin(core: &Core, player: PlayerId) -> bool {
    !core.config.is_meshed()
        || entrance_zone(core, player) == core.config.zone
            && !core.state.abroad.lives.contains_key(&Being::Player(player))
}
