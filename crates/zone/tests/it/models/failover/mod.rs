//! Failover: compare-and-swap, going solo, coming back, naming a new backup.
//!
//! Two or three replicas, a directory whose requests may be carried out late and whose answers may be lost, links
//! that keep order but break, disks that keep what was synced, crashes that take the rest. A backup may suspect its
//! primary, and a primary may give up its follower, at any moment: nothing here rests on time.
//!
//! Left out are: beacons and leases (safety does not rest on them), snapshots in parts (the last part is the
//! snapshot), trimmed logs. Reading the directory is one step: between a read and its answer nothing depends on
//! the answer, so a slow read is a read followed by a pause. A swap is three: asked, carried out, answered.

mod steps;
mod tests;

use stateright::{Model, Property};
use std::collections::{BTreeMap, BTreeSet};
use zone::{Durability, Rule};

/// A replica, by its number.
type FailoverReplicaId = usize;

const REPLICAS_MAX: usize = 3;

/// The rules that are kept: all of them, unless one is switched off to show that it is needed.
#[derive(Clone, Copy, Debug)]
struct FailoverRules {
    durability: Durability,
    broken: Option<Rule>,
    flaw: Option<FailoverFlaw>,
}

/// Rules whose need this model has shown, switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailoverFlaw {
    /// A backup sends its swap before its disk has everything it acknowledged.
    PromoteUnsynced,
    /// A replica without a role asks to be primary before its disk has its whole log.
    ClaimUnsynced,
    /// A primary asks to be alone, and goes on announcing records that only its backup has acknowledged.
    LeaveUnsynced,
    /// A primary that asked to be alone, got no answer, and then received from its backup, asks no more.
    LeaveOnce,
    /// A replica without a role follows a primary that sends it records that would fit, and drops them.
    FollowMidway,
    /// A primary that is about to name a follower ignores that follower's message that it has no role.
    IgnoreLostRole,
    /// A primary waits for the answer to an invitation as long as beacons are answered, though the link that carried it
    /// has broken, or the invited replica follows already and does not say so again.
    InviteOnce,
    /// A backup takes its epoch from the directory, refuses records that its primary sent before it learnt of that
    /// epoch, and does not report the gap.
    HideGap,
}

/// The limits of the search.
#[derive(Clone, Copy, Debug)]
struct FailoverBounds {
    replicas: usize,
    /// Records besides those that begin leaderships.
    writes: u8,
    crashes: u8,
    /// Suspicions (and followers given up) without a reason.
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
struct FailoverModel {
    rules: FailoverRules,
    bounds: FailoverBounds,
}

/// A record: its epoch, its writer and the writer's life. With its place in the log, that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct FailoverRecord {
    epoch: u8,
    writer: FailoverReplicaId,
    life: u8,
}

/// `Leadership`. Each change is a new epoch, so the epoch serves as the directory's revision, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct FailoverLeadership {
    epoch: u8,
    primary: FailoverReplicaId,
    backup: Option<FailoverReplicaId>,
}

impl FailoverLeadership {
    const fn next(self, primary: FailoverReplicaId, backup: Option<FailoverReplicaId>) -> Self {
        Self { epoch: self.epoch + 1, primary, backup }
    }
}

/// `BetweenReplicas`, as far as safety needs it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum FailoverMsg {
    Append { epoch: u8, first: usize, records: Vec<FailoverRecord> },
    Copy { epoch: u8, log: Vec<FailoverRecord> },
    Follow { epoch: u8, last: u8, index: usize },
    Acked { epoch: u8, index: usize, synced: usize },
    Missing { epoch: u8, after: usize },
    Standing { epoch_known: u8, last: u8, index: usize },
}

/// Mirrors `Follower` of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FailoverFollower {
    id: FailoverReplicaId,
    since: u8,
    confirmed: bool,
    sent: usize,
    acked: usize,
    synced: usize,
}

/// Mirrors `ReplicationMode` of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FailoverMode {
    Alone,
    Recruiting(FailoverFollower),
    /// The follower catches up with the log.
    Reaching(FailoverFollower),
    /// The swap that names the follower may happen.
    Naming(FailoverFollower),
    Paired(FailoverFollower),
    /// Paired; about to ask for the end of that, once its disk has the whole log.
    Syncing(FailoverFollower),
    /// Paired; the swap that ends it may happen.
    Leaving(FailoverFollower),
}

impl FailoverMode {
    const fn follower(&mut self) -> Option<&mut FailoverFollower> {
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

/// The report of another replica without a role: the epoch it knows, and the end of its log.
type StandingReport = (u8, (u8, usize));

/// Mirrors `Role` of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FailoverRole {
    Unassigned { others: [Option<StandingReport>; REPLICAS_MAX] },
    Backup { epoch: u8, primary: FailoverReplicaId, acking: bool },
    Primary { epoch: u8, mode: FailoverMode, announced: usize },
}

const UNASSIGNED: FailoverRole = FailoverRole::Unassigned { others: [None; REPLICAS_MAX] };

/// A swap that was asked for, and the directory's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PendingSwap {
    swap: FailoverLeadership,
    answer: Option<SwapAnswer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SwapAnswer {
    Won,
    Lost(FailoverLeadership),
}

/// `Replica` with its `Core`, and its disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FailoverReplica {
    /// The number of its crashes.
    life: u8,
    log: Vec<FailoverRecord>,
    /// The log that a crash leaves.
    disk: Vec<FailoverRecord>,
    /// The directory's entry as last read.
    leadership: Option<FailoverLeadership>,
    pending_swap: Option<PendingSwap>,
    role: FailoverRole,
}

