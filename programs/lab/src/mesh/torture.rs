//! The authors' tests by hand, as scenarios that the checkers watch: simultaneous fire, constant crossing, and
//! collisions exactly on the border.

use super::case::{MeshCase, MeshRun, MeshRunEnd};
use super::clients::{Habit, LineKind};
use super::ground::{HomeKind, MeshGround};
use kosmos::Action;
use machine::{Rng, Span, Time};
use node::NodeCommand;
use serde::Serialize;
use simtest::Ending;
use space::Heading;
use std::sync::Arc;
use zone::PlayerCommand;

/// Side of a zone in millimetres: narrow, so that nothing is far from a border.
const SIDE: i64 = 120_000;

const PLAYERS: usize = 24;

const LASTS: Span = Span::from_secs(60);

/// A test that the authors made by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TortureScenario {
    /// All players fire at the same instant, around a corner of four zones, again and again.
    SimultaneousFire,
    /// All players walk over the nearest border, back and forth, all the time.
    ConstantCrossing,
    /// All players stand exactly on the border, and rockets fly along it.
    OnTheBorder,
}

impl TortureScenario {
    /// All scenarios, in the order of the report.
    pub const ALL: [Self; 3] = [Self::SimultaneousFire, Self::ConstantCrossing, Self::OnTheBorder];

    /// Name of the scenario in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SimultaneousFire => "simultaneous fire",
            Self::ConstantCrossing => "constant crossing",
            Self::OnTheBorder => "collisions exactly on the border",
        }
    }
}

/// The result of one scenario.
#[derive(Clone, Debug, Serialize)]
pub struct TortureResult {
    /// The scenario that was played.
    pub scenario: TortureScenario,
    /// Number of actions that were answered.
    pub events: usize,
    /// Number of events in which several zones took part.
    pub cross_zone_events: u64,
    /// Number of transfers of objects between zones.
    pub transfers: u64,
    /// Violations that the checkers found, in words.
    pub violations: Vec<String>,
}

/// Plays a scenario for a minute of simulated time.
pub fn play(scenario: TortureScenario, seed: u64) -> TortureResult {
    let (habit, place) = match scenario {
        TortureScenario::SimultaneousFire => (Habit::Obeys, HomeKind::AtTheCorner),
        TortureScenario::ConstantCrossing => (Habit::Crosses, HomeKind::NearBorders),
        TortureScenario::OnTheBorder => (Habit::Fires, HomeKind::OnTheLine),
    };
    let case = MeshCase {
        ground: Arc::new(MeshGround::new(2, 2, (SIDE, SIDE))),
        homes: vec![place; PLAYERS],
        habit: (habit, LineKind::Alike),
        service: Span::ZERO,
        between: Span::from_millis(1),
        until: MeshRunEnd::Elapsed(LASTS),
        seed,
    };
    let mut run = MeshRun::new(&case);
    run.admit_all();
    let end = run.world.now() + LASTS;
    let mut rng = Rng::seeded(seed).fork_named(0x0070_7574);
    while run.world.now() < end && !run.world.monitor.is_violated() {
        if scenario == TortureScenario::SimultaneousFire {
            fire_at_once(&mut run, &mut rng);
        }
        let next = run.world.now() + Span::from_millis(600);
        run.world.run_until(next);
    }
    if !run.world.monitor.is_violated() {
        run.world.conclude(Ending::Stopped);
    }
    let crossings = run.world.monitor.checker.crossings();
    TortureResult {
        scenario,
        events: run.world.monitor.answers.len(),
        cross_zone_events: crossings.cross_zone_events,
        transfers: crossings.transfers,
        violations: run.world.monitor.checker.violations.all().iter().map(ToString::to_string).collect(),
    }
}

/// Makes all players fire now. All lines are alike, so all actions arrive at the same instant.
fn fire_at_once(run: &mut MeshRun<'_>, rng: &mut Rng) {
    let now: Time = run.world.now();
    for player in run.world.player_addresses() {
        let fire = Action::Fire { heading: Heading(rng.next_u64() as u16) };
        let fire = postcard::to_stdvec(&fire).expect("actions are plain data");
        run.world.sim.command(now, player, NodeCommand::Client(PlayerCommand::Act(fire)));
    }
}
