//! Small logs written by hand, to show each checker something wrong.

use super::surviving_log::{LogLine, SurvivingLog};
use super::toy::{self, Toy};
use crate::history_checker::ZoneSpec;
use crate::scenario::Count;
use crate::violation::Violations;
use game::Hosted;
use machine::{Address, Time};
use serde_bytes::ByteBuf;
use space::{Epoch, Motion, ObjectId, Polygon, Position, ZoneId};
use std::sync::Arc;
use zone::{
    Cause, Change, DecidedEvent, Durability, EntityId, EventId, Execution, ObjectWrite, Record, cut_at,
};

/// Time at which every scripted history ends.
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

pub fn written(zone: u32, object: ObjectId, version: u32, state: &[u8]) -> ObjectWrite {
    let (zone, state) = (ZoneId(zone), Some(bytes(state)));
    ObjectWrite { zone, object, incarnation: 1, version, motion: None, state, timers: Vec::new() }
}

pub fn whole(event: EventId, writes: &[ObjectWrite]) -> DecidedEvent {
    DecidedEvent { event, time: Time::ZERO, writes: writes.to_vec(), notices: Vec::new() }
}

pub fn posted(to: u32, number: u64, item: zone::PostItem) -> Change {
    Change::Posted { to: ZoneId(to), number, item }
}

pub fn taken(from: u32, number: u64) -> Change {
    Change::Taken { from: ZoneId(from), number }
}

pub fn departed(object: ObjectId, to: u32, incarnation: u32) -> Change {
    Change::Departed { object, to: ZoneId(to), incarnation }
}

pub fn lives(object: ObjectId, zone: Option<u32>, incarnation: u32) -> Change {
    Change::Location { entity: EntityId::Object(object), zone: zone.map(ZoneId), incarnation }
}

pub fn record(index: u64, cause: Cause, changes: &[Change]) -> Record {
    let (epoch, time) = (Epoch(1), Time::from_millis(index));
    let (notices, motions) = (Vec::new(), Vec::new());
    Record { index, epoch, cut: cut_at(time), time, cause, changes: changes.to_vec(), notices, motions }
}

/// Log of a zone: a cause and its changes per record, in order.
pub type ScriptedLog = Vec<(Cause, Vec<Change>)>;

pub fn spec(zone: u32) -> ZoneSpec {
    let corner = |at| Position::new(at, at).unwrap();
    let region = Polygon::rectangle(corner(-100_000), corner(100_000)).unwrap();
    let rules = Arc::new(Hosted(Toy));
    let hosts = vec![Address(u64::from(zone) * 2), Address(u64::from(zone) * 2 + 1)];
    let count: Option<Count> = Some(Arc::new(toy::goods));
    ZoneSpec { zone: ZoneId(zone), region, rules, count, hosts, durability: Durability::Synced }
}

/// Violations that a checker finds in these logs of zones 1, 2, 3 …
pub fn check_logs(
    script: &[ScriptedLog],
    check: impl FnOnce(&[SurvivingLog<'_>], &mut Violations),
) -> Vec<String> {
    check_logs_with_calls(script, &[], check)
}

/// As [`check_logs`], with calls of the game: zone, record, call.
pub fn check_logs_with_calls(
    script: &[ScriptedLog],
    asked: &[(u32, u64, Execution)],
    check: impl FnOnce(&[SurvivingLog<'_>], &mut Violations),
) -> Vec<String> {
    let specs: Vec<_> = (1..).zip(script).map(|(zone, _)| spec(zone)).collect();
    let mut logs = Vec::new();
    for (zone, (spec, script)) in (1..).zip(specs.iter().zip(script)) {
        let numbered = (1..).zip(script);
        let lines = numbered.map(|(index, (cause, changes))| LogLine {
            at: Time::from_millis(index),
            record: record(index, *cause, changes),
            execution: asked.iter().find(|it| (it.0, it.1) == (zone, index)).map(|it| &it.2),
        });
        logs.push(SurvivingLog { zone: ZoneId(zone), spec, lines: lines.collect(), missing: None });
    }
    let mut out = Violations::new(1);
    out.now = END;
    check(&logs, &mut out);
    out.into_vec().into_iter().map(|it| it.detail).collect()
}
