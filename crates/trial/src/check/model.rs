//! A dull model of what zones do together, to try the checkers on: whatever it writes is right, and whatever is left out
//! of it or done twice is wrong.

use super::story::{Told, bytes, event, judged, object, posted, put, removed, taken, whole, written};
use super::toy::holder;
use super::{Observers, end};
use crate::judge::Ending;
use game::{Addressee, PlayerId, Scope};
use machine::Rng;
use space::{Epoch, Motion, ObjectId, Position, ZoneId};
use std::collections::{BTreeMap, VecDeque};
use zone::{Being, Cause, Change, EventId, Item, Known, Outcome, Passage, PlayerRow, Stamp};

const ZONES: u32 = 3;

#[derive(Clone)]
struct Thing {
    incarnation: u32,
    version: u32,
    coins: u32,
    cursor: u64,
    /// Locked, decided upon or offered.
    busy: bool,
}

#[derive(Default)]
struct Zone {
    told: Told,
    things: BTreeMap<ObjectId, Thing>,
    /// The last number sent to each other zone, and what it has not taken.
    sent: BTreeMap<u32, u64>,
    way: BTreeMap<u32, VecDeque<(u64, Item)>>,
    /// The last number taken of each other zone, and the last that was delivered to it.
    taken: BTreeMap<u32, u64>,
    delivered: BTreeMap<u32, u64>,
    /// The newest word of those who were born here: of which incarnation, and whether it lives.
    heard: BTreeMap<ObjectId, (u32, bool)>,
}

impl Zone {
    /// Takes in a word of somebody; whether it is news.
    fn hears(&mut self, it: ObjectId, incarnation: u32, lives: bool) -> bool {
        let known = self.heard.entry(it).or_default();
        let news = known.0 <= incarnation;
        if news {
            *known = (incarnation, lives);
        }
        news
    }
}

/// An event that has its locks: who decides, about which of its objects; who takes part, with which.
struct Wanted {
    event: EventId,
    here: (u32, ObjectId),
    there: (u32, ObjectId),
}

struct World {
    rng: Rng,
    zones: BTreeMap<u32, Zone>,
    wanted: Vec<Wanted>,
    born: Vec<ObjectId>,
    events: u64,
}

fn state(coins: u32) -> Vec<u8> {
    holder(coins, &[])
}

fn player(it: ObjectId) -> PlayerId {
    PlayerId(u64::from(it.counter))
}

fn row(it: ObjectId, cursor: u64) -> PlayerRow {
    let (name, avatar, place) = (String::new(), Some(it), Position::ORIGIN);
    PlayerRow { name, session: 1, present: true, avatar, place, cursor, kept: VecDeque::new() }
}

impl World {
    fn grown(seed: u64) -> Vec<Told> {
        let zones = (1..=ZONES).map(|it| (it, Zone::default())).collect();
        let mut world =
            Self { rng: Rng::seeded(seed), zones, wanted: Vec::new(), born: Vec::new(), events: 0 };
        for _ in 0..150 {
            world.step();
        }
        world.settle();
        world.zones.into_values().map(|it| it.told).collect()
    }

    fn any_zone(&mut self) -> u32 {
        1 + self.rng.below(u64::from(ZONES)) as u32
    }

    fn other_than(&mut self, zone: u32) -> u32 {
        1 + (zone - 1 + 1 + self.rng.below(u64::from(ZONES) - 1) as u32) % ZONES
    }

    fn zone(&mut self, zone: u32) -> &mut Zone {
        self.zones.get_mut(&zone).unwrap()
    }

    fn write(&mut self, zone: u32, cause: Cause, changes: Vec<Change>) {
        self.zone(zone).told.push((cause, changes));
    }

    fn post(&mut self, from: u32, to: u32, item: Item) -> Change {
        let zone = self.zone(from);
        let number = zone.sent.entry(to).or_default();
        *number += 1;
        zone.way.entry(to).or_default().push_back((*number, item.clone()));
        posted(to, *number, item)
    }

    /// Something that nobody else is busy with.
    fn free(&mut self, zone: u32) -> Option<ObjectId> {
        let things = &self.zones[&zone].things;
        let free: Vec<_> = things.iter().filter(|it| !it.1.busy).map(|it| *it.0).collect();
        (!free.is_empty()).then(|| free[self.rng.below(free.len() as u64) as usize])
    }

    fn step(&mut self) {
        let zone = self.any_zone();
        match self.rng.below(9) {
            0 => self.joins(zone),
            1 => self.acts(zone),
            2 => self.wants(zone),
            3 => self.decides(),
            4 => self.offers(zone),
            5 => self.writes_letter(zone),
            6 => self.acknowledges(zone),
            7 => self.leaves(zone),
            _ => drop(self.delivers(zone)),
        }
    }

