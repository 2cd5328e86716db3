//! A dull model of what zones do together, to test the checkers: everything it writes is right, and a history in which
//! something is left out or done twice is wrong.

use super::scripted_log::{
    ScriptedLog, bytes, check_logs, event, object, posted, put, removed, taken, whole, written,
};
use super::toy::holder;
use super::{PlayerCheckers, end};
use crate::history_checker::Ending;
use game::{Addressee, PlayerId, Scope};
use machine::Rng;
use space::{Epoch, Motion, ObjectId, Position, ZoneId};
use std::collections::{BTreeMap, VecDeque};
use zone::{
    Cause, Change, EntityId, EventId, ObjectSnapshot, Outcome, PlayerState, PostItem, Stamp, Transfer,
};

const ZONES: u32 = 3;

#[derive(Clone)]
struct ModelObject {
    incarnation: u32,
    version: u32,
    coins: u32,
    cursor: u64,
    /// True if it is locked, decided upon or offered.
    busy: bool,
}

#[derive(Default)]
struct ModelZone {
    script: ScriptedLog,
    things: BTreeMap<ObjectId, ModelObject>,
    /// The last number sent to each other zone, and the items it has not taken.
    sent: BTreeMap<u32, u64>,
    in_transit: BTreeMap<u32, VecDeque<(u64, PostItem)>>,
    /// The last number taken of each other zone, and the last that was delivered to it.
    taken: BTreeMap<u32, u64>,
    delivered: BTreeMap<u32, u64>,
    /// The newest report of each object born here: its incarnation, and whether it lives.
    reports: BTreeMap<ObjectId, (u32, bool)>,
}

impl ModelZone {
    /// Takes in a report of an object. Returns whether it is news.
    fn take_report(&mut self, it: ObjectId, incarnation: u32, lives: bool) -> bool {
        let known = self.reports.entry(it).or_default();
        let news = known.0 <= incarnation;
        if news {
            *known = (incarnation, lives);
        }
        news
    }
}

/// A payment that has its locks: the coordinator with its object, and the participant with its object.
struct LockedPayment {
    event: EventId,
    here: (u32, ObjectId),
    there: (u32, ObjectId),
}

struct ModelWorld {
    rng: Rng,
    zones: BTreeMap<u32, ModelZone>,
    payments: Vec<LockedPayment>,
    born: Vec<ObjectId>,
    events: u64,
}

fn state(coins: u32) -> Vec<u8> {
    holder(coins, &[])
}

fn player(it: ObjectId) -> PlayerId {
    PlayerId(u64::from(it.counter))
}

fn row(it: ObjectId, cursor: u64) -> PlayerState {
    let (name, avatar, place) = (String::new(), Some(it), Position::ORIGIN);
    PlayerState { name, session: 1, present: true, avatar, place, cursor, kept: VecDeque::new() }
}

impl ModelWorld {
    fn run(seed: u64) -> Vec<ScriptedLog> {
        let zones = (1..=ZONES).map(|it| (it, ModelZone::default())).collect();
        let mut world =
            Self { rng: Rng::seeded(seed), zones, payments: Vec::new(), born: Vec::new(), events: 0 };
        for _ in 0..150 {
            world.step();
        }
        world.settle();
        world.zones.into_values().map(|it| it.script).collect()
    }

    fn any_zone(&mut self) -> u32 {
        1 + self.rng.below(u64::from(ZONES)) as u32
    }

    fn other_than(&mut self, zone: u32) -> u32 {
        1 + (zone - 1 + 1 + self.rng.below(u64::from(ZONES) - 1) as u32) % ZONES
    }

    fn zone(&mut self, zone: u32) -> &mut ModelZone {
        self.zones.get_mut(&zone).unwrap()
    }

    fn write(&mut self, zone: u32, cause: Cause, changes: Vec<Change>) {
        self.zone(zone).script.push((cause, changes));
    }

    fn post(&mut self, from: u32, to: u32, item: PostItem) -> Change {
        let zone = self.zone(from);
        let number = zone.sent.entry(to).or_default();
        *number += 1;
        zone.in_transit.entry(to).or_default().push_back((*number, item.clone()));
        posted(to, *number, item)
    }

    /// A random object of a zone that no event and no offer is busy with.
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
        while !self.payments.is_empty() {
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
        self.zone(zone).take_report(it, 1, true);
        let thing = ModelObject { incarnation: 1, version: 1, coins: 20, cursor: 0, busy: false };
        self.zone(zone).things.insert(it, thing);
        let entered = Change::Entered { player: player(it), session: 1, name: String::new(), avatar: it };
        self.write(zone, Cause::Join(player(it)), vec![put(it, 1, 1, &state(20)), entered]);
    }

