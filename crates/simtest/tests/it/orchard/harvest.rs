//! The fate of the apples: by the logs that survived, and by the states of the primaries.

use super::rules::{OrchardAction, OrchardState};
use simtest::SimulatedWorld;
use simtest::record_tracker::TrackedRecord;
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{Change, GameInput, PostItem, Record};

/// Counts of apples and trees in a world that has come to rest.
#[derive(Debug, Default)]
pub struct Harvest {
    /// Number of apples that were picked.
    pub picked: u64,
    /// Number of gifts of apples.
    pub given: u64,
    /// Number of gifts to a picker of another zone.
    pub given_across: u64,
    /// Number of apples that went with players who left.
    pub gone: u64,
    /// Number of apples that pickers have now.
    pub held: u64,
    /// Number of trees in all zones.
    pub trees: u64,
}

impl Harvest {
    /// Counts the apples of a world.
    pub fn of(world: &SimulatedWorld) -> Self {
        let mut it = Self::default();
        for zone in world.layout().zones() {
            for logged in survived(world, zone) {
                it.take(logged);
            }
        }
        it.gone = gone(world);
        for thing in things(world).values() {
            it.held += apples(thing);
            it.trees += u64::from(matches!(thing, OrchardState::Tree { .. }));
        }
        it
    }

    /// Returns whether no apple is lost or doubled.
    pub const fn adds_up(&self) -> bool {
        self.picked == self.held + self.gone
    }

    /// Counts a record. Only the coordinator notes the call of the game, so each event is counted once.
    fn take(&mut self, logged: &TrackedRecord) {
        let done = logged.execution.as_ref().filter(|it| !it.refused);
        let Some(GameInput::Act { action, .. }) = done.map(|it| &it.input) else { return };
        match postcard::from_bytes(action).unwrap() {
            OrchardAction::Pick { .. } => self.picked += 1,
            OrchardAction::Give { .. } => {
                self.given += 1;
                self.given_across += u64::from(record(logged).changes.iter().any(is_decision));
            }
        }
    }
}

/// A zone's records, as its primary has them.
fn survived(world: &SimulatedWorld, zone: ZoneId) -> impl Iterator<Item = &TrackedRecord> {
    let tracker = world.monitor.checker.tracker(zone);
    let (host, _) = world.primary(zone).unwrap();
    let names = tracker.names_up_to(tracker.last_of(host).unwrap());
    names.into_iter().map(|name| &tracker.records[&name])
}

fn record(logged: &TrackedRecord) -> Record {
    Record::from_bytes(&logged.bytes).unwrap()
}

const fn is_decision(change: &Change) -> bool {
    matches!(change, Change::Posted { item: PostItem::Decided(_), .. })
}

/// Number of apples of removed objects: they may have got them in one zone and left in another.
fn gone(world: &SimulatedWorld) -> u64 {
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

/// All objects of the world. An object in transfer is in two zones, and counts with its new owner.
fn things(world: &SimulatedWorld) -> BTreeMap<ObjectId, OrchardState> {
    let primaries = world.layout().zones().map(|zone| world.primary(zone).unwrap().1);
    let mut objects: Vec<_> = primaries.flat_map(|it| it.state().objects.iter()).collect();
    objects.sort_unstable_by_key(|it| it.incarnation);
    objects.into_iter().map(|it| (it.id, thing(&it.state))).collect()
}

fn thing(state: &[u8]) -> OrchardState {
    postcard::from_bytes(state).unwrap()
}

fn apples(thing: &OrchardState) -> u64 {
    match thing {
        OrchardState::Tree { .. } => 0,
        OrchardState::Picker { apples, .. } => u64::from(*apples),
    }
}