    fn settle(&mut self) {
        while !self.wanted.is_empty() {
            self.decides();
        }
        while (1..=ZONES).any(|zone| self.delivers(zone)) {}
        for zone in (1..=ZONES).cycle().take(20 * ZONES as usize) {
            self.acknowledges(zone);
        }
    }

    fn joins(&mut self, zone: u32) {
        let it = object(zone, self.born.len() as u32 + 1);
        self.born.push(it);
        self.zone(zone).hears(it, 1, true);
        let thing = Thing { incarnation: 1, version: 1, coins: 20, cursor: 0, busy: false };
        self.zone(zone).things.insert(it, thing);
        let entered = Change::Entered { player: player(it), session: 1, name: String::new(), avatar: it };
        self.write(zone, Cause::Join(player(it)), vec![put(it, 1, 1, &state(20)), entered]);
    }

    /// Somebody is gone, and the zone of their birth hears so.
    fn leaves(&mut self, zone: u32) {
        let Some(it) = self.free(zone).filter(|_| self.rng.coin()) else { return };
        let thing = self.zone(zone).things.remove(&it).unwrap();
        let mut changes = vec![removed(it, thing.version + 1), Change::Left { player: player(it) }];
        match it.zone.0 {
            home if home == zone => drop(self.zone(zone).hears(it, thing.incarnation, false)),
            home => changes.push(self.word(zone, home, it, None, thing.incarnation)),
        }
        self.write(zone, Cause::Leave(player(it)), changes);
    }

    fn word(&mut self, from: u32, home: u32, it: ObjectId, zone: Option<u32>, incarnation: u32) -> Change {
        self.post(from, home, Item::Lives { being: Being::Object(it), zone: zone.map(ZoneId), incarnation })
    }

    fn acts(&mut self, zone: u32) {
        let Some(it) = self.free(zone) else { return };
        let thing = self.zone(zone).things.get_mut(&it).unwrap();
        (thing.version, thing.cursor) = (thing.version + 1, thing.cursor + 1);
        let thing = thing.clone();
        let (player, number, outcome) = (player(it), thing.cursor, Outcome::Done);
        let acted = Change::Acted { player, number, outcome, acked: 0 };
        let is = put(it, thing.incarnation, thing.version, &state(thing.coins));
        self.write(zone, Cause::Act(player, number), vec![is, acted]);
    }

    /// Somebody wants to pay a coin to somebody elsewhere, and gets the locks.
    fn wants(&mut self, zone: u32) {
        let other = self.other_than(zone);
        let (Some(here), Some(there)) = (self.free(zone), self.free(other)) else { return };
        if self.zones[&zone].things[&here].coins == 0 {
            return;
        }
        self.events += 1;
        let event = event(zone, self.events);
        let (scope, objects) = (Scope::objects([here, there]), vec![there]);
        self.write(other, Cause::Lock(event), vec![Change::Granted { event, attempt: 1, scope, objects }]);
        for (zone, it) in [(zone, here), (other, there)] {
            self.zone(zone).things.get_mut(&it).unwrap().busy = true;
        }
        self.wanted.push(Wanted { event, here: (zone, here), there: (other, there) });
    }

    fn decides(&mut self) {
        let Some(Wanted { event, here: (zone, here), there: (other, there) }) = self.wanted.pop() else {
            return;
        };
        self.zone(zone).things.get_mut(&here).unwrap().busy = false;
        if self.rng.below(4) == 0 {
            self.zone(other).things.get_mut(&there).unwrap().busy = false;
            return self.write(other, Cause::Lock(event), vec![Change::Released { event }]);
        }
        let payer = self.zone(zone).things.get_mut(&here).unwrap();
        (payer.version, payer.coins) = (payer.version + 1, payer.coins - 1);
        let (payer, payee) = (payer.clone(), self.zones[&other].things[&there].clone());
        let mut ours = written(zone, here, payer.version, &state(payer.coins));
        let mut theirs = written(other, there, payee.version + 1, &state(payee.coins + 1));
        (ours.incarnation, theirs.incarnation) = (payer.incarnation, payee.incarnation);
        let pays = put(here, payer.incarnation, payer.version, &state(payer.coins));
        let item = Item::Decided(whole(event, &[ours, theirs.clone()]));
        let sent = self.post(zone, other, item);
        self.write(zone, Cause::Think(here), vec![pays, Change::Elsewhere(theirs), sent]);
    }

    fn offers(&mut self, zone: u32) {
        let Some(it) = self.free(zone) else { return };
        let to = self.other_than(zone);
        let thing = self.zone(zone).things.get_mut(&it).unwrap();
        thing.busy = true;
        let (thing, motion) = (thing.clone(), Motion::default());
        let (incarnation, version, state) = (thing.incarnation, thing.version, bytes(&state(thing.coins)));
        let known = Known { object: it, incarnation, version, motion, state };
        let player = Some((player(it), row(it, thing.cursor)));
        let passage = Passage { known, timers: Vec::new(), player, listens: None, event: None };
        let sent = self.post(zone, to, Item::Offer(Box::new(passage)));
        let offered = Change::Offered { object: it, to: ZoneId(to) };
        self.write(zone, Cause::Transfer(it), vec![offered, sent]);
    }

