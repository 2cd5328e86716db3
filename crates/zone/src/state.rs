//! What a zone holds: everything its records add up to.
//!
//! Primary, backup and recovery all go through [`State::apply`], so they cannot come to hold different things.
//! Everything hangs on an object or a player (who is where the avatar is), so that a state can be cut in two by
//! a line and put together again.

use crate::config::KEPT_MAX;
use crate::hash;
use crate::mesh::{Being, EventId, Item};
use crate::record::{Change, Index, Outcome, Record, Stamp};
use crate::table::{Object, Table};
use game::{Addressee, PlayerId, Scope};
use machine::{Address, Time};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use space::{Epoch, Line, ObjectId, Position, Side, ZoneId};
use std::collections::{BTreeMap, VecDeque};

/// A person, as the zone of their avatar knows them. Kept while they are away: the cursor must not be forgotten,
/// or an old action sent again would be done again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Player {
    /// What they are called.
    pub name: String,
    /// The session that counts.
    pub session: u64,
    /// Whether that session lasts.
    pub present: bool,
    /// Their avatar, unless the game removed it.
    pub avatar: Option<ObjectId>,
    /// Where they are to be looked for when they have no avatar.
    pub place: Position,
    /// The last action that was dealt with.
    pub cursor: u64,
    /// Results that have not been acknowledged, the last one being the cursor's.
    pub kept: VecDeque<Outcome>,
}

impl Player {
    /// The result of an action, if it is still kept.
    pub fn result(&self, number: u64) -> Option<&Outcome> {
        let first = self.cursor + 1 - self.kept.len() as u64;
        let place = number.checked_sub(first)?;
        self.kept.get(usize::try_from(place).ok()?)
    }
}

/// Something that will be said to an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Timer {
    /// To whom.
    pub object: ObjectId,
    /// What.
    pub letter: ByteBuf,
}

/// A letter on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Letter {
    /// For whom.
    pub to: Addressee,
    /// What it says.
    pub letter: ByteBuf,
}

/// Locks that an event of another zone holds here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Which attempt of it.
    pub attempt: u32,
    /// What is locked,
    pub scope: Scope,
    /// and who was in it.
    pub objects: Vec<ObjectId>,
}

/// What is on its way to another zone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// The last number given.
    pub last: u64,
    /// What the other zone has not taken yet, each with the record that posted it.
    pub items: BTreeMap<u64, (Index, Item)>,
}

/// Where somebody lives who was here once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lives {
    /// In which zone; `None` if nowhere.
    pub zone: Option<ZoneId>,
    /// As which incarnation.
    pub incarnation: u32,
    /// When this was heard.
    pub since: Time,
}

/// What a zone holds because there are others. But for `held` and `offered`, which hang on places and objects, these
/// belong to the zone itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abroad {
    /// Locks of events that other zones decide.
    pub held: BTreeMap<EventId, Held>,
    /// Objects that are offered to another zone: nothing happens to them.
    pub offered: BTreeMap<ObjectId, ZoneId>,
    /// What is on its way, by where it goes.
    pub post: BTreeMap<ZoneId, Outgoing>,
    /// What came by post and was dealt with, by whom it was from: the last number.
    pub taken: BTreeMap<ZoneId, u64>,
    /// Who is not here any more: whoever was born here, and whoever left not long ago.
    pub lives: BTreeMap<Being, Lives>,
}

/// Everything a zone holds.
#[derive(Clone, Debug)]
pub struct State {
    /// Which zone.
    pub zone: ZoneId,
    /// The last record applied; 0 before the first.
    pub head: Index,
    /// That record's epoch.
    pub epoch: Epoch,
    /// That record's time.
    pub time: Time,
    /// Who decides, and who must acknowledge, as the log says.
    pub reigns: Option<(Address, Option<Address>)>,
    /// The objects.
    pub objects: Table,
    /// The players.
    pub players: BTreeMap<PlayerId, Player>,
    /// Whose avatar an object is.
    pub avatars: BTreeMap<ObjectId, PlayerId>,
    /// What will be said to objects, by when.
    pub timers: BTreeMap<(Time, Stamp), Timer>,
    /// Letters on their way.
    pub letters: BTreeMap<Stamp, Letter>,
    /// The next name for an object born in this epoch.
    pub next_name: u32,
    /// What there is because of other zones.
    pub abroad: Abroad,
    /// The hash of everything but objects: a sum, like the table's.
    hash: u64,
}

