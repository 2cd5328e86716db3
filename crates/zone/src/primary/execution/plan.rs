//! Planning: how far a piece of work reaches, judged by visible objects, none of which is locked yet.

use super::work::Work;
use crate::config::{HYSTERESIS, STRAY_MAX};
use crate::core::Core;
use crate::locks::LockClaim;
use crate::object_table::{Object, ObjectTable};
use crate::primary::turn::Turn;
use crate::rule::Rule;
use game::{Call, CallError, Objects, Scope};
use machine::Time;
use space::{Distance, Motion, ObjectId, Position, ZoneId};

/// The scope of an event, and the zones that it touches.
pub(in crate::primary) struct EventReach {
    pub(in crate::primary) scope: Scope,
    pub(in crate::primary) actor: Option<ObjectId>,
    /// The participants, the highest zone first: the order in which locks are queued for.
    pub(in crate::primary) zones: Vec<ZoneId>,
    /// The game's refusal, if it refused to name a scope. The actor must still be unlocked: its cursor advances.
    pub(in crate::primary) refused: Option<CallError>,
}

impl EventReach {
    pub(in crate::primary) fn claim(&self) -> LockClaim {
        LockClaim { scope: self.scope.clone(), objects: self.actor.into_iter().collect() }
    }
}

/// A zone's own objects and its ghosts. None of them is locked: for planning and for views, never for decisions.
pub(in crate::primary) struct VisibleObjects<'a>(
    pub(in crate::primary) &'a ObjectTable,
    pub(in crate::primary) &'a ObjectTable,
);

impl Objects for VisibleObjects<'_> {
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])> {
        self.0.find(object).or_else(|| self.1.find(object))
    }

    fn visit(&self, centre: Position, radius: Distance, now: Time, visit: &mut dyn FnMut(ObjectId, &Motion)) {
        self.0.visit(centre, radius, now, visit);
        self.1.visit(centre, radius, now, visit);
    }
}

impl Turn<'_> {
    /// The reach of a piece of work now; `None` if it is void by now.
    pub(in crate::primary) fn plan(&self, work: &Work, now: Time) -> Option<EventReach> {
        match work {
            Work::Transfer(object) => transfer_reach(self.cx.core, *object, now),
            _ => Some(self.reach_of(work, work.game_call(&self.cx.core.state)?.call(), now)),
        }
    }

    /// The reach of the call of a piece of work. That of a suspect is refused: the game is not even asked for its scope.
    pub(in crate::primary) fn reach_of(&self, work: &Work, call: Call<'_>, now: Time) -> EventReach {
        match self.fault_of_suspect(work) {
            Some(why) => {
                let (actor, zones) = (call.actor(), vec![self.cx.zone()]);
                EventReach { scope: Scope::Objects(Vec::new()), actor, zones, refused: Some(why) }
            }
            None => self.reach(call, now),
        }
    }

    /// The fault as which a piece of work is answered if it is a suspect.
    pub(in crate::primary) fn fault_of_suspect(&self, work: &Work) -> Option<CallError> {
        let core = &*self.cx.core;
        if core.suspects.is_empty() || !core.enforces(Rule::SuspectsAreNotExecuted) {
            return None;
        }
        let suspect = work.suspect(&core.state).filter(|it| core.suspects.has(it))?;
        Some(CallError::Fault(format!(
            "{suspect} did not come back when it was executed: it is not tried again"
        )))
    }

    /// The scope of a call, and the zones that it touches.
    pub(in crate::primary) fn reach(&self, call: Call<'_>, now: Time) -> EventReach {
        let (core, own) = (&*self.cx.core, self.cx.zone());
        let view = VisibleObjects(&core.state.objects, self.audience.ghosts());
        let (scope, refused) = match core.config.rules.scope(&view, now, call) {
            Ok(scope) => (scope, None),
            Err(why) => (Scope::Objects(Vec::new()), Some(why)),
        };
        let mut zones = vec![own];
        if core.config.is_meshed() {
            match &scope {
                Scope::Area { centre, radius } => {
                    // An object may have walked up to `STRAY_MAX` beyond its owner's border.
                    core.config.map.zones_touching(*centre, wider(*radius, STRAY_MAX), &mut zones);
                    // The actor is ours even if the circle is elsewhere. (`zones_touching` replaces the list.)
                    zones.push(own);
                }
                Scope::Objects(objects) => {
                    zones.extend(objects.iter().filter_map(|&it| self.audience.owner(core, it)));
                }
            }
            zones.sort_unstable_by(|one, two| two.cmp(one));
            zones.dedup();
        }
        EventReach { scope, actor: call.actor(), zones, refused }
    }
}

/// The reach of a transfer that was refused too often: its object in this zone, and the object's place in the other.
pub(in crate::primary) fn transfer_reach(core: &Core, object: ObjectId, now: Time) -> Option<EventReach> {
    let it = core.state.objects.get(object)?;
    let (own, to) = (core.config.zone, strayed_to(core, it, now)?);
    let scope = Scope::area(it.motion.position_at(now), Distance::of_metres(0));
    Some(EventReach { scope, actor: Some(object), zones: vec![own.max(to), own.min(to)], refused: None })
}

/// The zone in whose region an object of ours is, if it is beyond our border by more than the hysteresis: an object
/// that walks along the border must not change its owner at every step.
pub(in crate::primary) fn strayed_to(core: &Core, object: &Object, now: Time) -> Option<ZoneId> {
    let (place, region) = (object.motion.position_at(now), core.config.region());
    // The world's own object has no place of its own, and never moves.
    if object.id == game::WORLD || region.contains(place) || region.meets_disc(place, HYSTERESIS) {
        return None;
    }
    core.config.map.locate(place).filter(|&it| it != core.config.zone)
}

/// The sum of two distances, at most the longest one there is.
pub(in crate::primary) fn wider(distance: Distance, by: Distance) -> Distance {
    Distance::new(distance.millimetres().saturating_add(by.millimetres())).unwrap_or(Distance::MAX)
}
