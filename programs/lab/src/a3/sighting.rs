//! What is true and what the client knows, avatar by avatar: the ground that `quality` and `turn` measure on.

use super::client::{Client, Known};
use super::server::Server;
use interest::{Sight, Slot};
use machine::Time;
use space::Position;

/// One avatar other than the client's.
pub(super) struct Sighting {
    /// How it truly stands to the client's avatar.
    pub(super) sight: Sight,
    /// Where the client's avatar truly is.
    pub(super) here: Position,
    /// Where it truly is.
    pub(super) there: Position,
    /// What the client knows of it.
    pub(super) known: Option<Known>,
}

/// Everybody but the client's own avatar, at `now`.
pub(super) fn sightings<'a>(
    now: Time,
    client: &'a Client,
    server: &'a Server,
) -> impl Iterator<Item = Sighting> + 'a {
    let own = client.own();
    let (here, facing) = (own.position_at(now), own.heading.unit());
    let others = server.motions().zip(client.known()).enumerate().skip(1);
    others.map(move |(avatar, (motion, &known))| {
        let there = motion.position_at(now);
        let sight = Sight::new(Slot(0), here, facing, Slot(avatar as u32), there);
        Sighting { sight, here, there, known }
    })
}
