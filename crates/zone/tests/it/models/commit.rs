//! Events of several zones: all of it happens or nothing, whoever crashes, and nobody holds a grant for ever.
//!
//! A zone that decides and zones that take part. Each has a primary and a backup, whose log may lack what was not
//! acknowledged: a crash is one step, and takes any part of that away. The old primary of the zone that decides may
//! live on for a while and answer. Messages are lost, arrive twice and overtake each other. What the player wished
//! for and what was not decided is tried again by the next reign, as another event.
//!
//! Timers that send again fire when nothing is under way any more; those that could do harm at any moment.

mod steps;
mod tests;

use super::log::Log;
use stateright::{Model, Property};
use std::collections::BTreeSet;

/// A zone that takes part.
type Part = usize;

/// Rules switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    /// A decision is posted before it is acknowledged.
    PostEarly,
    /// A grant is told before it is acknowledged.
    GrantEarly,
    /// A grant is taken back by who gave it.
    ReleaseAlone,
    /// Who is asked looks at what it wants, and not at what it has posted.
    JobsOnly,
    /// An old reign answers for a newer one's events.
    OldAnswers,
    /// `Rule::AskSilentCoordinators` is broken.
    NobodyAsks,
    /// `Rule::TellEveryParticipant` is broken: one zone does not hear of a decision.
    OneIsForgotten,
    /// A grant that is not wanted is let go of, whatever was posted: one that is heard twice looks like it.
    GrantUnwanted,
}

/// How far the search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Bounds {
    parts: usize,
    wishes: usize,
    /// Crashes of the zone that decides, and of those that take part.
    crashes: u8,
    part_crashes: u8,
    losses: u8,
    repeats: u8,
    /// Questions at any moment, and attempts given up at any moment.
    asks: u8,
    give_ups: u8,
}

#[derive(Clone, Copy, Debug)]
struct Commit {
    bounds: Bounds,
    flaw: Option<Flaw>,
}

/// `EventId`: in which epoch it was wanted, and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Event(u8, u8);

/// What the log of the zone that decides says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Decisions {
    /// The events that happened: the item of this number is posted to everybody.
    done: Vec<Event>,
    /// Items up to this arrived.
    delivered: Vec<usize>,
}

/// What the log of a zone that takes part says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Share {
    held: Option<(Event, u8)>,
    /// What was applied, which is also how many items were taken.
    applied: Vec<Event>,
}

/// `Job`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Job {
    event: Event,
    attempt: u8,
    granted: BTreeSet<Part>,
}

/// The zone that decides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Decider {
    epoch: u8,
    log: Log<Decisions>,
    job: Option<Job>,
    last: u8,
    /// Items up to this were sent.
    sent: Vec<usize>,
}

/// A zone that takes part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Member {
    log: Log<Share>,
    waiting: Vec<(Event, u8)>,
    /// A grant to be told of, and a receipt, when all is safe.
    answer: Option<(Event, u8)>,
    owed: bool,
    /// The highest epoch heard of the zone that decides.
    heard: u8,
}

/// `Mesh`, to or from a zone that takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Says {
    Lock(Event, u8),
    Release(Event, u8),
    Post(usize, Event),
    Granted(Event, u8),
    Ask(Event, u8),
    Posted(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Msg {
    part: Part,
    /// Of the sender, if that is the zone that decides.
    epoch: u8,
    says: Says,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    decider: Decider,
    /// A reign that is over and does not know it. Nobody acknowledges anything to it.
    old: Option<Decider>,
    members: Vec<Member>,
    messages: BTreeSet<Msg>,
    left: Bounds,
}

/// One step of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// A message arrives.
    Hear(Msg),
    /// A message arrives, and will once more.
    HearTwice(Msg),
    /// A question arrives where nobody reigns any more.
    HearOld(Msg),
    Lose(Msg),
    /// The next thing that the player wants is begun.
    Start,
    /// What was decided, or granted, is acknowledged: it may be told.
    SafeDecider,
    Safe(Part),
    /// A job takes too long: at any moment, or because nobody knows of a request any more.
    GiveUp,
    Late,
    /// A silent event is asked for: at any moment, or when it is of no use any more.
    Ask(Part),
    AskLate(Part),
    /// What was posted is posted again.
    PostAgain(Part),
    /// A primary crashes; its backup has this many of the records that it had not acknowledged.
    CrashDecider(usize),
    Crash(Part, usize),
    /// Somebody loses patience. Not a rule.
    TakeBack(Part),
}

