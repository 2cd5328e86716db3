//! Locks for events that other zones decide.
//!
//! A grant is a record and leaves when that is safe, so whoever takes over still holds it. It is never taken back
//! here: the zone that decides releases it, with its decision or without one, and is asked when it says nothing.

use super::Primary;
use crate::config::{HOLD_MAX, PAST_MAX};
use crate::core::{Core, Out};
use crate::locks::{Claim, Granted, Holder};
use crate::mesh::{Denial, EventId, Item, Known, Mesh, Wanted};
use crate::plant::Plant;
use crate::record::{Cause, Change, Index};
use crate::table::Object;
use game::{Objects as _, Scope};
use machine::{Lane, Span, Time};
use space::{Distance, ObjectId, ZoneId};
use std::collections::{BTreeMap, VecDeque};

/// Whoever holds locks for this long without a word is asked for.
const ASK_AFTER: Span = Span::from_millis(250);

/// What is answered: to which attempt, for which moment, who is there.
type Answer = (u32, Time, Vec<Known>);

/// What other zones hold or want here, besides what the state says.
#[derive(Debug, Default)]
pub(super) struct Grants {
    /// Requests that wait in the queue.
    waiting: BTreeMap<EventId, Wanted>,
    /// What to answer when a grant is safe.
    answers: BTreeMap<EventId, Answer>,
    /// Grants that wait for that: their records.
    given: VecDeque<(Index, EventId)>,
    /// When a grant was given, or its owner asked last.
    asked: BTreeMap<EventId, Time>,
}

impl Primary {
    /// Locks that outlived a reign.
    pub(super) fn lock_again(&mut self, core: &Core) {
        for (&event, held) in &core.state.abroad.held {
            let claim = Claim { scope: held.scope.clone(), objects: held.objects.clone() };
            self.locks.hold(Holder::Event(event), claim);
        }
        for &object in core.state.abroad.offered.keys() {
            self.lock_passage(object);
        }
    }

    pub(super) fn on_lock(&mut self, core: &mut Core, from: ZoneId, wanted: Wanted, out: &mut Out) {
        let Wanted { event, attempt, time, map, waits, .. } = wanted;
        if event.zone != from || self.grants.waiting.contains_key(&event) {
            return;
        }
        if core.state.abroad.held.get(&event).is_some_and(|it| it.attempt < attempt) {
            self.release(core, event, out);
        } else if core.state.abroad.held.contains_key(&event) {
            return; // It has them, and will hear so.
        }
        let now = core.world_now();
        let denial = if map != core.config.map.version().0 {
            Some(Denial::Stale)
        } else if time.is_some_and(|it| HOLD_MAX < now.since(it)) {
            Some(Denial::TooOld(now))
        } else if self.is_choked() {
            Some(Denial::Busy)
        } else {
            None
        };
        if let Some(why) = denial {
            return self.deny(core, event, attempt, why, out);
        }
        let time = time.unwrap_or(now);
        let objects = self.gather(core, &wanted.scope, None, time);
        let claim = Claim { scope: wanted.scope.clone(), objects: ids(&objects) };
        let (holder, places) = (Holder::Event(event), &core.state.objects);
        if !waits {
            let free = self.locks.take(holder, claim, places, now);
            if free || core.config.plants.has(Plant::LocksIgnored) {
                return self.grant(core, &wanted, time, objects, out);
            }
            return self.deny(core, event, attempt, Denial::Taken, out);
        }
        match self.locks.request(holder, claim, places, now) {
            Granted::Now => self.grant(core, &wanted, time, objects, out),
            Granted::Later => drop(self.grants.waiting.insert(event, wanted)),
            Granted::Busy => self.deny(core, event, attempt, Denial::Busy, out),
        }
    }

    fn deny(&mut self, core: &Core, event: EventId, attempt: u32, why: Denial, out: &mut Out) {
        self.tell_zone(core, event.zone, Lane::Sure, Mesh::Denied { event, attempt, why }, out);
    }

    /// Gives locks: nobody hears of it before the record is safe.
    fn grant(&mut self, core: &mut Core, wanted: &Wanted, time: Time, objects: Vec<Known>, out: &mut Out) {
        let Wanted { event, attempt, scope, .. } = wanted.clone();
        let granted = Change::Granted { event, attempt, scope, objects: ids(&objects) };
        self.grants.answers.insert(event, (attempt, time, objects));
        self.grants.asked.insert(event, core.now);
        self.write(core, Cause::Lock(event), vec![granted], out);
        self.grants.given.push_back((core.log.head(), event));
    }

    /// Tells of grants that are safe.
    pub(super) fn send_granted(&mut self, core: &Core, out: &mut Out) {
        let safe = self.safe_abroad(core);
        while let Some((_, event)) = self.grants.given.pop_front_if(|it| it.0 <= safe) {
            self.tell_granted(core, event, out);
        }
    }

    fn tell_granted(&mut self, core: &Core, event: EventId, out: &mut Out) {
        let Some((attempt, time, objects)) = self.grants.answers.remove(&event) else { return };
        if core.state.abroad.held.get(&event).is_some_and(|it| it.attempt == attempt) {
            let granted = Mesh::Granted { event, attempt, time, objects };
            self.tell_zone(core, event.zone, Lane::Sure, granted, out);
        }
    }