/// A record that does not follow from what is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// It is not the next one.
    #[error("record {got} cannot follow record {head}")]
    Gap {
        /// The last one applied.
        head: Index,
        /// The one offered.
        got: Index,
    },
    /// Its checkpoint says that this state is another one.
    #[error("at record {index} the state's hash is {ours:016x}, the log says {logged:016x}")]
    Hash {
        /// The record.
        index: Index,
        /// What is held.
        ours: u64,
        /// What should be held.
        logged: u64,
    },
}

impl State {
    /// A zone that holds nothing.
    pub fn new(zone: ZoneId) -> Self {
        Self {
            zone,
            head: 0,
            epoch: Epoch(0),
            time: Time::ZERO,
            reigns: None,
            objects: Table::default(),
            players: BTreeMap::new(),
            avatars: BTreeMap::new(),
            timers: BTreeMap::new(),
            letters: BTreeMap::new(),
            next_name: 0,
            abroad: Abroad::default(),
            hash: 0,
        }
    }

    /// The hash of everything held, by which replicas compare themselves. How objects move is no part of it.
    pub const fn hash(&self) -> u64 {
        self.objects.hash().wrapping_add(self.hash)
    }

    /// Makes a record true.
    pub fn apply(&mut self, record: &Record) -> Result<(), Misfit> {
        if record.index != self.head + 1 {
            return Err(Misfit::Gap { head: self.head, got: record.index });
        }
        let before = self.hash();
        self.head = record.index;
        self.time = record.time;
        if self.epoch != record.epoch {
            self.epoch = record.epoch;
            self.next_name = 0;
        }
        for (object, motion) in &record.motions {
            self.hear_motion(*object, motion);
        }
        for change in &record.changes {
            self.make(change);
            if let Change::Checkpoint { hash } = *change
                && hash != before
            {
                return Err(Misfit::Hash { index: record.index, ours: before, logged: hash });
            }
        }
        Ok(())
    }

    /// Takes in a motion from outside the log, unless a newer one is known. One that an event set comes with that
    /// event's record and not before it: the record may never come.
    pub fn hear_motion(&mut self, object: ObjectId, motion: &space::Motion) {
        let known = self.objects.get(object).map(|it| it.motion);
        let is_news = |it: &space::Motion| it.generation == motion.generation && motion.is_newer_than(it);
        if known.as_ref().is_some_and(is_news) {
            self.objects.set_motion(object, *motion);
        }
    }

