//! Locks on areas and objects: events of this zone do not touch what an event of another zone holds or waits for.
//!
//! All-or-nothing and first come, first served: a request that meets a held lock *or an earlier request that
//! waits* waits behind it, so that a wide one is not starved by a stream of narrow ones. An event of the zone
//! alone that meets no lock takes none: it is over at once. One that meets a lock asks for its own, and waits likewise.

use crate::mesh::EventId;
use game::Scope;
use machine::Time;
use rustc_hash::FxHashMap;
use space::{Motion, ObjectId, Position};
use std::collections::VecDeque;

/// The holder of locks, or the one that waits for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockHolder {
    /// An event, of this zone or another.
    Event(EventId),
    /// An object that is offered to another zone.
    Transfer(ObjectId),
}

/// The extent of a lock: an area or a list of objects, and objects that belong to it wherever they go meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockClaim {
    /// The area, or the list of objects.
    pub scope: Scope,
    /// The actor, and the objects found in the area.
    pub objects: Vec<ObjectId>,
}

/// The answer to a request for locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockAnswer {
    /// The request holds everything it asked for.
    Now,
    /// The request waits in the queue.
    Later,
    /// Too many requests wait already.
    Busy,
}

/// Limit of requests that wait in a zone.
pub const WAITING_MAX: usize = 256;

/// The lock table of a zone.
#[derive(Clone, Debug, Default)]
pub struct Locks {
    held: Vec<(LockHolder, LockClaim)>,
    waiting: VecDeque<(LockHolder, LockClaim)>,
    /// Number of claims, held or waiting, that name an object. With `areas` it spares most searches: a claim on objects
    /// that no other claim names, in a zone without claims on areas, conflicts with none.
    named: FxHashMap<ObjectId, u32>,
    /// Number of claims, held or waiting, on areas.
    areas: u32,
}

/// Finds the motions of objects, to compare claims on objects with claims on areas.
pub trait MotionLookup {
    /// Motion of an object; `None` if the zone does not own it.
    fn motion(&self, object: ObjectId) -> Option<Motion>;
}

impl MotionLookup for crate::object_table::ObjectTable {
    fn motion(&self, object: ObjectId) -> Option<Motion> {
        self.get(object).map(|it| it.motion)
    }
}

impl LockClaim {
    const fn is_area(&self) -> bool {
        matches!(self.scope, Scope::Area { .. })
    }

    /// Every object that the claim names; some of them twice.
    fn names(&self) -> impl Iterator<Item = &ObjectId> {
        let named = match &self.scope {
            Scope::Objects(objects) => objects.as_slice(),
            Scope::Area { .. } => &[],
        };
        named.iter().chain(&self.objects)
    }
}

impl Locks {
    /// Whether an event with this claim must wait.
    pub fn blocks(&self, claim: &LockClaim, places: &impl MotionLookup, now: Time) -> bool {
        let all = || self.held.iter().chain(&self.waiting);
        match &claim.scope {
            // The counters first: this runs for every event of the zone, and mostly there are no locks.
            Scope::Objects(_) if claim.names().any(|it| self.named.contains_key(it)) => true,
            Scope::Objects(_) if self.areas == 0 => false,
            Scope::Objects(_) => {
                all().filter(|it| it.1.is_area()).any(|it| conflict(&it.1, claim, places, now))
            }
            Scope::Area { .. } => all().any(|it| conflict(&it.1, claim, places, now)),
        }
    }

    fn count(&mut self, claim: &LockClaim) {
        self.areas += u32::from(claim.is_area());
        for name in claim.names() {
            *self.named.entry(*name).or_default() += 1;
        }
    }

