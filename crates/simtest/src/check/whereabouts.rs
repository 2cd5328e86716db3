//! An object's birth zone knows its owner, or that it is gone: zones that look for the object ask there. And every
//! player is in exactly one zone.
//!
//! The birth zone cannot know what is still on its way to it.

use crate::violation::Violations;
use game::PlayerId;
use space::{ObjectId, ZoneId};
use std::collections::{BTreeMap, BTreeSet};
use zone::{EntityId, Location, PlayerState, PostItem, ZoneState};

const NAME: &str = "whereabouts";

/// Checks the states of all zones at the end.
pub fn end(states: &[ZoneState], out: &mut Violations) {
    let by_zone: BTreeMap<ZoneId, &ZoneState> = states.iter().map(|it| (it.zone, it)).collect();
    let owners = owners(states);
    let under_way = under_way(&by_zone);
    for (&object, &owner) in owners.iter().filter(|it| !under_way.contains(it.0)) {
        // An owner that is the birth zone itself needs no location.
        let Some(home) = by_zone.get(&object.zone).filter(|it| it.zone != owner) else { continue };
        let stored_location = stored_location(home, object);
        if stored_location != Some(Some(owner)) {
            let text = format!("{object} is {owner}'s, and {} says {stored_location:?}", home.zone);
            out.add(NAME, text);
        }
    }
    look_at_players(states, &under_way, out);
    for home in states {
        for (object, _) in objects_of(home).filter(|it| it.1.zone.is_none()) {
            if !home.mesh.offered.contains_key(&object) {
                out.add(NAME, format!("{} still knows that {object} is gone", home.zone));
            }
        }
        for (object, _) in objects_of(home) {
            let is_judged = object.zone == home.zone && !under_way.contains(&object);
            if is_judged && !owners.contains_key(&object) {
                let text =
                    format!("{object} is gone, and {} says {:?}", home.zone, stored_location(home, object));
                out.add(NAME, text);
            }
        }
    }
}

/// Locations of objects that a zone stores but does not own.
fn objects_of(home: &ZoneState) -> impl Iterator<Item = (ObjectId, &Location)> {
    home.mesh.locations.iter().filter_map(|(entity, lives)| match entity {
        EntityId::Object(object) => Some((*object, lives)),
        EntityId::Player(_) => None,
    })
}

/// Checks that every player is in one zone. During a transfer a player is in both zones until the old owner has the
/// answer.
fn look_at_players(states: &[ZoneState], under_way: &BTreeSet<ObjectId>, out: &mut Violations) {
    let mut rows: BTreeMap<PlayerId, Vec<ZoneId>> = BTreeMap::new();
    for state in states {
        let is_going = |row: &PlayerState| row.avatar.is_some_and(|it| under_way.contains(&it));
        for (&player, row) in &state.players {
            let rows = rows.entry(player).or_default();
            if !is_going(row) {
                rows.push(state.zone);
            }
        }
    }
    for (player, zones) in rows.iter().filter(|it| 1 < it.1.len()) {
        out.add(NAME, format!("{player:?} is in {zones:?}"));
    }
    for state in states {
        for entity in state.mesh.locations.keys() {
            if let EntityId::Player(player) = entity
                && !rows.contains_key(player)
            {
                out.add(NAME, format!("{player:?} is nowhere, and {} says otherwise", state.zone));
            }
        }
    }
}

/// The location that a zone stores for an object.
fn stored_location(home: &ZoneState, object: ObjectId) -> Option<Option<ZoneId>> {
    home.mesh.locations.get(&EntityId::Object(object)).map(|it| it.zone)
}

/// All living objects with their owners. An offered object has two until the answer arrives; it is under way.
fn owners(states: &[ZoneState]) -> BTreeMap<ObjectId, ZoneId> {
    let ids = |state: &ZoneState| state.objects.iter().map(|it| it.id).collect::<Vec<_>>();
    let owned = states.iter().flat_map(|state| ids(state).into_iter().map(|id| (id, state.zone)));
    owned.filter(|it| it.0 != game::WORLD).collect()
}

/// Objects about which a post item is on its way.
fn under_way(by_zone: &BTreeMap<ZoneId, &ZoneState>) -> BTreeSet<ObjectId> {
    let mut found = BTreeSet::new();
    for (from, state) in by_zone {
        for (to, outgoing) in &state.mesh.post {
            let taken = by_zone.get(to).and_then(|it| it.mesh.taken.get(from)).copied().unwrap_or(0);
            found.extend(outgoing.items.range(taken + 1..).filter_map(|(_, (_, item))| subject(item)));
        }
    }
    found
}

