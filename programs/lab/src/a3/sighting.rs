//! True positions and the client's knowledge, avatar by avatar: the basis of what `quality` and `turn` measure.

use super::client::{A3Client, AvatarKnowledge};
use super::server::A3Server;
use interest::{Slot, SubjectView};
use machine::Time;
use space::Position;

/// The truth about one avatar other than the client's, and the client's knowledge of it.
pub(super) struct Sighting {
    /// The avatar as the client's avatar would see it in truth.
    pub(super) sight: SubjectView,
    /// True position of the client's avatar.
    pub(super) here: Position,
    /// True position of the avatar.
    pub(super) there: Position,
    /// The client's knowledge of the avatar; `None` if it has none.
    pub(super) known: Option<AvatarKnowledge>,
}

/// All avatars but the client's own, at `now`.
pub(super) fn sightings<'a>(
    now: Time,
    client: &'a A3Client,
    server: &'a A3Server,
) -> impl Iterator<Item = Sighting> + 'a {
    let own = client.own();
    let (here, facing) = (own.position_at(now), own.heading.unit());
    let others = server.motions().zip(client.known()).enumerate().skip(1);
    others.map(move |(avatar, (motion, &known))| {
        let there = motion.position_at(now);
        let sight = SubjectView::new(Slot(0), here, facing, Slot(avatar as u32), there);
        Sighting { sight, here, there, known }
    })
}