    /// Removes an object; its birth zone is told.
    fn leaves(&mut self, zone: u32) {
        let Some(it) = self.free(zone).filter(|_| self.rng.coin()) else { return };
        let thing = self.zone(zone).things.remove(&it).unwrap();
        let mut changes = vec![removed(it, thing.version + 1), Change::Left { player: player(it) }];
        match it.zone.0 {
            home if home == zone => drop(self.zone(zone).take_report(it, thing.incarnation, false)),
            home => changes.push(self.location(zone, home, it, None, thing.incarnation)),
        }
        self.write(zone, Cause::Leave(player(it)), changes);
    }

    fn location(
        &mut self,
        from: u32,
        home: u32,
        it: ObjectId,
        zone: Option<u32>,
        incarnation: u32,
    ) -> Change {
        self.post(
            from,
            home,
            PostItem::Location { entity: EntityId::Object(it), zone: zone.map(ZoneId), incarnation },
        )
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

    /// Begins a payment of a coin to an object of another zone, and gets the locks.
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
        self.payments.push(LockedPayment { event, here: (zone, here), there: (other, there) });
    }

    fn decides(&mut self) {
        let Some(LockedPayment { event, here: (zone, here), there: (other, there) }) = self.payments.pop()
        else {
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
        let item = PostItem::Decided(whole(event, &[ours, theirs.clone()]));
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
        let snapshot = ObjectSnapshot { object: it, incarnation, version, motion, state };
        let player = Some((player(it), row(it, thing.cursor)));
        let transfer = Transfer { snapshot, timers: Vec::new(), player, player_address: None, event: None };
        let sent = self.post(zone, to, PostItem::Offer(Box::new(transfer)));
        let offered = Change::Offered { object: it, to: ZoneId(to) };
        self.write(zone, Cause::Transfer(it), vec![offered, sent]);
    }

    fn writes_letter(&mut self, zone: u32) {
        let to = self.other_than(zone);
        let letter = bytes(&self.rng.next_u64().to_le_bytes());
        let whom = self.born.get(self.rng.below(2 * self.born.len() as u64 + 1) as usize);
        let whom = whom.map_or(Addressee::World, |&it| Addressee::Object(it));
        let sent = self.post(zone, to, PostItem::Letter { to: whom, letter, hops: 0 });
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

    /// Delivers one item to a zone. Returns whether there was one.
    fn delivers(&mut self, to: u32) -> bool {
        let from = (1..=ZONES).find(|it| self.zones[it].in_transit.get(&to).is_some_and(|it| !it.is_empty()));
        let Some(from) = from else { return false };
        let (number, item) = self.zone(from).in_transit.get_mut(&to).unwrap().pop_front().unwrap();
        self.zone(to).taken.insert(from, number);
        let took = taken(from, number);
        match item {
            PostItem::Decided(whole) => self.applies(to, took, &whole),
            PostItem::Offer(transfer) => self.answers(to, from, took, &transfer),
            PostItem::Answer { object, incarnation, taken: true } => {
                self.zone(to).things.remove(&object);
                self.zone(to).take_report(object, incarnation + 1, true);
                let departed = Change::Departed { object, to: ZoneId(from), incarnation: incarnation + 1 };
                self.write(to, Cause::Transfer(object), vec![took, departed]);
            }
            PostItem::Answer { object, .. } => {
                self.zone(to).things.get_mut(&object).unwrap().busy = false;
                self.write(to, Cause::Transfer(object), vec![took, Change::Kept { object }]);
            }
            PostItem::Letter { to: addressee, letter, hops } => {
                let is_gone = matches!(addressee, Addressee::Object(it) if self.knows_gone(to, it));
                let passed_on = hops < 3 && self.rng.coin();
                let change = if is_gone {
                    None
                } else if passed_on {
                    let next = self.other_than(to);
                    Some(self.post(to, next, PostItem::Letter { to: addressee, letter, hops: hops + 1 }))
                } else {
                    let stamp = Stamp { epoch: Epoch(1), index: number, place: from as u16 };
                    Some(Change::LetterSent { stamp, to: addressee, letter })
                };
                self.write(to, Cause::Post(ZoneId(from)), [took].into_iter().chain(change).collect());
            }
            PostItem::Location { entity, zone, incarnation } => {
                let EntityId::Object(it) = entity else {
                    unreachable!("the model posts no locations of players")
                };
                let news = self.zone(to).take_report(it, incarnation, zone.is_some());
                let change = news.then_some(Change::Location { entity, zone, incarnation });
                self.write(to, Cause::Post(ZoneId(from)), [took].into_iter().chain(change).collect());
            }
        }
        true
    }

    /// Returns whether a zone knows that an object born there is gone.
    fn knows_gone(&self, zone: u32, it: ObjectId) -> bool {
        it.zone == ZoneId(zone) && self.zones[&zone].reports.get(&it).is_some_and(|it| !it.1)
    }

    fn applies(&mut self, zone: u32, took: Change, whole: &zone::DecidedEvent) {
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

    fn answers(&mut self, zone: u32, from: u32, took: Change, transfer: &Transfer) {
        let it = transfer.snapshot.object;
        // An object that comes back must have left first.
        let taken = self.rng.below(3) != 0 && !self.zones[&zone].things.contains_key(&it);
        let (incarnation, version) = (transfer.snapshot.incarnation + 1, transfer.snapshot.version + 1);
        let answer =
            self.post(zone, from, PostItem::Answer { object: it, incarnation: incarnation - 1, taken });
        let mut changes = vec![took, answer];
        if taken {
            let thing = self.zones[&from].things[&it].clone();
            let row = row(it, thing.cursor);
            changes.push(put(it, incarnation, version, &state(thing.coins)));
            changes.push(Change::Brought { player: player(it), row });
            let thing = ModelObject { incarnation, version, busy: false, ..thing };
            self.zone(zone).things.insert(it, thing);
            match it.zone.0 {
                home if home == zone => drop(self.zone(zone).take_report(it, incarnation, true)),
                home if home == from => (),
                home => changes.push(self.location(zone, home, it, Some(zone), incarnation)),
            }
        }
        self.write(zone, Cause::Transfer(it), changes);
    }
}

fn violations(script: &[ScriptedLog]) -> Vec<String> {
    check_logs(script, |logs, out| drop(end(logs, &PlayerCheckers::default(), Ending::Settled, out)))
}

#[test]
fn whatever_zones_do_together_is_right() {
    let mut crossings = [0; 4];
    for seed in 0..200 {
        let script = ModelWorld::run(seed);
        let found = violations(&script);
        assert!(found.is_empty(), "seed {seed}: {found:?}");
        let count = |is: fn(&Change) -> bool| {
            script.iter().flatten().flat_map(|it| &it.1).filter(|it| is(it)).count()
        };
        crossings[0] += count(|it| matches!(it, Change::Posted { item: PostItem::Decided(_), .. }));
        crossings[1] += count(|it| matches!(it, Change::Departed { .. }));
        crossings[2] += count(|it| matches!(it, Change::Location { .. }));
        crossings[3] += dropped(&script);
    }
    assert!(crossings.iter().zip([500, 500, 50, 100]).all(|(&it, enough)| enough < it), "{crossings:?}");
}

/// Number of letters that were dropped because their addressee is gone.
fn dropped(script: &[ScriptedLog]) -> usize {
    let is_letter = |number: &u64, from: &ZoneId, to: usize| {
        let changes = script[from.0 as usize - 1].iter().flat_map(|it| &it.1);
        let sent = |it: &Change| matches!(it, Change::Posted { to: zone, number: is, item: PostItem::Letter { .. } } if zone.0 as usize == to + 1 && is == number);
        changes.into_iter().any(sent)
    };
    let records = script.iter().enumerate().flat_map(|(zone, it)| it.iter().map(move |it| (zone, &it.1[..])));
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
        let script = ModelWorld::run(seed);
        for (zone, record) in
            (0..script.len()).flat_map(|zone| (0..script[zone].len()).map(move |it| (zone, it)))
        {
            let (cause, changes) = &script[zone][record];
            for (place, change) in changes.iter().enumerate().filter(|it| is_needed(*cause, it.1)) {
                let mut damaged = script.clone();
                damaged[zone][record].1.remove(place);
                let found = violations(&damaged);
                assert!(!found.is_empty(), "seed {seed}: no checker misses {change:?} of {cause:?}");
                left_out += 1;
            }
        }
    }
    assert!(500 < left_out, "{left_out}");
}

#[test]
fn whatever_is_done_twice_is_noticed() {
    for seed in 0..6 {
        let script = ModelWorld::run(seed);
        for (zone, record) in
            (0..script.len()).flat_map(|zone| (0..script[zone].len()).map(move |it| (zone, it)))
        {
            let again = script[zone][record].clone();
            // A lock released twice, or a delivery noticed twice, is harmless.
            if matches!(again.1[..], [Change::Released { .. } | Change::Delivered { .. }]) {
                continue;
            }
            let is_grant = matches!(again.1[..], [Change::Granted { .. }]);
            let mut damaged = script.clone();
            damaged[zone].insert(record + 1, again.clone());
            assert!(
                is_grant || !violations(&damaged).is_empty(),
                "seed {seed}: no checker minds {again:?} twice"
            );
        }
    }
}
