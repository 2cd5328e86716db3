//! Failover: compare-and-swap, going solo, coming back, naming a new backup.
//!
//! Two or three replicas, a directory whose requests may be carried out late and whose answers may be lost, links
//! that keep order but break, disks that keep what was synced, crashes that take the rest. A backup may suspect,
//! and a primary may lose patience, at any moment: nothing here rests on time.
//!
//! What is left out: beacons and leases (they carry no safety), snapshots in parts (the last part is the
//! snapshot), trimmed logs. Reading the directory is one step: between a read and its answer nothing depends on
//! the answer, so a slow read is a read followed by a pause. A swap is three: asked, carried out, answered.

mod steps;
mod tests;

use stateright::{Model, Property};
use std::collections::{BTreeMap, BTreeSet};
use zone::{Durability, Rule};

/// A replica.
type Id = usize;

const REPLICAS_MAX: usize = 3;

/// Which rules are kept. All of them, unless one is switched off to see what it is for.
#[derive(Clone, Copy, Debug)]
struct Rules {
    durability: Durability,
    broken: Option<Rule>,
    flaw: Option<Flaw>,
}

/// Rules whose need this model has shown, switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    /// A backup sends its swap before its disk has everything it acknowledged.
    PromoteUnsynced,
    /// A replica without a role claims the throne before its disk has its whole log.
    ClaimUnsynced,
    /// A primary asks to be alone, and goes on announcing by its backup's word only.
    LeaveUnsynced,
    /// A primary that asked to be alone, heard no answer, and then heard its backup, asks no more.
    LeaveForgotten,
    /// A replica without a role follows whoever sends it records that would fit, and drops them.
    FollowMidway,
    /// A primary that is about to name a follower does not listen when that follower says that it is nobody.
    NamingDeaf,
    /// A primary waits for the answer to an invitation as long as beacons are answered, though the link that carried it
    /// has broken, or whoever got it follows already and does not say so again.
    InvitedOnce,
    /// A backup takes its epoch from the directory, refuses what its primary sent before it heard of that epoch, and
    /// does not say what it missed.
    RefusedUntold,
}

/// How far the search goes.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    replicas: usize,
    /// Records besides those that begin reigns.
    writes: u8,
    crashes: u8,
    /// Suspicions (and losses of patience) without a reason.
    alarms: u8,
    /// Requests to the directory that are never answered.
    unknowns: u8,
    /// Links that break although both ends live.
    breaks: u8,
    epochs: u8,
    /// Messages on one link at once.
    link: usize,
}

#[derive(Clone, Copy, Debug)]
struct Failover {
    rules: Rules,
    bounds: Bounds,
}

/// A record: who wrote it in which reign and life. With its place in the log, that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Rec {
    epoch: u8,
    writer: Id,
    life: u8,
}

/// `Reign`. Each change is a new epoch, so the epoch serves as the directory's revision, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Entry {
    epoch: u8,
    primary: Id,
    backup: Option<Id>,
}

impl Entry {
    const fn next(self, primary: Id, backup: Option<Id>) -> Self {
        Self { epoch: self.epoch + 1, primary, backup }
    }
}

/// `Peer`, as far as safety cares.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Msg {
    Append { epoch: u8, first: usize, records: Vec<Rec> },
    Copy { epoch: u8, log: Vec<Rec> },
    Follow { epoch: u8, last: u8, index: usize },
    Acked { epoch: u8, index: usize, synced: usize },
    Missing { epoch: u8, after: usize },
    Standing { reign: u8, last: u8, index: usize },
}

/// `Follower`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Follower {
    id: Id,
    since: u8,
    confirmed: bool,
    sent: usize,
    acked: usize,
    synced: usize,
}

/// `Mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Mode {
    Alone,
    Recruiting(Follower),
    /// Catching up.
    Reaching(Follower),
    /// The swap that names the follower may happen.
    Naming(Follower),
    Paired(Follower),
    /// Paired; on its way to ask for the end of that, and not there until its disk has everything.
    Syncing(Follower),
    /// Paired; the swap that ends it may happen.
    Leaving(Follower),
}

impl Mode {
    const fn follower(&mut self) -> Option<&mut Follower> {
        match self {
            Self::Alone => None,
            Self::Recruiting(it)
            | Self::Reaching(it)
            | Self::Naming(it)
            | Self::Paired(it)
            | Self::Syncing(it)
            | Self::Leaving(it) => Some(it),
        }
    }
}

