//! The smallest game: each avatar has a number and adds to it. Its cost is the cost of the platform.

use game::{Game, PlayerId, Scope, ScopeView, Tx, Viewer};
use space::{Distance, ObjectId, Position};

/// Avatars stand on a square grid, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// Distance between two neighbours, in metres.
    pub spacing: i64,
    /// Number of objects that each player brings along, and that no event ever touches.
    pub things: u32,
}

/// Number of avatars in a row.
pub const COLUMNS: u64 = 32;

/// The range of the game, in metres.
const RANGE: u32 = 15;

impl Counter {
    /// Each avatar sees its neighbours, also across the corner: eight, but fewer at the rim.
    pub const CROWDED: Self = Self { spacing: 10, things: 0 };
    /// No avatar sees another one.
    pub const LONELY: Self = Self { spacing: 40, things: 0 };

    fn place(self, player: PlayerId) -> Position {
        let (row, column) = ((player.0 / COLUMNS) as i64, (player.0 % COLUMNS) as i64);
        Position::saturating(column * self.spacing * 1_000, row * self.spacing * 1_000)
    }
}

impl Game for Counter {
    type State = u64;
    type Shown = u64;
    type Action = u32;
    type Notice = ();
    type Refusal = ();
    type Letter = ();

    const NAME: &'static str = "Counter";
    const RANGE: Distance = Distance::of_metres(RANGE);

    fn scope(&self, _: &ScopeView<'_, Self>, _: ObjectId, _: &u32) -> Result<Scope, ()> {
        Ok(Scope::objects([]))
    }

    fn execute(&self, tx: &mut Tx<'_, '_, Self>, actor: ObjectId, more: u32) -> Result<(), ()> {
        let count = tx.get(actor).ok_or(())?;
        tx.put(actor, &count.wrapping_add(u64::from(more)));
        Ok(())
    }

    fn show(&self, count: &u64, _: Viewer) -> Option<u64> {
        Some(*count)
    }

    fn entrance(&self, player: PlayerId) -> Position {
        self.place(player)
    }

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, player: PlayerId, _: &str) -> Result<ObjectId, ()> {
        for _ in 0..self.things {
            tx.spawn(&0, self.place(player));
        }
        Ok(tx.spawn(&0, self.place(player)))
    }
}
