//! What became of the apples: as the logs tell it that survived, and as whoever reigns holds it.

use super::rules::{Thing, Wish};
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use trial::World;
use trial::ledger::Logged;
use zone::{Asked, Change, Item, Record};

/// What was counted in a world that has come to rest.
#[derive(Debug, Default)]
pub struct Harvest {
    /// Apples that were picked.
    pub picked: u64,
    /// How often some were given to somebody.
    pub given: u64,
    /// How often to somebody of another zone.
    pub given_across: u64,
    /// Apples that went with players who left.
    pub gone: u64,
    /// Apples that somebody has.
    pub held: u64,
    /// All trees.
    pub trees: u64,
}

impl Harvest {
    /// Counts everything.
    pub fn of(world: &World) -> Self {
        let mut it = Self::default();
        for zone in world.layout().zones() {
            for logged in survived(world, zone) {
                it.take(logged);
            }
        }
        it.gone = gone(world);
        for thing in things(world).values() {
            it.held += apples(thing);
            it.trees += u64::from(matches!(thing, Thing::Tree { .. }));
        }
        it
    }

    /// Whether no apple is lost or doubled.
    pub const fn adds_up(&self) -> bool {
        self.picked == self.held + self.gone
    }

    /// Only the zone that decides an event writes what the game was asked: so each is counted once.
    fn take(&mut self, logged: &Logged) {
        let done = logged.ran.as_ref().filter(|it| !it.refused);
        let Some(Asked::Act { action, .. }) = done.map(|it| &it.asked) else { return };
        match postcard::from_bytes(action).unwrap() {
            Wish::Pick { .. } => self.picked += 1,
            Wish::Give { .. } => {
                self.given += 1;
                self.given_across += u64::from(record(logged).changes.iter().any(is_decision));
            }
        }
    }
}

/// A zone's records, as whoever reigns has them.
fn survived(world: &World, zone: ZoneId) -> impl Iterator<Item = &Logged> {
    let ledger = world.monitor.judge.ledger(zone);
    let (host, _) = world.primary(zone).unwrap();
    let names = ledger.chain(ledger.last_of(host).unwrap());
    names.into_iter().map(|name| &ledger.records[&name])
}

fn record(logged: &Logged) -> Record {
    Record::from_bytes(&logged.bytes).unwrap()
}

const fn is_decision(change: &Change) -> bool {
    matches!(change, Change::Posted { item: Item::Decided(_), .. })
}

/// What those had who are no more: they may have got it in one zone and left in another.
fn gone(world: &World) -> u64 {
    let mut had: BTreeMap<(ObjectId, u32), u64> = BTreeMap::new();
    let mut removed = Vec::new();
    let records = world.layout().zones().flat_map(|zone| survived(world, zone)).map(record);
    for change in records.flat_map(|it| it.changes) {
        match change {
            Change::Put { object, version, state, .. } => {
                had.insert((object, version), apples(&thing(&state)));
            }
            Change::Removed { object, version } => removed.push((object, version - 1)),
            _ => (),
        }
    }
    removed.iter().map(|it| had[it]).sum()
}

/// Everything there is. Whoever is going over is in two places, and counts where they go.
fn things(world: &World) -> BTreeMap<ObjectId, Thing> {
    let primaries = world.layout().zones().map(|zone| world.primary(zone).unwrap().1);
    let mut objects: Vec<_> = primaries.flat_map(|it| it.state().objects.iter()).collect();
    objects.sort_unstable_by_key(|it| it.incarnation);
    objects.into_iter().map(|it| (it.id, thing(&it.state))).collect()
}

fn thing(state: &[u8]) -> Thing {
    postcard::from_bytes(state).unwrap()
}

fn apples(thing: &Thing) -> u64 {
    match thing {
        Thing::Tree { .. } => 0,
        Thing::Picker { apples, .. } => u64::from(*apples),
    }
}