/// What another replica without a role said: in which reign, and how far its log goes.
type Said = (u8, (u8, usize));

/// `Role`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Role {
    Nobody { others: [Option<Said>; REPLICAS_MAX] },
    Backup { epoch: u8, primary: Id, acking: bool },
    Primary { epoch: u8, mode: Mode, announced: usize },
}

const NOBODY: Role = Role::Nobody { others: [None; REPLICAS_MAX] };

/// A swap that was asked for, and what the directory has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Asked {
    swap: Entry,
    answer: Option<Answer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Answer {
    Won,
    Lost(Entry),
}

/// `Replica` with its `Core`, and its disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Replica {
    /// How often it has crashed.
    life: u8,
    log: Vec<Rec>,
    /// What a crash leaves of the log.
    disk: Vec<Rec>,
    /// The directory's entry as last read.
    entry: Option<Entry>,
    asked: Option<Asked>,
    role: Role,
}

/// What must never happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fault {
    TwoHistories,
    Forgot,
    TwoReigns,
    Deposed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    replicas: Vec<Replica>,
    directory: Entry,
    /// Swaps whose senders wait no longer, and which may still happen.
    late: BTreeSet<Entry>,
    /// What is on its way, by sender and receiver.
    links: Vec<Vec<Msg>>,
    /// Everything anybody was ever told.
    told: Vec<Rec>,
    /// Who told something, by epoch.
    spoke: BTreeMap<u8, (Id, u8)>,
    writes: u8,
    crashes: u8,
    alarms: u8,
    unknowns: u8,
    breaks: u8,
    fault: Option<Fault>,
}

/// One step of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// A primary executes something.
    Write(Id),
    /// The oldest message of a link arrives.
    Deliver(Id, Id),
    /// A disk has everything.
    Sync(Id),
    /// A replica reads who reigns.
    Look(Id),
    /// A replica without a role says how far its log goes.
    Say(Id),
    /// A backup finds its primary silent, and asks who reigns.
    Suspect(Id),
    /// The same, but it hears its primary again before the answer comes.
    Doubt(Id),
    /// A primary finds its follower silent.
    LosePatience(Id),
    /// It hears it again, before it asked for anything.
    Calm(Id),
    /// A replica sends (again) the swap it wants.
    Swap(Id),
    /// The directory carries out a swap.
    CarryOut(Id),
    /// Its answer arrives at somebody who hears its primary, or at somebody who does not.
    Hear { by: Id, silent: bool },
    /// Its answer is lost, or not there in time.
    Lose(Id),
    /// The directory carries out a swap that nobody waits for.
    CarryOutLate(Entry),
    /// A replica crashes and starts again.
    Crash(Id),
    /// A link breaks and comes back.
    Break(Id, Id),
}

const ONE_HISTORY: &str = "no two records are announced with one number";
const NOTHING_LOST: &str = "whoever reigns has everything announced";
const ONE_REIGN: &str = "one replica announces per epoch";
const DEPOSED_SILENT: &str = "a deposed primary announces nothing its successor lacks";
const RESTS_WHOLE: &str = "without faults a zone ends with a primary, a backup, and everything announced";

impl Failover {
    fn start(&self, entry: Entry, roles: &[Role]) -> State {
        let first = vec![Rec { epoch: 1, writer: 0, life: 0 }];
        let replica = |id: Id, role: &Role| {
            let log = if matches!(role, Role::Nobody { .. }) { Vec::new() } else { first.clone() };
            let entry = (id < 2).then_some(entry);
            Replica { life: 0, disk: log.clone(), log, entry, asked: None, role: *role }
        };
        let bounds = self.bounds;
        State {
            replicas: roles
                .iter()
                .take(bounds.replicas)
                .enumerate()
                .map(|(id, it)| replica(id, it))
                .collect(),
            directory: entry,
            late: BTreeSet::new(),
            links: vec![Vec::new(); bounds.replicas * bounds.replicas],
            told: first,
            spoke: BTreeMap::new(),
            writes: bounds.writes,
            crashes: bounds.crashes,
            alarms: bounds.alarms,
            unknowns: bounds.unknowns,
            breaks: bounds.breaks,
            fault: None,
        }
    }
}

impl Model for Failover {
    type State = State;
    type Action = Action;