/// The violations that must never happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FailoverViolation {
    TwoHistories,
    Forgot,
    TwoPrimaries,
    Deposed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FailoverState {
    replicas: Vec<FailoverReplica>,
    directory: FailoverLeadership,
    /// Swaps whose senders no longer wait, and which may still happen.
    late: BTreeSet<FailoverLeadership>,
    /// Messages under way, by sender and receiver.
    links: Vec<Vec<FailoverMsg>>,
    /// Every record announced so far.
    announced_records: Vec<FailoverRecord>,
    /// By epoch, the replica and life that announced.
    announcers: BTreeMap<u8, (FailoverReplicaId, u8)>,
    writes: u8,
    crashes: u8,
    alarms: u8,
    unknowns: u8,
    breaks: u8,
    violation: Option<FailoverViolation>,
}

/// One step of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailoverAction {
    /// A primary executes an event.
    Write(FailoverReplicaId),
    /// The oldest message of a link arrives.
    Deliver(FailoverReplicaId, FailoverReplicaId),
    /// A disk has the whole log.
    Sync(FailoverReplicaId),
    /// A replica reads the directory.
    Look(FailoverReplicaId),
    /// A replica without a role reports the end of its log.
    ReportStanding(FailoverReplicaId),
    /// A backup finds its primary silent, and reads the directory.
    Suspect(FailoverReplicaId),
    /// The same, but the backup receives from its primary before the answer comes.
    Doubt(FailoverReplicaId),
    /// A primary finds its follower silent.
    LoseFollower(FailoverReplicaId),
    /// The primary receives from the follower again, before it asked for anything.
    ReturnToPaired(FailoverReplicaId),
    /// A replica sends (again) the swap it wants.
    Swap(FailoverReplicaId),
    /// The directory carries out a swap.
    CarryOut(FailoverReplicaId),
    /// The directory's answer arrives at a replica; `silent` if that has not received from its primary meanwhile.
    ReceiveAnswer { by: FailoverReplicaId, silent: bool },
    /// The directory's answer is lost, or late.
    Lose(FailoverReplicaId),
    /// The directory carries out a swap whose sender no longer waits.
    CarryOutLate(FailoverLeadership),
    /// A replica crashes and starts again.
    Crash(FailoverReplicaId),
    /// A link breaks and comes back.
    Break(FailoverReplicaId, FailoverReplicaId),
}

const ONE_HISTORY: &str = "no two records are announced with one number";
const NOTHING_LOST: &str = "every new primary has everything announced";
const ONE_PRIMARY: &str = "one replica announces per epoch";
const DEPOSED_SILENT: &str = "a deposed primary announces nothing its successor lacks";
const RECOVERS: &str = "without faults a zone ends with a primary, a backup, and everything announced";

impl FailoverModel {
    fn start(&self, leadership: FailoverLeadership, roles: &[FailoverRole]) -> FailoverState {
        let first = vec![FailoverRecord { epoch: 1, writer: 0, life: 0 }];
        let replica = |id: FailoverReplicaId, role: &FailoverRole| {
            let log =
                if matches!(role, FailoverRole::Unassigned { .. }) { Vec::new() } else { first.clone() };
            let leadership = (id < 2).then_some(leadership);
            FailoverReplica { life: 0, disk: log.clone(), log, leadership, pending_swap: None, role: *role }
        };
        let bounds = self.bounds;
        FailoverState {
            replicas: roles
                .iter()
                .take(bounds.replicas)
                .enumerate()
                .map(|(id, it)| replica(id, it))
                .collect(),
            directory: leadership,
            late: BTreeSet::new(),
            links: vec![Vec::new(); bounds.replicas * bounds.replicas],
            announced_records: first,
            announcers: BTreeMap::new(),
            writes: bounds.writes,
            crashes: bounds.crashes,
            alarms: bounds.alarms,
            unknowns: bounds.unknowns,
            breaks: bounds.breaks,
            violation: None,
        }
    }
}

impl Model for FailoverModel {
    type State = FailoverState;
    type Action = FailoverAction;

    /// A primary with its backup, and a primary that is alone with a replica that has just started.
    fn init_states(&self) -> Vec<FailoverState> {
        let follower = FailoverFollower { id: 1, since: 1, confirmed: true, sent: 1, acked: 1, synced: 1 };
        let primary = |mode| FailoverRole::Primary { epoch: 1, mode, announced: 1 };
        let backup = FailoverRole::Backup { epoch: 1, primary: 0, acking: true };
        vec![
            self.start(
                FailoverLeadership { epoch: 1, primary: 0, backup: Some(1) },
                &[primary(FailoverMode::Paired(follower)), backup, UNASSIGNED],
            ),
            self.start(
                FailoverLeadership { epoch: 1, primary: 0, backup: None },
                &[primary(FailoverMode::Alone), UNASSIGNED, UNASSIGNED],
            ),
        ]
    }

