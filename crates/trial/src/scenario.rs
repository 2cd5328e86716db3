//! The game that is tried: its rules, its players, the lines between them, and what must be conserved in it.
//!
//! Everything else in this crate knows no game. A scenario is a value that is handed to whatever builds or judges a
//! world, such as [`crate::World::new`], [`crate::run`] and [`crate::histories::Histories::judged`].

use crate::layout::Layout;
use game::{Bot, PlayerId, Rules};
use machine::Address;
use sim::Profile;
use space::{ObjectId, Polygon};
use std::sync::Arc;

/// The identity of an item that may change hands: the name of the first object that was the item. Names are given
/// once, so no two items share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Serial(pub ObjectId);

/// The goods in one object: what is neither made nor lost, only handed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goods {
    /// Coins, of which only the sum over all objects matters. It changes when a player joins or leaves.
    pub coins: u64,
    /// Items, each of which is in one object at any time.
    pub items: Vec<Serial>,
}

/// Counts the goods in an encoded object.
pub type Count = fn(&[u8]) -> Result<Goods, String>;

/// A game and its players.
pub trait Scenario: Send + Sync + 'static {
    /// The game's name, as histories of simulated worlds give it.
    fn name(&self) -> &'static str;

    /// The rules in a world of this shape.
    fn rules(&self, world: &Polygon) -> Arc<dyn Rules>;

    /// The player with number 0, 1, 2 and so on.
    fn player(&self, number: u32) -> PlayerId {
        PlayerId(u64::from(number) + 1)
    }

    /// The will of a player, new in every life.
    fn bot(&self, layout: &Layout, number: u32, hostile: bool) -> Box<dyn Bot>;

    /// Counts goods for the `conservation` checker; without it nothing is conserved.
    fn count(&self) -> Option<Count> {
        None
    }

    /// An encoded action that any player can do at any time, to see whether the world can be played in. Needed by
    /// [`crate::failover`] only.
    fn everyday_action(&self) -> Option<Vec<u8>> {
        None
    }

    /// The character of a line from one machine to another, if not the usual one.
    fn line(&self, layout: &Layout, from: Address, to: Address) -> Option<Profile> {
        let _ = (layout, from, to);
        None
    }
}

/// A scenario may be shared with the code that looks at its world.
impl<S: Scenario> Scenario for Arc<S> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn rules(&self, world: &Polygon) -> Arc<dyn Rules> {
        (**self).rules(world)
    }

    fn player(&self, number: u32) -> PlayerId {
        (**self).player(number)
    }

    fn bot(&self, layout: &Layout, number: u32, hostile: bool) -> Box<dyn Bot> {
        (**self).bot(layout, number, hostile)
    }

    fn count(&self) -> Option<Count> {
        (**self).count()
    }

    fn everyday_action(&self) -> Option<Vec<u8>> {
        (**self).everyday_action()
    }

    fn line(&self, layout: &Layout, from: Address, to: Address) -> Option<Profile> {
        (**self).line(layout, from, to)
    }
}
