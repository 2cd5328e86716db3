//! Programs that play: company for players, and load for measurements.
//!
//! A bot knows as much as a player, the objects shown to it, and can do as much. It keeps to the
//! rules, stays in the world and steers only when it has a new course; [`HostileBot`] does none of this.

mod bot_surroundings;
mod bot_walk;
mod gather;
mod hostile;
mod hunt;
mod talk;
mod trade;
mod travel;
mod wander;

pub use gather::GatherBot;
pub use hostile::HostileBot;
pub use hunt::HuntBot;
pub use talk::TalkBot;
pub use trade::TradeBot;
pub use travel::{BorderBot, CrossBot};
pub use wander::WanderBot;

use crate::Action;
use game::{Bot, Intent};
use space::{Polygon, Position};

/// The names of the bots that play by the rules.
pub const NAMES: [&str; 5] = ["wander", "hunt", "gather", "trade", "talk"];

/// The names of the bots that walk where zones meet. They keep to the rules, too, and only walk.
pub const TRAVELLERS: [&str; 2] = ["border", "cross"];

/// Makes a bot for `world` by its name: one of [`NAMES`] or [`TRAVELLERS`], or `hostile`.
pub fn by_name(name: &str, world: &Polygon) -> Option<Box<dyn Bot>> {
    by_name_near(name, world, &[])
}

/// The same in a world with these borders between zones.
pub fn by_name_near(name: &str, world: &Polygon, borders: &[(Position, Position)]) -> Option<Box<dyn Bot>> {
    let world = world.clone();
    Some(match name {
        "wander" => Box::new(WanderBot::new(world)),
        "hunt" => Box::new(HuntBot::new(world)),
        "gather" => Box::new(GatherBot::new(world)),
        "trade" => Box::new(TradeBot::new(world)),
        "talk" => Box::new(TalkBot::new(world)),
        "border" => Box::new(BorderBot::new(world, borders.to_vec())),
        "cross" => Box::new(CrossBot::new(world)),
        "hostile" => Box::new(HostileBot),
        _ => return None,
    })
}

/// An action, encoded as bots hand it over.
fn act(action: &Action) -> Intent {
    Intent::Act(postcard::to_stdvec(action).expect("actions are plain data"))
}
