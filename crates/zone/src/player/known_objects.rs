//! What is in sight, and of each object the newest state that was told.

use crate::msg::Shown;
use game::Sighted;
use machine::{Span, Time};
use space::{Motion, ObjectId};
use std::collections::{BTreeMap, BTreeSet};

/// How long it is remembered what was last seen of what is out of sight.
const REMEMBERED: Span = Span::from_millis(10_000);

#[derive(Clone, Copy, Debug)]
struct Known {
    incarnation: u32,
    version: u32,
    /// Since when it is out of sight, if it is.
    hidden: Option<Time>,
}

pub(super) struct KnownObjects {
    known: BTreeMap<ObjectId, Known>,
    in_sight: BTreeMap<ObjectId, Sighted>,
}

impl KnownObjects {
    pub const fn new() -> Self {
        Self { known: BTreeMap::new(), in_sight: BTreeMap::new() }
    }

    pub const fn in_sight(&self) -> &BTreeMap<ObjectId, Sighted> {
        &self.in_sight
    }

    /// Incarnation and version of everything in sight.
    pub fn versions(&self) -> impl Iterator<Item = (ObjectId, u32, u32)> {
        let in_sight = self.known.iter().filter(|it| it.1.hidden.is_none());
        in_sight.map(|(&id, it)| (id, it.incarnation, it.version))
    }

    /// Forgets every version: a world that lost its last moments may show older ones.
    pub fn forget_versions(&mut self) {
        self.known.clear();
    }

    /// Whether a newer state of the object is known.
    pub fn is_old(&self, it: &Shown) -> bool {
        let known = self.known.get(&it.object).map(|it| (it.incarnation, it.version));
        known.is_some_and(|known| (it.incarnation, it.version) < known)
    }

    /// Nothing but these is in sight. What is known newer than the home has it stays as it is; the rest will be told.
    pub fn keep(&mut self, now: Time, objects: &[Shown]) {
        let kept: BTreeSet<_> = objects.iter().filter(|it| self.is_old(it)).map(|it| it.object).collect();
        self.in_sight.retain(|object, _| kept.contains(object));
        self.hide_rest(now);
    }

    /// What is not in sight is remembered for a while: a zone that has heard less of it than we have may show it again.
    fn hide_rest(&mut self, now: Time) {
        for (object, known) in &mut self.known {
            if !self.in_sight.contains_key(object) {
                known.hidden.get_or_insert(now);
            }
        }
        self.known.retain(|_, it| it.hidden.is_none_or(|since| now.since(since) < REMEMBERED));
    }

    /// An object is new or changed, and not old. The newest motion heard stays.
    pub fn see(&mut self, shown: Shown) {
        let Shown { object, incarnation, version, motion, shown } = shown;
        self.known.insert(object, Known { incarnation, version, hidden: None });
        let motion = match self.in_sight.get(&object) {
            Some(known) if known.motion.is_newer_than(&motion) => known.motion,
            _ => motion,
        };
        self.in_sight.insert(object, Sighted { motion, shown: shown.into_vec() });
    }

    /// An object is gone. Gives its incarnation, if that is news.
    pub fn lose(&mut self, now: Time, object: ObjectId, version: u32) -> Option<u32> {
        let known = self.known.get_mut(&object).filter(|it| it.version <= version)?;
        // A zone that has not heard of the end must not show the object again.
        (known.version, known.hidden) = (version, Some(now));
        self.in_sight.remove(&object);
        Some(known.incarnation)
    }

    /// These have left the sight.
    pub fn hide(&mut self, now: Time, hidden: &[ObjectId]) {
        for object in hidden {
            self.in_sight.remove(object);
        }
        self.hide_rest(now);
    }

    /// An object in sight moves like this, unless a newer motion is known.
    pub fn hear(&mut self, object: ObjectId, motion: &Motion) {
        if let Some(known) = self.in_sight.get_mut(&object)
            && motion.is_newer_than(&known.motion)
        {
            known.motion = *motion;
        }
    }

    /// An object in sight moves like this, whatever was heard.
    pub fn put(&mut self, object: ObjectId, motion: Motion) {
        if let Some(known) = self.in_sight.get_mut(&object) {
            known.motion = motion;
        }
    }
}
