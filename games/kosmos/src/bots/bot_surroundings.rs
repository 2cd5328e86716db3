//! A bot's reading of the objects that it is shown.

use crate::{Avatar, Shown};
use game::BotView;
use machine::Time;
use space::{Motion, ObjectId, Position};

/// The surroundings of a living bot.
pub(super) struct BotSurroundings {
    pub now: Time,
    pub me: ObjectId,
    pub avatar: Avatar,
    pub motion: Motion,
    pub here: Position,
    pub others: Vec<NearbyObject>,
}

/// An object in sight that is not its own avatar.
pub(super) struct NearbyObject {
    pub name: ObjectId,
    pub place: Position,
    pub shown: Shown,
}

impl BotSurroundings {
    /// Reads what is in sight; `None` as long as the bot has no living avatar.
    pub(super) fn open(sight: &BotView<'_>) -> Option<Self> {
        let mine = sight.objects.get(&sight.me)?;
        let Ok(Shown::Me(avatar)) = postcard::from_bytes(&mine.shown) else { return None };
        let others = sight.objects.iter().filter(|&(&name, _)| name != sight.me);
        let others = others.filter_map(|(&name, it)| {
            let shown = postcard::from_bytes(&it.shown).ok()?;
            Some(NearbyObject { name, place: it.motion.position_at(sight.now), shown })
        });
        (!avatar.is_dead()).then(|| Self {
            now: sight.now,
            me: sight.me,
            motion: mine.motion,
            here: mine.motion.position_at(sight.now),
            others: others.collect(),
            avatar,
        })
    }

    /// The nearest of the objects that are `wanted`. Ties go to the lower name, so that two bots want the same.
    pub(super) fn nearest(&self, wanted: impl Fn(&NearbyObject) -> bool) -> Option<&NearbyObject> {
        let wanted = self.others.iter().filter(|&it| wanted(it));
        wanted.min_by_key(|it| (self.here.distance_squared(it.place), it.name))
    }
}

impl NearbyObject {
    /// True if it is another player's living avatar.
    pub(super) const fn is_living_avatar(&self) -> bool {
        matches!(self.shown, Shown::Avatar { health: 1.., .. })
    }
}
