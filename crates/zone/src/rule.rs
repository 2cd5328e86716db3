//! The rules of the protocol that a replica or player enforces, by name.
//!
//! The line of code that keeps a rule says which one it keeps: `core.enforces(Rule::…)`. A rule is enforced unless a
//! test breaks it on purpose, to show that a checker notices. What a replica does instead of a broken rule stands at
//! that line if it is one expression, and in `primary/broken.rs` if it is more.
//!
//! Which rules are broken is data in a replica's configuration, never a global.

/// One rule of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Rule {
    /// A primary announces a record only after its backup acknowledged it. (The paper tells the backup first, and does
    /// not wait.)
    AnnounceAfterAck,
    /// A backup becomes primary by a swap in the directory. (In the paper a suspicion is enough.)
    PromoteBySwap,
    /// A primary that lost its backup commits alone only after a swap in the directory.
    SoloBySwap,
    /// A backup stops acknowledging before it sends the swap that would promote it.
    StopAckBeforeSwap,
    /// A swap whose answer is unknown may have happened.
    UnknownSwapMayHappen,
    /// A primary without a backup announces a record only after its own disk has it.
    SoloWaitsForDisk,
    /// From before the swap that names a new backup, every record waits for that backup, too.
    NamedBackupCounts,
    /// A replica that comes back drops the records that no acknowledgement covers.
    DropUnacknowledgedSuffix,
    /// A primary that restarts has no role.
    RestartLosesRole,
    /// Actions of a player are executed in the order of their numbers, each once. (The paper has a queue for it.)
    ActionsInOrder,
    /// Results are kept until the player has acknowledged them.
    KeepResults,
    /// Timers are part of the log.
    LogTimers,
    /// Letters are part of the log.
    LogLetters,
    /// The name of an object carries the epoch in which it was given.
    NamesCarryEpoch,
    /// World time is never before the last record.
    TimeFollowsLog,
    /// After a full stop the replica with the longer log becomes primary.
    LongerLogWins,
    /// A player believes no zone that speaks in an older epoch than the player has heard of.
    PlayersFenceEpochs,
    /// A backup that restarts has no role until a primary recruits it again.
    RestartedBackupRejoins,
    /// An event is one record.
    OneRecordPerEvent,
    /// Versions of an object have no gaps.
    VersionsWithoutGaps,
    /// A primary drops records from memory that backup and disk have.
    TrimTail,
    /// The lateness that a primary tells of itself extends the backup's grace, within a bound: a zone that hangs after it was
    /// late is replaced all the same.
    LatenessIsBounded,
    /// A player who asks to enter over the link over which the player is in is answered, and not shown everything again.
    RecogniseRepeatedEntries,
    /// An action that is answered "busy" is in the log: a later primary must not execute it.
    LogBusyAnswers,
    /// A call of the game that did not come back is answered as a fault, and not executed by a later primary.
    SuspectsAreNotExecuted,
    /// A zone believes no primary of another zone that speaks in an older epoch than the zone has heard of.
    ZonesFenceEpochs,
    /// A lock is granted only if no other event holds a part of it.
    LocksExclude,
    /// A grantor asks the coordinator of an event that holds locks and is silent. (In the paper they are held for
    /// ever.)
    AskSilentCoordinators,
    /// A coordinator releases all locks of an event that does not get the rest in time.
    HoldIsBounded,
    /// Every zone that takes part in an event hears of the decision.
    TellEveryParticipant,
    /// No event touches an object that is offered to another zone.
    FreezeOfferedObjects,
    /// A zone declines an object that would come to a locked place.
    DeclineIntoLockedPlace,
    /// A ghost of which its owner says nothing disappears.
    ForgetSilentGhosts,
    /// Grants and post leave for other zones only when a full stop cannot undo them.
    PostAfterSync,
}

impl Rule {
    /// The rules that hold inside one zone.
    pub const OF_A_ZONE: [Self; 25] = [
        Self::AnnounceAfterAck,
        Self::PromoteBySwap,
        Self::SoloBySwap,
        Self::StopAckBeforeSwap,
        Self::UnknownSwapMayHappen,
        Self::SoloWaitsForDisk,
        Self::NamedBackupCounts,
        Self::DropUnacknowledgedSuffix,
        Self::RestartLosesRole,
        Self::ActionsInOrder,
        Self::KeepResults,
        Self::LogTimers,
        Self::LogLetters,
        Self::NamesCarryEpoch,
        Self::TimeFollowsLog,
        Self::LongerLogWins,
        Self::PlayersFenceEpochs,
        Self::RestartedBackupRejoins,
        Self::OneRecordPerEvent,
        Self::VersionsWithoutGaps,
        Self::TrimTail,
        Self::LatenessIsBounded,
        Self::RecogniseRepeatedEntries,
        Self::LogBusyAnswers,
        Self::SuspectsAreNotExecuted,
    ];

    /// The rules that hold between zones.
    pub const BETWEEN_ZONES: [Self; 9] = [
        Self::ZonesFenceEpochs,
        Self::LocksExclude,
        Self::AskSilentCoordinators,
        Self::HoldIsBounded,
        Self::TellEveryParticipant,
        Self::FreezeOfferedObjects,
        Self::DeclineIntoLockedPlace,
        Self::ForgetSilentGhosts,
        Self::PostAfterSync,
    ];
}

// A rule that is in neither list would have no planted bug.
const _: () = assert!(Rule::OF_A_ZONE.len() + Rule::BETWEEN_ZONES.len() == Rule::PostAfterSync as usize + 1);

/// A set of rules that are not enforced: none, outside of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BrokenRules(u128);

impl BrokenRules {
    /// The empty set: every rule is enforced.
    pub const NONE: Self = Self(0);

    /// This rule is broken, and no other.
    pub const fn only(rule: Rule) -> Self {
        Self(1 << rule as u8)
    }

    /// Whether a rule is broken.
    pub const fn has(self, rule: Rule) -> bool {
        self.0 & (1 << rule as u8) != 0
    }
}
