//! Locks on regions and objects: what an event of another zone holds, or waits for, is not touched here.
//!
//! All-or-nothing and first come, first served: a request that meets a held lock *or an earlier request that
//! waits* waits behind it, so that a wide one is not starved by a stream of narrow ones. Events of the zone itself
//! take no locks (they are over at once); they only must not meet any.

use crate::mesh::EventId;
use game::Scope;
use machine::Time;
use rustc_hash::FxHashMap;
use space::{Motion, ObjectId, Position};
use std::collections::VecDeque;

/// Who holds or wants locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// An event, of this zone or another.
    Event(EventId),
    /// An object that is offered to another zone.
    Passage(ObjectId),
}

/// What is locked: an area or names, and objects that belong to it wherever they go meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The area, or the names.
    pub scope: Scope,
    /// The actor, and whoever was found in the area.
    pub objects: Vec<ObjectId>,
}

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

/// The lock table of a zone.
#[derive(Clone, Debug, Default)]
pub struct Locks {
    held: Vec<(Holder, Claim)>,
    waiting: VecDeque<(Holder, Claim)>,
    /// How often an object is named in all of these, and how many of them are areas: who names objects that nobody
    /// else names, where nobody holds an area, need not look at anybody.
    named: FxHashMap<ObjectId, u32>,
    areas: u32,
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

impl Claim {
    const fn is_area(&self) -> bool {
        matches!(self.scope, Scope::Area { .. })
    }

    /// Everything it names, one way or the other; some of it twice.
    fn names(&self) -> impl Iterator<Item = &ObjectId> {
        let named = match &self.scope {
            Scope::Objects(objects) => objects.as_slice(),
            Scope::Area { .. } => &[],
        };
        named.iter().chain(&self.objects)
    }
}

impl Locks {
    /// Whether an event that touches this must wait.
    pub fn blocks(&self, claim: &Claim, places: &impl Places, now: Time) -> bool {
        let all = || self.held.iter().chain(&self.waiting);
        match &claim.scope {
            Scope::Objects(_) if claim.names().any(|it| self.named.contains_key(it)) => true,
            Scope::Objects(_) if self.areas == 0 => false,
            Scope::Objects(_) => {
                all().filter(|it| it.1.is_area()).any(|it| conflict(&it.1, claim, places, now))
            }
            Scope::Area { .. } => all().any(|it| conflict(&it.1, claim, places, now)),
        }
    }

    fn count(&mut self, claim: &Claim) {
        self.areas += u32::from(claim.is_area());
        for name in claim.names() {
            *self.named.entry(*name).or_default() += 1;
        }
    }

