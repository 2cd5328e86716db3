//! Planted bugs: each switches one fix off, so that the checkers can show that they would notice.
//!
//! A switch is data in a replica's configuration, never a global, and off unless somebody asks for it.

/// One fix that can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Plant {
    /// The paper's rule: tell the backup first, but do not wait for it before announcing.
    AnnounceEarly,
    /// The paper's rule: a backup that suspects its primary takes over without asking anybody.
    PromoteUnasked,
    /// A primary that lost its backup goes on alone without asking anybody.
    SoloUnasked,
    /// A backup goes on acknowledging after it sent its swap.
    AckWhileSwapping,
    /// A swap whose answer is unknown counts as failed.
    UnknownIsLost,
    /// A primary that is alone announces before its disk has the record.
    SoloUnsynced,
    /// While the swap that names a new backup is unanswered, commits go on alone.
    SoloWhileNaming,
    /// A replica that comes back keeps what nobody acknowledged.
    KeepSuffix,
    /// A primary that restarts reigns on in its old epoch.
    RestartReigns,
    /// The paper's rule without its queue: every action that arrives is executed, whatever its number.
    NoCursor,
    /// Results are not kept, so a player who asks again hears nothing.
    ForgetResults,
    /// Timers are not part of the log.
    TimersUnlogged,
    /// Letters are not part of the log: one on its way is lost with its primary.
    LettersUnlogged,
    /// Names of objects start again with every reign, without the epoch in them.
    ReuseNames,
    /// A new primary takes its own clock, though the log is ahead of it.
    TimeTurnsBack,
    /// After a full stop the shorter log wins.
    ShorterWins,
    /// Clients believe every zone that speaks to them, whatever its epoch.
    NoFence,
    /// A restarted backup answers as if it had never been away.
    BackupForgets,
    /// An event's parts are written as records of their own.
    TornEvents,
    /// A later reign leaves a gap in an object's versions, for those that it may not know of.
    SkipVersions,
    /// A primary never forgets a record that everybody has.
    KeepTail,
    /// Zones believe primaries of other zones whose reign is over.
    MeshUnfenced,
    /// Locks are given although somebody else holds them.
    LocksIgnored,
    /// Whoever holds locks for a dead zone's event is never asked for.
    NobodyAsks,
    /// An event that cannot get all its locks keeps those it has.
    HoldsForEver,
    /// One of the zones that take part in an event does not hear of its decision.
    OneIsForgotten,
    /// Things happen to an object that is offered to another zone.
    OfferUnfrozen,
    /// An object is taken over although an event holds its place.
    OfferTakenLocked,
    /// Ghosts are shown although nobody tells of them.
    GhostsStay,
    /// Other zones are told what a full stop may undo.
    AbroadUnsynced,
}

impl Plant {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::AnnounceEarly,
        Self::PromoteUnasked,
        Self::SoloUnasked,
        Self::AckWhileSwapping,
        Self::UnknownIsLost,
        Self::SoloUnsynced,
        Self::SoloWhileNaming,
        Self::KeepSuffix,
        Self::RestartReigns,
        Self::NoCursor,
        Self::ForgetResults,
        Self::TimersUnlogged,
        Self::LettersUnlogged,
        Self::ReuseNames,
        Self::TimeTurnsBack,
        Self::ShorterWins,
        Self::NoFence,
        Self::BackupForgets,
        Self::TornEvents,
        Self::SkipVersions,
        Self::KeepTail,
    ];

    /// Those between zones.
    pub const MESH: [Self; 9] = [
        Self::MeshUnfenced,
        Self::LocksIgnored,
        Self::NobodyAsks,
        Self::HoldsForEver,
        Self::OneIsForgotten,
        Self::OfferUnfrozen,
        Self::OfferTakenLocked,
        Self::GhostsStay,
        Self::AbroadUnsynced,
    ];
}

/// Which fixes are off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plants(u32);

impl Plants {
    /// Everything works.
    pub const NONE: Self = Self(0);

    /// Only this one is off.
    pub const fn only(plant: Plant) -> Self {
        Self(1 << plant as u8)
    }

    /// Whether it is off.
    pub const fn has(self, plant: Plant) -> bool {
        self.0 & (1 << plant as u8) != 0
    }
}
