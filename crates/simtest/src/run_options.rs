//! Options of a run: drawn from its seed, within a request.

use crate::fault::{FaultKind, FaultKinds};
use interest::Budget;
use machine::{Rng, Span};
use zone::{BrokenRules, Durability};

/// Limits within which seeds draw their options.
#[derive(Clone, Copy, Debug)]
pub struct RunRequest {
    /// Kinds of faults that may exist.
    pub kinds: FaultKinds,
    /// True if all of them exist in every run; otherwise each run draws a subset.
    pub all_kinds: bool,
    /// Rules broken on purpose, to show that a checker notices.
    pub broken_rules: BrokenRules,
    /// Durability of every run; `None` draws it per seed.
    pub durability: Option<Durability>,
    /// Number of faults in every run; `None` draws it per seed.
    pub faults: Option<u32>,
    /// Smallest and largest number of zones.
    pub zones: (u32, u32),
}

impl RunRequest {
    /// One zone, every kind of fault that one zone can have, no broken rule.
    pub const ZONE: Self = Self {
        kinds: FaultKinds::OF_A_ZONE,
        all_kinds: false,
        broken_rules: BrokenRules::NONE,
        durability: None,
        faults: None,
        zones: (1, 1),
    };

    /// Several zones, with the faults between them too.
    pub const MESH: Self = Self { kinds: FaultKinds::ALL, zones: (2, 8), ..Self::ZONE };
}

/// Everything a run is made from, besides its scenario.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Seed of every random draw.
    pub seed: u64,
    /// Number of zones in the world.
    pub zones: u32,
    /// Number of players in the world.
    pub players: u32,
    /// Time during which faults strike.
    pub fault_period: Span,
    /// Time after the last fault within which the world must recover.
    pub recovery_period: Span,
    /// Kinds of faults that exist in this run.
    pub kinds: FaultKinds,
    /// The disks that announcements wait for.
    pub durability: Durability,
    /// Delay between two hosts, one way.
    pub host_delay: Span,
    /// Delay between a player and a host, one way.
    pub player_delay: Span,
    /// Limit on the poses that a player is sent; `None` for no limit.
    pub budget: Option<Budget>,
    /// Number of faults to draw.
    pub faults: u32,
    /// Rules broken on purpose, to show that a checker notices.
    pub broken_rules: BrokenRules,
}

impl RunOptions {
    /// Draws the options of a seed.
    pub fn draw(seed: u64, request: &RunRequest) -> Self {
        // The order of draws below is part of what a seed means: a new draw goes to a stream of its own.
        let mut rng = Rng::seeded(seed).fork_named(0x0071_0121);
        let kinds = if request.all_kinds { request.kinds } else { kinds(seed, request, &mut rng) };
        // Mostly few players: a bug that shows with a hundred mostly shows with ten, and sooner.
        let players = if rng.below(10) == 0 { 40 + rng.below(61) } else { 3 + rng.below(20) };
        let fault_period = Span::from_millis(45_000 + rng.below(55_000));
        let drawn = if rng.coin() { Durability::Batched } else { Durability::Synced };
        let faults = 4 + rng.below(30);
        let zones = zones(seed, request);
        Self {
            seed,
            zones,
            players: if zones == 1 { players as u32 } else { (players as u32).max(PLAYERS_EACH * zones) },
            fault_period,
            recovery_period: Span::from_millis(20_000),
            kinds,
            durability: request.durability.unwrap_or(drawn),
            host_delay: Span::from_micros(200 + rng.below(10_000)),
            player_delay: Span::from_millis(5 + rng.below(75)),
            budget: budget(seed),
            faults: request.faults.unwrap_or(faults as u32),
            broken_rules: request.broken_rules,
        }
    }

    /// Returns whether a kind of fault exists in this run.
    pub const fn has(&self, kind: FaultKind) -> bool {
        self.kinds.has(kind)
    }
}

/// Draws the kinds of faults. `Poison` exists in every fourth world, from a stream of its own: the other worlds stay as they
/// were before it.
fn kinds(seed: u64, request: &RunRequest, rng: &mut Rng) -> FaultKinds {
    let kinds = request.kinds.without(FaultKind::Poison).draw(rng);
    let mut rng = Rng::seeded(seed).fork_named(0x706f_6973);
    if request.kinds.has(FaultKind::Poison) && rng.below(4) == 0 {
        kinds.with(FaultKind::Poison)
    } else {
        kinds
    }
}

/// Fewest players per zone, if there are several: with fewer, hardly any would cross a border.
const PLAYERS_EACH: u32 = 3;

/// Draws the number of zones. From a stream of its own, so that the other draws of a seed do not depend on it.
fn zones(seed: u64, request: &RunRequest) -> u32 {
    let (fewest, most) = request.zones;
    let mut rng = Rng::seeded(seed).fork_named(0x007a_6f6e);
    fewest + rng.below(u64::from(most - fewest) + 1) as u32
}

/// Draws a budget of poses. In every other world it is so small that even few players in view of each other wait for
/// their turn: one to a dozen updates per second. From a stream of its own, too.
fn budget(seed: u64) -> Option<Budget> {
    let mut rng = Rng::seeded(seed).fork_named(0x0062_7564);
    let bytes_per_second = 20 + rng.below(200) as u32;
    rng.coin().then_some(Budget { bytes_per_second, burst: bytes_per_second / 2 })
}
