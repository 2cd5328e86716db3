//! A game in which every event takes two zones: pairs of avatars stand on both sides of a border, and an action of one
//! gives to both.

use game::{Game, PlayerId, Scope, ScopeView, Tx, Viewer};
use space::{Distance, Line, ObjectId, Partition, Polygon, Position, ZoneId};

/// The rules. Even players stand to the left of the border, the next odd ones to the right.
#[derive(Clone, Copy, Debug)]
pub struct Pairs;

/// Distance of each avatar from the border, in millimetres.
const ASIDE: i64 = 5_000;
/// Distance between two pairs, in millimetres.
const APART: i64 = 40_000;

/// The most pairs that the world has room for.
const PAIRS: i64 = 256;

impl Pairs {
    /// Two zones with a border between them.
    pub fn map() -> Partition {
        let corner = |x, y| Position::saturating(x, y);
        let region = Polygon::rectangle(corner(-500_000, -APART), corner(500_000, PAIRS * APART));
        let border = Line::through(corner(0, 0), corner(0, 1)).expect("two points");
        let world = Partition::new(region.expect("a rectangle is convex"), ZoneId(1));
        world.split(ZoneId(1), border, ZoneId(2)).expect("the border cuts the world")
    }
}

impl Game for Pairs {
    type State = u64;
    type Shown = u64;
    type Action = ObjectId;
    type Notice = ();
    type Refusal = ();
    type Letter = ();

    const NAME: &'static str = "Pairs";
    const RANGE: Distance = Distance::of_metres(15);

    fn scope(&self, _: &ScopeView<'_, Self>, _: ObjectId, other: &ObjectId) -> Result<Scope, ()> {
        Ok(Scope::objects([*other]))
    }

    fn execute(&self, tx: &mut Tx<'_, '_, Self>, actor: ObjectId, other: ObjectId) -> Result<(), ()> {
        for it in [actor, other] {
            let count = tx.get(it).ok_or(())?;
            tx.put(it, &(count + 1));
        }
        Ok(())
    }

    fn show(&self, count: &u64, _: Viewer) -> Option<u64> {
        Some(*count)
    }

    fn entrance(&self, player: PlayerId) -> Position {
        let aside = if player.0.is_multiple_of(2) { -ASIDE } else { ASIDE };
        Position::saturating(aside, (player.0 / 2) as i64 * APART)
    }

    fn join_scope(&self, player: PlayerId) -> Scope {
        Scope::area(self.entrance(player), Distance::of_metres(1))
    }

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, player: PlayerId, _: &str) -> Result<ObjectId, ()> {
        Ok(tx.spawn(&0, self.entrance(player)))
    }
}
