//! The objects in sight, and of each object the newest state that a zone has shown.

use crate::msg::ShownObject;
use game::VisibleObject;
use machine::{Span, Time};
use rustc_hash::FxHashMap;
use space::{Motion, ObjectId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Time for which the version of an object out of sight is remembered.
const REMEMBERED: Span = Span::from_millis(10_000);

#[derive(Clone, Copy, Debug)]
struct KnownVersion {
    incarnation: u32,
    version: u32,
    /// Own time since which it is out of sight; `None` if it is in sight.
    hidden: Option<Time>,
}

pub(super) struct KnownObjects {
    known: FxHashMap<ObjectId, KnownVersion>,
    in_sight: BTreeMap<ObjectId, VisibleObject>,
    /// Objects that went out of sight, with their times, the earliest first. An object may have come back since.
    hidden: VecDeque<(Time, ObjectId)>,
}

impl KnownObjects {
    pub fn new() -> Self {
        Self { known: FxHashMap::default(), in_sight: BTreeMap::new(), hidden: VecDeque::new() }
    }

    pub const fn in_sight(&self) -> &BTreeMap<ObjectId, VisibleObject> {
        &self.in_sight
    }

    /// Incarnation and version of every object in sight, sorted by name.
    pub fn versions(&self) -> impl Iterator<Item = (ObjectId, u32, u32)> {
        let in_sight = self.known.iter().filter(|it| it.1.hidden.is_none());
        let mut versions: Vec<_> = in_sight.map(|(&id, it)| (id, it.incarnation, it.version)).collect();
        versions.sort_unstable();
        versions.into_iter()
    }

    /// Forgets every version: a world that lost its last moments may show older ones.
    pub fn forget_versions(&mut self) {
        self.known.clear();
        self.hidden.clear();
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
        let gone =
            self.known.keys().filter(|it| !self.in_sight.contains_key(it)).copied().collect::<Vec<_>>();
        gone.into_iter().for_each(|it| self.remember(now, it));
        self.forget(now);
    }

    /// Objects out of sight are remembered for a while: a zone that knows an older state than we do may show them again.
    fn remember(&mut self, now: Time, object: ObjectId) {
        if let Some(known) = self.known.get_mut(&object).filter(|it| it.hidden.is_none()) {
            known.hidden = Some(now);
            self.hidden.push_back((now, object));
        }
    }

    /// Forgets the objects that are out of sight for long.
    fn forget(&mut self, now: Time) {
        while let Some((since, object)) = self.hidden.pop_front_if(|it| REMEMBERED <= now.since(it.0)) {
            if self.known.get(&object).is_some_and(|it| it.hidden == Some(since)) {
                self.known.remove(&object);
            }
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
        self.hidden.push_back((now, object));
        self.in_sight.remove(&object);
        Some(known.incarnation)
    }

    /// These objects have left the sight.
    pub fn hide(&mut self, now: Time, hidden: &[ObjectId]) {
        for object in hidden {
            self.in_sight.remove(object);
            self.remember(now, *object);
        }
        self.forget(now);
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
