//! Records in words.

use super::{leads, letter, object_state, outcome, said, zone};
use crate::bench::names::TableNames;
use game::{Addressee, Scope};
use zone::{Cause, Change, EntityId, EventId, ObjectWrite, PostItem, Record, Stamp};

/// `event 1.2.3`: the zone that decides it, the epoch, a number.
pub fn event(event: EventId) -> String {
    format!("event {event}")
}

/// A letter or timer has the number of the record that made it, and its place there.
fn stamp(stamp: Stamp) -> String {
    format!("{}.{}", stamp.index, stamp.place)
}

/// The version of an object; also its incarnation (`owner`), if it has had more than one owner.
fn version(incarnation: u32, version: u32) -> String {
    match incarnation {
        0 | 1 => format!("(version {version})"),
        _ => format!("(owner {incarnation}, version {version})"),
    }
}

impl TableNames {
    pub fn record(&self, record: &Record) -> String {
        let cause = match record.cause {
            Cause::Founding => Some("the world begins".to_owned()),
            Cause::Think(object) => Some(format!("{} thinks", self.object(object))),
            Cause::Joint(it) => Some(format!("{} applied", event(it))),
            Cause::Checkpoint => Some("checkpoint".to_owned()),
            Cause::Busy => Some("too old".to_owned()),
            _ => None,
        };
        let notices = record.notices.iter().map(|it| format!("says \"{}\"", said(&it.1)));
        let changes = record.changes.iter().filter_map(|it| self.change(it, record));
        let parts: Vec<_> = cause.into_iter().chain(changes).chain(notices).collect();
        format!("{}: {}", record.index, parts.join("; "))
    }

    fn change(&self, change: &Change, record: &Record) -> Option<String> {
        Some(match change {
            Change::Put { incarnation, version: it, state, .. } => {
                format!("{} {}", object_state(state), version(*incarnation, *it))
            }
            Change::Removed { object, version: it } => {
                format!("{} is gone {}", self.object(*object), version(1, *it))
            }
            Change::Entered { player, session, .. } => {
                format!("{} enters with session {session}", self.player(*player))
            }
            Change::Left { player } => format!("{} leaves", self.player(*player)),
            Change::Acted { player, number, outcome: it, .. } => {
                format!("{}'s action {number}: {}", self.player(*player), outcome(it))
            }
            Change::TimerSet { stamp: it, at, object, letter: text } => {
                let after = at.since(record.time).as_millis();
                let (name, object, text) = (stamp(*it), self.object(*object), letter(text));
                format!("timer {name} of {object} in {after} ms: {text}")
            }
            Change::TimerDone { stamp: it, .. } => format!("timer {} done", stamp(*it)),
            Change::LetterSent { stamp: it, to, letter: text } => {
                format!("letter {} to {}: {}", stamp(*it), self.addressee(*to), letter(text))
            }
            Change::LetterDone { stamp: it } => format!("letter {} done", stamp(*it)),
            Change::Leads { primary, backup } => {
                format!("{}, epoch {}", leads(*primary, *backup), record.epoch.0)
            }
            Change::Checkpoint { .. } => return None,
            _ => return Some(self.change_between_zones(change)),
        })
    }

    /// Changes that concern other zones.
    fn change_between_zones(&self, change: &Change) -> String {
        match change {
            Change::Granted { event: it, scope, objects, .. } => {
                format!("{} holds {}", event(*it), self.claim(scope, objects))
            }
            Change::Released { event: it } => format!("locks of {} end", event(*it)),
            Change::Elsewhere(it) => format!("in {}: {}", zone(it.zone), self.written(it)),
            Change::Posted { to, number, item } => {
                let item = match item {
                    PostItem::Decided(decided) => format!("{} decided", event(decided.event)),
                    _ => self.item(item),
                };
                format!("post {number} to {}: {item}", zone(*to))
            }
            Change::Delivered { to, upto } => format!("{} has the posts up to {upto}", zone(*to)),
            Change::Taken { from, number } => format!("takes post {number} of {}", zone(*from)),
            Change::Offered { object, to } => format!("{} is offered to {}", self.object(*object), zone(*to)),
            Change::Kept { object } => format!("{} stays", self.object(*object)),
            Change::Departed { object, to, incarnation } => {
                format!("{} is {}'s (owner {incarnation})", self.object(*object), zone(*to))
            }
            Change::Brought { player, row } => {
                format!("player {} comes over after action {}", self.player(*player), row.cursor)
            }
            Change::Location { entity, zone, incarnation } => self.location(*entity, *zone, *incarnation),
            _ => format!("{change:?}"),
        }
    }

    pub(super) fn addressee(&self, to: Addressee) -> String {
        match to {
            Addressee::Object(object) => self.object(object),
            Addressee::Place(place) => format!("the owner of {place}"),
            Addressee::World => "the world".to_owned(),
        }
    }

    pub(super) fn scope(&self, scope: &Scope) -> String {
        match scope {
            Scope::Area { centre, radius } => format!("{} m around {centre}", radius.metres()),
            Scope::Objects(objects) => self.objects(objects),
        }
    }

    fn claim(&self, scope: &Scope, objects: &[space::ObjectId]) -> String {
        match scope {
            Scope::Area { .. } => format!("{}, with {}", self.scope(scope), self.objects(objects)),
            Scope::Objects(_) => self.objects(objects),
        }
    }

    fn written(&self, written: &ObjectWrite) -> String {
        format!("{} {}", self.state(written), version(written.incarnation, written.version))
    }

    fn state(&self, ObjectWrite { object, state, .. }: &ObjectWrite) -> String {
        state.as_ref().map_or_else(|| format!("{} is gone", self.object(*object)), |it| object_state(it))
    }

    fn location(&self, entity: EntityId, at: Option<space::ZoneId>, incarnation: u32) -> String {
        let name = match entity {
            EntityId::Object(object) => self.object(object),
            EntityId::Player(player) => format!("player {}", self.player(player)),
        };
        match at {
            Some(it) => format!("{name} lives in {} (owner {incarnation})", zone(it)),
            None => format!("{name} lives nowhere"),
        }
    }

    pub fn item(&self, item: &PostItem) -> String {
        match item {
            PostItem::Decided(decided) => {
                let writes = super::list(decided.writes.iter().map(|it| self.state(it)));
                format!("{} decided, {writes}", event(decided.event))
            }
            PostItem::Offer(transfer) => {
                let player = transfer.player.as_ref();
                let player = player.map(|it| format!(", with its player after action {}", it.1.cursor));
                let timers = match transfer.timers.len() {
                    0 => String::new(),
                    count => format!(", with {count} timers"),
                };
                format!(
                    "offer, {}{timers}{}",
                    object_state(&transfer.snapshot.state),
                    player.unwrap_or_default()
                )
            }
            PostItem::Answer { object, taken, .. } => {
                format!("{} {}", self.object(*object), if *taken { "taken" } else { "declined" })
            }
            PostItem::Letter { to, letter: text, .. } => {
                format!("letter to {}, {}", self.addressee(*to), letter(text))
            }
            PostItem::Location { entity, zone, incarnation } => self.location(*entity, *zone, *incarnation),
        }
    }
}
