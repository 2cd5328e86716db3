//! The game that is played, as tests need it.

use game::Bot;
use space::{Polygon, Position};

/// A side that two zones share, from corner to corner.
pub type BorderSegment = (Position, Position);

/// A game, as far as tests need to know it.
pub trait TestedGame: Send + Sync {
    /// The same game on the simulator, and for the checkers of histories.
    fn scenario(&self) -> &dyn simtest::Scenario;

    /// Names of the bots that a mixed crowd takes in turn.
    fn mixed_bots(&self) -> &[&'static str];

    /// The bot of this name, for a world with these borders between its zones. `None` if no bot has this name: then the
    /// client only stands still.
    fn bot(&self, name: &str, world: &Polygon, borders: &[BorderSegment]) -> Option<Box<dyn Bot>>;

    /// Returns whether an object in sight is an avatar, by the part of its state that clients are shown; `own` is that of
    /// the client's own avatar.
    fn is_avatar(&self, own: &[u8], shown: &[u8]) -> bool;

    /// An encoded action that any avatar may perform at any time.
    fn everyday_action(&self) -> Vec<u8>;

    /// Speed at which an avatar may always walk, in millimetres per second.
    fn walking_speed(&self) -> f32;
}
