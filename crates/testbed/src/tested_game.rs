//! What a test must know of the game that is played.

use game::Bot;
use space::{Polygon, Position};

/// A side that two zones share, from corner to corner.
pub type Border = (Position, Position);

/// A game, as far as tests need to know it.
pub trait TestedGame: Send + Sync {
    /// The same game on the simulator, and for the judge of histories.
    fn scenario(&self) -> &dyn trial::Scenario;

    /// Names of the bots that a mixed crowd takes in turn.
    fn mixed_bots(&self) -> &[&'static str];

    /// The bot of this name, for a world with these borders between its zones. `None` if no bot has this name: then the
    /// client only stands there.
    fn bot(&self, name: &str, world: &Polygon, borders: &[Border]) -> Option<Box<dyn Bot>>;

    /// Whether an object in sight is an avatar, by what clients are shown of it.
    fn is_avatar(&self, shown: &[u8]) -> bool;

    /// An action, encoded, that any avatar may do at any time.
    fn everyday_action(&self) -> Vec<u8>;

    /// Millimetres per second that an avatar may always walk.
    fn walking_speed(&self) -> f32;
}
