//! What hosts do and nothing else: a zone whose players wrote everything before it begins. `benches/zone.rs` counts
//! its instructions.

use super::callers::Written;
use super::{CASES, PLAYERS, RATE, WARM_EVENTS, World};
use machine::Span;

/// Actions per millisecond of world time.
const ACTIONS_PER_TURN: u64 = RATE as u64 / 1_000;
/// So many milliseconds that a snapshot is among what is counted.
const TURNS: u64 = zone::config::SNAPSHOT_EVERY.div_ceil(ACTIONS_PER_TURN);
/// Actions of all players together.
pub const ACTIONS: u64 = TURNS * ACTIONS_PER_TURN;

/// A zone and what it is about to hear.
pub struct Ahead {
    world: World,
    turns: Vec<Written>,
}

impl Ahead {
    /// A row of `bench zone`, warm.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn new(row: &str) -> Self {
        let case = CASES.iter().find(|it| it.name == row).expect("the row exists");
        let mut world = World::new(&(case.rules)(), (case.map)(), PLAYERS, case.act);
        world.run(|it| it.events < WARM_EVENTS);
        world.callers.answered = 0;
        let turns = (0..TURNS).map(|_| world.callers.write_ahead(ACTIONS_PER_TURN as usize)).collect();
        Self { world, turns }
    }

    /// Primary and backup hear it and do it, each millisecond in its turn.
    pub fn run(&mut self) {
        let World { rig, callers } = &mut self.world;
        for written in self.turns.drain(..) {
            callers.written = written;
            callers.send(rig);
            rig.advance(Span::from_millis(1));
        }
    }

    /// Everybody reads the answers.
    ///
    /// # Panics
    /// If an action has no answer, or was refused.
    pub fn check(mut self) {
        self.world.callers.hear(&mut self.world.rig);
        let callers = &self.world.callers;
        assert_eq!((callers.answered, callers.refused), (ACTIONS, 0), "every action was done");
    }
}
