//! Goes to the nearest item and takes it. Since all of its kind want the nearest, two often reach for one.

use super::act;
use super::bot_surroundings::BotSurroundings;
use super::bot_walk::BotWalk;
use crate::config::{BAG_MAX, PICK_UP_REACH};
use crate::{Action, Shown};
use game::{Bot, BotView, Intent};
use machine::{Rng, Span, Time};
use space::{Distance, Polygon};

/// It puts something down once in this many decisions.
const DROPS: u64 = 40;

/// The time for which it ignores items after it put one down.
const REST: Span = Span::from_secs(4);

/// The distance to an item at which it stops.
const ARRIVED: Distance = Distance::of_metres(1);

/// A bot that takes items, and leaves them elsewhere.
pub struct GatherBot {
    walk_state: BotWalk,
    rests_until: Time,
}

impl GatherBot {
    /// A bot that stays in `world`.
    pub const fn new(world: Polygon) -> Self {
        Self { walk_state: BotWalk::new(world), rests_until: Time::ZERO }
    }
}

impl Bot for GatherBot {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        let Some(view) = BotSurroundings::open(sight) else { return };
        let carried = view.avatar.bag.len() as u64;
        // Why it also drops now and then: items must not end up in bags for ever.
        if 0 < carried && (BAG_MAX as u64 <= carried || rng.below(DROPS) == 0) {
            intents.push(act(&Action::Drop { slot: rng.below(carried) as u8 }));
            self.rests_until = view.now + REST;
        }
        let item = view.nearest(|it| matches!(it.shown, Shown::Item(_)));
        let Some(item) = item.filter(|_| self.rests_until <= view.now) else {
            return self.walk_state.stroll(&view, rng, intents);
        };
        self.walk_state.go_to(&view, item.place, ARRIVED, intents);
        if view.here.is_within(PICK_UP_REACH, item.place) {
            intents.push(act(&Action::PickUp { item: item.name }));
        }
    }
}