    fn writes_letter(&mut self, zone: u32) {
        let to = self.other_than(zone);
        let letter = bytes(&self.rng.next_u64().to_le_bytes());
        let whom = self.born.get(self.rng.below(2 * self.born.len() as u64 + 1) as usize);
        let whom = whom.map_or(Addressee::World, |&it| Addressee::Object(it));
        let sent = self.post(zone, to, Item::Letter { to: whom, letter, hops: 0 });
        self.write(zone, Cause::Post(ZoneId(to)), vec![sent]);
    }

    fn acknowledges(&mut self, zone: u32) {
        let to = self.other_than(zone);
        let upto = self.zones[&to].taken.get(&zone).copied().unwrap_or_default();
        if self.zone(zone).delivered.insert(to, upto).unwrap_or_default() < upto {
            let delivered = Change::Delivered { to: ZoneId(to), upto };
            self.write(zone, Cause::Post(ZoneId(to)), vec![delivered]);
        }
    }

    /// Whether a zone took something that was sent to it.
    fn delivers(&mut self, to: u32) -> bool {
        let from = (1..=ZONES).find(|it| self.zones[it].way.get(&to).is_some_and(|it| !it.is_empty()));
        let Some(from) = from else { return false };
        let (number, item) = self.zone(from).way.get_mut(&to).unwrap().pop_front().unwrap();
        self.zone(to).taken.insert(from, number);
        let took = taken(from, number);
        match item {
            Item::Decided(whole) => self.applies(to, took, &whole),
            Item::Offer(passage) => self.answers(to, from, took, &passage),
            Item::Answer { object, incarnation, taken: true } => {
                self.zone(to).things.remove(&object);
                self.zone(to).hears(object, incarnation + 1, true);
                let departed = Change::Departed { object, to: ZoneId(from), incarnation: incarnation + 1 };
                self.write(to, Cause::Transfer(object), vec![took, departed]);
            }
            Item::Answer { object, .. } => {
                self.zone(to).things.get_mut(&object).unwrap().busy = false;
                self.write(to, Cause::Transfer(object), vec![took, Change::Kept { object }]);
            }
            Item::Letter { to: addressee, letter, hops } => {
                let is_gone = matches!(addressee, Addressee::Object(it) if self.knows_gone(to, it));
                let passed_on = hops < 3 && self.rng.coin();
                let change = if is_gone {
                    None
                } else if passed_on {
                    let next = self.other_than(to);
                    Some(self.post(to, next, Item::Letter { to: addressee, letter, hops: hops + 1 }))
                } else {
                    let stamp = Stamp { epoch: Epoch(1), index: number, place: from as u16 };
                    Some(Change::LetterSent { stamp, to: addressee, letter })
                };
                self.write(to, Cause::Post(ZoneId(from)), [took].into_iter().chain(change).collect());
            }
            Item::Lives { being, zone, incarnation } => {
                let Being::Object(it) = being else { unreachable!("nobody says so here") };
                let news = self.zone(to).hears(it, incarnation, zone.is_some());
                let change = news.then_some(Change::Lives { being, zone, incarnation });
                self.write(to, Cause::Post(ZoneId(from)), [took].into_iter().chain(change).collect());
            }
        }
        true
    }

    /// Whether a zone knows that somebody who was born there is gone.
    fn knows_gone(&self, zone: u32, it: ObjectId) -> bool {
        it.zone == ZoneId(zone) && self.zones[&zone].heard.get(&it).is_some_and(|it| !it.1)
    }

    fn applies(&mut self, zone: u32, took: Change, whole: &zone::Whole) {
        let (rest, mine): (Vec<_>, Vec<_>) = whole.writes.iter().partition(|it| it.zone != ZoneId(zone));
        let mut changes = vec![took];
        for it in mine {
            let thing = self.zone(zone).things.get_mut(&it.object).unwrap();
            (thing.version, thing.coins, thing.busy) = (thing.version + 1, thing.coins + 1, false);
            changes.push(put(it.object, it.incarnation, it.version, it.state.as_ref().unwrap()));
        }
        changes.extend(rest.into_iter().cloned().map(Change::Elsewhere));
        changes.push(Change::Released { event: whole.event });
        self.write(zone, Cause::Joint(whole.event), changes);
    }

