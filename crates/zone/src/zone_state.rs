//! The state of a zone: everything its records add up to.
//!
//! Primary, backup and recovery all go through [`ZoneState::apply`], so their states cannot differ.
//! Everything belongs to an object or a player (who is where the avatar is), so that a state can be cut in two by
//! a line and put together again.

use crate::config::KEPT_MAX;
use crate::hash;
use crate::mesh::{EntityId, EventId, PostItem};
use crate::object_table::{Object, ObjectTable};
use crate::record::{Change, Index, Outcome, Record, Stamp};
use game::{Addressee, PlayerId, Scope};
use machine::{Address, Time};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use space::{Epoch, Line, ObjectId, Position, Side, ZoneId};
use std::collections::{BTreeMap, VecDeque};

/// A player as the zone of the avatar stores them. Kept while they are away: the cursor must not be forgotten,
/// or an old action sent again would be executed again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlayerState {
    /// Display name of the player.
    pub name: String,
    /// Number of the newest session.
    pub session: u64,
    /// Whether that session has not ended.
    pub present: bool,
    /// The object that the player steers; `None` if the game removed it.
    pub avatar: Option<ObjectId>,
    /// Position of the last avatar, which stands for the player while they have none.
    pub place: Position,
    /// Number of the last action that was dealt with.
    pub cursor: u64,
    /// Results that have not been acknowledged, the last one being the cursor's.
    pub kept: VecDeque<Outcome>,
}

impl PlayerState {
    /// The result of an action, if it is still kept.
    pub fn result(&self, number: u64) -> Option<&Outcome> {
        let first = self.cursor + 1 - self.kept.len() as u64;
        let place = number.checked_sub(first)?;
        self.kept.get(usize::try_from(place).ok()?)
    }
}

/// A timer that is not due yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PendingTimer {
    /// The object that receives it.
    pub object: ObjectId,
    /// The letter, encoded by the game.
    pub letter: ByteBuf,
}

/// A letter that is not delivered yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PendingLetter {
    /// The object or place it is for.
    pub to: Addressee,
    /// The letter, encoded by the game.
    pub letter: ByteBuf,
}

/// Locks that an event of another zone holds here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedLock {
    /// Number of the event's attempt to get all its locks.
    pub attempt: u32,
    /// The area or the objects that are locked.
    pub scope: Scope,
    /// The objects found in the scope when the locks were granted.
    pub objects: Vec<ObjectId>,
}

/// The post to one other zone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutgoingPost {
    /// Number of the last item posted.
    pub last: u64,
    /// Items that the other zone has not taken yet by number, each with the record that posted it.
    pub items: BTreeMap<u64, (Index, PostItem)>,
}

/// The present owner of an entity that this zone owned before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The owner; `None` if the entity is gone.
    pub zone: Option<ZoneId>,
    /// Incarnation under which the owner has it.
    pub incarnation: u32,
    /// World time at which this zone heard of it.
    pub since: Time,
}

/// The part of a zone's state that exists because of other zones. `grants` and `offered` belong to places and objects,
/// the rest belongs to the zone itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeshState {
    /// Locks of events that other zones decide.
    pub grants: BTreeMap<EventId, GrantedLock>,
    /// Objects that are offered to another zone: no event touches them here (moves still count).
    pub offered: BTreeMap<ObjectId, ZoneId>,
    /// Outgoing post by receiving zone.
    pub post: BTreeMap<ZoneId, OutgoingPost>,
    /// Number of the last post item that was dealt with, by sending zone.
    pub taken: BTreeMap<ZoneId, u64>,
    /// Owners of entities that are elsewhere: those that were born here, and those that left not long ago.
    pub locations: BTreeMap<EntityId, Location>,
}

