//! Players without people: company for those who play, and load for those who measure.
//!
//! A bot knows what a player knows, the objects shown to it, and can want what a player can want. It keeps to the
//! rules, stays in the world and says a new course only when it has one; [`Hostile`] does none of this.

mod eyes;
mod gather;
mod hostile;
mod hunt;
mod legs;
mod talk;
mod trade;
mod travel;
mod wander;

pub use gather::Gather;
pub use hostile::Hostile;
pub use hunt::Hunt;
pub use talk::Talk;
pub use trade::Trade;
pub use travel::{Border, Cross};
pub use wander::Wander;

use crate::Action;
use game::{Bot, Intent};
use space::{Polygon, Position};

/// The bots that play by the rules.
pub const NAMES: [&str; 5] = ["wander", "hunt", "gather", "trade", "talk"];

/// Those that walk where zones meet. They keep to the rules, too, and do nothing else.
pub const TRAVELLERS: [&str; 2] = ["border", "cross"];

/// A bot that lives in `world`, by its name: one of [`NAMES`] or [`TRAVELLERS`], or `hostile`.
pub fn by_name(name: &str, world: &Polygon) -> Option<Box<dyn Bot>> {
    by_name_near(name, world, &[])
}

/// The same in a world with these borders between zones.
pub fn by_name_near(name: &str, world: &Polygon, borders: &[(Position, Position)]) -> Option<Box<dyn Bot>> {
    let world = world.clone();
    Some(match name {
        "wander" => Box::new(Wander::new(world)),
        "hunt" => Box::new(Hunt::new(world)),
        "gather" => Box::new(Gather::new(world)),
        "trade" => Box::new(Trade::new(world)),
        "talk" => Box::new(Talk::new(world)),
        "border" => Box::new(Border::new(world, borders.to_vec())),
        "cross" => Box::new(Cross::new(world)),
        "hostile" => Box::new(Hostile),
        _ => return None,
    })
}

/// An action, as bots hand it over.
fn act(action: &Action) -> Intent {
    Intent::Act(postcard::to_stdvec(action).expect("actions are plain data"))
}