    fn discount(&mut self, claim: &LockClaim) {
        self.areas -= u32::from(claim.is_area());
        for name in claim.names() {
            if let Some(count) = self.named.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    self.named.remove(name);
                }
            }
        }
    }

    /// Whether a claim conflicts with one that a holder other than `but` holds. Waiting requests do not count.
    pub fn conflicts_with_held(
        &self,
        claim: &LockClaim,
        but: LockHolder,
        places: &impl MotionLookup,
        now: Time,
    ) -> bool {
        self.held.iter().any(|it| it.0 != but && conflict(&it.1, claim, places, now))
    }

    /// Holds a claim if no other holds or waits for a part of it. Returns whether it does.
    pub fn try_hold(
        &mut self,
        holder: LockHolder,
        claim: LockClaim,
        places: &impl MotionLookup,
        now: Time,
    ) -> bool {
        let free = !self.blocks(&claim, places, now);
        if free {
            self.hold(holder, claim);
        }
        free
    }

    /// Holds a claim whatever else is held: it was granted in an earlier epoch, or must be granted.
    pub fn hold(&mut self, holder: LockHolder, claim: LockClaim) {
        self.count(&claim);
        self.held.push((holder, claim));
    }

    /// Requests everything in a claim, or waits for it in the queue. A holder requests once.
    pub fn request(
        &mut self,
        holder: LockHolder,
        claim: LockClaim,
        places: &impl MotionLookup,
        now: Time,
    ) -> LockAnswer {
        // Even if nothing is in its way: a zone with a full queue takes on no more work.
        if WAITING_MAX <= self.waiting.len() {
            return LockAnswer::Busy;
        }
        if self.blocks(&claim, places, now) {
            self.count(&claim);
            self.waiting.push_back((holder, claim));
            return LockAnswer::Later;
        }
        self.hold(holder, claim);
        LockAnswer::Now
    }

    /// Adds objects to every claim that this holder holds.
    pub fn add_objects(&mut self, holder: LockHolder, objects: &[ObjectId]) {
        for (_, claim) in self.held.iter_mut().filter(|it| it.0 == holder) {
            for object in objects.iter().filter(|it| !claim.objects.contains(it)).copied().collect::<Vec<_>>()
            {
                claim.objects.push(object);
                *self.named.entry(object).or_default() += 1;
            }
        }
    }

    /// Releases everything that a holder has or waits for. Returns the holders that got their locks because of it, in
    /// order. Doing so twice does nothing.
    pub fn release(&mut self, holder: LockHolder, places: &impl MotionLookup, now: Time) -> Vec<LockHolder> {
        let mut freed = Vec::new();
        // `swap_remove`: the order of held claims means nothing, that of waiting ones does.
        while let Some(place) = self.held.iter().position(|it| it.0 == holder) {
            freed.push(self.held.swap_remove(place).1);
        }
        while let Some(place) = self.waiting.iter().position(|it| it.0 == holder) {
            freed.extend(self.waiting.remove(place).map(|it| it.1));
        }
        for claim in &freed {
            self.discount(claim);
        }
        if freed.is_empty() || self.waiting.is_empty() {
            return Vec::new();
        }
        let moves = 0 < self.areas || freed.iter().any(LockClaim::is_area);
        let (mut granted, mut still) = (Vec::new(), VecDeque::new());
        for (holder, claim) in std::mem::take(&mut self.waiting) {
            let meets = |it: &LockClaim| conflict(it, &claim, places, now);
            // A claim on objects that were not released waits for another holder. With areas this cannot be told:
            // objects move in and out of them.
            let waited_for_it = moves || freed.iter().any(meets);
            let is_free = || {
                !self.held.iter().any(|it| meets(&it.1))
                    && !still.iter().any(|it: &(_, LockClaim)| meets(&it.1))
            };
            if waited_for_it && is_free() {
                granted.push(holder);
                self.held.push((holder, claim)); // Counted since it began to wait.
            } else {
                still.push_back((holder, claim));
            }
        }
        self.waiting = still;
        granted
    }

    /// Number of claims held, and of claims that wait.
    pub fn len(&self) -> (usize, usize) {
        (self.held.len(), self.waiting.len())
    }

    /// Whether no claim is held and none waits.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && self.waiting.is_empty()
    }
}

/// Whether two claims share anything.
fn conflict(one: &LockClaim, two: &LockClaim, places: &impl MotionLookup, now: Time) -> bool {
    let share = one.objects.iter().any(|it| two.objects.contains(it));
    let inside =
        |claim: &LockClaim, scope: &Scope| claim.objects.iter().any(|&it| is_in(it, scope, places, now));
    share || meet(&one.scope, &two.scope, places, now) || inside(one, &two.scope) || inside(two, &one.scope)
}