/// The whole state of a zone.
#[derive(Clone, Debug)]
pub struct ZoneState {
    /// The zone whose state this is.
    pub zone: ZoneId,
    /// Number of the last record applied; 0 before the first.
    pub head: Index,
    /// Epoch of that last record.
    pub epoch: Epoch,
    /// World time of that last record.
    pub time: Time,
    /// Primary and backup of the epoch, as the log says; `None` before the first record.
    pub leadership: Option<(Address, Option<Address>)>,
    /// Objects that the zone owns.
    pub objects: ObjectTable,
    /// Players whose avatar is or was here last.
    pub players: BTreeMap<PlayerId, PlayerState>,
    /// The player of each avatar.
    pub avatars: BTreeMap<ObjectId, PlayerId>,
    /// Pending timers by due time and name.
    pub timers: BTreeMap<(Time, Stamp), PendingTimer>,
    /// Letters on their way, by name.
    pub letters: BTreeMap<Stamp, PendingLetter>,
    /// The next counter for an object born in this epoch.
    pub next_name: u32,
    /// The part that exists because of other zones.
    pub mesh: MeshState,
    /// The hash of everything but objects: a sum, like the table's.
    hash: u64,
}

/// A record that does not follow from the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The record is not the next one.
    #[error("record {got} cannot follow record {head}")]
    Gap {
        /// Number of the last record applied.
        head: Index,
        /// Number of the record that was to be applied.
        got: Index,
    },
    /// The record's checkpoint has another hash than this state.
    #[error("at record {index} the state's hash is {ours:016x}, the log says {logged:016x}")]
    Hash {
        /// Number of the record with the checkpoint.
        index: Index,
        /// Hash of the state before the record.
        ours: u64,
        /// Hash that the record has instead.
        logged: u64,
    },
}

impl ZoneState {
    /// The empty state of a zone before its first record.
    pub fn new(zone: ZoneId) -> Self {
        Self {
            zone,
            head: 0,
            epoch: Epoch(0),
            time: Time::ZERO,
            leadership: None,
            objects: ObjectTable::default(),
            players: BTreeMap::new(),
            avatars: BTreeMap::new(),
            timers: BTreeMap::new(),
            letters: BTreeMap::new(),
            next_name: 0,
            mesh: MeshState::default(),
            hash: 0,
        }
    }

    /// The hash by which replicas compare their states. Motions are no part of it: the backup may not have the newest.
    pub const fn hash(&self) -> u64 {
        self.objects.hash().wrapping_add(self.hash)
    }

    /// Applies the next record of the log.
    pub fn apply(&mut self, record: &Record) -> Result<(), ApplyError> {
        if record.index != self.head + 1 {
            return Err(ApplyError::Gap { head: self.head, got: record.index });
        }
        // A checkpoint carries the hash of the state before its own record.
        let before = self.hash();
        self.head = record.index;
        self.time = record.time;
        if self.epoch != record.epoch {
            self.epoch = record.epoch;
            // An object's name contains its epoch, so counting starts anew without giving a name twice.
            self.next_name = 0;
        }
        // Motions come first: the changes are what the event made of them.
        for (object, motion) in &record.motions {
            self.update_motion(*object, motion);
        }
        for change in &record.changes {
            self.apply_change(change);
            if let Change::Checkpoint { hash } = *change
                && hash != before
            {
                return Err(ApplyError::Hash { index: record.index, ours: before, logged: hash });
            }
        }
        Ok(())
    }

    /// Takes over a motion from outside the log, unless a newer one is known. A motion that an event set has a higher
    /// generation and comes with that event's record only: the record may never come.
    pub fn update_motion(&mut self, object: ObjectId, motion: &space::Motion) {
        let known = self.objects.get(object).map(|it| it.motion);
        let is_news = |it: &space::Motion| it.generation == motion.generation && motion.is_newer_than(it);
        if known.as_ref().is_some_and(is_news) {
            self.objects.set_motion(object, *motion);
        }
    }

