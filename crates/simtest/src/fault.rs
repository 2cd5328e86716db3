//! Kinds of faults. A seed draws not only when something fails but which kinds of failure exist in its world: a bug
//! that needs calm links *and* dying disks is rarely found where everything fails a little, all the time.

use machine::Rng;
use std::fmt;
use std::str::FromStr;

macro_rules! kinds {
    ($($kind:ident $name:literal $about:literal,)*) => {
        /// A kind of fault in a simulated world.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum FaultKind {
            $(#[doc = $about] $kind,)*
        }

        impl FaultKind {
            /// Every kind, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// Name of the kind on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// Description of the kind in one line.
            pub const fn about(self) -> &'static str {
                match self { $(Self::$kind => $about,)* }
            }
        }
    };
}

kinds! {
    Loss "loss" "Links lose messages: one in ten to and from players, one in fifty between hosts.",
    Duplicate "duplicate" "Datagrams arrive twice.",
    Jitter "jitter" "Delays vary by up to 100 ms, so datagrams overtake each other.",
    Late "late" "Some datagrams arrive up to a minute late.",
    Spike "spike" "A link between hosts takes up to half a second for a while.",
    Narrow "narrow" "A link between hosts carries little for a while.",
    Cut "cut" "Two hosts cannot hear each other for a while; both reach the directory.",
    OneWay "one-way" "One host cannot hear another for a while.",
    Isolate "isolate" "A host neither hears nor is heard for a while, and cannot ask the directory.",
    Clog "clog" "About half of a host's outgoing links stop for a while.",
    Reset "reset" "All connections of a host break and are made anew.",
    Crash "crash" "A host dies and comes back with its disk, less what was not synced.",
    Point "point" "A host dies at a named step of a protocol.",
    Wipe "wipe" "A host dies and comes back with an empty disk.",
    Pause "pause" "A host is stopped for up to ten seconds and goes on as if no time had passed.",
    Slow "slow" "A host needs up to 2 ms for every message for a while.",
    ClockRate "clock-rate" "A host's clock runs at half to double speed for a while.",
    ClockStep "clock-step" "A host's clock jumps ahead, by up to five minutes.",
    DiskError "disk-error" "A sync fails.",
    DiskFull "disk-full" "A disk is full.",
    DiskSlow "disk-slow" "A disk takes up to 200 ms for a write, for a while.",
    DiskFlip "disk-flip" "A host dies, and a bit of its disk has changed when it comes back.",
    DiskOld "disk-old" "A host dies and comes back with a disk of some time ago.",
    StopAll "stop-all" "All hosts die at once and come back.",
    DirectoryDown "directory-down" "The directory does not answer for a while.",
    DirectorySlow "directory-slow" "The directory takes up to 500 ms each way.",
    DirectoryLossy "directory-lossy" "Requests to the directory or its answers are lost.",
    DirectoryLate "directory-late" "Swaps happen long after their sender gave up on them.",
    Storm "storm" "All players lose their connections together.",
    Rejoin "rejoin" "Players' programs die, and they come back with a new session.",
    Hostile "hostile" "Some players send nonsense.",
    Overload "overload" "Every host needs 2 to 12 ms for every message for a while.",
    Crowd "crowd" "All players' programs die together, and come back with new sessions at once.",
    Poison "poison" "An action hangs its primary; the watchdog of its host accuses it and starts the replica again.",
    MeshCut "mesh-cut" "Replicas of different zones on two hosts cannot hear each other for a while (several zones).",
    CrashOne "crash-one" "One replica of a host dies and comes back; the others on it live on (several zones).",
    Hang "hang" "One replica of a host is stopped for up to ten seconds; the others on it go on (several zones).",
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Error: a name that is no kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no fault called {0:?}; one of: {names}", names = names())]
pub struct UnknownFault(String);

fn names() -> String {
    FaultKind::ALL.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for FaultKind {
    type Err = UnknownFault;

    fn from_str(name: &str) -> Result<Self, UnknownFault> {
        let found = Self::ALL.iter().copied().find(|it| it.name() == name);
        found.ok_or_else(|| UnknownFault(name.to_owned()))
    }
}

/// A set of kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultKinds(u64);

impl FaultKinds {
    /// The set of every kind.
    pub const ALL: Self = Self((1 << FaultKind::ALL.len()) - 1);
    /// Every kind that can strike a world of one zone: those that cannot are declared last.
    pub const OF_A_ZONE: Self = Self((1 << FaultKind::MeshCut as u8) - 1);
    /// The set without any kind.
    pub const NONE: Self = Self(0);

    /// The set without one kind.
    pub const fn without(self, kind: FaultKind) -> Self {
        Self(self.0 & !(1 << kind as u8))
    }

    /// The set with one kind more.
    pub const fn with(self, kind: FaultKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// The set of these kinds.
    pub fn of(kinds: impl IntoIterator<Item = FaultKind>) -> Self {
        Self(kinds.into_iter().fold(0, |bits, kind| bits | 1 << kind as u8))
    }

    /// Returns whether a kind is in the set.
    pub const fn has(self, kind: FaultKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// The kinds of the set, in the order of declaration.
    pub fn iter(self) -> impl Iterator<Item = FaultKind> {
        FaultKind::ALL.iter().copied().filter(move |&it| self.has(it))
    }

    /// A random subset: each kind with even chance, so that every mixture comes up.
    pub fn draw(self, rng: &mut Rng) -> Self {
        Self::of(self.iter().filter(|_| rng.coin()).collect::<Vec<_>>())
    }
}

impl fmt::Display for FaultKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(FaultKind::name).collect();
        f.write_str(if names.is_empty() { "none".to_owned() } else { names.join(",") }.as_str())
    }
}
