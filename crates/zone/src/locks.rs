//! Locks on regions and objects: what an event of another zone holds, or waits for, is not touched here.
//!
//! All-or-nothing and first come, first served: a request that meets a held lock *or an earlier request that
//! waits* waits behind it, so that a wide one is not starved by a stream of narrow ones. Events of the zone itself
//! take no locks (they are over at once); they only must not meet any.

use game::Scope;
use machine::Time;
use space::{Motion, ObjectId, Position};
use std::collections::VecDeque;

/// Who holds or wants locks: an event, by a name its owner gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder(pub u128);

/// What a request led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granted {
    /// It holds everything it asked for.
    Now,
    /// It waits.
    Later,
    /// Too many wait already.
    Busy,
}

/// The most requests that wait.
pub const WAITING_MAX: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Claim {
    holder: Holder,
    scope: Scope,
}

/// The lock table of a zone.
#[derive(Clone, Debug, Default)]
pub struct Locks {
    held: Vec<Claim>,
    waiting: VecDeque<Claim>,
}

/// Where objects are, for claims that name objects to be compared with claims on areas.
pub trait Places {
    /// How an object moves; `None` if it is not here.
    fn motion(&self, object: ObjectId) -> Option<Motion>;
}

impl Places for crate::table::Table {
    fn motion(&self, object: ObjectId) -> Option<Motion> {
        self.get(object).map(|it| it.motion)
    }
}

impl Locks {
    /// Whether an event that touches this must wait.
    pub fn blocks(&self, scope: &Scope, places: &impl Places, now: Time) -> bool {
        self.held.iter().chain(&self.waiting).any(|it| conflict(&it.scope, scope, places, now))
    }

    /// Asks for everything in a scope. A holder asks once.
    pub fn request(&mut self, holder: Holder, scope: Scope, places: &impl Places, now: Time) -> Granted {
        let claim = Claim { holder, scope };
        if !self.blocks(&claim.scope, places, now) {
            self.held.push(claim);
            return Granted::Now;
        }
        if WAITING_MAX <= self.waiting.len() {
            return Granted::Busy;
        }
        self.waiting.push_back(claim);
        Granted::Later
    }

    /// Lets go of everything a holder has or wants, and says who got theirs because of it, in order. Doing so twice
    /// does nothing.
    pub fn release(&mut self, holder: Holder, places: &impl Places, now: Time) -> Vec<Holder> {
        self.held.retain(|it| it.holder != holder);
        self.waiting.retain(|it| it.holder != holder);
        let (mut granted, mut still) = (Vec::new(), VecDeque::new());
        for claim in std::mem::take(&mut self.waiting) {
            let meets = |it: &Claim| conflict(&it.scope, &claim.scope, places, now);
            if self.held.iter().any(meets) || still.iter().any(meets) {
                still.push_back(claim);
            } else {
                granted.push(claim.holder);
                self.held.push(claim);
            }
        }
        self.waiting = still;
        granted
    }

    /// How many hold and how many wait.
    pub fn len(&self) -> (usize, usize) {
        (self.held.len(), self.waiting.len())
    }

    /// Whether nobody holds or wants anything.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && self.waiting.is_empty()
    }
}

/// Whether two scopes share anything.
fn conflict(one: &Scope, two: &Scope, places: &impl Places, now: Time) -> bool {
    match (one, two) {
        (Scope::Area { centre, radius }, Scope::Area { centre: other, radius: reach }) => {
            let both = u64::from(radius.millimetres()) + u64::from(reach.millimetres());
            centre.distance_squared(*other) <= both * both
        }
        (Scope::Objects(these), Scope::Objects(those)) => these.iter().any(|it| those.contains(it)),
        (Scope::Area { centre, radius }, Scope::Objects(objects))
        | (Scope::Objects(objects), Scope::Area { centre, radius }) => {
            let place = |it: &ObjectId| places.motion(*it).map(|motion| motion.position_at(now));
            objects.iter().filter_map(place).any(|it: Position| centre.is_within(*radius, it))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::Rng;
    use space::{Distance, Epoch, ZoneId};
    use std::collections::BTreeMap;

    struct Map(BTreeMap<ObjectId, Motion>);

    impl Places for Map {
        fn motion(&self, object: ObjectId) -> Option<Motion> {
            self.0.get(&object).copied()
        }
    }

    fn id(counter: u32) -> ObjectId {
        ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter }
    }

    fn scope(rng: &mut Rng) -> Scope {
        let place = |rng: &mut Rng| Position::new(rng.below(100) as i32, rng.below(100) as i32).unwrap();
        if rng.coin() {
            return Scope::area(place(rng), Distance::new(rng.below(20) as u32).unwrap());
        }
        Scope::objects((0..rng.below(3) + 1).map(|_| id(rng.below(12) as u32)))
    }

    #[test]
    fn no_two_that_meet_are_held_and_nobody_waits_for_ever() {
        for seed in 0..200 {
            let mut rng = Rng::seeded(seed);
            let at = |x, y| Motion { position: Position::new(x, y).unwrap(), ..Motion::default() };
            let places =
                Map((0..12).map(|it| (id(it), at(rng.below(100) as i32, rng.below(100) as i32))).collect());
            let (mut locks, mut live) = (Locks::default(), Vec::new());
            for turn in 0..300_u128 {
                if rng.below(3) < 2 && live.len() < 40 {
                    locks.request(Holder(turn), scope(&mut rng), &places, Time::ZERO);
                    live.push(Holder(turn));
                } else if !live.is_empty() {
                    let holder = live.swap_remove(rng.below(live.len() as u64) as usize);
                    locks.release(holder, &places, Time::ZERO);
                }
                for (place, one) in locks.held.iter().enumerate() {
                    for two in &locks.held[place + 1..] {
                        assert!(!conflict(&one.scope, &two.scope, &places, Time::ZERO), "seed {seed}");
                    }
                }
                assert_eq!(locks.held.len() + locks.waiting.len(), live.len(), "seed {seed}");
            }
            for holder in live {
                locks.release(holder, &places, Time::ZERO);
            }
            assert!(locks.is_empty(), "seed {seed}");
        }
    }

    #[test]
    fn a_wide_request_is_not_overtaken_by_narrow_ones() {
        let places = Map(BTreeMap::new());
        let area = |x, r| Scope::area(Position::new(x, 0).unwrap(), Distance::new(r).unwrap());
        let mut locks = Locks::default();
        assert_eq!(locks.request(Holder(1), area(0, 5), &places, Time::ZERO), Granted::Now);
        assert_eq!(locks.request(Holder(2), area(50, 60), &places, Time::ZERO), Granted::Later);
        assert_eq!(
            locks.request(Holder(3), area(100, 5), &places, Time::ZERO),
            Granted::Later,
            "it would meet 2"
        );
        assert!(locks.blocks(&area(100, 1), &places, Time::ZERO));
        assert_eq!(locks.release(Holder(1), &places, Time::ZERO), [Holder(2)]);
        assert_eq!(locks.release(Holder(1), &places, Time::ZERO), []);
        assert_eq!(locks.release(Holder(2), &places, Time::ZERO), [Holder(3)]);
    }
}
