//! A bot's reading of the objects that it is shown.
//!
//! An object's state is decoded only when a decision depends on it: in a crowd a bot is shown a thousand objects, and hundreds of
//! bots run in one process.

use crate::{Avatar, Shown};
use game::{BotView, VisibleObject};
use machine::Time;
use space::{Distance, Motion, ObjectId, Position};
use std::collections::BTreeMap;

/// The surroundings of a living bot.
pub(super) struct BotSurroundings<'a> {
    pub now: Time,
    pub me: ObjectId,
    pub avatar: Avatar,
    pub motion: Motion,
    pub here: Position,
    objects: &'a BTreeMap<ObjectId, VisibleObject>,
}

/// An object in sight that is not its own avatar.
pub(super) struct NearbyObject {
    pub name: ObjectId,
    pub place: Position,
    pub shown: Shown,
}

impl<'a> BotSurroundings<'a> {
    /// Reads what is in sight; `None` as long as the bot has no living avatar.
    pub(super) fn open(sight: &BotView<'a>) -> Option<Self> {
        let mine = sight.objects.get(&sight.me)?;
        let Ok(Shown::Me(avatar)) = postcard::from_bytes(&mine.shown) else { return None };
        (!avatar.is_dead()).then(|| Self {
            now: sight.now,
            me: sight.me,
            motion: mine.motion,
            here: mine.motion.position_at(sight.now),
            objects: sight.objects,
            avatar,
        })
    }

    /// The nearest of the objects that are `wanted`. Ties go to the lower name, so that two bots want the same.
    pub(super) fn nearest(&self, wanted: impl Fn(&NearbyObject) -> bool) -> Option<NearbyObject> {
        let mut nearest: Option<((u64, ObjectId), NearbyObject)> = None;
        for (name, place, object) in self.others() {
            let rank = (self.here.distance_squared(place), name);
            let is_nearer = nearest.as_ref().is_none_or(|(best, _)| rank < *best);
            // Why the rank comes first: decoding costs many times as much.
            if let Some(it) = is_nearer.then(|| opened(name, place, object)).flatten()
                && wanted(&it)
            {
                nearest = Some((rank, it));
            }
        }
        nearest.map(|it| it.1)
    }

    /// The objects within a distance, by name.
    pub(super) fn within(&self, reach: Distance) -> impl Iterator<Item = NearbyObject> {
        let near = self.others().filter(move |it| self.here.is_within(reach, it.1));
        near.filter_map(|(name, place, object)| opened(name, place, object))
    }

    fn others(&self) -> impl Iterator<Item = (ObjectId, Position, &VisibleObject)> {
        let others = self.objects.iter().filter(|&(&name, _)| name != self.me);
        others.map(|(&name, it)| (name, it.motion.position_at(self.now), it))
    }
}

fn opened(name: ObjectId, place: Position, object: &VisibleObject) -> Option<NearbyObject> {
    let shown = postcard::from_bytes(&object.shown).ok()?;
    Some(NearbyObject { name, place, shown })
}

impl NearbyObject {
    /// True if it is another player's living avatar.
    pub(super) const fn is_living_avatar(&self) -> bool {
        matches!(self.shown, Shown::Avatar { health: 1.., .. })
    }
}
