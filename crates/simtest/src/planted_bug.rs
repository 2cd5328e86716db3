//! Planted bugs, each with the mixture of faults in which it shows.
//!
//! A checker that never fails may be blind. So every rule can be broken, one at a time, and a checker must notice.

use crate::fault::{FaultKind, FaultKinds};
use crate::run::{RunOutcome, run};
use crate::run_options::RunRequest;
use crate::scenario::Scenario;
use std::ops::RangeInclusive;
use zone::{BrokenRules, Durability, Rule};

/// A rule that a test breaks, and how to find out.
#[derive(Clone, Copy, Debug)]
pub struct PlantedBug {
    /// The rule that is broken.
    pub rule: Rule,
    /// Name of the bug on the command line.
    pub name: &'static str,
    /// Description of a world without the rule.
    pub about: &'static str,
    kinds: &'static [FaultKind],
    durability: Durability,
    /// Number of faults, if the usual one is too small for the rare coincidence that the bug needs.
    faults: Option<u32>,
    /// True if it needs several zones.
    pub between: bool,
}

/// Every planted bug, one per rule.
pub const PLANTED: [PlantedBug; 34] = [
    planted(
        Rule::AnnounceAfterAck,
        "announce-early",
        "the paper's rule: the backup is told first, but the primary does not wait for its answer",
        &[FaultKind::Crash, FaultKind::Point, FaultKind::Spike],
    ),
    planted(
        Rule::PromoteBySwap,
        "promote-unasked",
        "the paper's rule: a backup that hears nothing takes over without asking",
        &[FaultKind::Cut, FaultKind::OneWay, FaultKind::Pause],
    ),
    planted(
        Rule::SoloBySwap,
        "solo-unasked",
        "a primary that hears nothing goes on alone without asking",
        &[FaultKind::Cut, FaultKind::OneWay, FaultKind::Pause],
    ),
    PlantedBug {
        faults: Some(100),
        ..planted(
            Rule::StopAckBeforeSwap,
            "ack-while-swapping",
            "a backup goes on acknowledging while its swap is on its way",
            &[FaultKind::Pause, FaultKind::DirectorySlow, FaultKind::Point],
        )
    },
    planted(
        Rule::UnknownSwapMayHappen,
        "unknown-is-lost",
        "a swap without an answer counts as failed",
        &[
            FaultKind::OneWay,
            FaultKind::Cut,
            FaultKind::Pause,
            FaultKind::DirectoryLossy,
            FaultKind::DirectoryLate,
        ],
    ),
    planted(
        Rule::SoloWaitsForDisk,
        "solo-unsynced",
        "a primary that is alone announces before its disk has it",
        &[FaultKind::Crash, FaultKind::DiskSlow],
    ),
    planted(
        Rule::NamedBackupCounts,
        "solo-while-naming",
        "while the swap that names a new backup is unanswered, a primary commits alone",
        &[
            FaultKind::Crash,
            FaultKind::Point,
            FaultKind::Spike,
            FaultKind::DirectorySlow,
            FaultKind::DirectoryLossy,
        ],
    ),
    planted(
        Rule::DropUnacknowledgedSuffix,
        "keep-suffix",
        "a replica that comes back keeps records that no other replica acknowledged",
        &[FaultKind::Crash, FaultKind::Isolate, FaultKind::Pause],
    ),
    planted(
        Rule::RestartLosesRole,
        "restart-reigns",
        "a primary that restarts goes on in its old epoch",
        &[FaultKind::Crash, FaultKind::Point],
    ),
    planted(
        Rule::ActionsInOrder,
        "no-cursor",
        "every action that arrives is done, whatever its number",
        &[FaultKind::Reset, FaultKind::Storm, FaultKind::Loss, FaultKind::Crash],
    ),
    planted(
        Rule::KeepResults,
        "forget-results",
        "results are not kept: a player who asks again hears nothing",
        &[FaultKind::Reset, FaultKind::Storm, FaultKind::Crash],
    ),
    planted(Rule::LogTimers, "timers-unlogged", "timers are not in the log", &[FaultKind::Crash]),
    planted(Rule::LogLetters, "letters-unlogged", "letters are not in the log", &[FaultKind::Crash]),
    planted(
        Rule::NamesCarryEpoch,
        "reuse-names",
        "a new primary gives names that an earlier one gave",
        &[FaultKind::Crash, FaultKind::Pause],
    ),
    planted(
        Rule::TimeFollowsLog,
        "time-turns-back",
        "a new primary believes its own clock, though the log is ahead",
        &[FaultKind::ClockRate, FaultKind::ClockStep, FaultKind::Crash, FaultKind::DirectoryDown],
    ),
    planted(
        Rule::LongerLogWins,
        "shorter-wins",
        "after a full stop the shorter log wins",
        &[FaultKind::StopAll, FaultKind::DiskSlow],
    ),
    planted(
        Rule::PlayersFenceEpochs,
        "no-fence",
        "players believe any replica, whatever its epoch",
        &[FaultKind::Pause, FaultKind::OneWay, FaultKind::Isolate, FaultKind::Late, FaultKind::Jitter],
    ),
    planted(
        Rule::RestartedBackupRejoins,
        "backup-forgets",
        "a backup that restarted goes on as if it had not",
        &[FaultKind::Crash, FaultKind::Point, FaultKind::DiskSlow],
    ),
    planted(
        Rule::OneRecordPerEvent,
        "torn-events",
        "an event is written in several records",
        &[FaultKind::Crash],
    ),
    planted(
        Rule::VersionsWithoutGaps,
        "skip-versions",
        "a later primary leaves gaps in versions, for those that it may not know",
        &[FaultKind::Crash, FaultKind::Pause],
    ),
    planted(
        Rule::TrimTail,
        "keep-tail",
        "a primary never forgets a record, though all replicas have it",
        &[FaultKind::Jitter],
    ),
    planted(
        Rule::LatenessIsBounded,
        "lateness-unbounded",
        "a backup waits for a primary that was late as if it could never die",
        &[FaultKind::Overload, FaultKind::Pause, FaultKind::Crash],
    ),
    planted(
        Rule::RecogniseRepeatedEntries,
        "entries-repeated",
        "a player who asks to enter again, and is in, is shown everything again",
        &[FaultKind::Overload, FaultKind::Pause, FaultKind::Spike],
    ),
    PlantedBug {
        faults: Some(60),
        ..planted(
            Rule::LogBusyAnswers,
            "busy-unlogged",
            "actions are answered busy without a record, and executed later",
            &[FaultKind::Overload, FaultKind::Storm, FaultKind::Jitter],
        )
    },
    planted(
        Rule::SuspectsAreNotExecuted,
        "suspects-executed",
        "an action that hung one primary is executed by the next",
        &[FaultKind::Poison],
    ),
    between(
        Rule::ZonesFenceEpochs,
        "mesh-unfenced",
        "zones believe former primaries of other zones",
        &[FaultKind::Pause, FaultKind::Isolate, FaultKind::OneWay, FaultKind::Cut],
    ),
    between(
        Rule::LocksExclude,
        "locks-ignored",
        "locks are granted though another event holds them",
        &[FaultKind::Jitter],
    ),
    between(
        Rule::AskSilentCoordinators,
        "nobody-asks",
        "the paper's rule: locks of a server that died are held for ever",
        &[FaultKind::Crash, FaultKind::CrashOne, FaultKind::Point],
    ),
    between(
        Rule::HoldIsBounded,
        "holds-for-ever",
        "an event that cannot get all its locks keeps those it has",
        &[FaultKind::Crash, FaultKind::CrashOne, FaultKind::MeshCut],
    ),
    between(
        Rule::TellEveryParticipant,
        "one-is-forgotten",
        "one of those that take part in an event does not hear of the decision",
        &[FaultKind::Jitter],
    ),
    between(
        Rule::FreezeOfferedObjects,
        "offer-unfrozen",
        "things happen to an object that is offered to another zone",
        &[FaultKind::Jitter, FaultKind::Spike],
    ),
    between(
        Rule::DeclineIntoLockedPlace,
        "offer-taken-locked",
        "an object is taken over although an event holds its place",
        &[FaultKind::Jitter, FaultKind::Spike],
    ),
    between(
        Rule::ForgetSilentGhosts,
        "ghosts-stay",
        "ghosts are shown although their owner is silent",
        &[FaultKind::Crash, FaultKind::Reset, FaultKind::MeshCut],
    ),
    between(
        Rule::PostAfterSync,
        "abroad-unsynced",
        "other zones are told what a full stop may undo",
        &[FaultKind::StopAll, FaultKind::DiskSlow],
    ),
];