/// Whether two scopes share anything.
fn meet(one: &Scope, two: &Scope, places: &impl MotionLookup, now: Time) -> bool {
    match (one, two) {
        (Scope::Area { centre, radius }, Scope::Area { centre: other, radius: reach }) => {
            // Squares instead of roots: exact in integers.
            let both = u64::from(radius.millimetres()) + u64::from(reach.millimetres());
            centre.distance_squared(*other) <= both * both
        }
        (scope, Scope::Objects(objects)) | (Scope::Objects(objects), scope) => {
            objects.iter().any(|&it| is_in(it, scope, places, now))
        }
    }
}

fn is_in(object: ObjectId, scope: &Scope, places: &impl MotionLookup, now: Time) -> bool {
    match scope {
        Scope::Objects(objects) => objects.contains(&object),
        Scope::Area { centre, radius } => {
            let place = places.motion(object).map(|it| it.position_at(now));
            // The world's own object is in no area: only an event that names it touches it.
            place.is_some_and(|it: Position| object != game::WORLD && centre.is_within(*radius, it))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::Rng;
    use space::{Distance, Epoch, ZoneId};
    use std::collections::BTreeMap;

    struct TestMotions(BTreeMap<ObjectId, Motion>);

    impl MotionLookup for TestMotions {
        fn motion(&self, object: ObjectId) -> Option<Motion> {
            self.0.get(&object).copied()
        }
    }

    fn id(counter: u32) -> ObjectId {
        ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter }
    }

    fn holder(number: u64) -> LockHolder {
        LockHolder::Event(EventId { zone: ZoneId(1), epoch: Epoch(1), number })
    }

    fn claim(scope: Scope) -> LockClaim {
        LockClaim { scope, objects: Vec::new() }
    }

    fn scope(rng: &mut Rng) -> Scope {
        let place = |rng: &mut Rng| Position::new(rng.below(100) as i32, rng.below(100) as i32).unwrap();
        if rng.coin() {
            return Scope::area(place(rng), Distance::new(rng.below(20) as u32).unwrap());
        }
        Scope::objects((0..rng.below(3) + 1).map(|_| id(rng.below(12) as u32)))
    }

    #[test]
    fn held_claims_never_conflict_and_no_request_waits_for_ever() {
        for seed in 0..200 {
            let mut rng = Rng::seeded(seed);
            let at = |x, y| Motion { position: Position::new(x, y).unwrap(), ..Motion::default() };
            let places = TestMotions(
                (0..12).map(|it| (id(it), at(rng.below(100) as i32, rng.below(100) as i32))).collect(),
            );
            let (mut locks, mut live) = (Locks::default(), Vec::new());
            for turn in 0..300 {
                if rng.below(3) < 2 && live.len() < 40 {
                    locks.request(holder(turn), claim(scope(&mut rng)), &places, Time::ZERO);
                    live.push(holder(turn));
                } else if !live.is_empty() {
                    let one = live.swap_remove(rng.below(live.len() as u64) as usize);
                    locks.release(one, &places, Time::ZERO);
                }
                for (place, one) in locks.held.iter().enumerate() {
                    for two in &locks.held[place + 1..] {
                        assert!(!conflict(&one.1, &two.1, &places, Time::ZERO), "seed {seed}");
                    }
                }
                assert_eq!(locks.held.len() + locks.waiting.len(), live.len(), "seed {seed}");
            }
            for one in live {
                locks.release(one, &places, Time::ZERO);
            }
            assert!(locks.is_empty(), "seed {seed}");
        }
    }

    #[test]
    fn a_wide_request_is_not_overtaken_by_narrow_ones() {
        let places = TestMotions(BTreeMap::new());
        let area = |x, r| claim(Scope::area(Position::new(x, 0).unwrap(), Distance::new(r).unwrap()));
        let mut locks = Locks::default();
        assert_eq!(locks.request(holder(1), area(0, 5), &places, Time::ZERO), LockAnswer::Now);
        assert_eq!(locks.request(holder(2), area(50, 60), &places, Time::ZERO), LockAnswer::Later);
        assert_eq!(
            locks.request(holder(3), area(100, 5), &places, Time::ZERO),
            LockAnswer::Later,
            "it would meet 2"
        );
        assert!(locks.blocks(&area(100, 1), &places, Time::ZERO));
        assert_eq!(locks.release(holder(1), &places, Time::ZERO), [holder(2)]);
        assert_eq!(locks.release(holder(1), &places, Time::ZERO), []);
        assert_eq!(locks.release(holder(2), &places, Time::ZERO), [holder(3)]);
    }
}