    fn actions(&self, state: &FailoverState, actions: &mut Vec<FailoverAction>) {
        if state.violation.is_some() {
            return;
        }
        for id in 0..state.replicas.len() {
            self.actions_of(state, id, actions);
        }
        actions.extend(state.late.iter().map(|&it| FailoverAction::CarryOutLate(it)));
    }

    fn next_state(&self, state: &FailoverState, action: FailoverAction) -> Option<FailoverState> {
        let mut next = state.clone();
        next.step(self.rules, action);
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONE_HISTORY, |_, it: &FailoverState| {
                it.violation != Some(FailoverViolation::TwoHistories)
            }),
            Property::always(NOTHING_LOST, |_, it: &FailoverState| {
                it.violation != Some(FailoverViolation::Forgot)
            }),
            Property::always(ONE_PRIMARY, |_, it: &FailoverState| {
                it.violation != Some(FailoverViolation::TwoPrimaries)
            }),
            Property::always(DEPOSED_SILENT, |_, it: &FailoverState| {
                it.violation != Some(FailoverViolation::Deposed)
            }),
            Property::sometimes("a backup takes over", |_, it: &FailoverState| {
                it.announced_records.iter().any(|it| it.writer == 1)
            }),
            Property::sometimes("a new backup is named", |_, it: &FailoverState| {
                1 < it.directory.epoch && it.is_paired_and_announced()
            }),
            Property::always(RECOVERS, |model: &Self, it: &FailoverState| {
                it.violation.is_some() || it.is_paired_and_announced() || !it.is_at_rest(model.rules)
            }),
        ]
    }

    fn within_boundary(&self, state: &FailoverState) -> bool {
        state.directory.epoch <= self.bounds.epochs
            && state.links.iter().all(|it| it.len() <= self.bounds.link)
    }
}

impl FailoverModel {
    fn actions_of(&self, state: &FailoverState, id: FailoverReplicaId, actions: &mut Vec<FailoverAction>) {
        let it = &state.replicas[id];
        for other in (0..state.replicas.len()).filter(|&other| other != id) {
            if !state.link(other, id).is_empty() {
                actions.push(FailoverAction::Deliver(other, id));
            }
            if 0 < state.breaks && id < other {
                actions.push(FailoverAction::Break(id, other));
            }
        }
        if it.disk != it.log {
            actions.push(FailoverAction::Sync(id));
        }
        match it.role {
            FailoverRole::Unassigned { .. } => {
                actions.extend([FailoverAction::Look(id), FailoverAction::ReportStanding(id)])
            }
            FailoverRole::Backup { .. } => {
                if 0 < state.alarms || state.is_forgotten(id) {
                    actions.push(FailoverAction::Suspect(id));
                }
                if 0 < state.alarms {
                    actions.push(FailoverAction::Doubt(id));
                }
            }
            FailoverRole::Primary { .. } => {
                if 0 < state.writes {
                    actions.push(FailoverAction::Write(id));
                }
                if state.is_deposed(id) {
                    actions.push(FailoverAction::Look(id));
                }
                if 0 < state.alarms || state.is_unheard(self.rules, id) {
                    actions.push(FailoverAction::LoseFollower(id));
                }
                if !state.is_unheard(self.rules, id) {
                    actions.push(FailoverAction::ReturnToPaired(id));
                }
            }
        }
        actions.push(FailoverAction::Swap(id));
        if let Some(pending_swap) = it.pending_swap {
            match pending_swap.answer {
                None => actions.push(FailoverAction::CarryOut(id)),
                Some(SwapAnswer::Won) => {
                    actions.push(FailoverAction::ReceiveAnswer { by: id, silent: false })
                }
                Some(SwapAnswer::Lost(_)) => {
                    actions
                        .extend([false, true].map(|silent| FailoverAction::ReceiveAnswer { by: id, silent }));
                }
            }
            if 0 < state.unknowns {
                actions.push(FailoverAction::Lose(id));
            }
        }
        if self.may_crash(state) {
            actions.push(FailoverAction::Crash(id));
        }
    }

    /// Records in memory only are lost if two replicas crash at once: `batched` promises nothing else. So the second
    /// crash waits until the disks of primary and backup have everything announced.
    fn may_crash(&self, state: &FailoverState) -> bool {
        let named = [Some(state.directory.primary), state.directory.backup];
        let is_synced = || {
            named.iter().flatten().all(|&it| state.replicas[it].disk.starts_with(&state.announced_records))
        };
        let is_first = state.crashes == self.bounds.crashes;
        0 < state.crashes && (is_first || self.rules.durability == Durability::Synced || is_synced())
    }
}
