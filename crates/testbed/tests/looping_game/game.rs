//! A game with an action that never comes back, shared by a test and the program that it runs.

use game::{Game, PlayerId, Scope, Tx, Viewer};
use machine::Rng;
use space::{Distance, ObjectId, Position};

/// Adds one to the actor's number.
pub const ADD: u8 = 0;
/// Loops for ever, without asking its transaction anything.
pub const LOOP: u8 = 1;

/// Players stand around and count. Those whose number is odd enter in the west, the others in the east.
pub struct LoopingGame {
    /// Called before the loop.
    pub on_loop: fn(),
}

impl Game for LoopingGame {
    type State = u32;
    type Shown = u32;
    type Action = u8;
    type Notice = u32;
    type Refusal = u32;
    type Letter = u32;
    const NAME: &'static str = "Looping";
    const RANGE: Distance = Distance::of_metres(10);

    fn execute(&self, tx: &mut Tx<'_, '_, Self>, actor: ObjectId, action: u8) -> Result<(), u32> {
        if action == LOOP {
            (self.on_loop)();
            let mut spins = Rng::seeded(1);
            // Never true; the compiler does not know it.
            while spins.below(10) < 10 {}
        }
        tx.update(actor, |number| *number += 1);
        Ok(())
    }

    fn show(&self, object: &u32, _: Viewer) -> Option<u32> {
        Some(*object)
    }

    fn entrance(&self, player: PlayerId) -> Position {
        let west = player.0 % 2 == 1;
        Position::saturating(if west { -60_000 } else { 60_000 }, 0)
    }

    fn join_scope(&self, player: PlayerId) -> Scope {
        Scope::area(self.entrance(player), Self::RANGE)
    }

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, player: PlayerId, _: &str) -> Result<ObjectId, u32> {
        Ok(tx.spawn(&0, self.entrance(player)))
    }
}
