//! Events of several zones: all of an event happens or nothing, through any crash, and no grant is held for ever.
//!
//! A coordinator and participants. Each zone has a primary and a backup, whose log may lack records that were not
//! acknowledged: a crash is one step, and takes any part of those away. The old primary of the coordinator may
//! live on for a while and answer. Messages are lost, arrive twice and overtake each other. The next primary of the
//! coordinator tries an undecided wish of the player again, as another event.
//!
//! Timers that send again fire when no message is under way any more; timers that could do harm fire at any moment.

mod steps;
mod tests;

use super::model_log::ModelLog;
use stateright::{Model, Property};
use std::collections::BTreeSet;

/// A participant, by its number.
type ParticipantId = usize;

/// Rules that are switched off to show that each is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommitFlaw {
    /// A decision is posted before it is acknowledged.
    PostEarly,
    /// A grant is sent before it is acknowledged.
    GrantEarly,
    /// A grantor takes its grant back by itself.
    ReleaseAlone,
    /// A coordinator that is asked looks at its jobs, and not at its post.
    JobsOnly,
    /// A deposed primary answers for events of a later epoch.
    OldAnswers,
    /// `Rule::AskSilentCoordinators` is broken: no participant asks.
    NoQuestions,
    /// `Rule::TellEveryParticipant` is broken: one zone is not sent a decision.
    SkipParticipant,
    /// The coordinator releases a grant that it does not want, also if the event is posted: a grant that arrives twice
    /// looks unwanted.
    GrantUnwanted,
}

/// The limits of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CommitBounds {
    parts: usize,
    wishes: usize,
    /// Crashes of the coordinator, and of the participants.
    crashes: u8,
    part_crashes: u8,
    losses: u8,
    repeats: u8,
    /// Questions at any moment, and attempts given up at any moment.
    asks: u8,
    give_ups: u8,
}

#[derive(Clone, Copy, Debug)]
struct CommitModel {
    bounds: CommitBounds,
    flaw: Option<CommitFlaw>,
}

/// `EventId`: the epoch in which it began, and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct CommitEvent(u8, u8);

/// The log of the coordinator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct CoordinatorLog {
    /// The events that happened: the item of this number is posted to every participant.
    done: Vec<CommitEvent>,
    /// By participant, the number of items that arrived.
    delivered: Vec<usize>,
}

/// The log of a participant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct ParticipantLog {
    held: Option<(CommitEvent, u8)>,
    /// The events that were applied; their count is the number of items taken.
    applied: Vec<CommitEvent>,
}

/// Mirrors `Job` of the code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct CommitJob {
    event: CommitEvent,
    attempt: u8,
    granted: BTreeSet<ParticipantId>,
}

/// The primary of the coordinating zone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct CommitCoordinator {
    epoch: u8,
    log: ModelLog<CoordinatorLog>,
    job: Option<CommitJob>,
    last: u8,
    /// By participant, the number of items sent.
    sent: Vec<usize>,
}

/// The primary of a participating zone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct CommitParticipant {
    log: ModelLog<ParticipantLog>,
    waiting: Vec<(CommitEvent, u8)>,
    /// A grant to be sent, and a receipt, when all is safe.
    answer: Option<(CommitEvent, u8)>,
    owed: bool,
    /// The highest epoch of the coordinator in any message so far.
    heard: u8,
}