const fn planted(
    rule: Rule,
    name: &'static str,
    about: &'static str,
    kinds: &'static [FaultKind],
) -> PlantedBug {
    PlantedBug { rule, name, about, kinds, durability: Durability::Batched, faults: None, between: false }
}

/// A planted bug that needs several zones.
const fn between(
    rule: Rule,
    name: &'static str,
    about: &'static str,
    kinds: &'static [FaultKind],
) -> PlantedBug {
    PlantedBug { between: true, ..planted(rule, name, about, kinds) }
}

impl PlantedBug {
    /// The planted bug with this name on the command line.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PLANTED.iter().find(|it| it.name == name)
    }

    /// The mixture of faults in which it shows.
    pub fn kinds(&self) -> FaultKinds {
        FaultKinds::of(self.kinds.iter().copied())
    }

    /// The request for runs in which the bug may show.
    pub fn request(&self) -> RunRequest {
        RunRequest {
            kinds: self.kinds(),
            all_kinds: true,
            broken_rules: BrokenRules::only(self.rule),
            durability: Some(self.durability),
            faults: self.faults,
            zones: if self.between { RunRequest::MESH.zones } else { RunRequest::ZONE.zones },
        }
    }

    /// The first run of these seeds in which a checker notices the bug.
    pub fn hunt(&self, scenario: impl Scenario + Clone, seeds: RangeInclusive<u64>) -> Option<RunOutcome> {
        let request = self.request();
        seeds.map(|seed| run(scenario.clone(), seed, &request)).find(|it| !it.violations.is_empty())
    }
}
