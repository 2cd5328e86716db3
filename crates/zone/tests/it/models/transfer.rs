//! Objects that change zones: never two owners that act, never none in the end, whoever crashes.
//!
//! Two zones, each with a primary and a backup, whose log may lack what was not acknowledged: a crash is one step, and
//! takes any part of that away. An avatar goes from one to the other, and back. Its player sends numbered actions to
//! whoever it believes to be its home, and sends them again. Messages are lost, arrive twice and overtake each other.
//!
//! Timers that send again fire when nothing is under way any more.

mod steps;
mod tests;

use super::log::Log;
use stateright::{Model, Property};
use std::collections::{BTreeMap, BTreeSet};

/// One of the two zones.
type Zone = usize;

/// Rules switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    /// `Rule::FreezeOfferedObjects` is broken: things happen to an object that is offered to another zone.
    OfferUnfrozen,
    /// What was taken over is answered before that is acknowledged.
    TellEarly,
    /// An offer is sent before it is acknowledged.
    OfferEarly,
    /// Who offers somebody forgets them at once.
    ForgetEarly,
    /// Items of the post are dealt with whenever they arrive.
    TakeTwice,
    /// The player's cursor does not travel.
    CursorStays,
}

/// How far the search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Bounds {
    /// How often the avatar changes zones, and what its player wants to do.
    trips: u8,
    wishes: u8,
    crashes: u8,
    declines: u8,
    losses: u8,
    repeats: u8,
}

#[derive(Clone, Copy, Debug)]
struct Transfer {
    bounds: Bounds,
    flaw: Option<Flaw>,
}

/// What became of a wish: where and in which reign it was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Outcome {
    wish: u8,
    zone: Zone,
    epoch: u8,
}

/// The avatar, with its player's row: what was executed is its state, its cursor, and the kept results.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Avatar {
    incarnation: u8,
    done: Vec<Outcome>,
}

/// `Item`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Item {
    Offer(Avatar),
    Answer(bool),
}

/// What the log of a zone says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Row {
    avatar: Option<Avatar>,
    offered: bool,
    /// Everything ever posted to the other zone, and how much of it arrived.
    posted: Vec<Item>,
    delivered: usize,
    taken: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Primary {
    epoch: u8,
    log: Log<Row>,
    /// Items up to this were sent.
    sent: usize,
    /// When all is safe: a receipt for the other zone, results for the player, and that it is in.
    owed: bool,
    results: BTreeSet<u8>,
    arrived: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Says {
    /// From the other zone.
    Post(usize, Item),
    Posted(usize),
    /// From the player.
    Act(u8),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Msg {
    To(Zone, Says),
    /// To the player: the result of a wish, and where the avatar lives.
    Result(Outcome),
    Arrived(Zone, u8),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Player {
    home: Zone,
    incarnation: u8,
    heard: BTreeMap<u8, Outcome>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    zones: [Primary; 2],
    player: Player,
    messages: BTreeSet<Msg>,
    left: Bounds,
}

/// One step of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    /// A message arrives; it arrives, and will once more; it is lost.
    Hear(Msg),
    HearTwice(Msg),
    Lose(Msg),
    /// An offer arrives, and an event holds the very place.
    Decline(Msg),
    /// Whatever a primary wrote is acknowledged, and may be told.
    Safe(Zone),
    /// The avatar is beyond the border.
    Offer(Zone),
    /// What was posted is posted again.
    PostAgain(Zone),
    /// The player sends a wish, for the first time or again.
    Send(u8),
    /// The player finds out where its avatar is.
    Search,
    /// A primary crashes; its backup has this many of the records that it had not acknowledged.
    Crash(Zone, usize),
}

const ONE_ACTS: &str = "never two zones act for somebody";
const ONE_EACH: &str = "an incarnation has one owner";
const IN_ORDER: &str = "actions are executed once and in order";
const HEARD_IS_TRUE: &str = "what the player was told has happened to its avatar, as told";
const OWNED: &str = "somebody has everybody";
const ENDS: &str = "in the end somebody acts for everybody, and every wish is answered";

impl Model for Transfer {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut zones = [Primary::default(), Primary::default()];
        zones[0].log.safe.avatar = Some(Avatar { incarnation: 1, done: Vec::new() });
        let player = Player { home: 0, incarnation: 1, heard: BTreeMap::new() };
        vec![State { zones, player, messages: BTreeSet::new(), left: self.bounds }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.calm_actions(state, actions);
        let left = state.left;
        for msg in &state.messages {
            actions.extend((0 < left.repeats).then(|| Action::HearTwice(msg.clone())));
            actions.extend((0 < left.losses).then(|| Action::Lose(msg.clone())));
            actions.extend((0 < left.declines).then(|| Action::Decline(msg.clone())));
        }
        for zone in [0, 1] {
            if 0 < left.crashes {
                let tail = state.zones[zone].log.tail.len();
                actions.extend((0..=tail).map(|it| Action::Crash(zone, it)));
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
            Property::always(ONE_ACTS, |model: &Self, it: &State| {
                it.zones.iter().filter(|it| it.log.now().acts(model.flaw)).count() <= 1
            }),
            Property::always(ONE_EACH, |_, it: &State| {
                let mut seen = BTreeSet::new();
                it.avatars().all(|it| seen.insert(it.incarnation))
            }),
            Property::always(IN_ORDER, |_, it: &State| {
                it.avatars().all(|it| it.done.iter().map(|it| it.wish).eq(1..=it.done.len() as u8))
            }),
            Property::always(HEARD_IS_TRUE, |_, it: &State| {
                let last = it.avatars().max_by_key(|it| it.incarnation);
                it.player.heard.values().all(|heard| last.is_none_or(|it| it.done.contains(heard)))
            }),
            Property::always(OWNED, |_, it: &State| it.avatars().next().is_some()),
            Property::always(ENDS, |model: &Self, it: &State| it.is_over(model) || !model.rests(it)),
            Property::sometimes("it arrives after both ends crashed", |model: &Self, it: &State| {
                model.bounds.crashes < 2 || it.is_over(model) && it.zones.iter().all(|it| 0 < it.epoch)
            }),
        ]
    }
}

impl Transfer {
    /// What happens without a fault.
    fn calm_actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend(state.messages.iter().map(|it| Action::Hear(it.clone())));
        for zone in [0, 1] {
            actions.extend([Action::Safe(zone), Action::Offer(zone), Action::PostAgain(zone)]);
        }
        actions.push(Action::Search);
        actions.extend((1..=self.bounds.wishes).map(Action::Send));
    }

    fn rests(&self, state: &State) -> bool {
        let mut actions = Vec::new();
        self.calm_actions(state, &mut actions);
        actions.into_iter().all(|it| self.next_state(state, it).is_none())
    }
}
