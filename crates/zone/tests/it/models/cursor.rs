//! Numbered actions: executed once, in order, and answered, whatever the network and the replicas do.
//!
//! One player, whose links break; a primary that queues actions that come too early and keeps results; a backup that
//! has a prefix of its log. The primary may crash at any moment. Then the backup goes on with its log, or, if there was
//! none, the primary itself with its disk. How they agree on that is for the model of failover: here a
//! failover is one step.
//!
//! Links keep order. Nothing but the numbering of a new process of the player rests on that: so the model is searched
//! once more with messages that overtake each other and arrive twice.

mod steps;
mod tests;

use stateright::{Model, Property};
use std::collections::{BTreeMap, BTreeSet};
use zone::Rule;

/// A replica, by its number.
type CursorReplicaId = u8;

/// The rules that are kept: all of them, unless one is switched off to show that it is needed.
#[derive(Clone, Copy, Debug)]
struct CursorRules {
    network: CursorNetwork,
    broken: Option<Rule>,
    flaw: Option<CursorFlaw>,
}

/// The order in which messages between player and replicas travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CursorNetwork {
    /// As `Lane::Sure`: in order, once, until the link breaks.
    Ordered,
    /// In any order, any number of times, until the link breaks.
    Wild,
}

/// Rules that are not a `Rule` of the code, switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CursorFlaw {
    /// An action that comes too early is executed at once.
    RunAhead,
    /// A player does not send again after a change of primary.
    SendOnce,
    /// A player who comes back as a new process numbers from 1 again.
    NumberAnew,
}

/// The limits of the search.
#[derive(Clone, Copy, Debug)]
struct CursorBounds {
    /// The number of actions that the player wishes.
    wishes: u8,
    crashes: u8,
    /// Links of the player that break.
    cuts: u8,
    /// New processes of the same player.
    returns: u8,
    /// New backups that a primary without one names.
    recruits: u8,
}

#[derive(Clone, Copy, Debug)]
struct CursorModel {
    rules: CursorRules,
    bounds: CursorBounds,
}

/// The outcome of a wish: its wish, and the epoch of its execution. Another execution would have another outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct CursorOutcome {
    wish: u8,
    epoch: u8,
}

/// Mirrors `Record` of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CursorRecord {
    Leadership,
    Entered { session: u8 },
    Acted { number: u8, outcome: CursorOutcome, acked: u8 },
}

/// `FromPlayer`, from one process of the player to one replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct CursorFromPlayer {
    to: CursorReplicaId,
    session: u8,
    what: CursorRequest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum CursorRequest {
    Enter,
    Act { number: u8, wish: u8, acked: u8 },
}

/// `ToPlayer`, from a replica to one process of the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct CursorToPlayer {
    from: CursorReplicaId,
    epoch: u8,
    session: u8,
    what: CursorReply,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum CursorReply {
    Entered { cursor: u8 },
    Result { number: u8, outcome: CursorOutcome },
}

/// `ClientSession`: the player's connection, as the primary knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct CursorClient {
    session: u8,
    /// The player is told that it has entered only when everything up to this record is announced.
    entering: Option<usize>,
    acked: u8,
    ahead: BTreeMap<u8, u8>,
}

/// The primary. A failover keeps the log, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct CursorPrimary {
    id: CursorReplicaId,
    epoch: u8,
    log: Vec<CursorRecord>,
    announced: usize,
    /// The length of the log on its disk.
    synced: usize,
    /// The length of the backup's log, and the length that the primary knows of.
    backup: Option<(usize, usize)>,
    client: Option<CursorClient>,
}

/// `Player`, the machine of the player's side.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct CursorPlayer {
    session: u8,
    primary_id: Option<CursorReplicaId>,
    epoch: u8,
    searching: bool,
    /// True once the player has entered for the first time.
    is_in: bool,
    next: u8,
    unanswered: BTreeMap<u8, u8>,
    acked: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct CursorState {
    primary: CursorPrimary,
    player: CursorPlayer,
    /// The number of wishes so far.
    wished: u8,
    /// By wish, the outcome that the player was told.
    heard: BTreeMap<u8, CursorOutcome>,
    /// Every message under way, oldest first.
    up: Vec<CursorFromPlayer>,
    down: Vec<CursorToPlayer>,
    crashes: u8,
    cuts: u8,
    returns: u8,
    recruits: u8,
}

