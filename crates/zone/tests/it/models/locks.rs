//! Locks in several zones: no circle of waiting events, no lock left behind, though an object moves meanwhile.
//!
//! Three zones, each with its lock table (`Locks` itself), and events that want objects of two zones. An event asks all
//! zones at once without waiting; if one refuses, it releases everything and queues, the highest zone first. One
//! object changes zones in between, and a zone may crash: it keeps its grants, and forgets the waiting events and
//! its own ones. Transfers and decisions are for other models: here each is one step.
//!
//! There are no timers for held locks (`HOLD_MAX`): they would hide a circle. A wait ends by itself only when
//! no zone knows of it any more (`WAIT_MAX`).

mod steps;
mod tests;

use stateright::{Model, Property};
use std::collections::BTreeSet;

/// A zone, by its number.
type LockZone = u8;
/// An event, by its place in the scenario.
type LockEvent = u8;
/// Objects 0, 1 and 2 stay in the zones of these numbers.
type LockObject = u8;

/// The one object that changes zones.
const MOVER: LockObject = 3;
const ZONES: LockZone = 3;

/// Rules that are switched off to show that each is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LockFlaw {
    /// Zones are queued for in any order: the event's own zone first.
    AnyOrder,
    /// An event that misses an object asks its new zone, and keeps its locks.
    FollowForward,
    /// An event leaves out an object that it misses.
    LeaveOut,
    /// `Rule::AskSilentCoordinators` is broken: no grantor asks about the event of a dead zone.
    NoQuestions,
    /// `Rule::LocksExclude` is broken: locks are given at once although another event holds them.
    LocksIgnored,
    /// An event that is refused keeps its locks, and queues for the rest.
    KeepTried,
    /// An object moves on although an event holds its lock.
    MoveLocked,
}

/// The events: the zone of the actor, and the objects it wants.
type LockScenario = &'static [(LockZone, &'static [LockObject])];

#[derive(Clone, Copy, Debug)]
struct LockModel {
    scenario: LockScenario,
    /// The zones through which the mover goes, in order.
    route: &'static [LockZone],
    crashes: u8,
    flaw: Option<LockFlaw>,
}

/// `LockingStage`, and the two ends of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum LockStage {
    Trying,
    Queueing(usize),
    Pausing,
    Done,
    /// Its zone crashed before it was decided: it never happens.
    Dead,
}

/// Mirrors `Job` of the code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LockJob {
    stage: LockStage,
    attempt: u8,
    failures: u8,
    /// The zones that take part, in the order in which they are queued for.
    zones: Vec<LockZone>,
    granted: BTreeSet<LockZone>,
    /// True if a grant came with the mover.
    saw: bool,
}

/// The contents of a `Locks`, from which it can be made again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct LockTableState {
    /// Events that hold locks, with their attempts.
    held: Vec<(LockEvent, u8)>,
    waiting: Vec<(LockEvent, u8)>,
}

/// Mirrors `BetweenZones` of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum LockMsg {
    Lock { waits: bool },
    Release,
    Granted { saw: bool },
    Taken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct LockEnvelope {
    from: LockZone,
    to: LockZone,
    event: LockEvent,
    attempt: u8,
    says: LockMsg,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LockState {
    jobs: Vec<LockJob>,
    tables: Vec<LockTableState>,
    /// The mover's zone, and the number of its moves.
    place: LockZone,
    moved: usize,
    /// Every message under way, oldest first.
    messages: Vec<LockEnvelope>,
    crashes: u8,
    /// An event was executed on an object that it had not locked.
    unlocked: bool,
    /// An event was executed without an object that had left.
    missed: bool,
}

/// One step of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LockAction {
    Receive(LockEnvelope),
    /// The pause after a failed attempt is over.
    Again(LockEvent),
    /// `WAIT_MAX`: no zone knows of a request any more.
    Late(LockEvent),
    /// `maintain_grants`: a zone asks about a silent event, and is answered.
    Ask(LockZone, LockEvent),
    /// The mover goes to its next zone.
    Move,
    /// A zone's primary crashes and its backup goes on.
    Crash(LockZone),
}

const EXCLUSIVE: &str = "no two events hold one object";
const LOCKED: &str = "an object in an event is locked in its zone";
const FOUND: &str = "no named object is missed";
const ENDS: &str = "every event ends, and no lock is left held or waited for";

impl Model for LockModel {
    type State = LockState;
    type Action = LockAction;

    fn init_states(&self) -> Vec<LockState> {
        let job = LockJob {
            stage: LockStage::Pausing,
            attempt: 0,
            failures: 0,
            zones: Vec::new(),
            granted: BTreeSet::new(),
            saw: false,
        };
        vec![LockState {
            jobs: vec![job; self.scenario.len()],
            tables: vec![LockTableState::default(); usize::from(ZONES)],
            place: self.route[0],
            moved: 0,
            messages: Vec::new(),
            crashes: self.crashes,
            unlocked: false,
            missed: false,
        }]
    }

    fn actions(&self, state: &LockState, actions: &mut Vec<LockAction>) {
        self.fault_free_actions(state, actions);
        actions.push(LockAction::Move);
        if 0 < state.crashes {
            actions.extend((0..ZONES).map(LockAction::Crash));
        }
    }

    fn next_state(&self, state: &LockState, action: LockAction) -> Option<LockState> {
        let mut next = state.clone();
        next.step(self, action);
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(EXCLUSIVE, |model: &Self, it: &LockState| {
                it.tables.iter().all(|it| model.is_exclusive(it))
            }),
            Property::always(LOCKED, |_, it: &LockState| !it.unlocked),
            Property::always(FOUND, |_, it: &LockState| !it.missed),
            Property::always(ENDS, |model: &Self, it: &LockState| it.is_over() || !model.is_at_rest(it)),
            Property::sometimes("an event is done in the queue", |_, it: &LockState| {
                it.jobs.iter().any(|it| it.stage == LockStage::Done && 0 < it.failures)
            }),
        ]
    }
}

impl LockModel {
    /// The steps that happen without a fault.
    fn fault_free_actions(&self, state: &LockState, actions: &mut Vec<LockAction>) {
        let mut links = BTreeSet::new();
        let first = state.messages.iter().filter(|it| links.insert((it.from, it.to)));
        actions.extend(first.map(|&it| LockAction::Receive(it)));
        for event in 0..self.scenario.len() as LockEvent {
            actions.extend([LockAction::Again(event), LockAction::Late(event)]);
            actions.extend((0..ZONES).map(|zone| LockAction::Ask(zone, event)));
        }
    }

    fn is_at_rest(&self, state: &LockState) -> bool {
        let mut actions = Vec::new();
        self.fault_free_actions(state, &mut actions);
        actions.into_iter().all(|it| self.next_state(state, it).is_none())
    }

    fn coordinator(&self, event: LockEvent) -> LockZone {
        self.scenario[usize::from(event)].0
    }

    fn names(&self, event: LockEvent) -> &'static [LockObject] {
        self.scenario[usize::from(event)].1
    }

    fn is_exclusive(&self, table: &LockTableState) -> bool {
        let mut names = BTreeSet::new();
        table.held.iter().flat_map(|it| self.names(it.0)).all(|it| names.insert(it))
    }
}