    fn apply_change(&mut self, change: &Change) {
        match change {
            Change::Put { object, incarnation, version, motion, state } => {
                self.put(Object {
                    id: *object,
                    incarnation: *incarnation,
                    version: *version,
                    motion: *motion,
                    state: state.clone(),
                });
            }
            Change::Removed { object, .. } => self.remove(*object),
            Change::Entered { player, session, name, avatar } => self.enter(*player, *session, name, *avatar),
            Change::Left { player } => self.change_player(*player, |it| it.present = false),
            Change::Acted { player, number, outcome, acked } => self.change_player(*player, |it| {
                it.cursor = *number;
                it.kept.push_back(outcome.clone());
                // At least one: the result of the cursor's own action is always kept.
                let unacked = number.saturating_sub(*acked).clamp(1, KEPT_MAX as u64);
                while unacked < it.kept.len() as u64 {
                    it.kept.pop_front();
                }
            }),
            Change::TimerSet { stamp, at, object, letter } => {
                let timer = PendingTimer { object: *object, letter: letter.clone() };
                self.hash = self.hash.wrapping_add(hash::of_value(&(stamp, at, &timer)));
                self.timers.insert((*at, *stamp), timer);
            }
            Change::TimerDone { stamp, at } => {
                if let Some(timer) = self.timers.remove(&(*at, *stamp)) {
                    self.hash = self.hash.wrapping_sub(hash::of_value(&(stamp, at, &timer)));
                }
            }
            Change::LetterSent { stamp, to, letter } => {
                let letter = PendingLetter { to: *to, letter: letter.clone() };
                self.hash = self.hash.wrapping_add(hash::of_value(&(stamp, &letter)));
                self.letters.insert(*stamp, letter);
            }
            Change::LetterDone { stamp } => {
                if let Some(letter) = self.letters.remove(stamp) {
                    self.hash = self.hash.wrapping_sub(hash::of_value(&(stamp, &letter)));
                }
            }
            Change::Leads { primary, backup } => self.leadership = Some((*primary, *backup)),
            // For readers of the log only: `apply` compares the hash, and another zone applies its own objects.
            Change::Checkpoint { .. } | Change::Elsewhere(_) => (),
            Change::Brought { player, row } => self.add_player(*player, row.clone()),
            Change::Departed { object, to, incarnation } => self.hand_over_object(*object, *to, *incarnation),
            _ => self.apply_mesh_change(change),
        }
    }

    /// Applies a change of the part that exists because of other zones.
    fn apply_mesh_change(&mut self, change: &Change) {
        let time = self.time;
        match change {
            Change::Granted { event, attempt, scope, objects } => {
                // A later attempt of the same event replaces the earlier one.
                self.release(*event);
                let grant = GrantedLock { attempt: *attempt, scope: scope.clone(), objects: objects.clone() };
                self.add_hash(&("held", event, attempt));
                self.mesh.grants.insert(*event, grant);
            }
            Change::Released { event } => self.release(*event),
            Change::Posted { to, number, item } => {
                let index = self.head;
                let outgoing = self.mesh.post.entry(*to).or_default();
                outgoing.last = *number;
                outgoing.items.insert(*number, (index, item.clone()));
                self.add_hash(&("posted", to, number));
            }
            Change::Delivered { to, upto } => {
                let Some(outgoing) = self.mesh.post.get_mut(to) else { return };
                let rest = outgoing.items.split_off(&(upto + 1));
                for number in std::mem::replace(&mut outgoing.items, rest).into_keys() {
                    self.sub_hash(&("posted", to, number));
                }
            }
            Change::Taken { from, number } => {
                if let Some(old) = self.mesh.taken.insert(*from, *number) {
                    self.sub_hash(&("taken", from, old));
                }
                self.add_hash(&("taken", from, number));
            }
            Change::Offered { object, to } => {
                self.mesh.offered.insert(*object, *to);
                self.add_hash(&("offered", object, to));
            }
            Change::Kept { object } => self.end_offer(*object),
            Change::Location { entity, zone, incarnation } => {
                self.forget_location(*entity);
                // An entity that is gone needs no entry, unless its transfer from here is still under way: the entry
                // then tells `hand_over_object` that the object is gone already.
                let is_here = matches!(entity, EntityId::Object(it) if self.objects.get(*it).is_some());
                if zone.is_some() || is_here {
                    self.remember_location(
                        *entity,
                        Location { zone: *zone, incarnation: *incarnation, since: time },
                    );
                }
            }
            // Every other change belongs to one zone alone: `apply_change` has applied it.
            _ => (),
        }
    }

