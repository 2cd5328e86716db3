//! How far work reaches: planned with what is in sight, of which nothing is locked yet.

use super::work::Work;
use crate::config::{HYSTERESIS, STRAY_MAX};
use crate::core::Core;
use crate::locks::Claim;
use crate::primary::turn::Turn;
use crate::table::{Object, Table};
use game::{Call, Objects, Refused, Scope};
use machine::Time;
use space::{Distance, Motion, ObjectId, Position, ZoneId};

/// How far an event reaches.
pub(in crate::primary) struct Reach {
    pub(in crate::primary) scope: Scope,
    pub(in crate::primary) actor: Option<ObjectId>,
    /// The zones that take part, the highest first.
    pub(in crate::primary) zones: Vec<ZoneId>,
    /// What the game said against it. The actor must be free even to be refused something.
    pub(in crate::primary) refused: Option<Refused>,
}

impl Reach {
    pub(in crate::primary) fn claim(&self) -> Claim {
        Claim { scope: self.scope.clone(), objects: self.actor.into_iter().collect() }
    }
}

/// A zone's own objects and the ghosts of its neighbours': nothing is locked here, so this is for planning only.
pub(in crate::primary) struct InSight<'a>(pub(in crate::primary) &'a Table, pub(in crate::primary) &'a Table);

impl Objects for InSight<'_> {
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])> {
        self.0.find(object).or_else(|| self.1.find(object))
    }

    fn visit(&self, centre: Position, radius: Distance, now: Time, visit: &mut dyn FnMut(ObjectId, &Motion)) {
        self.0.visit(centre, radius, now, visit);
        self.1.visit(centre, radius, now, visit);
    }
}

impl Turn<'_> {
    /// How far a work reaches now; `None` if there is nothing to be done any more.
    pub(in crate::primary) fn plan(&self, work: &Work, now: Time) -> Option<Reach> {
        match work {
            Work::Transfer(object) => transfer_reach(self.cx.core, *object, now),
            _ => Some(self.reach(work.game_call(&self.cx.core.state)?.call(), now)),
        }
    }

    /// How far a call reaches, and into which zones.
    pub(in crate::primary) fn reach(&self, call: Call<'_>, now: Time) -> Reach {
        let (core, own) = (&*self.cx.core, self.cx.zone());
        let view = InSight(&core.state.objects, self.audience.ghosts());
        let (scope, refused) = match core.config.rules.scope(&view, now, call) {
            Ok(scope) => (scope, None),
            Err(why) => (Scope::Objects(Vec::new()), Some(why)),
        };
        let mut zones = vec![own];
        if core.config.is_meshed() {
            match &scope {
                Scope::Area { centre, radius } => {
                    core.config.map.zones_touching(*centre, wider(*radius, STRAY_MAX), &mut zones);
                    zones.push(own);
                }
                Scope::Objects(objects) => {
                    zones.extend(objects.iter().filter_map(|&it| self.audience.owner(core, it)));
                }
            }
            zones.sort_unstable_by(|one, two| two.cmp(one));
            zones.dedup();
        }
        Reach { scope, actor: call.actor(), zones, refused }
    }
}

/// What a transfer must wait for that was refused too often: its object here, and the object's place there.
pub(in crate::primary) fn transfer_reach(core: &Core, object: ObjectId, now: Time) -> Option<Reach> {
    let it = core.state.objects.get(object)?;
    let (own, to) = (core.config.zone, strayed_to(core, it, now)?);
    let scope = Scope::area(it.motion.position_at(now), Distance::of_metres(0));
    Some(Reach { scope, actor: Some(object), zones: vec![own.max(to), own.min(to)], refused: None })
}

/// The zone in which an object of ours is, if it is beyond our border.
pub(in crate::primary) fn strayed_to(core: &Core, object: &Object, now: Time) -> Option<ZoneId> {
    let (place, region) = (object.motion.position_at(now), core.config.region());
    if object.id == game::WORLD || region.contains(place) || region.meets_disc(place, HYSTERESIS) {
        return None;
    }
    core.config.map.locate(place).filter(|&it| it != core.config.zone)
}

/// A distance and some more.
pub(in crate::primary) fn wider(distance: Distance, by: Distance) -> Distance {
    Distance::new(distance.millimetres().saturating_add(by.millimetres())).unwrap_or(Distance::MAX)
}
