//! Locks in several zones: nobody waits in a circle, and nobody is left holding, though an object moves meanwhile.
//!
//! Three zones, each with its lock table (`Locks` itself), and events that want objects of two zones. All zones are
//! asked at once and nobody waits; whoever is refused lets everything go and queues, the highest zone first. One
//! object changes zones in between, and a zone may crash: it keeps what it granted, and forgets who waited and
//! what it wanted itself. Passages and decisions are other models' business: here each is one step.
//!
//! There are no timers for those who hold (`HOLD_MAX`): they would hide a circle. A wait ends by itself only when
//! nobody knows of it any more (`WAIT_MAX`).

mod steps;
mod tests;

use stateright::{Model, Property};
use std::collections::BTreeSet;

type Zone = u8;
/// An event, by its place in the plot.
type Event = u8;
/// Objects 0, 1 and 2 stay in the zones of these numbers.
type Object = u8;

/// The object that moves.
const MOVER: Object = 3;
const ZONES: Zone = 3;

/// Rules switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    /// Zones are queued for in any order: the own one first.
    AnyOrder,
    /// Who does not find somebody asks where they went, with all it holds.
    FollowForward,
    /// Who is not found is left out.
    LeaveOut,
    /// `Rule::AskSilentCoordinators` is broken: no grantor asks about the event of a dead zone.
    NobodyAsks,
    /// `Rule::LocksExclude` is broken: locks are given at once although another event holds them.
    LocksIgnored,
    /// Who is refused keeps what it has, and queues for the rest.
    KeepTried,
    /// Somebody passes on although an event holds them.
    MoveLocked,
}

/// Who wants what: the zone of the actor, and the names.
type Plot = &'static [(Zone, &'static [Object])];

#[derive(Clone, Copy, Debug)]
struct Locking {
    plot: Plot,
    /// Where the mover goes, one zone after the other.
    way: &'static [Zone],
    crashes: u8,
    flaw: Option<Flaw>,
}

/// `Stage`, and how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Stage {
    Trying,
    Queueing(usize),
    Pausing,
    Done,
    /// Its zone crashed before it was decided: it never happens.
    Dead,
}

/// `Job`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Job {
    stage: Stage,
    attempt: u8,
    failures: u8,
    /// The zones that take part, in the order in which they are queued for.
    zones: Vec<Zone>,
    granted: BTreeSet<Zone>,
    /// Whether the mover was found with a grant.
    saw: bool,
}

/// What `Locks` said so far, from which it can be made again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Table {
    /// Events with their attempts.
    held: Vec<(Event, u8)>,
    waiting: Vec<(Event, u8)>,
}

/// `Mesh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Says {
    Lock { waits: bool },
    Release,
    Granted { saw: bool },
    Taken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Msg {
    from: Zone,
    to: Zone,
    event: Event,
    attempt: u8,
    says: Says,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    jobs: Vec<Job>,
    tables: Vec<Table>,
    /// Where the mover is, and how often it moved.
    place: Zone,
    moved: usize,
    /// Everything under way, oldest first.
    messages: Vec<Msg>,
    crashes: u8,
    /// An event was executed on somebody whom it had not locked.
    unlocked: bool,
    /// An event was executed without somebody who had left.
    missed: bool,
}

/// One step of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// A message arrives.
    Hear(Msg),
    /// A pause is over.
    Again(Event),
    /// `WAIT_MAX`: nobody knows of a request any more.
    Late(Event),
    /// `look_after_grants`: a zone asks what became of a silent event, and hears.
    Ask(Zone, Event),
    /// The mover changes zones.
    Move,
    /// A zone's primary crashes and its backup goes on.
    Crash(Zone),
}

const EXCLUSIVE: &str = "nobody holds what somebody else holds";
const LOCKED: &str = "whoever is in an event is locked where they are";
const FOUND: &str = "nobody who is named is missed";
const ENDS: &str = "every event ends, and nobody is left holding or waiting";

impl Model for Locking {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let job = Job {
            stage: Stage::Pausing,
            attempt: 0,
            failures: 0,
            zones: Vec::new(),
            granted: BTreeSet::new(),
            saw: false,
        };
        vec![State {
            jobs: vec![job; self.plot.len()],
            tables: vec![Table::default(); usize::from(ZONES)],
            place: self.way[0],
            moved: 0,
            messages: Vec::new(),
            crashes: self.crashes,
            unlocked: false,
            missed: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.calm_actions(state, actions);
        actions.push(Action::Move);
        if 0 < state.crashes {
            actions.extend((0..ZONES).map(Action::Crash));
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        next.step(self, action);
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(EXCLUSIVE, |model: &Self, it: &State| {
                it.tables.iter().all(|it| model.is_exclusive(it))
            }),
            Property::always(LOCKED, |_, it: &State| !it.unlocked),
            Property::always(FOUND, |_, it: &State| !it.missed),
            Property::always(ENDS, |model: &Self, it: &State| it.is_over() || !model.rests(it)),
            Property::sometimes("an event is done in the queue", |_, it: &State| {
                it.jobs.iter().any(|it| it.stage == Stage::Done && 0 < it.failures)
            }),
        ]
    }
}

impl Locking {
    /// What happens without a fault.
    fn calm_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let mut links = BTreeSet::new();
        let first = state.messages.iter().filter(|it| links.insert((it.from, it.to)));
        actions.extend(first.map(|&it| Action::Hear(it)));
        for event in 0..self.plot.len() as Event {
            actions.extend([Action::Again(event), Action::Late(event)]);
            actions.extend((0..ZONES).map(|zone| Action::Ask(zone, event)));
        }
    }

    fn rests(&self, state: &State) -> bool {
        let mut actions = Vec::new();
        self.calm_actions(state, &mut actions);
        actions.into_iter().all(|it| self.next_state(state, it).is_none())
    }

    fn home(&self, event: Event) -> Zone {
        self.plot[usize::from(event)].0
    }

    fn names(&self, event: Event) -> &'static [Object] {
        self.plot[usize::from(event)].1
    }

    fn is_exclusive(&self, table: &Table) -> bool {
        let mut names = BTreeSet::new();
        table.held.iter().flat_map(|it| self.names(it.0)).all(|it| names.insert(it))
    }
}