    fn release(&mut self, event: EventId) {
        if let Some(grant) = self.mesh.grants.remove(&event) {
            self.sub_hash(&("held", event, grant.attempt));
        }
    }

    fn end_offer(&mut self, object: ObjectId) {
        if let Some(to) = self.mesh.offered.remove(&object) {
            self.sub_hash(&("offered", object, to));
        }
    }

    fn remember_location(&mut self, entity: EntityId, location: Location) {
        self.add_hash(&("lives", entity, location));
        self.mesh.locations.insert(entity, location);
    }

    fn forget_location(&mut self, entity: EntityId) {
        if let Some(old) = self.mesh.locations.remove(&entity) {
            self.sub_hash(&("lives", entity, old));
        }
    }

    /// Adds a player who came over with their avatar.
    fn add_player(&mut self, player: PlayerId, row: PlayerState) {
        self.forget_location(EntityId::Player(player));
        if let Some(old) = self.take_player(player).and_then(|it| it.avatar) {
            self.avatars.remove(&old);
        }
        if let Some(avatar) = row.avatar {
            self.avatars.insert(avatar, player);
        }
        self.give_player(player, row);
    }

    /// Removes an object that another zone has taken over, with its timers and its player.
    fn hand_over_object(&mut self, object: ObjectId, to: ZoneId, incarnation: u32) {
        self.end_offer(object);
        self.objects.remove(object);
        for (at, stamp) in self.timers_of(object) {
            self.apply_change(&Change::TimerDone { stamp, at });
        }
        let location = Location { zone: Some(to), incarnation, since: self.time };
        if let Some(player) = self.avatars.remove(&object) {
            self.take_player(player);
            self.forget_location(EntityId::Player(player));
            self.remember_location(EntityId::Player(player), location);
        }
        let heard = self.mesh.locations.get(&EntityId::Object(object)).copied();
        self.forget_location(EntityId::Object(object));
        // The next owner may have passed it on, and we may have heard of that before we heard the next owner's answer.
        let newest = heard.filter(|it| incarnation < it.incarnation).unwrap_or(location);
        if newest.zone.is_some() {
            self.remember_location(EntityId::Object(object), newest);
        }
    }

    /// Keys of all pending timers of an object.
    pub fn timers_of(&self, object: ObjectId) -> Vec<(Time, Stamp)> {
        self.timers.iter().filter(|it| it.1.object == object).map(|it| *it.0).collect()
    }

    // The hash is a sum, so that it does not depend on the order of changes: what is removed is subtracted. The words
    // inside (`"held"`, `"lives"` …) are part of checkpoints in logs on disk and never change.

    fn add_hash(&mut self, value: &impl Serialize) {
        self.hash = self.hash.wrapping_add(hash::of_value(value));
    }

    fn sub_hash(&mut self, value: &impl Serialize) {
        self.hash = self.hash.wrapping_sub(hash::of_value(value));
    }

    fn put(&mut self, object: Object) {
        if object.id.zone == self.zone && object.id.epoch == self.epoch {
            self.next_name = self.next_name.max(object.id.counter + 1);
        }
        // A world of one zone remembers no location, and `put` runs for every effect: skip the search there.
        if !self.mesh.locations.is_empty() {
            self.forget_location(EntityId::Object(object.id));
        }
        self.objects.put(object);
    }

    fn remove(&mut self, object: ObjectId) {
        let Some(gone) = self.objects.remove(object) else { return };
        if let Some(player) = self.avatars.remove(&object) {
            let place = gone.motion.position_at(self.time);
            self.change_player(player, |it| {
                it.avatar = None;
                it.place = place;
            });
        }
    }

