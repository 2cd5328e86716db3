//! What the authors tried by hand, as scenarios that are judged: simultaneous fire, constant crossing, and collisions
//! exactly on the border.

use super::case::{Case, Run, Until};
use super::clients::{Habit, Lines};
use super::ground::{Ground, Place};
use kosmos::Action;
use machine::{Rng, Span, Time};
use node::NodeCommand;
use serde::Serialize;
use space::Heading;
use std::sync::Arc;
use trial::Ending;
use zone::Want;

/// The side of a zone: narrow, so that nothing is far from a border.
const SIDE: i64 = 120_000;

const PLAYERS: usize = 24;

const LASTS: Span = Span::from_secs(60);

/// What was tried by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// Everybody fires at the same instant, around a corner of four zones, again and again.
    SimultaneousFire,
    /// Everybody walks over the nearest border, back and forth, all the time.
    ConstantCrossing,
    /// Everybody stands exactly on the border, and rockets fly along it.
    OnTheBorder,
}

impl Scenario {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::SimultaneousFire, Self::ConstantCrossing, Self::OnTheBorder];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SimultaneousFire => "simultaneous fire",
            Self::ConstantCrossing => "constant crossing",
            Self::OnTheBorder => "collisions exactly on the border",
        }
    }
}

/// What came of a scenario.
#[derive(Clone, Debug, Serialize)]
pub struct Tortured {
    /// What was tried.
    pub scenario: Scenario,
    /// Actions that were answered.
    pub events: usize,
    /// Events in which several zones took part.
    pub cross_zone_events: u64,
    /// Objects that changed their owner.
    pub transfers: u64,
    /// What the checkers found; nothing, if all is well.
    pub violations: Vec<String>,
}

/// Plays a scenario.
pub fn play(scenario: Scenario, seed: u64) -> Tortured {
    let (habit, place) = match scenario {
        Scenario::SimultaneousFire => (Habit::Obeys, Place::AtTheCorner),
        Scenario::ConstantCrossing => (Habit::Crosses, Place::NearBorders),
        Scenario::OnTheBorder => (Habit::Fires, Place::OnTheLine),
    };
    let case = Case {
        ground: Arc::new(Ground::new(2, 2, (SIDE, SIDE))),
        homes: vec![place; PLAYERS],
        habit: (habit, Lines::Alike),
        service: Span::ZERO,
        between: Span::from_millis(1),
        until: Until::Elapsed(LASTS),
        seed,
    };
    let mut run = Run::new(&case);
    run.let_all_in();
    let end = run.world.now() + LASTS;
    let mut rng = Rng::seeded(seed).fork_named(0x0070_7574);
    while run.world.now() < end && !run.world.monitor.is_violated() {
        if scenario == Scenario::SimultaneousFire {
            fire_at_once(&mut run, &mut rng);
        }
        let next = run.world.now() + Span::from_millis(600);
        run.world.run_until(next);
    }
    if !run.world.monitor.is_violated() {
        run.world.conclude(Ending::Stopped);
    }
    let crossings = run.world.monitor.judge.crossings();
    Tortured {
        scenario,
        events: run.world.monitor.answers.len(),
        cross_zone_events: crossings.cross_zone_events,
        transfers: crossings.transfers,
        violations: run.world.monitor.judge.violations.all().iter().map(ToString::to_string).collect(),
    }
}

/// All lines are alike, so what everybody says now arrives everywhere at one instant.
fn fire_at_once(run: &mut Run<'_>, rng: &mut Rng) {
    let now: Time = run.world.now();
    for player in run.world.player_addresses() {
        let fire = Action::Fire { heading: Heading(rng.next_u64() as u16) };
        let fire = postcard::to_stdvec(&fire).expect("actions are plain data");
        run.world.sim.command(now, player, NodeCommand::Client(Want::Act(fire)));
    }
}