    /// A primary with its backup, and a primary that is alone with somebody who has just come.
    fn init_states(&self) -> Vec<State> {
        let follower = Follower { id: 1, since: 1, confirmed: true, sent: 1, acked: 1, synced: 1 };
        let primary = |mode| Role::Primary { epoch: 1, mode, announced: 1 };
        let backup = Role::Backup { epoch: 1, primary: 0, acking: true };
        vec![
            self.start(
                Entry { epoch: 1, primary: 0, backup: Some(1) },
                &[primary(Mode::Paired(follower)), backup, NOBODY],
            ),
            self.start(Entry { epoch: 1, primary: 0, backup: None }, &[primary(Mode::Alone), NOBODY, NOBODY]),
        ]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.fault.is_some() {
            return;
        }
        for id in 0..state.replicas.len() {
            self.actions_of(state, id, actions);
        }
        actions.extend(state.late.iter().map(|&it| Action::CarryOutLate(it)));
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        next.step(self.rules, action);
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONE_HISTORY, |_, it: &State| it.fault != Some(Fault::TwoHistories)),
            Property::always(NOTHING_LOST, |_, it: &State| it.fault != Some(Fault::Forgot)),
            Property::always(ONE_REIGN, |_, it: &State| it.fault != Some(Fault::TwoReigns)),
            Property::always(DEPOSED_SILENT, |_, it: &State| it.fault != Some(Fault::Deposed)),
            Property::sometimes("a backup takes over", |_, it: &State| {
                it.told.iter().any(|it| it.writer == 1)
            }),
            Property::sometimes("a new backup is named", |_, it: &State| {
                1 < it.directory.epoch && it.is_whole()
            }),
            Property::always(RESTS_WHOLE, |model: &Self, it: &State| {
                it.fault.is_some() || it.is_whole() || !it.rests(model.rules)
            }),
        ]
    }

    fn within_boundary(&self, state: &State) -> bool {
        state.directory.epoch <= self.bounds.epochs
            && state.links.iter().all(|it| it.len() <= self.bounds.link)
    }
}

impl Failover {
    fn actions_of(&self, state: &State, id: Id, actions: &mut Vec<Action>) {
        let it = &state.replicas[id];
        for other in (0..state.replicas.len()).filter(|&other| other != id) {
            if !state.link(other, id).is_empty() {
                actions.push(Action::Deliver(other, id));
            }
            if 0 < state.breaks && id < other {
                actions.push(Action::Break(id, other));
            }
        }
        if it.disk != it.log {
            actions.push(Action::Sync(id));
        }
        match it.role {
            Role::Nobody { .. } => actions.extend([Action::Look(id), Action::Say(id)]),
            Role::Backup { .. } => {
                if 0 < state.alarms || state.is_forgotten(id) {
                    actions.push(Action::Suspect(id));
                }
                if 0 < state.alarms {
                    actions.push(Action::Doubt(id));
                }
            }
            Role::Primary { .. } => {
                if 0 < state.writes {
                    actions.push(Action::Write(id));
                }
                if state.is_deposed(id) {
                    actions.push(Action::Look(id));
                }
                if 0 < state.alarms || state.is_unheard(self.rules, id) {
                    actions.push(Action::LosePatience(id));
                }
                if !state.is_unheard(self.rules, id) {
                    actions.push(Action::Calm(id));
                }
            }
        }
        actions.push(Action::Swap(id));
        if let Some(asked) = it.asked {
            match asked.answer {
                None => actions.push(Action::CarryOut(id)),
                Some(Answer::Won) => actions.push(Action::Hear { by: id, silent: false }),
                Some(Answer::Lost(_)) => {
                    actions.extend([false, true].map(|silent| Action::Hear { by: id, silent }));
                }
            }
            if 0 < state.unknowns {
                actions.push(Action::Lose(id));
            }
        }
        if self.may_crash(state) {
            actions.push(Action::Crash(id));
        }
    }

    /// What is in memory only is lost if two crash at once: `batched` promises nothing else. So the second crash
    /// waits until the disks of whoever is named have what was announced.
    fn may_crash(&self, state: &State) -> bool {
        let named = [Some(state.directory.primary), state.directory.backup];
        let is_synced = || named.iter().flatten().all(|&it| state.replicas[it].disk.starts_with(&state.told));
        let is_first = state.crashes == self.bounds.crashes;
        0 < state.crashes && (is_first || self.rules.durability == Durability::Synced || is_synced())
    }
}