    fn enter(&mut self, player: PlayerId, session: u64, name: &str, avatar: ObjectId) {
        let new = || PlayerState {
            name: String::new(),
            session,
            present: true,
            avatar: None,
            place: Position::ORIGIN,
            cursor: 0,
            kept: VecDeque::new(),
        };
        let mut it = self.take_player(player).unwrap_or_else(new);
        if let Some(old) = it.avatar {
            self.avatars.remove(&old);
        }
        name.clone_into(&mut it.name);
        it.session = session;
        it.present = true;
        it.avatar = Some(avatar);
        self.avatars.insert(avatar, player);
        self.give_player(player, it);
    }

    fn change_player(&mut self, player: PlayerId, change: impl FnOnce(&mut PlayerState)) {
        if let Some(mut it) = self.take_player(player) {
            change(&mut it);
            self.give_player(player, it);
        }
    }

    // A player is taken out, changed and given back, so that the hash loses the old row and gains the new one.

    fn take_player(&mut self, player: PlayerId) -> Option<PlayerState> {
        let it = self.players.remove(&player)?;
        self.hash = self.hash.wrapping_sub(hash_of_player(player, &it));
        Some(it)
    }

    fn give_player(&mut self, player: PlayerId, it: PlayerState) {
        self.hash = self.hash.wrapping_add(hash_of_player(player, &it));
        self.players.insert(player, it);
    }
}

/// A player's part in the state's hash. Kept results count by their number only: their content is in the log.
fn hash_of_player(player: PlayerId, it: &PlayerState) -> u64 {
    let PlayerState { name, session, present, avatar, place, cursor, kept } = it;
    hash::of_value(&(player, name, session, present, avatar, place, cursor, kept.len()))
}

/// A state as plain data, for the disk or for a new backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateSnapshot {
    /// The zone whose state this is.
    pub zone: ZoneId,
    /// Number of the last record that the snapshot stands for.
    pub head: Index,
    /// Epoch of that last record.
    pub epoch: Epoch,
    /// World time of that last record.
    pub time: Time,
    /// Primary and backup of the epoch, as the log says.
    pub leadership: Option<(Address, Option<Address>)>,
    /// The next counter for an object born in this epoch.
    pub next_name: u32,
    /// Objects in the order of their names.
    pub objects: Vec<Object>,
    /// Players in the order of their ids.
    pub players: Vec<(PlayerId, PlayerState)>,
    /// Pending timers by due time and name.
    pub timers: Vec<(Time, Stamp, PendingTimer)>,
    /// Letters on their way, by name.
    pub letters: Vec<(Stamp, PendingLetter)>,
    /// The part that exists because of other zones.
    pub mesh: MeshState,
}

impl ZoneState {
    /// The state as plain data, with the same bytes for equal states.
    pub fn snapshot(&self) -> StateSnapshot {
        // The table's order depends on its past: sorted, replicas with equal states write equal bytes.
        let mut objects: Vec<_> = self.objects.iter().cloned().collect();
        objects.sort_unstable_by_key(|it| it.id);
        StateSnapshot {
            zone: self.zone,
            head: self.head,
            epoch: self.epoch,
            time: self.time,
            leadership: self.leadership,
            next_name: self.next_name,
            objects,
            players: self.players.iter().map(|(&id, it)| (id, it.clone())).collect(),
            timers: self.timers.iter().map(|(&(at, stamp), it)| (at, stamp, it.clone())).collect(),
            letters: self.letters.iter().map(|(&stamp, it)| (stamp, it.clone())).collect(),
            mesh: self.mesh.clone(),
        }
    }

    /// The state that a snapshot stands for.
    pub fn from_snapshot(snapshot: StateSnapshot) -> Self {
        let mut state = Self::new(snapshot.zone);
        state.head = snapshot.head;
        state.epoch = snapshot.epoch;
        state.time = snapshot.time;
        state.leadership = snapshot.leadership;
        state.next_name = snapshot.next_name;
        state.load_mesh(&snapshot.mesh);
        state.add_contents(snapshot);
        state
    }

