//! The two halves of an event of several zones: the coordinator's record that decides it, and a participant's record
//! that applies it.

use super::commit::newer;
use super::execute::JointEvent;
use super::letters::posted;
use crate::mesh::{DecidedEvent, EntityId, ObjectSnapshot, ObjectWrite, PostItem};
use crate::object_table::Object;
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Stamp};
use crate::rule::Rule;
use game::{DraftWrite, Product};
use serde_bytes::ByteBuf;
use space::{Motion, ObjectId, ZoneId};
use std::collections::BTreeMap;

impl JointEvent {
    /// Takes the writes to other zones' objects out of a product.
    pub(super) fn take_remote(&self, product: &mut Product) -> Vec<ObjectWrite> {
        let own = self.event.zone;
        let remote = |object: &ObjectId| self.objects.get(object).filter(|it| it.0 != own);
        let mut writes: BTreeMap<ObjectId, ObjectWrite> = BTreeMap::new();
        product.writes.retain(|object, write| match remote(object) {
            Some((zone, known)) => {
                writes.insert(*object, written(*zone, known, write));
                false
            }
            None => true,
        });
        product.steered.retain(|object, motion| match remote(object) {
            Some((zone, known)) => {
                writes.entry(*object).or_insert_with(|| moved(*zone, known, Some(*motion)));
                false
            }
            None => true,
        });
        product.timers.retain(|(object, at, letter)| match remote(object) {
            Some((zone, known)) => {
                let write = writes.entry(*object).or_insert_with(|| moved(*zone, known, None));
                write.timers.push((*at, ByteBuf::from(letter.clone())));
                false
            }
            None => true,
        });
        writes.into_values().collect()
    }
}

/// The write of the game to another zone's object, as that zone is told it.
fn written(zone: ZoneId, known: &ObjectSnapshot, write: &DraftWrite) -> ObjectWrite {
    let (motion, state) = match write {
        DraftWrite::Removed => (None, None),
        DraftWrite::Changed { state, motion } => {
            (*motion, Some(state.clone().map_or_else(|| known.state.clone(), ByteBuf::from)))
        }
        DraftWrite::Spawned { motion, state } => (Some(*motion), Some(ByteBuf::from(state.clone()))),
    };
    ObjectWrite { state, ..moved(zone, known, motion) }
}

fn moved(zone: ZoneId, known: &ObjectSnapshot, motion: Option<Motion>) -> ObjectWrite {
    let ObjectSnapshot { object, incarnation, version, state, .. } = known.clone();
    ObjectWrite {
        zone,
        object,
        incarnation,
        version: version + 1,
        motion,
        state: Some(state),
        timers: Vec::new(),
    }
}

impl Turn<'_> {
    /// The changes of a deciding record that concern the other zones: the writes to their objects, and the post items
    /// that carry the decided event.
    pub(super) fn decision(
        &self,
        joint: &JointEvent,
        writes: Vec<ObjectWrite>,
        own: &[Change],
        product: &Product,
    ) -> Vec<Change> {
        let zone = self.cx.zone();
        let others: Vec<_> = joint.zones.iter().copied().filter(|&it| it != zone).collect();
        if others.is_empty() {
            return Vec::new();
        }
        let mut changes: Vec<_> = writes.iter().cloned().map(Change::Elsewhere).collect();
        let mut all: Vec<_> = own.iter().filter_map(|it| own_write(zone, it)).collect();
        all.extend(writes);
        let notices = product.notices.iter().map(|(to, it)| (*to, ByteBuf::from(it.clone()))).collect();
        let decided = DecidedEvent { event: joint.event, time: joint.time, writes: all, notices };
        for (place, zone) in others.into_iter().enumerate() {
            if place == 0 && !self.cx.enforces(Rule::TellEveryParticipant) {
                continue;
            }
            // Items to the same zone that this record posts already: numbers of items have no gaps.
            let before =
                own.iter().filter(|it| matches!(it, Change::Posted { to, .. } if *to == zone)).count();
            changes.push(posted(self.cx.core, zone, before as u64, PostItem::Decided(decided.clone())));
        }
        changes
    }

    /// Applies a decided event of another zone: this zone's objects change, and its grant ends.
    pub(in crate::primary) fn write_joint(&mut self, taken: Change, decided: &DecidedEvent) {
        let (epoch, index) = (self.cx.epoch(), self.cx.core.log.head() + 1);
        let (mut changes, mut place) = (vec![taken], 0);
        for write in &decided.writes {
            if write.zone != self.cx.zone() {
                changes.push(Change::Elsewhere(write.clone()));
                continue;
            }
            let object = write.object;
            // Its lock has kept the object here; a write to one that is gone all the same is dropped.
            let Some(known) = self.cx.core.state.objects.get(object) else { continue };
            changes.push(applied(write, known));
            for (at, letter) in &write.timers {
                place += 1;
                let stamp = Stamp { epoch, index, place };
                changes.push(Change::TimerSet { stamp, at: *at, object, letter: letter.clone() });
            }
        }
        changes.extend(self.removal_posts(&changes));
        changes.push(Change::Released { event: decided.event });
        self.write_decided(Cause::Joint(decided.event), changes, decided.notices.clone());
    }

    /// The post items that tell birth zones that their objects were removed here.
    pub(super) fn removal_posts(&self, changes: &[Change]) -> Vec<Change> {
        let core = &*self.cx.core;
        if !core.config.is_meshed() {
            return Vec::new();
        }
        let mut posts: BTreeMap<ZoneId, u64> = BTreeMap::new();
        let mut removal_posts = Vec::new();
        for change in changes {
            let Change::Removed { object, .. } = change else { continue };
            let (birth_zone, Some(known)) = (object.zone, core.state.objects.get(*object)) else { continue };
            if birth_zone != core.config.zone && core.config.map.polygon(birth_zone).is_some() {
                let before = posts.entry(birth_zone).or_default();
                let (entity, incarnation) = (EntityId::Object(*object), known.incarnation);
                let item = PostItem::Location { entity, zone: None, incarnation };
                removal_posts.push(posted(core, birth_zone, *before, item));
                *before += 1;
            }
        }
        removal_posts
    }
}

/// The coordinator's write to an object of this zone, as a change.
fn applied(write: &ObjectWrite, known: &Object) -> Change {
    let (object, incarnation, version) = (write.object, known.incarnation, write.version);
    match &write.state {
        None => Change::Removed { object, version },
        Some(state) => {
            let motion = newer(&known.motion, write.motion);
            Change::Put { object, incarnation, version, motion, state: state.clone() }
        }
    }
}

/// A change of this zone's object, as the other participants are told it.
fn own_write(zone: ZoneId, change: &Change) -> Option<ObjectWrite> {
    let timers = Vec::new();
    match change.clone() {
        Change::Put { object, incarnation, version, motion, state } => {
            let (motion, state) = (Some(motion), Some(state));
            Some(ObjectWrite { zone, object, incarnation, version, motion, state, timers })
        }
        Change::Removed { object, version } => {
            Some(ObjectWrite { zone, object, incarnation: 0, version, motion: None, state: None, timers })
        }
        _ => None,
    }
}