/// One step of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CursorAction {
    /// The player wants something done.
    Wish,
    /// The player asks every replica for the primary.
    Search,
    /// A message arrives at the primary.
    Up(CursorFromPlayer),
    /// A message arrives at the player.
    Down(CursorToPlayer),
    /// The backup stores one more record.
    Store,
    /// The backup's acknowledgement arrives at the primary.
    Ack,
    /// The primary's disk has the whole log.
    Sync,
    /// The primary names a new backup, which has the whole log.
    Recruit,
    /// The primary crashes; the backup, or without one the primary itself, goes on.
    Crash,
    /// The player's links break: messages under way are lost.
    Cut,
    /// The player's process ends and a new one comes.
    Return,
}

const ONCE: &str = "no wish is executed twice";
const IN_ORDER: &str = "executed numbers are 1, 2, 3, …";
const HEARD_IS_TRUE: &str = "every result that the player was told is in the log";
const RIGHT_ANSWER: &str = "a result belongs to its wish";
const ANSWERED: &str = "without faults every wish is answered";

impl Model for CursorModel {
    type State = CursorState;
    type Action = CursorAction;

    fn init_states(&self) -> Vec<CursorState> {
        let log = vec![CursorRecord::Leadership];
        let primary = CursorPrimary {
            id: 0,
            epoch: 1,
            log,
            announced: 1,
            synced: 1,
            backup: Some((1, 1)),
            client: None,
        };
        let bounds = self.bounds;
        vec![CursorState {
            primary,
            player: CursorPlayer::new(1),
            wished: 0,
            heard: BTreeMap::new(),
            up: Vec::new(),
            down: Vec::new(),
            crashes: bounds.crashes,
            cuts: bounds.cuts,
            returns: bounds.returns,
            recruits: bounds.recruits,
        }]
    }

    fn actions(&self, state: &CursorState, actions: &mut Vec<CursorAction>) {
        self.fault_free_actions(state, actions);
        let may = |left: u8, action: CursorAction| (0 < left).then_some(action);
        actions.extend(may(state.recruits, CursorAction::Recruit));
        actions.extend(may(state.crashes, CursorAction::Crash));
        actions.extend(may(state.cuts, CursorAction::Cut));
        actions.extend(may(state.returns, CursorAction::Return));
    }

    fn next_state(&self, state: &CursorState, action: CursorAction) -> Option<CursorState> {
        let mut next = state.clone();
        next.step(self.rules, action);
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONCE, |_, it: &CursorState| {
                let mut wishes = BTreeSet::new();
                it.executed().all(|(_, outcome)| wishes.insert(outcome.wish))
            }),
            Property::always(IN_ORDER, |_, it: &CursorState| {
                it.executed().map(|it| it.0).eq(1..=it.cursor())
            }),
            Property::always(HEARD_IS_TRUE, |_, it: &CursorState| {
                it.heard.values().all(|heard| it.executed().any(|(_, outcome)| outcome == *heard))
            }),
            Property::always(RIGHT_ANSWER, |_, it: &CursorState| {
                it.heard.iter().all(|(&wish, heard)| heard.wish == wish)
            }),
            Property::always(ANSWERED, |model: &Self, it: &CursorState| {
                it.wished == model.bounds.wishes && it.player.unanswered.is_empty() || !model.is_at_rest(it)
            }),
            Property::sometimes("a wish is answered after a failover", |_, it: &CursorState| {
                it.heard.values().any(|it| 1 < it.epoch)
            }),
        ]
    }
}

impl CursorModel {
    /// The steps that happen without a fault.
    fn fault_free_actions(&self, state: &CursorState, actions: &mut Vec<CursorAction>) {
        if state.wished < self.bounds.wishes {
            actions.push(CursorAction::Wish);
        }
        actions.extend([CursorAction::Search, CursorAction::Store, CursorAction::Ack, CursorAction::Sync]);
        let is_wild = self.rules.network == CursorNetwork::Wild;
        let mut links = BTreeSet::new();
        let up = state.up.iter().filter(|it| links.insert((it.to, it.session)) || is_wild);
        actions.extend(up.map(|&it| CursorAction::Up(it)));
        links.clear();
        let down = state.down.iter().filter(|it| links.insert((it.from, it.session)) || is_wild);
        actions.extend(down.map(|&it| CursorAction::Down(it)));
    }

    fn is_at_rest(&self, state: &CursorState) -> bool {
        let mut actions = Vec::new();
        self.fault_free_actions(state, &mut actions);
        actions.into_iter().all(|it| self.next_state(state, it).is_none())
    }
}
