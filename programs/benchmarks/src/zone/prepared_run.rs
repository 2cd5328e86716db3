//! A run of a zone whose players' actions are encoded before it begins, so that only the work of hosts remains.
//! `benches/zone.rs` counts its instructions.

use super::zone_players::ActionBatch;
use super::{MeasuredWorld, PLAYERS, RATE, WARM_EVENTS, ZoneCase};
use machine::Span;

/// Actions per millisecond of world time.
const ACTIONS_PER_TURN: u64 = RATE as u64 / 1_000;
/// Enough milliseconds that one snapshot is among the counted work.
const TURNS: u64 = zone::config::SNAPSHOT_EVERY.div_ceil(ACTIONS_PER_TURN);
/// Actions of all players together.
pub const ACTIONS: u64 = TURNS * ACTIONS_PER_TURN;

/// A zone and the actions that it is about to receive.
pub struct PreparedRun {
    world: MeasuredWorld,
    batches: Vec<ActionBatch>,
}

impl PreparedRun {
    /// Prepares a row of `bench zone`, warmed up.
    pub fn new(case: &ZoneCase) -> Self {
        let mut world = MeasuredWorld::of(case, PLAYERS);
        world.run(|it| it.events < WARM_EVENTS);
        world.rest();
        world.players.answered = 0;
        let batches = (0..TURNS).map(|_| world.players.write_ahead(ACTIONS_PER_TURN as usize)).collect();
        Self { world, batches }
    }

    /// Primary and backup execute the actions, one millisecond of world time after the other.
    pub fn run(&mut self) {
        let MeasuredWorld { rig, players, .. } = &mut self.world;
        for batch in self.batches.drain(..) {
            players.batch = batch;
            players.send(rig);
            rig.advance(Span::from_millis(1));
        }
    }

    /// Lets the players read the answers, and checks them.
    ///
    /// # Panics
    /// If an action has no answer, or was refused.
    pub fn check(mut self) {
        self.world.players.read_answers(&mut self.world.rig);
        let players = &self.world.players;
        assert_eq!((players.answered, players.refused), (ACTIONS, 0), "every action was done");
    }
}