/// The object whose location an item tells.
fn subject(item: &PostItem) -> Option<ObjectId> {
    match item {
        PostItem::Offer(transfer) => Some(transfer.snapshot.object),
        PostItem::Answer { object, .. } | PostItem::Location { entity: EntityId::Object(object), .. } => {
            Some(*object)
        }
        PostItem::Decided(_) | PostItem::Letter { .. } | PostItem::Location { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripted_log::{
        ScriptedLog, bytes, check_logs, departed, lives, object, posted, put, removed, taken,
    };
    use super::*;
    use space::Position;
    use std::collections::VecDeque;
    use zone::{Cause, Change};

    /// Violations of zones 1, 2 and 3 that wrote these changes, one per record.
    fn violations(script: [&[Change]; 3]) -> Vec<String> {
        let script: Vec<ScriptedLog> = script
            .iter()
            .map(|it| it.iter().map(|change| (Cause::Post(ZoneId(9)), vec![change.clone()])).collect())
            .collect();
        check_logs(&script, |logs, out| {
            let states: Vec<_> = logs
                .iter()
                .map(|log| {
                    let mut state = ZoneState::new(log.zone);
                    log.lines.iter().for_each(|it| state.apply(&it.record).unwrap());
                    state
                })
                .collect();
            end(&states, out);
        })
    }

    #[test]
    fn a_birth_zone_knows_its_objects() {
        let it = object(1, 5);
        let (born, left) = (put(it, 1, 1, b""), departed(it, 2, 2));
        let gone_on = [put(it, 2, 2, b""), departed(it, 3, 3)];
        let there = [put(it, 3, 3, b"")];
        let says = |home: &[Change], there: &[Change]| violations([home, &gone_on, there]);
        assert!(violations([&[born.clone(), left.clone()], &gone_on[..1], &[]]).is_empty());
        assert!(says(&[born.clone(), left.clone(), lives(it, Some(3), 3)], &there).is_empty());
        // The report that it went on comes before the report that it arrived.
        assert!(says(&[born.clone(), lives(it, Some(3), 3), left.clone()], &there).is_empty());
        assert!(says(&[born.clone(), left.clone()], &there)[0].contains("zone 1 says Some(Some(ZoneId(2)))"));
        let dead = [there[0].clone(), removed(it, 4)];
        assert!(says(&[born.clone(), left.clone(), lives(it, None, 3)], &dead).is_empty());
        assert!(says(&[born.clone(), lives(it, None, 3), left.clone()], &dead).is_empty());
        assert!(says(&[born.clone(), left.clone()], &dead)[0].contains("is gone"));
        assert!(says(&[born, left, lives(it, None, 3)], &there)[0].contains("says None"));
    }

    #[test]
    fn every_player_is_somewhere_once() {
        let (player, it) = (PlayerId(7), object(1, 5));
        let row = PlayerState {
            name: String::new(),
            session: 1,
            present: true,
            avatar: Some(it),
            place: Position::ORIGIN,
            cursor: 0,
            kept: VecDeque::new(),
        };
        let entered = Change::Entered { player, session: 1, name: String::new(), avatar: it };
        let born = [put(it, 1, 1, b""), entered];
        let came = [put(it, 2, 2, b""), Change::Brought { player, row }];
        let left = [&born[..], &[departed(it, 2, 2)]].concat();
        assert!(violations([&left, &came, &[]]).is_empty());
        assert!(violations([&born, &came, &[]]).iter().any(|it| it.contains("is in [")));
        assert!(violations([&left, &came[..1], &[]])[0].contains("is nowhere"));
    }

    #[test]
    fn an_object_that_came_back_is_not_gone() {
        let it = object(1, 5);
        let script = [put(it, 1, 1, b""), lives(it, None, 3)];
        assert!(violations([&script, &[], &[]])[0].contains("still knows that 1.1.5 is gone"));
    }

    #[test]
    fn what_is_under_way_is_not_known_yet() {
        let it = object(1, 5);
        let home = [put(it, 1, 1, b""), departed(it, 2, 2)];
        let letter = PostItem::Letter { to: game::Addressee::World, letter: bytes(b""), hops: 0 };
        let word = PostItem::Location { entity: EntityId::Object(it), zone: Some(ZoneId(3)), incarnation: 3 };
        let there = [put(it, 3, 3, b""), posted(1, 1, letter), posted(1, 2, word)];
        let between = [put(it, 2, 2, b""), departed(it, 3, 3)];
        assert!(violations([&home, &between, &there]).is_empty());
        let heard = [&home[..], &[taken(3, 1)]].concat();
        assert!(violations([&heard, &between, &there]).is_empty());
        let ignored = [&home[..], &[taken(3, 1), taken(3, 2)]].concat();
        assert!(violations([&ignored, &between, &there])[0].contains("zone 1 says"));
    }
}
