//! Objects that change zones: never two owners that act, never none in the end, through any crash.
//!
//! Two zones, each with a primary and a backup, whose log may lack records that were not acknowledged: a crash is one
//! step, and takes any part of those away. An avatar goes from one zone to the other, and back. Its player sends
//! numbered actions to the zone that it believes to own its avatar, and sends them again. Messages are lost, arrive
//! twice and overtake each other.
//!
//! Timers that send again fire when no message is under way any more.

mod steps;
mod tests;

use super::model_log::ModelLog;
use stateright::{Model, Property};
use std::collections::{BTreeMap, BTreeSet};

/// One of the two zones.
type TransferZone = usize;

/// Rules that are switched off to show that each is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TransferFlaw {
    /// `Rule::FreezeOfferedObjects` is broken: events change an object that is offered to another zone.
    OfferUnfrozen,
    /// The answer to an offer is sent before the record that takes the object is acknowledged.
    TellEarly,
    /// An offer is sent before it is acknowledged.
    OfferEarly,
    /// The offering zone removes the object at once.
    ForgetEarly,
    /// Items of the post are taken whenever they arrive.
    TakeTwice,
    /// The player's cursor does not travel with the avatar.
    CursorStays,
}

/// The limits of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TransferBounds {
    /// The number of transfers of the avatar, and of wishes of its player.
    trips: u8,
    wishes: u8,
    crashes: u8,
    declines: u8,
    losses: u8,
    repeats: u8,
}

#[derive(Clone, Copy, Debug)]
struct TransferModel {
    bounds: TransferBounds,
    flaw: Option<TransferFlaw>,
}

/// The outcome of a wish: the zone and epoch of its execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct TransferOutcome {
    wish: u8,
    zone: TransferZone,
    epoch: u8,
}

/// The avatar, with its player's row: the executed wishes are its state, its cursor, and the kept results.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct TransferAvatar {
    incarnation: u8,
    done: Vec<TransferOutcome>,
}

/// Mirrors `PostItem` of the code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum TransferItem {
    Offer(TransferAvatar),
    Answer(bool),
}

