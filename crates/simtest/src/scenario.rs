//! The game of a simulated world: its rules, its players, the links between them, and what must be conserved in it.
//!
//! Everything else in this crate depends on no game. A scenario is a value that is handed to the code that builds or
//! checks a world, such as [`crate::SimulatedWorld::new`], [`crate::run`] and [`crate::histories::Histories::check`].

use crate::layout::Layout;
use game::{Bot, HostedGame, PlayerId};
use machine::Address;
use sim::Profile;
use space::{ObjectId, Polygon};
use std::sync::Arc;

/// The identity of an item that may change hands: the name of the first object that was the item. Names are given
/// once, so no two items share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemId(pub ObjectId);

/// The goods in one object: neither made nor lost, only handed on. A new world and a new player bring goods along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConservedGoods {
    /// Coins, of which only the sum over all objects matters. It changes when a world is founded, and when a player
    /// joins or leaves.
    pub coins: u64,
    /// Items, each of which is in one object at any time.
    pub items: Vec<ItemId>,
}

/// Counts the goods in an encoded object.
pub type Count = Arc<dyn Fn(&[u8]) -> Result<ConservedGoods, String> + Send + Sync>;

/// A game and its players.
pub trait Scenario: Send + Sync + 'static {
    /// Name of the game in the histories of simulated worlds.
    fn name(&self) -> &'static str;

    /// The rules in a world with these bounds.
    fn rules(&self, world: &Polygon) -> Arc<dyn HostedGame>;

    /// Identity of the player with number 0, 1, 2 and so on.
    fn player(&self, number: u32) -> PlayerId {
        PlayerId(u64::from(number) + 1)
    }

    /// A bot for a player, at the beginning of a session.
    fn bot(&self, layout: &Layout, number: u32, hostile: bool) -> Box<dyn Bot>;

    /// The function that counts goods for the `conservation` checker; `None` if the game conserves nothing.
    fn count(&self) -> Option<Count> {
        None
    }

    /// An encoded action that any player can do at any time, to measure whether the world can be played in. Needed by
    /// [`crate::failover`] only.
    fn everyday_action(&self) -> Option<Vec<u8>> {
        None
    }

    /// Profile of the link from one machine to another; `None` for the usual one.
    fn link_profile(&self, layout: &Layout, from: Address, to: Address) -> Option<Profile> {
        let _ = (layout, from, to);
        None
    }
}

/// A scenario may be shared with the code that examines its world.
impl<S: Scenario + ?Sized> Scenario for Arc<S> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn rules(&self, world: &Polygon) -> Arc<dyn HostedGame> {
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

    fn link_profile(&self, layout: &Layout, from: Address, to: Address) -> Option<Profile> {
        (**self).link_profile(layout, from, to)
    }
}
