//! Goes to the nearest item and takes it. Since all of its kind want the nearest, two often reach for one.

use super::act;
use super::eyes::Eyes;
use super::legs::Legs;
use crate::config::{BAG_MAX, PICK_UP_REACH};
use crate::{Action, Shown};
use game::{Bot, Intent, Sight};
use machine::{Rng, Span, Time};
use space::{Distance, Polygon};

/// It puts something down once in this many decisions.
const DROPS: u64 = 40;

/// How long it does not look at items after it put one down.
const REST: Span = Span::from_secs(4);

/// How near it goes before it reaches out.
const ARRIVED: Distance = Distance::of_metres(1);

/// Takes what lies about, and leaves it elsewhere.
pub struct Gather {
    legs: Legs,
    rests_until: Time,
}

impl Gather {
    /// One that stays in `world`.
    pub const fn new(world: Polygon) -> Self {
        Self { legs: Legs::new(world), rests_until: Time::ZERO }
    }
}

impl Bot for Gather {
    fn decide(&mut self, sight: &Sight<'_>, rng: &mut Rng, wants: &mut Vec<Intent>) {
        let Some(eyes) = Eyes::open(sight) else { return };
        let carried = eyes.avatar.bag.len() as u64;
        if 0 < carried && (BAG_MAX as u64 <= carried || rng.below(DROPS) == 0) {
            wants.push(act(&Action::Drop { slot: rng.below(carried) as u8 }));
            self.rests_until = eyes.now + REST;
        }
        let item = eyes.nearest(|it| matches!(it.shown, Shown::Item(_)));
        let Some(item) = item.filter(|_| self.rests_until <= eyes.now) else {
            return self.legs.stroll(&eyes, rng, wants);
        };
        self.legs.go_to(&eyes, item.place, ARRIVED, wants);
        if eyes.here.is_within(PICK_UP_REACH, item.place) {
            wants.push(act(&Action::PickUp { item: item.name }));
        }
    }
}
