//! The two halves of an event of several zones: the record that decides it, and the one that applies it elsewhere.

use super::commit::newer;
use super::execute::Joint;
use super::letters::posted;
use crate::mesh::{Being, Item, Known, Whole, Written};
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Stamp};
use crate::rule::Rule;
use crate::table::Object;
use game::{Product, Write};
use serde_bytes::ByteBuf;
use space::{Motion, ObjectId, ZoneId};
use std::collections::BTreeMap;

impl Joint {
    /// Takes what becomes of other zones' objects out of a product.
    pub(super) fn take_remote(&self, product: &mut Product) -> Vec<Written> {
        let own = self.event.zone;
        let remote = |object: &ObjectId| self.known.get(object).filter(|it| it.0 != own);
        let mut writes: BTreeMap<ObjectId, Written> = BTreeMap::new();
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

/// What a write of the game makes of another zone's object.
fn written(zone: ZoneId, known: &Known, write: &Write) -> Written {
    let (motion, state) = match write {
        Write::Removed => (None, None),
        Write::Changed { state, motion } => {
            (*motion, Some(state.clone().map_or_else(|| known.state.clone(), ByteBuf::from)))
        }
        Write::Spawned { motion, state } => (Some(*motion), Some(ByteBuf::from(state.clone()))),
    };
    Written { state, ..moved(zone, known, motion) }
}

fn moved(zone: ZoneId, known: &Known, motion: Option<Motion>) -> Written {
    let Known { object, incarnation, version, state, .. } = known.clone();
    Written {
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
    /// The part of a deciding record that is for the other zones: what becomes of their objects, and the whole by post.
    pub(super) fn decision(
        &self,
        joint: &Joint,
        writes: Vec<Written>,
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
        let whole = Whole { event: joint.event, time: joint.time, writes: all, notices };
        for (place, zone) in others.into_iter().enumerate() {
            if place == 0 && !self.cx.enforces(Rule::TellEveryParticipant) {
                continue;
            }
            let before =
                own.iter().filter(|it| matches!(it, Change::Posted { to, .. } if *to == zone)).count();
            changes.push(posted(self.cx.core, zone, before as u64, Item::Decided(whole.clone())));
        }
        changes
    }

    /// Applies a decided event of another zone: the own part becomes true, the locks end.
    pub(in crate::primary) fn write_joint(&mut self, taken: Change, whole: &Whole) {
        let (epoch, index) = (self.cx.epoch(), self.cx.core.log.head() + 1);
        let (mut changes, mut place) = (vec![taken], 0);
        for write in &whole.writes {
            if write.zone != self.cx.zone() {
                changes.push(Change::Elsewhere(write.clone()));
                continue;
            }
            let object = write.object;
            let Some(known) = self.cx.core.state.objects.get(object) else { continue };
            changes.push(applied(write, known));
            for (at, letter) in &write.timers {
                place += 1;
                let stamp = Stamp { epoch, index, place };
                changes.push(Change::TimerSet { stamp, at: *at, object, letter: letter.clone() });
            }
        }
        changes.extend(self.farewells(&changes));
        changes.push(Change::Released { event: whole.event });
        self.write_told(Cause::Joint(whole.event), changes, whole.notices.clone());
    }

    /// An object that was born elsewhere and is gone now: the zone of its birth hears so.
    pub(super) fn farewells(&self, changes: &[Change]) -> Vec<Change> {
        let core = &*self.cx.core;
        if !core.config.is_meshed() {
            return Vec::new();
        }
        let mut posts: BTreeMap<ZoneId, u64> = BTreeMap::new();
        let mut farewells = Vec::new();
        for change in changes {
            let Change::Removed { object, .. } = change else { continue };
            let (home, Some(known)) = (object.zone, core.state.objects.get(*object)) else { continue };
            if home != core.config.zone && core.config.map.polygon(home).is_some() {
                let before = posts.entry(home).or_default();
                let (being, incarnation) = (Being::Object(*object), known.incarnation);
                let item = Item::Lives { being, zone: None, incarnation };
                farewells.push(posted(core, home, *before, item));
                *before += 1;
            }
        }
        farewells
    }
}

/// What the deciding zone wrote of an object of ours, as a change of what we know of it.
fn applied(write: &Written, known: &Object) -> Change {
    let (object, incarnation, version) = (write.object, known.incarnation, write.version);
    match &write.state {
        None => Change::Removed { object, version },
        Some(state) => {
            let motion = newer(&known.motion, write.motion);
            Change::Put { object, incarnation, version, motion, state: state.clone() }
        }
    }
}

/// A change of an own object, as other zones hear of it.
fn own_write(zone: ZoneId, change: &Change) -> Option<Written> {
    let timers = Vec::new();
    match change.clone() {
        Change::Put { object, incarnation, version, motion, state } => {
            let (motion, state) = (Some(motion), Some(state));
            Some(Written { zone, object, incarnation, version, motion, state, timers })
        }
        Change::Removed { object, version } => {
            Some(Written { zone, object, incarnation: 0, version, motion: None, state: None, timers })
        }
        _ => None,
    }
}
