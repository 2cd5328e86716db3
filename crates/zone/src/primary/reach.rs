//! How far something reaches that is to be done: planned with what is in sight, which nobody has locked yet.

use super::Primary;
use super::grants::wider;
use super::work::Work;
use crate::config::STRAY_MAX;
use crate::core::Core;
use crate::locks::Claim;
use crate::table::Table;
use game::{Call, Objects, Refused, Scope};
use machine::Time;
use space::{Distance, Motion, ObjectId, Position, ZoneId};

/// How far an event reaches.
pub(super) struct Reach {
    pub(super) scope: Scope,
    pub(super) actor: Option<ObjectId>,
    /// The zones that take part, the highest first.
    pub(super) zones: Vec<ZoneId>,
    /// What the game said against it. The actor must be free even to be refused something.
    pub(super) refused: Option<Refused>,
}

impl Reach {
    pub(super) fn claim(&self) -> Claim {
        Claim { scope: self.scope.clone(), objects: self.actor.into_iter().collect() }
    }
}

/// A zone's own objects and the ghosts of its neighbours': nothing is locked here, so this is for planning only.
pub(super) struct InSight<'a>(pub(super) &'a Table, pub(super) &'a Table);

impl Objects for InSight<'_> {
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])> {
        self.0.find(object).or_else(|| self.1.find(object))
    }

    fn visit(&self, centre: Position, radius: Distance, now: Time, visit: &mut dyn FnMut(ObjectId, &Motion)) {
        self.0.visit(centre, radius, now, visit);
        self.1.visit(centre, radius, now, visit);
    }
}

impl Primary {
    /// How far a work reaches now; `None` if there is nothing to be done any more.
    pub(super) fn plan(&self, core: &Core, work: &Work, now: Time) -> Option<Reach> {
        match work {
            Work::Pass(object) => self.reach_of_passage(core, *object, now),
            _ => Some(self.reach(core, work.asked(&core.state)?.call(), now)),
        }
    }

    /// How far a call reaches, and into which zones.
    pub(super) fn reach(&self, core: &Core, call: Call<'_>, now: Time) -> Reach {
        let view = InSight(&core.state.objects, self.borders.ghosts());
        let (scope, refused) = match core.config.rules.scope(&view, now, call) {
            Ok(scope) => (scope, None),
            Err(why) => (Scope::Objects(Vec::new()), Some(why)),
        };
        let mut zones = vec![self.zone];
        if core.config.is_meshed() {
            match &scope {
                Scope::Area { centre, radius } => {
                    core.config.map.zones_touching(*centre, wider(*radius, STRAY_MAX), &mut zones);
                    zones.push(self.zone);
                }
                Scope::Objects(objects) => {
                    zones.extend(objects.iter().filter_map(|&it| self.owner(core, it)));
                }
            }
            zones.sort_unstable_by(|one, two| two.cmp(one));
            zones.dedup();
        }
        Reach { scope, actor: call.actor(), zones, refused }
    }

    /// Whose an object is, as far as is known here.
    pub(super) fn owner(&self, core: &Core, object: ObjectId) -> Option<ZoneId> {
        if core.state.objects.get(object).is_some() {
            return Some(self.zone);
        }
        if object == game::WORLD {
            return core.config.map.locate(Position::ORIGIN);
        }
        self.borders.owner(object)
    }
}
