//! The planted bugs: code that runs where a test breaks a rule on purpose, if it is more than one expression. See
//! [`crate::Rule`].
//!
//! Nothing here runs in a real world. Each function is called from the one line that otherwise keeps its rule.

use super::audience::Audience;
use super::context::PrimaryContext;
use super::execution::{FailedCall, Work};
use super::turn::Turn;
use crate::core::Core;
use crate::leadership::Leadership;
use crate::msg::ToPlayer;
use crate::note::Execution;
use crate::record::{Change, Outcome, Record};
use crate::replica::Transition;
use crate::rule::{BrokenRules, Rule};
use crate::suspect::Suspects;
use game::Call;
use machine::{Address, Time};
use serde_bytes::ByteBuf;
use space::Epoch;

/// [`Rule::PromoteBySwap`] is broken: a backup that hears nothing takes over without a swap.
pub(crate) fn promoted_without_swap(core: &Core, epoch: Epoch, primary: Address) -> Transition {
    let leadership = Leadership { epoch, primary, backup: None, suspects: Suspects::NONE };
    Transition::Lead(leadership.next(core.config.me, None))
}

/// [`Rule::SoloBySwap`] is broken: a primary that hears nothing goes on alone without a swap.
pub(crate) fn solo_without_swap(core: &Core, epoch: Epoch) -> Leadership {
    let me = core.config.me;
    Leadership { epoch, primary: me, backup: None, suspects: Suspects::NONE }.next(me, None)
}

/// [`Rule::VersionsWithoutGaps`] is broken: a primary of a later epoch leaves room for versions that it may not know
/// of.
pub(crate) fn skip_versions(epoch: Epoch, changes: &mut [Change]) {
    for change in changes {
        if let Change::Put { version, .. } | Change::Removed { version, .. } = change
            && 1 < epoch.0
            && 1 < *version
        {
            *version += 1;
        }
    }
}

/// [`Rule::LogTimers`] or [`Rule::LogLetters`] may be broken: the bytes of a record as the log gets them.
pub(crate) fn logged_bytes(broken: BrokenRules, record: &Record) -> Vec<u8> {
    let is_lost = |it: &Change| match it {
        Change::TimerSet { .. } => broken.has(Rule::LogTimers),
        Change::LetterSent { .. } => broken.has(Rule::LogLetters),
        _ => false,
    };
    let mut record = record.clone();
    record.changes.retain(|it| !is_lost(it));
    record.to_bytes()
}

/// [`Rule::OneRecordPerEvent`] is broken: every change of an event is committed as a record of its own.
pub(crate) fn split_record(
    record: Record,
    mut execution: Option<Execution>,
    mut commit: impl FnMut(Record, Option<Execution>),
) {
    for (index, change) in (record.index..).zip(record.changes.clone()) {
        let part = Record { index, changes: vec![change], notices: Vec::new(), ..record.clone() };
        commit(part, execution.take());
    }
}

/// [`Rule::LogBusyAnswers`] is broken: old actions are answered "busy" without a record. They stay where they wait, and are
/// executed later.
pub(super) fn answer_busy_unlogged(
    cx: &mut PrimaryContext<'_>,
    audience: &mut Audience,
    client: Address,
    cursor: u64,
    old: Vec<(ByteBuf, Time)>,
) {
    for (number, (action, _)) in (cursor + 1..).zip(old) {
        cx.send_client(client, ToPlayer::Result { number, outcome: Outcome::Busy, index: 0 });
        audience.sessions.queue_action(client, number, action, cx.now());
    }
}

impl Turn<'_> {
    /// [`Rule::ActionsInOrder`] is broken: an action is executed whatever its number.
    pub(super) fn run_action_out_of_order(&mut self, work: &Work) {
        let Work::Act { player, action, .. } = work else { return };
        let Some(actor) = self.cx.core.state.players.get(player).and_then(|it| it.avatar) else { return };
        let call = Call::Act { actor, action };
        let now = self.cx.world_now();
        let scope = self.cx.core.config.rules.scope(&self.cx.core.state.objects, now, call);
        let result = match scope {
            Ok(scope) => self.execute(call, scope),
            Err(why) => Err(FailedCall::refused(why)),
        };
        self.finish(work, result);
    }
}