    /// Sets the part that exists because of other zones, and adds it to the hash.
    fn load_mesh(&mut self, mesh: &MeshState) {
        self.mesh = mesh.clone();
        for (event, grant) in &mesh.grants {
            self.add_hash(&("held", event, grant.attempt));
        }
        for (object, to) in &mesh.offered {
            self.add_hash(&("offered", object, to));
        }
        for (to, outgoing) in &mesh.post {
            for number in outgoing.items.keys() {
                self.add_hash(&("posted", to, number));
            }
        }
        for (from, number) in &mesh.taken {
            self.add_hash(&("taken", from, number));
        }
        for (entity, location) in &mesh.locations {
            self.add_hash(&("lives", entity, location));
        }
    }

    /// Adds objects, players, timers and letters, also of a second part of the same zone.
    fn add_contents(&mut self, snapshot: StateSnapshot) {
        for object in snapshot.objects {
            self.objects.put(object);
        }
        for (player, it) in snapshot.players {
            if let Some(avatar) = it.avatar {
                self.avatars.insert(avatar, player);
            }
            self.give_player(player, it);
        }
        for (at, stamp, PendingTimer { object, letter }) in snapshot.timers {
            self.apply_change(&Change::TimerSet { stamp, at, object, letter });
        }
        for (stamp, PendingLetter { to, letter }) in snapshot.letters {
            self.apply_change(&Change::LetterSent { stamp, to, letter });
        }
    }

    /// Cuts the state in two by a line, at a moment: objects left of it or on it stay in the first part. Both
    /// keep the zone's own numbers.
    pub fn split(&self, line: &Line, now: Time) -> (Self, Self) {
        let (mut left, mut right) = (self.snapshot(), self.snapshot());
        let is_left = |place: Position| line.side(place) == Side::Left;
        let place_of = |id: ObjectId| self.objects.get(id).map(|it| it.motion.position_at(now));
        // A timer or letter whose object is gone goes to the side of the origin: it must be in exactly one part.
        let owns_left = |id| is_left(place_of(id).unwrap_or_default());
        let player_left = |it: &PlayerState| is_left(it.avatar.and_then(place_of).unwrap_or(it.place));
        let letter_left = |it: &PendingLetter| match it.to {
            Addressee::Object(id) => owns_left(id),
            Addressee::Place(place) => is_left(place),
            Addressee::World => is_left(Position::ORIGIN),
        };
        left.objects.retain(|it| owns_left(it.id));
        right.objects.retain(|it| !owns_left(it.id));
        left.players.retain(|(_, it)| player_left(it));
        right.players.retain(|(_, it)| !player_left(it));
        left.timers.retain(|(_, _, it)| owns_left(it.object));
        right.timers.retain(|(_, _, it)| !owns_left(it.object));
        left.letters.retain(|(_, it)| letter_left(it));
        right.letters.retain(|(_, it)| !letter_left(it));
        (Self::from_snapshot(left), Self::from_snapshot(right))
    }

    /// Puts two parts of a split state together again.
    pub fn unite(mut self, other: &Self) -> Self {
        self.add_contents(other.snapshot());
        self
    }
}

