//! The objects in sight, and of each object the newest state that a zone has shown.

use crate::msg::ShownObject;
use game::VisibleObject;
use machine::{Span, Time};
use space::{Motion, ObjectId};
use std::collections::{BTreeMap, BTreeSet};

/// Time for which the version of an object out of sight is remembered.
const REMEMBERED: Span = Span::from_millis(10_000);

/// Interval at which versions that are too old are forgotten: to look through all of them costs more than to keep some.
const TIDY_EVERY: Span = Span::from_millis(1_000);

#[derive(Clone, Copy, Debug)]
struct KnownVersion {
    incarnation: u32,
    version: u32,
    /// Own time since which it is out of sight; `None` if it is in sight.
    hidden: Option<Time>,
}

pub(super) struct KnownObjects {
    known: BTreeMap<ObjectId, KnownVersion>,
    in_sight: BTreeMap<ObjectId, VisibleObject>,
    /// Own time at which versions that are too old were last forgotten.
    tidied: Time,
}

impl KnownObjects {
    pub const fn new() -> Self {
        Self { known: BTreeMap::new(), in_sight: BTreeMap::new(), tidied: Time::ZERO }
    }

    pub const fn in_sight(&self) -> &BTreeMap<ObjectId, VisibleObject> {
        &self.in_sight
    }

    /// Incarnation and version of every object in sight.
    pub fn versions(&self) -> impl Iterator<Item = (ObjectId, u32, u32)> {
        let in_sight = self.known.iter().filter(|it| it.1.hidden.is_none());
        in_sight.map(|(&id, it)| (id, it.incarnation, it.version))
    }

    /// Forgets every version: a world that lost its last moments may show older ones.
    pub fn forget_versions(&mut self) {
        self.known.clear();
    }

    /// Whether a newer state of the object is known.
    pub fn is_old(&self, it: &ShownObject) -> bool {
        let known = self.known.get(&it.object).map(|it| (it.incarnation, it.version));
        known.is_some_and(|known| (it.incarnation, it.version) < known)
    }

    /// Only these objects are in sight. Those known newer than the home shows them stay as they are; the caller adds
    /// the rest.
    pub fn keep(&mut self, now: Time, objects: &[ShownObject]) {
        let kept: BTreeSet<_> = objects.iter().filter(|it| self.is_old(it)).map(|it| it.object).collect();
        self.in_sight.retain(|object, _| kept.contains(object));
        for (object, known) in &mut self.known {
            if !self.in_sight.contains_key(object) {
                known.hidden.get_or_insert(now);
            }
        }
        self.tidy(now);
    }

    /// Objects out of sight are remembered for a while: a zone that knows an older state than we do may show them again.
    fn tidy(&mut self, now: Time) {
        if TIDY_EVERY <= now.since(self.tidied) {
            self.tidied = now;
            self.known.retain(|_, it| it.hidden.is_none_or(|since| now.since(since) < REMEMBERED));
        }
    }

    /// An object is new or changed, and not old. The newest motion heard stays.
    pub fn see(&mut self, shown: ShownObject) {
        let ShownObject { object, incarnation, version, motion, shown } = shown;
        self.known.insert(object, KnownVersion { incarnation, version, hidden: None });
        let motion = match self.in_sight.get(&object) {
            Some(known) if known.motion.is_newer_than(&motion) => known.motion,
            _ => motion,
        };
        self.in_sight.insert(object, VisibleObject { motion, shown: shown.into_vec() });
    }

    /// An object is gone. Returns its incarnation, unless a newer state is known.
    pub fn lose(&mut self, now: Time, object: ObjectId, version: u32) -> Option<u32> {
        let known = self.known.get_mut(&object).filter(|it| it.version <= version)?;
        // Remembered like an object out of sight: a zone that has not heard of the removal must not show it again.
        (known.version, known.hidden) = (version, Some(now));
        self.in_sight.remove(&object);
        Some(known.incarnation)
    }

    /// These objects have left the sight.
    pub fn hide(&mut self, now: Time, hidden: &[ObjectId]) {
        for object in hidden {
            self.in_sight.remove(object);
            if let Some(known) = self.known.get_mut(object) {
                known.hidden.get_or_insert(now);
            }
        }
        self.tidy(now);
    }

    /// An object in sight moves like this, unless a newer motion is known.
    pub fn hear(&mut self, object: ObjectId, motion: &Motion) {
        if let Some(known) = self.in_sight.get_mut(&object)
            && motion.is_newer_than(&known.motion)
        {
            known.motion = *motion;
        }
    }

    /// An object in sight moves like this, whatever was heard: for the own avatar.
    pub fn put(&mut self, object: ObjectId, motion: Motion) {
        if let Some(known) = self.in_sight.get_mut(&object) {
            known.motion = motion;
        }
    }
}
