//! Kosmos as `bench zone` measures it: a wide square in which players bargain.

use game::{Hosted, HostedGame};
use kosmos::{Action, Give, Kosmos, Want};
use space::{ObjectId, Partition, Polygon, Position, ZoneId};
use std::sync::Arc;

/// Distance from the middle to the sides, in millimetres: so large that no player sees all others.
const HALF: i64 = 250_000;

/// Units of a player's bucket that an action takes, at most.
pub const PRICE: u64 = 6;

/// View distance of the players, in metres.
pub const SEES: u32 = 60;

/// The rules in that square.
pub fn rules() -> Arc<dyn HostedGame> {
    Arc::new(Hosted(Kosmos::new(region())))
}

/// One zone.
pub fn map() -> Partition {
    Partition::new(region(), ZoneId(1))
}

/// Encodes an action: half of them are offers, shown to all players in view; a quarter withdraws them, a quarter is
/// talk.
pub fn action(_: ObjectId, other: ObjectId, number: u64) -> Vec<u8> {
    let give = Give { coins: 1 + (number % 16) as u32, item: None };
    let action = match number % 4 {
        0 => Action::Say { text: "a fair offer".to_owned() },
        3 => Action::WithdrawOffer,
        _ => Action::OfferTrade { to: other, give, want: Want::default() },
    };
    postcard::to_stdvec(&action).expect("actions are plain data")
}

fn region() -> Polygon {
    let corner = |at| Position::saturating(at, at);
    Polygon::rectangle(corner(-HALF), corner(HALF)).expect("a square is convex")
}
