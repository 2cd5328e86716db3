//! How objects move: which motions the log holds, which the backup and the neighbours have not heard of, and how objects
//! moved a moment ago.

use super::past::Past;
use crate::core::Core;
use crate::mesh::Known;
use crate::primary::execution::wider;
use crate::record::{Change, Record};
use crate::table::Object;
use game::{Objects as _, Scope};
use machine::Time;
use rustc_hash::FxHashMap;
use space::{Distance, Motion, ObjectId};
use std::collections::BTreeSet;

/// How far an object may have gone since a moment of which its motion is still known.
const GONE_MAX: Distance = Distance::of_metres(40);

/// What is known of motions besides the state.
#[derive(Debug, Default)]
pub(in crate::primary) struct Motions {
    /// Which motion of an object a record holds: its generation and sequence.
    logged: FxHashMap<ObjectId, (u32, u32)>,
    /// Objects that moved since motions were last streamed to the backup,
    unsent: BTreeSet<ObjectId>,
    /// and to the neighbours.
    untold: BTreeSet<ObjectId>,
    past: Past,
}

impl Motions {
    /// An object moves like this from now on.
    pub(super) fn set(&mut self, core: &mut Core, object: ObjectId, motion: Motion) {
        if core.config.is_meshed()
            && let Some(before) = core.state.objects.get(object).map(|it| it.motion)
        {
            self.past.keep(object, before, core.now);
            self.untold.insert(object);
        }
        core.state.objects.set_motion(object, motion);
        self.unsent.insert(object);
    }

    /// A record was committed: it holds the motions of what it changed and read.
    pub(super) fn take_logged(&mut self, record: &Record) {
        for (object, motion) in &record.motions {
            self.logged.insert(*object, (motion.generation, motion.sequence));
        }
        for change in &record.changes {
            match change {
                Change::Put { object, motion, .. } => {
                    self.logged.insert(*object, (motion.generation, motion.sequence));
                }
                Change::Removed { object, .. } | Change::Departed { object, .. } => {
                    self.logged.remove(object);
                    self.unsent.remove(object);
                }
                _ => (),
            }
        }
    }

    /// Motions of these objects that no record holds yet.
    pub(in crate::primary) fn unlogged(
        &self,
        core: &Core,
        objects: impl Iterator<Item = ObjectId>,
    ) -> Vec<(ObjectId, Motion)> {
        let motion = |id| core.state.objects.get(id).map(|it| (id, it.motion));
        let is_new = |(id, motion): &(ObjectId, Motion)| {
            (motion.generation, motion.sequence) != self.logged.get(id).copied().unwrap_or_default()
        };
        objects.filter_map(motion).filter(is_new).collect()
    }

    /// Objects that moved since this was last asked: for the backup.
    pub(in crate::primary) fn take_unsent(&mut self) -> BTreeSet<ObjectId> {
        std::mem::take(&mut self.unsent)
    }

    /// Whether an object moved since the neighbours were last told.
    pub(super) fn is_untold(&self, object: ObjectId) -> bool {
        self.untold.contains(&object)
    }

    /// The neighbours were told.
    pub(super) fn clear_untold(&mut self) {
        self.untold.clear();
    }

    pub(in crate::primary) fn forget_past(&mut self, now: Time) {
        self.past.forget(now);
    }

    /// The zone's own objects in a scope, with the actor, as they were at a moment.
    pub(in crate::primary) fn gather(
        &self,
        core: &mut Core,
        scope: &Scope,
        actor: Option<ObjectId>,
        time: Time,
    ) -> Vec<Known> {
        let now = core.world_now();
        core.state.objects.refresh(now);
        let objects = &core.state.objects;
        let mut names: Vec<ObjectId> = actor.into_iter().collect();
        match scope {
            Scope::Objects(named) => names.extend_from_slice(named),
            Scope::Area { centre, radius } => {
                let reach = wider(*radius, GONE_MAX);
                objects.visit(*centre, reach, now, &mut |object, motion| {
                    let then = self.past.at(object, motion, time);
                    if object != game::WORLD && centre.is_within(*radius, then.position_at(time)) {
                        names.push(object);
                    }
                });
            }
        }
        names.sort_unstable();
        names.dedup();
        let known = |it: &Object| Known { motion: self.past.at(it.id, &it.motion, time), ..Known::of(it) };
        names.into_iter().filter_map(|it| objects.get(it)).map(known).collect()
    }
}