/// The state of a zone after a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct TransferZoneState {
    avatar: Option<TransferAvatar>,
    offered: bool,
    /// Everything ever posted to the other zone, and the number of items that arrived.
    posted: Vec<TransferItem>,
    delivered: usize,
    taken: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct TransferPrimary {
    epoch: u8,
    log: ModelLog<TransferZoneState>,
    /// The number of items sent.
    sent: usize,
    /// To be sent when all is safe: a receipt for the other zone, results for the player, and its arrival.
    owed: bool,
    results: BTreeSet<u8>,
    arrived: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum TransferToZone {
    /// A post item, or its receipt, from the other zone.
    Post(usize, TransferItem),
    Posted(usize),
    /// A numbered action from the player.
    Act(u8),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum TransferMsg {
    To(TransferZone, TransferToZone),
    /// To the player: the result of a wish, and the zone of the avatar.
    Result(TransferOutcome),
    Arrived(TransferZone, u8),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct TransferPlayer {
    owner: TransferZone,
    incarnation: u8,
    heard: BTreeMap<u8, TransferOutcome>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct TransferState {
    zones: [TransferPrimary; 2],
    player: TransferPlayer,
    messages: BTreeSet<TransferMsg>,
    left: TransferBounds,
}

/// One step of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TransferAction {
    /// A message arrives; it arrives, and stays to arrive once more; it is lost.
    Receive(TransferMsg),
    ReceiveTwice(TransferMsg),
    Lose(TransferMsg),
    /// An offer arrives, and an event holds a lock at its place.
    Decline(TransferMsg),
    /// All records of a primary are acknowledged, and may be announced.
    Safe(TransferZone),
    /// The avatar is beyond the border.
    Offer(TransferZone),
    /// A zone sends undelivered post again.
    PostAgain(TransferZone),
    /// The player sends a wish, for the first time or again.
    Send(u8),
    /// The player finds out which zone owns its avatar.
    Search,
    /// A primary crashes; its backup has this many of the records that it had not acknowledged.
    Crash(TransferZone, usize),
}

const ONE_ACTS: &str = "never two zones act for one object";
const ONE_EACH: &str = "an incarnation has one owner";
const IN_ORDER: &str = "actions are executed once and in order";
const HEARD_IS_TRUE: &str = "every result that the player was told has happened to its avatar";
const OWNED: &str = "every object has an owner";
const ENDS: &str = "in the end a zone acts for every object, and every wish is answered";

impl Model for TransferModel {
    type State = TransferState;
    type Action = TransferAction;

    fn init_states(&self) -> Vec<TransferState> {
        let mut zones = [TransferPrimary::default(), TransferPrimary::default()];
        zones[0].log.safe.avatar = Some(TransferAvatar { incarnation: 1, done: Vec::new() });
        let player = TransferPlayer { owner: 0, incarnation: 1, heard: BTreeMap::new() };
        vec![TransferState { zones, player, messages: BTreeSet::new(), left: self.bounds }]
    }

    fn actions(&self, state: &TransferState, actions: &mut Vec<TransferAction>) {
        self.fault_free_actions(state, actions);
        let left = state.left;
        for msg in &state.messages {
            actions.extend((0 < left.repeats).then(|| TransferAction::ReceiveTwice(msg.clone())));
            actions.extend((0 < left.losses).then(|| TransferAction::Lose(msg.clone())));
            actions.extend((0 < left.declines).then(|| TransferAction::Decline(msg.clone())));
        }
        for zone in [0, 1] {
            if 0 < left.crashes {
                let tail = state.zones[zone].log.tail.len();
                actions.extend((0..=tail).map(|it| TransferAction::Crash(zone, it)));
            }
        }
    }

    fn next_state(&self, state: &TransferState, action: TransferAction) -> Option<TransferState> {
        let mut next = state.clone();
        next.step(self, action);
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONE_ACTS, |model: &Self, it: &TransferState| {
                it.zones.iter().filter(|it| it.log.now().acts(model.flaw)).count() <= 1
            }),
            Property::always(ONE_EACH, |_, it: &TransferState| {
                let mut seen = BTreeSet::new();
                it.avatars().all(|it| seen.insert(it.incarnation))
            }),
            Property::always(IN_ORDER, |_, it: &TransferState| {
                it.avatars().all(|it| it.done.iter().map(|it| it.wish).eq(1..=it.done.len() as u8))
            }),
            Property::always(HEARD_IS_TRUE, |_, it: &TransferState| {
                let last = it.avatars().max_by_key(|it| it.incarnation);
                it.player.heard.values().all(|heard| last.is_none_or(|it| it.done.contains(heard)))
            }),
            Property::always(OWNED, |_, it: &TransferState| it.avatars().next().is_some()),
            Property::always(ENDS, |model: &Self, it: &TransferState| {
                it.is_over(model) || !model.is_at_rest(it)
            }),
            Property::sometimes(
                "the avatar arrives after both zones crashed",
                |model: &Self, it: &TransferState| {
                    model.bounds.crashes < 2 || it.is_over(model) && it.zones.iter().all(|it| 0 < it.epoch)
                },
            ),
        ]
    }
}

impl TransferModel {
    /// The steps that happen without a fault.
    fn fault_free_actions(&self, state: &TransferState, actions: &mut Vec<TransferAction>) {
        actions.extend(state.messages.iter().map(|it| TransferAction::Receive(it.clone())));
        for zone in [0, 1] {
            actions.extend([
                TransferAction::Safe(zone),
                TransferAction::Offer(zone),
                TransferAction::PostAgain(zone),
            ]);
        }
        actions.push(TransferAction::Search);
        actions.extend((1..=self.bounds.wishes).map(TransferAction::Send));
    }

    fn is_at_rest(&self, state: &TransferState) -> bool {
        let mut actions = Vec::new();
        self.fault_free_actions(state, &mut actions);
        actions.into_iter().all(|it| self.next_state(state, it).is_none())
    }
}