/// `BetweenZones`, to or from a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum CommitMsg {
    Lock(CommitEvent, u8),
    Release(CommitEvent, u8),
    Post(usize, CommitEvent),
    Granted(CommitEvent, u8),
    Ask(CommitEvent, u8),
    Posted(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct CommitEnvelope {
    part: ParticipantId,
    /// The sender's epoch, if the sender is the coordinator.
    epoch: u8,
    says: CommitMsg,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct CommitState {
    coordinator: CommitCoordinator,
    /// A deposed primary that does not know it. No backup acknowledges anything to it.
    deposed: Option<CommitCoordinator>,
    participants: Vec<CommitParticipant>,
    messages: BTreeSet<CommitEnvelope>,
    left: CommitBounds,
}

/// One step of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommitAction {
    Receive(CommitEnvelope),
    /// A message arrives, and stays to arrive once more.
    ReceiveTwice(CommitEnvelope),
    /// A question arrives at the deposed primary.
    ReceiveByDeposed(CommitEnvelope),
    Lose(CommitEnvelope),
    /// The next action that the player wishes is begun.
    Start,
    /// Decisions, or grants, are acknowledged: they may be announced.
    SafeCoordinator,
    Safe(ParticipantId),
    /// A job takes too long: at any moment, or because no zone knows of a request any more.
    GiveUp,
    Late,
    /// A participant asks about a silent event: at any moment, or when its grant is of no use any more.
    Ask(ParticipantId),
    AskLate(ParticipantId),
    /// The coordinator sends undelivered post again.
    PostAgain(ParticipantId),
    /// A primary crashes; its backup has this many of the records that it had not acknowledged.
    CrashCoordinator(usize),
    Crash(ParticipantId, usize),
    /// A grantor takes its grant back. Not a rule.
    TakeBack(ParticipantId),
}

const ALL_OR_NOTHING: &str = "events applied anywhere were decided, and in this order";
const GRANTS_KEPT: &str = "a decided event's grants are held until it is applied";
const ONCE: &str = "a wish is decided once";
const ENDS: &str = "every wish happens everywhere, and no grant is left";

impl Model for CommitModel {
    type State = CommitState;
    type Action = CommitAction;

    fn init_states(&self) -> Vec<CommitState> {
        let parts = self.bounds.parts;
        let mut coordinator = CommitCoordinator {
            epoch: 1,
            log: ModelLog::default(),
            job: None,
            last: 0,
            sent: vec![0; parts],
        };
        coordinator.log.safe.delivered = vec![0; parts];
        vec![CommitState {
            coordinator,
            deposed: None,
            participants: vec![CommitParticipant::default(); parts],
            messages: BTreeSet::new(),
            left: self.bounds,
        }]
    }

    fn actions(&self, state: &CommitState, actions: &mut Vec<CommitAction>) {
        self.fault_free_actions(state, actions);
        let left = state.left;
        for &msg in &state.messages {
            actions.push(CommitAction::ReceiveByDeposed(msg));
            actions.extend((0 < left.repeats).then_some(CommitAction::ReceiveTwice(msg)));
            actions.extend((0 < left.losses).then_some(CommitAction::Lose(msg)));
        }
        actions.extend((0 < left.give_ups).then_some(CommitAction::GiveUp));
        if 0 < left.crashes {
            actions.extend((0..=state.coordinator.log.tail.len()).map(CommitAction::CrashCoordinator));
        }
        for part in 0..self.bounds.parts {
            actions.extend((0 < left.asks).then_some(CommitAction::Ask(part)));
            actions.extend(
                (self.flaw == Some(CommitFlaw::ReleaseAlone)).then_some(CommitAction::TakeBack(part)),
            );
            if 0 < left.part_crashes {
                let tail = state.participants[part].log.tail.len();
                actions.extend((0..=tail).map(|it| CommitAction::Crash(part, it)));
            }
        }
    }

    fn next_state(&self, state: &CommitState, action: CommitAction) -> Option<CommitState> {
        let mut next = state.clone();
        next.step(self, action);
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ALL_OR_NOTHING, |_, it: &CommitState| {
                let done = &it.coordinator.log.now().done;
                it.participants.iter().all(|it| done.starts_with(&it.log.now().applied))
            }),
            Property::always(GRANTS_KEPT, |_, it: &CommitState| {
                let done = &it.coordinator.log.now().done;
                let keeps = |share: &ParticipantLog, event: &CommitEvent| {
                    share.applied.contains(event) || share.held.is_some_and(|it| it.0 == *event)
                };
                it.participants.iter().all(|it| done.iter().all(|event| keeps(it.log.now(), event)))
            }),
            Property::always(ONCE, |model: &Self, it: &CommitState| {
                it.coordinator.log.now().done.len() <= model.bounds.wishes
            }),
            Property::always(ENDS, |model: &Self, it: &CommitState| {
                it.is_over(model) || !model.is_at_rest(it)
            }),
            Property::sometimes("an event happens in a later epoch", |_, it: &CommitState| {
                it.participants.iter().all(|it| it.log.now().applied.iter().any(|it| 1 < it.0))
            }),
            Property::sometimes("a later epoch delivers an earlier one's decision", |_, it: &CommitState| {
                1 < it.coordinator.epoch
                    && it.participants.iter().all(|it| it.log.now().applied.contains(&CommitEvent(1, 1)))
            }),
        ]
    }
}

impl CommitModel {
    /// The steps that happen without a fault.
    fn fault_free_actions(&self, state: &CommitState, actions: &mut Vec<CommitAction>) {
        actions.extend(state.messages.iter().map(|&it| CommitAction::Receive(it)));
        actions.extend([CommitAction::Start, CommitAction::SafeCoordinator, CommitAction::Late]);
        for part in 0..self.bounds.parts {
            actions.extend([
                CommitAction::Safe(part),
                CommitAction::AskLate(part),
                CommitAction::PostAgain(part),
            ]);
        }
    }

    fn is_at_rest(&self, state: &CommitState) -> bool {
        let mut actions = Vec::new();
        self.fault_free_actions(state, &mut actions);
        actions.into_iter().all(|it| self.next_state(state, it).is_none())
    }
}