/// Creates the world's own object when a world is founded.
pub(crate) fn world_object(state: Vec<u8>) -> Change {
    Change::Put {
        object: game::WORLD,
        incarnation: 1,
        version: 1,
        motion: space::Motion::default(),
        state: ByteBuf::from(state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Cause, cut_at};
    use machine::Rng;
    use space::{Motion, Velocity};

    fn id(counter: u64) -> ObjectId {
        ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: counter as u32 }
    }

    fn place(rng: &mut Rng) -> Position {
        Position::new(rng.below(2_001) as i32 - 1_000, rng.below(2_001) as i32 - 1_000).unwrap()
    }

    fn change(rng: &mut Rng, index: Index, number: u16) -> Change {
        let stamp = Stamp { epoch: Epoch(1), index, place: number };
        let old = Stamp { index: rng.below(index) + 1, ..stamp };
        let player = PlayerId(rng.below(6));
        match rng.below(10) {
            0..=3 => Change::Put {
                object: id(rng.below(30)),
                incarnation: 1,
                version: index as u32,
                motion: Motion {
                    position: place(rng),
                    velocity: Velocity::new(rng.below(99) as i32, 0).unwrap(),
                    ..Motion::default()
                },
                state: ByteBuf::from(index.to_le_bytes()),
            },
            4 => Change::Removed { object: id(rng.below(30)), version: index as u32 },
            5 => Change::Entered {
                player,
                session: index,
                name: format!("{index}"),
                avatar: id(rng.below(30)),
            },
            6 => Change::Acted { player, number: index, outcome: Outcome::Done, acked: rng.below(index) },
            7 => Change::TimerSet {
                stamp,
                at: Time::from_micros(index),
                object: id(rng.below(30)),
                letter: ByteBuf::new(),
            },
            8 => Change::LetterSent {
                stamp,
                to: Addressee::Place(place(rng)),
                letter: ByteBuf::from([number as u8]),
            },
            _ => Change::LetterDone { stamp: old },
        }
    }

    fn grown(seed: u64, records: u64) -> ZoneState {
        let (mut rng, mut state) = (Rng::seeded(seed), ZoneState::new(ZoneId(1)));
        for index in 1..=records {
            let changes = (0..rng.below(4) as u16).map(|number| change(&mut rng, index, number)).collect();
            let time = Time::from_millis(index);
            let record = Record {
                index,
                epoch: Epoch(1),
                cut: cut_at(time),
                time,
                cause: Cause::Checkpoint,
                changes,
                notices: Vec::new(),
                motions: Vec::new(),
            };
            assert_eq!(Record::from_bytes(&record.to_bytes()).as_ref(), Some(&record));
            state.apply(&record).unwrap();
        }
        state
    }

    #[test]
    fn a_state_cut_in_two_and_put_together_is_the_same() {
        for seed in 0..200 {
            let state = grown(seed, 120);
            let mut rng = Rng::seeded(seed ^ 0xabcd);
            let Ok(line) = Line::through(place(&mut rng), place(&mut rng)) else { continue };
            let now = Time::from_millis(120 + rng.below(10_000));
            let (left, right) = state.split(&line, now);
            let both = left.objects.len() + right.objects.len();
            assert_eq!(both, state.objects.len(), "seed {seed}: every object is on one side");
            for it in left.objects.iter() {
                assert_eq!(line.side(it.motion.position_at(now)), Side::Left, "seed {seed}");
            }
            let hashes = (left.hash(), right.hash());
            let united = left.unite(&right);
            assert_eq!(united.hash(), state.hash(), "seed {seed}, parts {hashes:?}");
            assert_eq!(united.snapshot(), state.snapshot(), "seed {seed}");
        }
    }

    #[test]
    fn a_snapshot_stands_for_its_state() {
        for seed in 0..50 {
            let state = grown(seed, 200);
            let bytes = postcard::to_stdvec(&state.snapshot()).unwrap();
            let again = ZoneState::from_snapshot(postcard::from_bytes(&bytes).unwrap());
            assert_eq!(
                (again.hash(), again.head, again.snapshot()),
                (state.hash(), state.head, state.snapshot())
            );
        }
    }

    #[test]
    fn a_checkpoint_that_does_not_fit_is_noticed() {
        let mut state = grown(1, 50);
        let mut record = Record {
            index: 51,
            epoch: Epoch(1),
            cut: 1,
            time: Time::from_millis(51),
            cause: Cause::Checkpoint,
            changes: vec![Change::Checkpoint { hash: state.hash() }],
            notices: Vec::new(),
            motions: Vec::new(),
        };
        assert_eq!(state.apply(&record), Ok(()));
        record.index = 52;
        record.changes = vec![Change::Checkpoint { hash: state.hash() ^ 1 }];
        assert!(matches!(state.apply(&record), Err(ApplyError::Hash { index: 52, .. })));
        record.index = 60;
        assert_eq!(state.apply(&record), Err(ApplyError::Gap { head: 52, got: 60 }));
    }
}
