//! What a trial is like: drawn from its seed, within what was asked for.

use crate::fault::{Kind, Kinds};
use interest::Budget;
use machine::{Rng, Span};
use zone::{BrokenRules, Durability};

/// What a person asks for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Which kinds of trouble may exist.
    pub kinds: Kinds,
    /// Whether every one of them exists in every run; otherwise each run draws its own choice.
    pub all_kinds: bool,
    /// Fixes switched off on purpose.
    pub plants: BrokenRules,
    /// The durability, if it is not drawn.
    pub durability: Option<Durability>,
    /// How many things go wrong, if it is not drawn.
    pub faults: Option<u32>,
    /// The fewest zones and the most.
    pub zones: (u32, u32),
}

impl Asked {
    /// One zone, every kind of trouble there is for one, everything works.
    pub const EVERYTHING: Self = Self {
        kinds: Kinds::OF_A_ZONE,
        all_kinds: false,
        plants: BrokenRules::NONE,
        durability: None,
        faults: None,
        zones: (1, 1),
    };

    /// The same with several zones, and what can go wrong between them.
    pub const MESH: Self = Self { kinds: Kinds::ALL, zones: (2, 8), ..Self::EVERYTHING };
}

/// One trial.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Where all chance starts.
    pub seed: u64,
    /// How many zones the world has.
    pub zones: u32,
    /// How many play.
    pub players: u32,
    /// How long there is trouble.
    pub trouble: Span,
    /// How long the world has to recover.
    pub calm: Span,
    /// Which kinds of trouble exist.
    pub kinds: Kinds,
    /// How announcements wait for disks.
    pub durability: Durability,
    /// One way between two hosts.
    pub host_delay: Span,
    /// One way between a player and a host.
    pub player_delay: Span,
    /// What a player may get of poses, if that is limited.
    pub budget: Option<Budget>,
    /// How many things go wrong.
    pub faults: u32,
    /// Fixes switched off on purpose.
    pub plants: BrokenRules,
}

impl Options {
    /// Draws a trial.
    pub fn drawn(seed: u64, asked: &Asked) -> Self {
        let mut rng = Rng::seeded(seed).fork_named(0x0071_0121);
        let kinds = if asked.all_kinds { asked.kinds } else { asked.kinds.drawn(&mut rng) };
        // Mostly few players: what goes wrong with a hundred mostly goes wrong with ten, and sooner.
        let players = if rng.below(10) == 0 { 40 + rng.below(61) } else { 3 + rng.below(20) };
        let trouble = Span::from_millis(45_000 + rng.below(55_000));
        let drawn = if rng.coin() { Durability::Batched } else { Durability::Synced };
        let faults = 4 + rng.below(30);
        let zones = zones(seed, asked);
        Self {
            seed,
            zones,
            players: if zones == 1 { players as u32 } else { (players as u32).max(PLAYERS_EACH * zones) },
            trouble,
            calm: Span::from_millis(20_000),
            kinds,
            durability: asked.durability.unwrap_or(drawn),
            host_delay: Span::from_micros(200 + rng.below(10_000)),
            player_delay: Span::from_millis(5 + rng.below(75)),
            budget: budget(seed),
            faults: asked.faults.unwrap_or(faults as u32),
            plants: asked.plants,
        }
    }

    /// Whether a kind of trouble exists.
    pub const fn has(&self, kind: Kind) -> bool {
        self.kinds.has(kind)
    }
}

/// The fewest players per zone, if there are several: somebody must cross borders.
const PLAYERS_EACH: u32 = 3;

/// How many zones there are. Chance of its own: what else a seed draws does not depend on it.
fn zones(seed: u64, asked: &Asked) -> u32 {
    let (fewest, most) = asked.zones;
    let mut rng = Rng::seeded(seed).fork_named(0x007a_6f6e);
    fewest + rng.below(u64::from(most - fewest) + 1) as u32
}

/// In every other world lines are so thin that even the few who are in view of each other wait for their turn: an update
/// or a dozen per second. Chance of its own, too.
fn budget(seed: u64) -> Option<Budget> {
    let mut rng = Rng::seeded(seed).fork_named(0x0062_7564);
    let bytes_per_second = 20 + rng.below(200) as u32;
    rng.coin().then_some(Budget { bytes_per_second, burst: bytes_per_second / 2 })
}
