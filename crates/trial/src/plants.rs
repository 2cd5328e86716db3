//! Planted bugs, and the mixture of trouble in which each shows itself.
//!
//! A checker that never fails may be blind. So every fix can be switched off, one at a time, and somebody must notice.

use crate::fault::{Kind, Kinds};
use crate::options::Asked;
use crate::run::{Outcome, run};
use crate::scenario::Scenario;
use std::ops::RangeInclusive;
use zone::{BrokenRules, Durability, Rule};

/// A planted bug.
#[derive(Clone, Copy, Debug)]
pub struct Planted {
    /// The rule that is broken.
    pub rule: Rule,
    /// Its name on the command line.
    pub name: &'static str,
    /// What is wrong with a world without the fix.
    pub about: &'static str,
    kinds: &'static [Kind],
    durability: Durability,
    /// How many things go wrong, if the usual number is not enough for what it takes to come together.
    faults: Option<u32>,
    /// Whether it takes several zones.
    pub between: bool,
}

/// All of them.
pub const PLANTED: [Planted; 30] = [
    planted(
        Rule::AnnounceAfterAck,
        "announce-early",
        "the paper's rule: the backup is told first, but nobody waits for its answer",
        &[Kind::Crash, Kind::Point, Kind::Spike],
    ),
    planted(
        Rule::PromoteBySwap,
        "promote-unasked",
        "the paper's rule: a backup that hears nothing takes over without asking",
        &[Kind::Cut, Kind::OneWay, Kind::Pause],
    ),
    planted(
        Rule::SoloBySwap,
        "solo-unasked",
        "a primary that hears nothing goes on alone without asking",
        &[Kind::Cut, Kind::OneWay, Kind::Pause],
    ),
    Planted {
        faults: Some(100),
        ..planted(
            Rule::StopAckBeforeSwap,
            "ack-while-swapping",
            "a backup goes on acknowledging while its swap is on its way",
            &[Kind::Pause, Kind::DirectorySlow, Kind::Point],
        )
    },
    planted(
        Rule::UnknownSwapMayHappen,
        "unknown-is-lost",
        "a swap without an answer counts as failed",
        &[Kind::OneWay, Kind::Cut, Kind::Pause, Kind::DirectoryLossy, Kind::DirectoryLate],
    ),
    planted(
        Rule::SoloWaitsForDisk,
        "solo-unsynced",
        "a primary that is alone announces before its disk has it",
        &[Kind::Crash, Kind::DiskSlow],
    ),
    planted(
        Rule::NamedBackupCounts,
        "solo-while-naming",
        "while the swap that names a new backup is unanswered, a primary commits alone",
        &[Kind::Crash, Kind::Point, Kind::Spike, Kind::DirectorySlow, Kind::DirectoryLossy],
    ),
    planted(
        Rule::DropUnacknowledgedSuffix,
        "keep-suffix",
        "a replica that comes back keeps what nobody acknowledged",
        &[Kind::Crash, Kind::Isolate, Kind::Pause],
    ),
    planted(
        Rule::RestartLosesRole,
        "restart-reigns",
        "a primary that restarts reigns on in its old epoch",
        &[Kind::Crash, Kind::Point],
    ),
    planted(
        Rule::ActionsInOrder,
        "no-cursor",
        "every action that arrives is done, whatever its number",
        &[Kind::Reset, Kind::Storm, Kind::Loss, Kind::Crash],
    ),
    planted(
        Rule::KeepResults,
        "forget-results",
        "results are not kept: who asks again hears nothing",
        &[Kind::Reset, Kind::Storm, Kind::Crash],
    ),
    planted(Rule::LogTimers, "timers-unlogged", "timers are not in the log", &[Kind::Crash]),
    planted(Rule::LogLetters, "letters-unlogged", "letters are not in the log", &[Kind::Crash]),
    planted(
        Rule::NamesCarryEpoch,
        "reuse-names",
        "a new reign gives names that an old one gave",
        &[Kind::Crash, Kind::Pause],
    ),
    planted(
        Rule::TimeFollowsLog,
        "time-turns-back",
        "a new primary believes its own clock, though the log is ahead",
        &[Kind::ClockRate, Kind::ClockStep, Kind::Crash, Kind::DirectoryDown],
    ),
    planted(
        Rule::LongerLogWins,
        "shorter-wins",
        "after a full stop the shorter log wins",
        &[Kind::StopAll, Kind::DiskSlow],
    ),
    planted(
        Rule::PlayersFenceEpochs,
        "no-fence",
        "players believe whoever speaks, whatever the epoch",
        &[Kind::Pause, Kind::OneWay, Kind::Isolate, Kind::Late, Kind::Jitter],
    ),
    planted(
        Rule::RestartedBackupRejoins,
        "backup-forgets",
        "a backup that restarted goes on as if it had not",
        &[Kind::Crash, Kind::Point, Kind::DiskSlow],
    ),
    planted(Rule::OneRecordPerEvent, "torn-events", "an event is written in several records", &[Kind::Crash]),
    planted(
        Rule::VersionsWithoutGaps,
        "skip-versions",
        "a later reign leaves gaps in versions, for those that it may not know",
        &[Kind::Crash, Kind::Pause],
    ),
    planted(
        Rule::TrimTail,
        "keep-tail",
        "a primary never forgets a record, though everybody has it",
        &[Kind::Jitter],
    ),
    between(
        Rule::ZonesFenceEpochs,
        "mesh-unfenced",
        "zones believe primaries of other zones whose reign is over",
        &[Kind::Pause, Kind::Isolate, Kind::OneWay, Kind::Cut],
    ),
    between(
        Rule::LocksExclude,
        "locks-ignored",
        "locks are given though somebody else holds them",
        &[Kind::Jitter],
    ),
    between(
        Rule::AskSilentCoordinators,
        "nobody-asks",
        "the paper's rule: locks of a server that died are held for ever",
        &[Kind::Crash, Kind::CrashOne, Kind::Point],
    ),
    between(
        Rule::HoldIsBounded,
        "holds-for-ever",
        "an event that cannot get all its locks keeps those it has",
        &[Kind::Crash, Kind::CrashOne, Kind::MeshCut],
    ),
    between(
        Rule::TellEveryParticipant,
        "one-is-forgotten",
        "one of those that take part in an event does not hear of the decision",
        &[Kind::Jitter],
    ),
    between(
        Rule::FreezeOfferedObjects,
        "offer-unfrozen",
        "things happen to an object that is offered to another zone",
        &[Kind::Jitter, Kind::Spike],
    ),
    between(
        Rule::DeclineIntoLockedPlace,
        "offer-taken-locked",
        "an object is taken over although an event holds its place",
        &[Kind::Jitter, Kind::Spike],
    ),
    between(
        Rule::ForgetSilentGhosts,
        "ghosts-stay",
        "ghosts are shown although nobody tells of them any more",
        &[Kind::Crash, Kind::Reset, Kind::MeshCut],
    ),
    between(
        Rule::PostAfterSync,
        "abroad-unsynced",
        "other zones are told what a full stop may undo",
        &[Kind::StopAll, Kind::DiskSlow],
    ),
];