const ALL_OR_NOTHING: &str = "what happened anywhere was decided, and in this order";
const KEPT: &str = "what is decided is held until it is applied";
const ONCE: &str = "a wish is decided once";
const ENDS: &str = "everything wished for happens everywhere, and nobody holds anything";

impl Model for Commit {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let parts = self.bounds.parts;
        let mut decider = Decider { epoch: 1, log: Log::default(), job: None, last: 0, sent: vec![0; parts] };
        decider.log.safe.delivered = vec![0; parts];
        vec![State {
            decider,
            old: None,
            members: vec![Member::default(); parts],
            messages: BTreeSet::new(),
            left: self.bounds,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.calm_actions(state, actions);
        let left = state.left;
        for &msg in &state.messages {
            actions.push(Action::HearOld(msg));
            actions.extend((0 < left.repeats).then_some(Action::HearTwice(msg)));
            actions.extend((0 < left.losses).then_some(Action::Lose(msg)));
        }
        actions.extend((0 < left.give_ups).then_some(Action::GiveUp));
        if 0 < left.crashes {
            actions.extend((0..=state.decider.log.tail.len()).map(Action::CrashDecider));
        }
        for part in 0..self.bounds.parts {
            actions.extend((0 < left.asks).then_some(Action::Ask(part)));
            actions.extend((self.flaw == Some(Flaw::ReleaseAlone)).then_some(Action::TakeBack(part)));
            if 0 < left.part_crashes {
                let tail = state.members[part].log.tail.len();
                actions.extend((0..=tail).map(|it| Action::Crash(part, it)));
            }
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        next.step(self, action);
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ALL_OR_NOTHING, |_, it: &State| {
                let done = &it.decider.log.now().done;
                it.members.iter().all(|it| done.starts_with(&it.log.now().applied))
            }),
            Property::always(KEPT, |_, it: &State| {
                let done = &it.decider.log.now().done;
                let keeps = |share: &Share, event: &Event| {
                    share.applied.contains(event) || share.held.is_some_and(|it| it.0 == *event)
                };
                it.members.iter().all(|it| done.iter().all(|event| keeps(it.log.now(), event)))
            }),
            Property::always(ONCE, |model: &Self, it: &State| {
                it.decider.log.now().done.len() <= model.bounds.wishes
            }),
            Property::always(ENDS, |model: &Self, it: &State| it.is_over(model) || !model.rests(it)),
            Property::sometimes("it happens in a later reign", |_, it: &State| {
                it.members.iter().all(|it| it.log.now().applied.iter().any(|it| 1 < it.0))
            }),
            Property::sometimes("a later reign brings an earlier one's decision", |_, it: &State| {
                1 < it.decider.epoch
                    && it.members.iter().all(|it| it.log.now().applied.contains(&Event(1, 1)))
            }),
        ]
    }
}

impl Commit {
    /// What happens without a fault.
    fn calm_actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend(state.messages.iter().map(|&it| Action::Hear(it)));
        actions.extend([Action::Start, Action::SafeDecider, Action::Late]);
        for part in 0..self.bounds.parts {
            actions.extend([Action::Safe(part), Action::AskLate(part), Action::PostAgain(part)]);
        }
    }

    fn rests(&self, state: &State) -> bool {
        let mut actions = Vec::new();
        self.calm_actions(state, &mut actions);
        actions.into_iter().all(|it| self.next_state(state, it).is_none())
    }
}