    fn make(&mut self, change: &Change) {
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
                let unacked = number.saturating_sub(*acked).clamp(1, KEPT_MAX as u64);
                while unacked < it.kept.len() as u64 {
                    it.kept.pop_front();
                }
            }),
            Change::TimerSet { stamp, at, object, letter } => {
                let timer = Timer { object: *object, letter: letter.clone() };
                self.hash = self.hash.wrapping_add(hash::of_value(&(stamp, at, &timer)));
                self.timers.insert((*at, *stamp), timer);
            }
            Change::TimerDone { stamp, at } => {
                if let Some(timer) = self.timers.remove(&(*at, *stamp)) {
                    self.hash = self.hash.wrapping_sub(hash::of_value(&(stamp, at, &timer)));
                }
            }
            Change::LetterSent { stamp, to, letter } => {
                let letter = Letter { to: *to, letter: letter.clone() };
                self.hash = self.hash.wrapping_add(hash::of_value(&(stamp, &letter)));
                self.letters.insert(*stamp, letter);
            }
            Change::LetterDone { stamp } => {
                if let Some(letter) = self.letters.remove(stamp) {
                    self.hash = self.hash.wrapping_sub(hash::of_value(&(stamp, &letter)));
                }
            }
            Change::Reigns { primary, backup } => self.reigns = Some((*primary, *backup)),
            Change::Checkpoint { .. } | Change::Elsewhere(_) => (),
            Change::Brought { player, row } => self.bring(*player, row.clone()),
            Change::Departed { object, to, incarnation } => self.depart(*object, *to, *incarnation),
            _ => self.make_abroad(change),
        }
    }

    /// What happens between zones.
    fn make_abroad(&mut self, change: &Change) {
        let time = self.time;
        match change {
            Change::Granted { event, attempt, scope, objects } => {
                self.release(*event);
                let held = Held { attempt: *attempt, scope: scope.clone(), objects: objects.clone() };
                self.add_hash(&("held", event, attempt));
                self.abroad.held.insert(*event, held);
            }
            Change::Released { event } => self.release(*event),
            Change::Posted { to, number, item } => {
                let index = self.head;
                let outgoing = self.abroad.post.entry(*to).or_default();
                outgoing.last = *number;
                outgoing.items.insert(*number, (index, item.clone()));
                self.add_hash(&("posted", to, number));
            }
            Change::Delivered { to, upto } => {
                let Some(outgoing) = self.abroad.post.get_mut(to) else { return };
                let rest = outgoing.items.split_off(&(upto + 1));
                for number in std::mem::replace(&mut outgoing.items, rest).into_keys() {
                    self.sub_hash(&("posted", to, number));
                }
            }
            Change::Taken { from, number } => {
                if let Some(old) = self.abroad.taken.insert(*from, *number) {
                    self.sub_hash(&("taken", from, old));
                }
                self.add_hash(&("taken", from, number));
            }
            Change::Offered { object, to } => {
                self.abroad.offered.insert(*object, *to);
                self.add_hash(&("offered", object, to));
            }
            Change::Kept { object } => self.keep(*object),
            Change::Lives { being, zone, incarnation } => {
                self.forget_lives(*being);
                // Whoever is gone is forgotten; not while they are on their way from here: see `depart`.
                let is_here = matches!(being, Being::Object(it) if self.objects.get(*it).is_some());
                if zone.is_some() || is_here {
                    self.remember(*being, Lives { zone: *zone, incarnation: *incarnation, since: time });
                }
            }
            _ => (),
        }
    }

    fn release(&mut self, event: EventId) {
        if let Some(held) = self.abroad.held.remove(&event) {
            self.sub_hash(&("held", event, held.attempt));
        }
    }

    fn keep(&mut self, object: ObjectId) {
        if let Some(to) = self.abroad.offered.remove(&object) {
            self.sub_hash(&("offered", object, to));
        }
    }

    fn remember(&mut self, being: Being, lives: Lives) {
        self.add_hash(&("lives", being, lives));
        self.abroad.lives.insert(being, lives);
    }

    fn forget_lives(&mut self, being: Being) {
        if let Some(old) = self.abroad.lives.remove(&being) {
            self.sub_hash(&("lives", being, old));
        }
    }

    /// A player comes over.
    fn bring(&mut self, player: PlayerId, row: Player) {
        self.forget_lives(Being::Player(player));
        if let Some(old) = self.take_player(player).and_then(|it| it.avatar) {
            self.avatars.remove(&old);
        }
        if let Some(avatar) = row.avatar {
            self.avatars.insert(avatar, player);
        }
        self.give_player(player, row);
    }

    /// An object goes over, with its timers and its player.
    fn depart(&mut self, object: ObjectId, to: ZoneId, incarnation: u32) {
        self.keep(object);
        self.objects.remove(object);
        for (at, stamp) in self.timers_of(object) {
            self.make(&Change::TimerDone { stamp, at });
        }
        let lives = Lives { zone: Some(to), incarnation, since: self.time };
        if let Some(player) = self.avatars.remove(&object) {
            self.take_player(player);
            self.forget_lives(Being::Player(player));
            self.remember(Being::Player(player), lives);
        }
        let heard = self.abroad.lives.get(&Being::Object(object)).copied();
        self.forget_lives(Being::Object(object));
        // It may have gone on before it was heard that it arrived.
        let newest = heard.filter(|it| incarnation < it.incarnation).unwrap_or(lives);
        if newest.zone.is_some() {
            self.remember(Being::Object(object), newest);
        }
    }

    /// What will be said to an object.
    pub fn timers_of(&self, object: ObjectId) -> Vec<(Time, Stamp)> {
        self.timers.iter().filter(|it| it.1.object == object).map(|it| *it.0).collect()
    }

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
        if !self.abroad.lives.is_empty() {
            self.forget_lives(Being::Object(object.id));
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
        let fresh = || Player {
            name: String::new(),
            session,
            present: true,
            avatar: None,
            place: Position::ORIGIN,
            cursor: 0,
            kept: VecDeque::new(),
        };
        let mut it = self.take_player(player).unwrap_or_else(fresh);
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

    fn change_player(&mut self, player: PlayerId, change: impl FnOnce(&mut Player)) {
        if let Some(mut it) = self.take_player(player) {
            change(&mut it);
            self.give_player(player, it);
        }
    }

    fn take_player(&mut self, player: PlayerId) -> Option<Player> {
        let it = self.players.remove(&player)?;
        self.hash = self.hash.wrapping_sub(hash_of_player(player, &it));
        Some(it)
    }

    fn give_player(&mut self, player: PlayerId, it: Player) {
        self.hash = self.hash.wrapping_add(hash_of_player(player, &it));
        self.players.insert(player, it);
    }
}

/// What a player is to the hash. Kept results count by their number only: their content is in the log.
fn hash_of_player(player: PlayerId, it: &Player) -> u64 {
    let Player { name, session, present, avatar, place, cursor, kept } = it;
    hash::of_value(&(player, name, session, present, avatar, place, cursor, kept.len()))
}