    fn answers(&mut self, zone: u32, from: u32, took: Change, passage: &Passage) {
        let it = passage.known.object;
        // Who comes back must have left first.
        let taken = self.rng.below(3) != 0 && !self.zones[&zone].things.contains_key(&it);
        let (incarnation, version) = (passage.known.incarnation + 1, passage.known.version + 1);
        let answer = self.post(zone, from, Item::Answer { object: it, incarnation: incarnation - 1, taken });
        let mut changes = vec![took, answer];
        if taken {
            let thing = self.zones[&from].things[&it].clone();
            let row = row(it, thing.cursor);
            changes.push(put(it, incarnation, version, &state(thing.coins)));
            changes.push(Change::Brought { player: player(it), row });
            let thing = Thing { incarnation, version, busy: false, ..thing };
            self.zone(zone).things.insert(it, thing);
            match it.zone.0 {
                home if home == zone => drop(self.zone(zone).hears(it, incarnation, true)),
                home if home == from => (),
                home => changes.push(self.word(zone, home, it, Some(zone), incarnation)),
            }
        }
        self.write(zone, Cause::Transfer(it), changes);
    }
}

fn verdict(told: &[Told]) -> Vec<String> {
    judged(told, |chains, out| drop(end(chains, &Observers::default(), Ending::Settled, out)))
}

#[test]
fn whatever_zones_do_together_is_right() {
    let mut crossings = [0; 4];
    for seed in 0..200 {
        let told = World::grown(seed);
        let found = verdict(&told);
        assert!(found.is_empty(), "seed {seed}: {found:?}");
        let count =
            |is: fn(&Change) -> bool| told.iter().flatten().flat_map(|it| &it.1).filter(|it| is(it)).count();
        crossings[0] += count(|it| matches!(it, Change::Posted { item: Item::Decided(_), .. }));
        crossings[1] += count(|it| matches!(it, Change::Departed { .. }));
        crossings[2] += count(|it| matches!(it, Change::Lives { .. }));
        crossings[3] += dropped(&told);
    }
    assert!(crossings.iter().zip([500, 500, 50, 100]).all(|(&it, enough)| enough < it), "{crossings:?}");
}

/// How many letters found nobody.
fn dropped(told: &[Told]) -> usize {
    let is_letter = |number: &u64, from: &ZoneId, to: usize| {
        let changes = told[from.0 as usize - 1].iter().flat_map(|it| &it.1);
        let sent = |it: &Change| matches!(it, Change::Posted { to: zone, number: is, item: Item::Letter { .. } } if zone.0 as usize == to + 1 && is == number);
        changes.into_iter().any(sent)
    };
    let records = told.iter().enumerate().flat_map(|(zone, it)| it.iter().map(move |it| (zone, &it.1[..])));
    records
        .filter(|(zone, it)| matches!(it, [Change::Taken { from, number }] if is_letter(number, from, *zone)))
        .count()
}

/// Changes without which a history is wrong, whatever else is in it.
fn is_needed(cause: Cause, change: &Change) -> bool {
    match change {
        Change::Put { .. } => matches!(cause, Cause::Joint(_) | Cause::Transfer(_) | Cause::Think(_)),
        Change::Taken { .. }
        | Change::Posted { .. }
        | Change::Offered { .. }
        | Change::Departed { .. }
        | Change::Kept { .. }
        | Change::Brought { .. }
        | Change::Elsewhere(_)
        | Change::Released { .. } => true,
        _ => false,
    }
}

#[test]
fn whatever_is_left_out_is_noticed() {
    let mut left_out = 0;
    for seed in 0..6 {
        let told = World::grown(seed);
        for (zone, record) in (0..told.len()).flat_map(|zone| (0..told[zone].len()).map(move |it| (zone, it)))
        {
            let (cause, changes) = &told[zone][record];
            for (place, change) in changes.iter().enumerate().filter(|it| is_needed(*cause, it.1)) {
                let mut damaged = told.clone();
                damaged[zone][record].1.remove(place);
                let found = verdict(&damaged);
                assert!(!found.is_empty(), "seed {seed}: nobody misses {change:?} of {cause:?}");
                left_out += 1;
            }
        }
    }
    assert!(500 < left_out, "{left_out}");
}

#[test]
fn whatever_is_done_twice_is_noticed() {
    for seed in 0..6 {
        let told = World::grown(seed);
        for (zone, record) in (0..told.len()).flat_map(|zone| (0..told[zone].len()).map(move |it| (zone, it)))
        {
            let again = told[zone][record].clone();
            // To take back a lock twice, or to notice a delivery twice, is harmless.
            if matches!(again.1[..], [Change::Released { .. } | Change::Delivered { .. }]) {
                continue;
            }
            let is_grant = matches!(again.1[..], [Change::Granted { .. }]);
            let mut damaged = told.clone();
            damaged[zone].insert(record + 1, again.clone());
            assert!(is_grant || !verdict(&damaged).is_empty(), "seed {seed}: nobody minds {again:?} twice");
        }
    }
}