    /// Somebody's turn has come.
    fn grant_waiting(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        let Some(wanted) = self.grants.waiting.remove(&event) else { return };
        let (now, holder) = (core.world_now(), Holder::Event(event));
        let time = wanted.time.unwrap_or(now);
        let objects = self.gather(core, &wanted.scope, None, time);
        // Whoever walked in meanwhile may be somebody else's.
        let claim = Claim { scope: Scope::Objects(Vec::new()), objects: ids(&objects) };
        let why = if PAST_MAX < now.since(time) {
            Denial::TooOld(now)
        } else if self.locks.is_held(&claim, holder, &core.state.objects, now) {
            Denial::Taken
        } else {
            self.locks.add_objects(holder, &claim.objects);
            return self.grant(core, &wanted, time, objects, out);
        };
        self.deny(core, event, wanted.attempt, why, out);
        self.unlock(core, holder, out);
    }

    /// Lets go of locks in the table, and sees to whose turn it is.
    pub(super) fn unlock(&mut self, core: &mut Core, holder: Holder, out: &mut Out) {
        let now = core.world_now();
        self.turns.extend(self.locks.release(holder, &core.state.objects, now));
        // Who gets their turn may end theirs at once; nobody goes deeper for it.
        if std::mem::replace(&mut self.taking_turns, true) {
            return;
        }
        while let Some(next) = self.turns.pop_front() {
            match next {
                Holder::Event(event) if event.zone == self.zone => self.job_granted(core, event, out),
                Holder::Event(event) => self.grant_waiting(core, event, out),
                Holder::Passage(_) => (),
            }
        }
        self.taking_turns = false;
    }

    pub(super) fn on_release(
        &mut self,
        core: &mut Core,
        from: ZoneId,
        event: EventId,
        attempt: u32,
        out: &mut Out,
    ) {
        if event.zone != from {
            return;
        }
        if self.grants.waiting.get(&event).is_some_and(|it| it.attempt <= attempt) {
            self.grants.waiting.remove(&event);
            self.unlock(core, Holder::Event(event), out);
        }
        if core.state.abroad.held.get(&event).is_some_and(|it| it.attempt <= attempt) {
            self.release(core, event, out);
        }
    }

    fn release(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        self.grants.asked.remove(&event);
        self.grants.answers.remove(&event);
        self.write(core, Cause::Lock(event), vec![Change::Released { event }], out);
        self.unlock(core, Holder::Event(event), out);
    }

    /// Asks what became of events that hold locks here and say nothing.
    pub(super) fn look_after_grants(&mut self, core: &mut Core, out: &mut Out) {
        self.grants.asked.retain(|event, _| core.state.abroad.held.contains_key(event));
        let mut silent = Vec::new();
        for (&event, held) in &core.state.abroad.held {
            let asked = self.grants.asked.entry(event).or_insert(core.now);
            if ASK_AFTER < core.now.since(*asked) {
                *asked = core.now;
                silent.push((event, held.attempt));
            }
        }
        if core.config.plants.has(Plant::NobodyAsks) {
            return;
        }
        for (event, attempt) in silent {
            if !self.peers.is_there(event.zone, core.now) {
                self.seek(core, event.zone, out);
            }
            self.tell_zone(core, event.zone, Lane::Sure, Mesh::Ask { event, attempt }, out);
        }
    }

    /// Another zone holds locks for an event of ours. Undecided and unknown, it never happens.
    pub(super) fn on_ask(&mut self, core: &Core, from: ZoneId, event: EventId, attempt: u32, out: &mut Out) {
        // A later reign of ours would know more.
        if event.zone != self.zone || self.epoch < event.epoch {
            return;
        }
        if !self.jobs.wants(event, attempt) {
            self.release_there(core, from, event, attempt, out);
        }
    }

    /// Another zone holds locks for an event that we do not want: unless it is decided, it never happens.
    pub(super) fn release_there(
        &mut self,
        core: &Core,
        there: ZoneId,
        event: EventId,
        attempt: u32,
        out: &mut Out,
    ) {
        let decided = |item: &Item| match item {
            Item::Decided(whole) => whole.event == event,
            Item::Offer(passage) => passage.event == Some(event),
            _ => false,
        };
        let posted = core.state.abroad.post.get(&there);
        if !posted.is_some_and(|it| it.items.values().any(|it| decided(&it.1))) {
            self.tell_zone(core, there, Lane::Sure, Mesh::Release { event, attempt }, out);
        }
    }

    // What is there.

    /// The zone's own objects in a scope, with the actor, as they were at a moment.
    pub(super) fn gather(
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
                // They may have gone on since.
                let reach = wider(*radius, Distance::of_metres(40));
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
        let known = |it: &Object| Known { motion: self.past.at(it.id, &it.motion, time), ..known(it) };
        names.into_iter().filter_map(|it| objects.get(it)).map(known).collect()
    }
}

/// An object as it is said to others.
pub(super) fn known(object: &Object) -> Known {
    let Object { id, incarnation, version, motion, state } = object.clone();
    Known { object: id, incarnation, version, motion, state }
}

pub(super) fn ids(objects: &[Known]) -> Vec<ObjectId> {
    objects.iter().map(|it| it.object).collect()
}

/// A distance and some more.
pub(super) fn wider(distance: Distance, by: Distance) -> Distance {
    Distance::new(distance.millimetres().saturating_add(by.millimetres())).unwrap_or(Distance::MAX)
}
