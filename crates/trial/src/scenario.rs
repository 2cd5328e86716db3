//! What is played in a world, by whom, and over which lines.

use crate::layout::Layout;
use game::{Bot, Hosted, PlayerId, Rules};
use kosmos::{Goods, Kosmos, State, bots, conserved};
use machine::Address;
use sim::Profile;
use space::Polygon;
use std::sync::Arc;

/// Says what an encoded object holds of what is neither made nor lost.
pub type Count = fn(&[u8]) -> Result<Goods, String>;

/// A game and those who play it.
pub trait Cast: Send + Sync {
    /// The rules in a world of this shape.
    fn rules(&self, world: &Polygon) -> Arc<dyn Rules>;

    /// Who plays as number 0, 1, 2 and so on.
    fn player(&self, number: u32) -> PlayerId {
        PlayerId(u64::from(number) + 1)
    }

    /// The will of a player, new in every life.
    fn bot(&self, layout: &Layout, number: u32, hostile: bool) -> Box<dyn Bot>;

    /// What objects hold, for the `conservation` checker; without it nothing is conserved.
    fn count(&self) -> Option<Count> {
        None
    }

    /// What a line from one machine to another is like, if not as usual.
    fn line(&self, layout: &Layout, from: Address, to: Address) -> Option<Profile> {
        let _ = (layout, from, to);
        None
    }
}

/// Kosmos, with bots of every kind in turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usual;

impl Cast for Usual {
    fn rules(&self, world: &Polygon) -> Arc<dyn Rules> {
        Arc::new(Hosted(Kosmos::new(world.clone())))
    }

    fn bot(&self, layout: &Layout, number: u32, hostile: bool) -> Box<dyn Bot> {
        let name = if hostile { "hostile" } else { bots::NAMES[number as usize % bots::NAMES.len()] };
        bots::by_name(name, layout.world()).expect("the bots' names are known")
    }

    fn count(&self) -> Option<Count> {
        Some(held)
    }
}

/// What an object of Kosmos holds.
pub fn held(state: &[u8]) -> Result<Goods, String> {
    let state = postcard::from_bytes::<State>(state).map_err(|error| error.to_string())?;
    Ok(conserved(&state))
}
