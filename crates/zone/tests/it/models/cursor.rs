//! Numbered actions: executed once, in order, and answered, whatever the network and the replicas do.
//!
//! One player, whose links break; a primary that queues what comes too early and keeps results; a backup that has a
//! prefix of its log. The primary may crash at any moment. Then the backup goes on with what it has, or, if there was
//! none, the primary itself with what its disk has. How they agree on that is the other model's business: here a
//! failover is one step.
//!
//! Links keep order. Nothing but the numbering of a new process of the player rests on that: so the model is searched
//! once more with messages that overtake each other and arrive twice.

mod steps;
mod tests;

use stateright::{Model, Property};
use std::collections::{BTreeMap, BTreeSet};
use zone::Rule;

/// A replica.
type Id = u8;

/// Which rules are kept. All of them, unless one is switched off to see what it is for.
#[derive(Clone, Copy, Debug)]
struct Rules {
    network: Network,
    broken: Option<Rule>,
    flaw: Option<Flaw>,
}

/// How messages between player and replicas travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    /// As `Lane::Sure`: in order, once, until the link breaks.
    Ordered,
    /// In any order, any number of times, until the link breaks.
    Wild,
}

/// Rules that are not planted in the code, switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    /// An action that comes too early is executed at once.
    RunAhead,
    /// A player does not send again after a switch.
    SendOnce,
    /// A player who comes back as a new process numbers from 1 again.
    NumberAnew,
}

/// How far the search goes.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// How many things the player wants to do.
    wishes: u8,
    crashes: u8,
    /// Links of the player that break.
    cuts: u8,
    /// New processes of the same player.
    returns: u8,
    /// New backups.
    recruits: u8,
}

#[derive(Clone, Copy, Debug)]
struct Cursor {
    rules: Rules,
    bounds: Bounds,
}

/// What became of a wish: which execution of which wish. Another execution would have another outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Outcome {
    wish: u8,
    epoch: u8,
}

/// `Record`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Rec {
    Reign,
    Entered { session: u8 },
    Acted { number: u8, outcome: Outcome, acked: u8 },
}

/// `Up`, from one process of the player to one replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Up {
    to: Id,
    session: u8,
    what: Wants,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Wants {
    Enter,
    Act { number: u8, wish: u8, acked: u8 },
}

/// `Down`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Down {
    from: Id,
    epoch: u8,
    session: u8,
    what: Says,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Says {
    Entered { cursor: u8 },
    Result { number: u8, outcome: Outcome },
}

/// `Client`: the player's connection, as the primary knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Client {
    session: u8,
    /// Told to be in only when everything up to this record is told.
    entering: Option<usize>,
    acked: u8,
    ahead: BTreeMap<u8, u8>,
}

/// Who reigns. A new reign keeps the log, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Primary {
    id: Id,
    epoch: u8,
    log: Vec<Rec>,
    announced: usize,
    /// What its disk has.
    synced: usize,
    /// What its backup has, and what the primary knows of that.
    backup: Option<(usize, usize)>,
    client: Option<Client>,
}

/// `Player`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Player {
    session: u8,
    home: Option<Id>,
    epoch: u8,
    searching: bool,
    /// Whether it was ever in.
    is_in: bool,
    next: u8,
    unanswered: BTreeMap<u8, u8>,
    acked: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    primary: Primary,
    player: Player,
    /// What the player has wished for so far.
    wished: u8,
    /// What the player was told of each wish.
    heard: BTreeMap<u8, Outcome>,
    /// Everything under way, oldest first.
    up: Vec<Up>,
    down: Vec<Down>,
    crashes: u8,
    cuts: u8,
    returns: u8,
    recruits: u8,
}

/// One step of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// The player wants something done.
    Wish,
    /// The player asks everybody who reigns.
    Search,
    /// A message arrives at the primary.
    Up(Up),
    /// A message arrives at the player.
    Down(Down),
    /// The backup stores one more record.
    Store,
    /// Its acknowledgement arrives.
    Ack,
    /// The primary's disk has everything.
    Sync,
    /// The primary names a new backup, which has everything.
    Recruit,
    /// The primary crashes; whoever has the right to goes on.
    Crash,
    /// The player's links break: what is under way is lost.
    Cut,
    /// The player's process ends and a new one comes.
    Return,
}

const ONCE: &str = "no wish is executed twice";
const IN_ORDER: &str = "executed numbers are 1, 2, 3, …";
const HEARD_IS_TRUE: &str = "what the player was told is in the log, as told";
const RIGHT_ANSWER: &str = "an answer is the answer to that wish";
const ANSWERED: &str = "without faults every wish is answered";

impl Model for Cursor {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let log = vec![Rec::Reign];
        let primary =
            Primary { id: 0, epoch: 1, log, announced: 1, synced: 1, backup: Some((1, 1)), client: None };
        let bounds = self.bounds;
        vec![State {
            primary,
            player: Player::new(1),
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

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.calm_actions(state, actions);
        let may = |left: u8, action: Action| (0 < left).then_some(action);
        actions.extend(may(state.recruits, Action::Recruit));
        actions.extend(may(state.crashes, Action::Crash));
        actions.extend(may(state.cuts, Action::Cut));
        actions.extend(may(state.returns, Action::Return));
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        next.step(self.rules, action);
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONCE, |_, it: &State| {
                let mut wishes = BTreeSet::new();
                it.executed().all(|(_, outcome)| wishes.insert(outcome.wish))
            }),
            Property::always(IN_ORDER, |_, it: &State| it.executed().map(|it| it.0).eq(1..=it.cursor())),
            Property::always(HEARD_IS_TRUE, |_, it: &State| {
                it.heard.values().all(|heard| it.executed().any(|(_, outcome)| outcome == *heard))
            }),
            Property::always(RIGHT_ANSWER, |_, it: &State| {
                it.heard.iter().all(|(&wish, heard)| heard.wish == wish)
            }),
            Property::always(ANSWERED, |model: &Self, it: &State| {
                it.wished == model.bounds.wishes && it.player.unanswered.is_empty() || !model.rests(it)
            }),
            Property::sometimes("a wish is answered after a failover", |_, it: &State| {
                it.heard.values().any(|it| 1 < it.epoch)
            }),
        ]
    }
}

impl Cursor {
    /// What happens without a fault.
    fn calm_actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.wished < self.bounds.wishes {
            actions.push(Action::Wish);
        }
        actions.extend([Action::Search, Action::Store, Action::Ack, Action::Sync]);
        let is_wild = self.rules.network == Network::Wild;
        let mut links = BTreeSet::new();
        let up = state.up.iter().filter(|it| links.insert((it.to, it.session)) || is_wild);
        actions.extend(up.map(|&it| Action::Up(it)));
        links.clear();
        let down = state.down.iter().filter(|it| links.insert((it.from, it.session)) || is_wild);
        actions.extend(down.map(|&it| Action::Down(it)));
    }

    fn rests(&self, state: &State) -> bool {
        let mut actions = Vec::new();
        self.calm_actions(state, &mut actions);
        actions.into_iter().all(|it| self.next_state(state, it).is_none())
    }
}