/// A state as plain data: what a snapshot on disk or on its way to a new backup holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Which zone.
    pub zone: ZoneId,
    /// The last record it stands for.
    pub head: Index,
    /// That record's epoch.
    pub epoch: Epoch,
    /// That record's time.
    pub time: Time,
    /// Who decides.
    pub reigns: Option<(Address, Option<Address>)>,
    /// The next name in this epoch.
    pub next_name: u32,
    /// The objects, by name.
    pub objects: Vec<Object>,
    /// The players.
    pub players: Vec<(PlayerId, Player)>,
    /// The timers.
    pub timers: Vec<(Time, Stamp, Timer)>,
    /// The letters.
    pub letters: Vec<(Stamp, Letter)>,
    /// What there is because of other zones.
    pub abroad: Abroad,
}

impl State {
    /// Everything held, as plain data, the same for equal states.
    pub fn snapshot(&self) -> Snapshot {
        let mut objects: Vec<_> = self.objects.iter().cloned().collect();
        objects.sort_unstable_by_key(|it| it.id);
        Snapshot {
            zone: self.zone,
            head: self.head,
            epoch: self.epoch,
            time: self.time,
            reigns: self.reigns,
            next_name: self.next_name,
            objects,
            players: self.players.iter().map(|(&id, it)| (id, it.clone())).collect(),
            timers: self.timers.iter().map(|(&(at, stamp), it)| (at, stamp, it.clone())).collect(),
            letters: self.letters.iter().map(|(&stamp, it)| (stamp, it.clone())).collect(),
            abroad: self.abroad.clone(),
        }
    }

    /// The state that a snapshot stands for.
    pub fn from_snapshot(snapshot: Snapshot) -> Self {
        let mut state = Self::new(snapshot.zone);
        state.head = snapshot.head;
        state.epoch = snapshot.epoch;
        state.time = snapshot.time;
        state.reigns = snapshot.reigns;
        state.next_name = snapshot.next_name;
        state.go_abroad(&snapshot.abroad);
        state.take_in(snapshot);
        state
    }

    fn go_abroad(&mut self, abroad: &Abroad) {
        self.abroad = abroad.clone();
        for (event, held) in &abroad.held {
            self.add_hash(&("held", event, held.attempt));
        }
        for (object, to) in &abroad.offered {
            self.add_hash(&("offered", object, to));
        }
        for (to, outgoing) in &abroad.post {
            for number in outgoing.items.keys() {
                self.add_hash(&("posted", to, number));
            }
        }
        for (from, number) in &abroad.taken {
            self.add_hash(&("taken", from, number));
        }
        for (being, lives) in &abroad.lives {
            self.add_hash(&("lives", being, lives));
        }
    }

    fn take_in(&mut self, snapshot: Snapshot) {
        for object in snapshot.objects {
            self.objects.put(object);
        }
        for (player, it) in snapshot.players {
            if let Some(avatar) = it.avatar {
                self.avatars.insert(avatar, player);
            }
            self.give_player(player, it);
        }
        for (at, stamp, Timer { object, letter }) in snapshot.timers {
            self.make(&Change::TimerSet { stamp, at, object, letter });
        }
        for (stamp, Letter { to, letter }) in snapshot.letters {
            self.make(&Change::LetterSent { stamp, to, letter });
        }
    }

    /// Cuts the state in two by a line, at a moment: what lies left of it or on it stays in the first part. Both
    /// keep the zone's own numbers.
    pub fn split(&self, line: &Line, now: Time) -> (Self, Self) {
        let (mut left, mut right) = (self.snapshot(), self.snapshot());
        let is_left = |place: Position| line.side(place) == Side::Left;
        let place_of = |id: ObjectId| self.objects.get(id).map(|it| it.motion.position_at(now));
        let owns_left = |id| is_left(place_of(id).unwrap_or_default());
        let player_left = |it: &Player| is_left(it.avatar.and_then(place_of).unwrap_or(it.place));
        let letter_left = |it: &Letter| match it.to {
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

    /// Puts two parts together again.
    pub fn unite(mut self, other: &Self) -> Self {
        self.take_in(other.snapshot());
        self
    }
}

/// Names the world's own object when a world is founded.
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

    fn grown(seed: u64, records: u64) -> State {
        let (mut rng, mut state) = (Rng::seeded(seed), State::new(ZoneId(1)));
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

    /// Splits will stand on this.
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
            let again = State::from_snapshot(postcard::from_bytes(&bytes).unwrap());
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
        assert!(matches!(state.apply(&record), Err(Misfit::Hash { index: 52, .. })));
        record.index = 60;
        assert_eq!(state.apply(&record), Err(Misfit::Gap { head: 52, got: 60 }));
    }
}