const fn planted(rule: Rule, name: &'static str, about: &'static str, kinds: &'static [Kind]) -> Planted {
    Planted { rule, name, about, kinds, durability: Durability::Batched, faults: None, between: false }
}

/// One that takes several zones.
const fn between(rule: Rule, name: &'static str, about: &'static str, kinds: &'static [Kind]) -> Planted {
    Planted { between: true, ..planted(rule, name, about, kinds) }
}

impl Planted {
    /// The planted bug of this name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PLANTED.iter().find(|it| it.name == name)
    }

    /// The mixture of trouble in which it shows.
    pub fn kinds(&self) -> Kinds {
        Kinds::of(self.kinds.iter().copied())
    }

    /// Trials of this bug.
    pub fn asked(&self) -> Asked {
        Asked {
            kinds: self.kinds(),
            all_kinds: true,
            plants: BrokenRules::only(self.rule),
            durability: Some(self.durability),
            faults: self.faults,
            zones: if self.between { Asked::MESH.zones } else { Asked::EVERYTHING.zones },
        }
    }

    /// The first of these seeds in which somebody notices.
    pub fn hunt(&self, scenario: impl Scenario + Clone, seeds: RangeInclusive<u64>) -> Option<Outcome> {
        let asked = self.asked();
        seeds.map(|seed| run(scenario.clone(), seed, &asked)).find(|it| !it.violations.is_empty())
    }
}
