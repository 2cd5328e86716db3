//! Motions of objects besides the state: which of them the log holds, which the backup and the neighbours do not know,
//! and which an object had a moment ago.

use super::past_motions::PastMotions;
use crate::core::Core;
use crate::mesh::ObjectSnapshot;
use crate::object_table::Object;
use crate::primary::execution::wider;
use crate::record::{Change, Record};
use game::{Objects as _, Scope};
use machine::Time;
use rustc_hash::FxHashMap;
use space::{Distance, Motion, ObjectId};
use std::collections::BTreeSet;

/// How far beyond a scope the zone looks for objects that were inside at a past moment and have left since.
const GONE_MAX: Distance = Distance::of_metres(40);

/// The motions that are not in the log, not sent, or replaced a moment ago.
#[derive(Debug, Default)]
pub(in crate::primary) struct Motions {
    /// Generation and sequence of the newest motion that a record holds, by object.
    logged: FxHashMap<ObjectId, (u32, u32)>,
    /// Objects that moved since motions were last streamed to the backup.
    unsent: BTreeSet<ObjectId>,
    /// Objects that moved since motions were last streamed to the neighbours.
    untold: BTreeSet<ObjectId>,
    past: PastMotions,
}

impl Motions {
    /// Sets an object's motion from now on.
    pub(super) fn set(&mut self, core: &mut Core, object: ObjectId, motion: Motion) {
        // Only events of several zones look back, and only neighbours are told.
        if core.config.is_meshed()
            && let Some(before) = core.state.objects.get(object).map(|it| it.motion)
        {
            self.past.keep(object, before, core.now);
            self.untold.insert(object);
        }
        core.state.objects.set_motion(object, motion);
        self.unsent.insert(object);
    }

    /// Takes in a committed record, which holds the motions of the objects that it changed and read.
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

    /// The motions of these objects that no record holds yet. An event logs those that it read, so that it can be
    /// replayed.
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

    /// Takes the objects that moved since the last call: the backup is sent their motions.
    pub(in crate::primary) fn take_unsent(&mut self) -> BTreeSet<ObjectId> {
        std::mem::take(&mut self.unsent)
    }

    /// Returns whether an object moved since the neighbours were last told.
    pub(super) fn is_untold(&self, object: ObjectId) -> bool {
        self.untold.contains(&object)
    }

    /// Notes that the neighbours were told all moves.
    pub(super) fn clear_untold(&mut self) {
        self.untold.clear();
    }

    pub(in crate::primary) fn forget_past(&mut self, now: Time) {
        self.past.forget(now);
    }

    /// This zone's objects in a scope, and the actor, as they were at a moment of world time.
    pub(in crate::primary) fn gather(
        &self,
        core: &mut Core,
        scope: &Scope,
        actor: Option<ObjectId>,
        time: Time,
    ) -> Vec<ObjectSnapshot> {
        let now = core.world_now();
        core.state.objects.refresh(now);
        let objects = &core.state.objects;
        let mut names: Vec<ObjectId> = actor.into_iter().collect();
        match scope {
            Scope::Objects(named) => names.extend_from_slice(named),
            Scope::Area { centre, radius } => {
                // The index knows where objects are now: one that was inside then may have left the circle since.
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
        let snapshot = |it: &Object| ObjectSnapshot {
            motion: self.past.at(it.id, &it.motion, time),
            ..ObjectSnapshot::of(it)
        };
        names.into_iter().filter_map(|it| objects.get(it)).map(snapshot).collect()
    }
}
