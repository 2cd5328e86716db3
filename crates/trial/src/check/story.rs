//! Small histories made by hand, to show each checker something wrong.

use super::chain::{Chain, Line};
use super::toy::{self, Toy};
use crate::judge::About;
use crate::scenario::Count;
use crate::violation::Violations;
use game::Hosted;
use machine::{Address, Time};
use serde_bytes::ByteBuf;
use space::{Epoch, Motion, ObjectId, Polygon, Position, ZoneId};
use std::sync::Arc;
use zone::{Being, Cause, Change, Durability, EventId, Ran, Record, Whole, Written, cut_at};

/// When every story ends.
pub const END: Time = Time::from_millis(60_000);

pub fn object(zone: u32, counter: u32) -> ObjectId {
    ObjectId { zone: ZoneId(zone), epoch: Epoch(1), counter }
}

pub fn event(zone: u32, number: u64) -> EventId {
    EventId { zone: ZoneId(zone), epoch: Epoch(1), number }
}

pub fn bytes(it: &[u8]) -> ByteBuf {
    ByteBuf::from(it.to_vec())
}

pub fn motion(metres: i32) -> Motion {
    Motion { position: Position::new(metres * 1_000, 0).unwrap(), ..Motion::default() }
}

pub fn put(object: ObjectId, incarnation: u32, version: u32, state: &[u8]) -> Change {
    Change::Put { object, incarnation, version, motion: Motion::default(), state: bytes(state) }
}

pub fn removed(object: ObjectId, version: u32) -> Change {
    Change::Removed { object, version }
}

pub fn written(zone: u32, object: ObjectId, version: u32, state: &[u8]) -> Written {
    let (zone, state) = (ZoneId(zone), Some(bytes(state)));
    Written { zone, object, incarnation: 1, version, motion: None, state, timers: Vec::new() }
}

pub fn whole(event: EventId, writes: &[Written]) -> Whole {
    Whole { event, time: Time::ZERO, writes: writes.to_vec(), notices: Vec::new() }
}

pub fn posted(to: u32, number: u64, item: zone::Item) -> Change {
    Change::Posted { to: ZoneId(to), number, item }
}

pub fn taken(from: u32, number: u64) -> Change {
    Change::Taken { from: ZoneId(from), number }
}

pub fn departed(object: ObjectId, to: u32, incarnation: u32) -> Change {
    Change::Departed { object, to: ZoneId(to), incarnation }
}

pub fn lives(object: ObjectId, zone: Option<u32>, incarnation: u32) -> Change {
    Change::Lives { being: Being::Object(object), zone: zone.map(ZoneId), incarnation }
}

pub fn record(index: u64, cause: Cause, changes: &[Change]) -> Record {
    let (epoch, time) = (Epoch(1), Time::from_millis(index));
    let (notices, motions) = (Vec::new(), Vec::new());
    Record { index, epoch, cut: cut_at(time), time, cause, changes: changes.to_vec(), notices, motions }
}

/// What a zone wrote: a cause and its changes per record, in order.
pub type Told = Vec<(Cause, Vec<Change>)>;

pub fn about(zone: u32) -> About {
    let corner = |at| Position::new(at, at).unwrap();
    let region = Polygon::rectangle(corner(-100_000), corner(100_000)).unwrap();
    let rules = Arc::new(Hosted(Toy));
    let hosts = vec![Address(u64::from(zone) * 2), Address(u64::from(zone) * 2 + 1)];
    let count: Option<Count> = Some(toy::goods);
    About { zone: ZoneId(zone), region, rules, count, hosts, durability: Durability::Synced }
}

/// What a checker says of zones 1, 2, 3 … that wrote this.
pub fn judged(told: &[Told], judge: impl FnOnce(&[Chain<'_>], &mut Violations)) -> Vec<String> {
    judged_with(told, &[], judge)
}

/// The same, with what the game was asked: zone, record, question.
pub fn judged_with(
    told: &[Told],
    asked: &[(u32, u64, Ran)],
    judge: impl FnOnce(&[Chain<'_>], &mut Violations),
) -> Vec<String> {
    let abouts: Vec<_> = (1..).zip(told).map(|(zone, _)| about(zone)).collect();
    let mut chains = Vec::new();
    for (zone, (about, told)) in (1..).zip(abouts.iter().zip(told)) {
        let numbered = (1..).zip(told);
        let lines = numbered.map(|(index, (cause, changes))| Line {
            at: Time::from_millis(index),
            record: record(index, *cause, changes),
            ran: asked.iter().find(|it| (it.0, it.1) == (zone, index)).map(|it| &it.2),
        });
        chains.push(Chain { zone: ZoneId(zone), about, lines: lines.collect(), missing: None });
    }
    let mut out = Violations::new(1);
    out.now = END;
    judge(&chains, &mut out);
    out.into_vec().into_iter().map(|it| it.detail).collect()
}