    fn discount(&mut self, claim: &Claim) {
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

    /// Whether something meets what is held, by others than this holder.
    pub fn is_held(&self, claim: &Claim, but: Holder, places: &impl Places, now: Time) -> bool {
        self.held.iter().any(|it| it.0 != but && conflict(&it.1, claim, places, now))
    }

    /// Takes what nobody holds or waits for; whether it worked.
    pub fn take(&mut self, holder: Holder, claim: Claim, places: &impl Places, now: Time) -> bool {
        let free = !self.blocks(&claim, places, now);
        if free {
            self.hold(holder, claim);
        }
        free
    }

    /// Holds what was given in an earlier reign, or must be given.
    pub fn hold(&mut self, holder: Holder, claim: Claim) {
        self.count(&claim);
        self.held.push((holder, claim));
    }

    /// Asks for everything in a claim, and waits for it. A holder asks once.
    pub fn request(&mut self, holder: Holder, claim: Claim, places: &impl Places, now: Time) -> Granted {
        if WAITING_MAX <= self.waiting.len() {
            return Granted::Busy;
        }
        if self.blocks(&claim, places, now) {
            self.count(&claim);
            self.waiting.push_back((holder, claim));
            return Granted::Later;
        }
        self.hold(holder, claim);
        Granted::Now
    }

    /// Whoever holds something holds these objects, too.
    pub fn add_objects(&mut self, holder: Holder, objects: &[ObjectId]) {
        for (_, claim) in self.held.iter_mut().filter(|it| it.0 == holder) {
            for object in objects.iter().filter(|it| !claim.objects.contains(it)).copied().collect::<Vec<_>>()
            {
                claim.objects.push(object);
                *self.named.entry(object).or_default() += 1;
            }
        }
    }

    /// Lets go of everything a holder has or wants, and says who got theirs because of it, in order. Doing so twice
    /// does nothing.
    pub fn release(&mut self, holder: Holder, places: &impl Places, now: Time) -> Vec<Holder> {
        let mut freed = Vec::new();
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
        let moves = 0 < self.areas || freed.iter().any(Claim::is_area);
        let (mut granted, mut still) = (Vec::new(), VecDeque::new());
        for (holder, claim) in std::mem::take(&mut self.waiting) {
            let meets = |it: &Claim| conflict(it, &claim, places, now);
            // Who named nothing that was let go waits for somebody else; where areas are held, people walk in and out.
            let waited_for_it = moves || freed.iter().any(meets);
            let is_free = || {
                !self.held.iter().any(|it| meets(&it.1)) && !still.iter().any(|it: &(_, Claim)| meets(&it.1))
            };
            if waited_for_it && is_free() {
                granted.push(holder);
                self.held.push((holder, claim));
            } else {
                still.push_back((holder, claim));
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

/// Whether two claims share anything.
fn conflict(one: &Claim, two: &Claim, places: &impl Places, now: Time) -> bool {
    let share = one.objects.iter().any(|it| two.objects.contains(it));
    let inside = |claim: &Claim, scope: &Scope| claim.objects.iter().any(|&it| is_in(it, scope, places, now));
    share || meet(&one.scope, &two.scope, places, now) || inside(one, &two.scope) || inside(two, &one.scope)
}

/// Whether two scopes share anything.
fn meet(one: &Scope, two: &Scope, places: &impl Places, now: Time) -> bool {
    match (one, two) {
        (Scope::Area { centre, radius }, Scope::Area { centre: other, radius: reach }) => {
            let both = u64::from(radius.millimetres()) + u64::from(reach.millimetres());
            centre.distance_squared(*other) <= both * both
        }
        (scope, Scope::Objects(objects)) | (Scope::Objects(objects), scope) => {
            objects.iter().any(|&it| is_in(it, scope, places, now))
        }
    }
}

fn is_in(object: ObjectId, scope: &Scope, places: &impl Places, now: Time) -> bool {
    match scope {
        Scope::Objects(objects) => objects.contains(&object),
        Scope::Area { centre, radius } => {
            let place = places.motion(object).map(|it| it.position_at(now));
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

    struct Map(BTreeMap<ObjectId, Motion>);

    impl Places for Map {
        fn motion(&self, object: ObjectId) -> Option<Motion> {
            self.0.get(&object).copied()
        }
    }

    fn id(counter: u32) -> ObjectId {
        ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter }
    }

    fn holder(number: u64) -> Holder {
        Holder::Event(EventId { zone: ZoneId(1), epoch: Epoch(1), number })
    }

    fn claim(scope: Scope) -> Claim {
        Claim { scope, objects: Vec::new() }
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
        let places = Map(BTreeMap::new());
        let area = |x, r| claim(Scope::area(Position::new(x, 0).unwrap(), Distance::new(r).unwrap()));
        let mut locks = Locks::default();
        assert_eq!(locks.request(holder(1), area(0, 5), &places, Time::ZERO), Granted::Now);
        assert_eq!(locks.request(holder(2), area(50, 60), &places, Time::ZERO), Granted::Later);
        assert_eq!(
            locks.request(holder(3), area(100, 5), &places, Time::ZERO),
            Granted::Later,
            "it would meet 2"
        );
        assert!(locks.blocks(&area(100, 1), &places, Time::ZERO));
        assert_eq!(locks.release(holder(1), &places, Time::ZERO), [holder(2)]);
        assert_eq!(locks.release(holder(1), &places, Time::ZERO), []);
        assert_eq!(locks.release(holder(2), &places, Time::ZERO), [holder(3)]);
    }
}
