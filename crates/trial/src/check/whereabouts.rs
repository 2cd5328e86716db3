//! The zone in which somebody was born knows whose they are now, or that they are gone: whoever looks for them asks there.
//! And every player is somewhere, once.
//!
//! What is on its way to that zone and not taken yet, it cannot know.

use crate::violation::Violations;
use game::PlayerId;
use space::{ObjectId, ZoneId};
use std::collections::{BTreeMap, BTreeSet};
use zone::{Being, Item, Lives, PlayerRow, State};

const NAME: &str = "whereabouts";

/// Judges what zones hold in the end.
pub fn end(states: &[State], out: &mut Violations) {
    let by_zone: BTreeMap<ZoneId, &State> = states.iter().map(|it| (it.zone, it)).collect();
    let owners = owners(states);
    let under_way = under_way(&by_zone);
    for (&object, &owner) in owners.iter().filter(|it| !under_way.contains(it.0)) {
        let Some(home) = by_zone.get(&object.zone).filter(|it| it.zone != owner) else { continue };
        let said = said(home, object);
        if said != Some(Some(owner)) {
            let text = format!("{object} is {owner}'s, and {} says {said:?}", home.zone);
            out.add(NAME, text);
        }
    }
    look_at_players(states, &under_way, out);
    for home in states {
        for (object, _) in objects_of(home).filter(|it| it.1.zone.is_none()) {
            if !home.abroad.offered.contains_key(&object) {
                out.add(NAME, format!("{} still knows that {object} is gone", home.zone));
            }
        }
        for (object, _) in objects_of(home) {
            let is_judged = object.zone == home.zone && !under_way.contains(&object);
            if is_judged && !owners.contains_key(&object) {
                let text = format!("{object} is gone, and {} says {:?}", home.zone, said(home, object));
                out.add(NAME, text);
            }
        }
    }
}

/// Everything a zone says of objects that are not its own.
fn objects_of(home: &State) -> impl Iterator<Item = (ObjectId, &Lives)> {
    home.abroad.lives.iter().filter_map(|(being, lives)| match being {
        Being::Object(object) => Some((*object, lives)),
        Being::Player(_) => None,
    })
}

/// Looks whether every player is in one zone. Whoever goes over is in both until that is heard of.
fn look_at_players(states: &[State], under_way: &BTreeSet<ObjectId>, out: &mut Violations) {
    let mut rows: BTreeMap<PlayerId, Vec<ZoneId>> = BTreeMap::new();
    for state in states {
        let is_going = |row: &PlayerRow| row.avatar.is_some_and(|it| under_way.contains(&it));
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
        for being in state.abroad.lives.keys() {
            if let Being::Player(player) = being
                && !rows.contains_key(player)
            {
                out.add(NAME, format!("{player:?} is nowhere, and {} says otherwise", state.zone));
            }
        }
    }
}

/// Where a zone says that somebody is.
fn said(home: &State, object: ObjectId) -> Option<Option<ZoneId>> {
    home.abroad.lives.get(&Being::Object(object)).map(|it| it.zone)
}

/// Everybody who lives, and whose they are. Who is offered is both zones' until the answer is there; it is under way.
fn owners(states: &[State]) -> BTreeMap<ObjectId, ZoneId> {
    let ids = |state: &State| state.objects.iter().map(|it| it.id).collect::<Vec<_>>();
    let owned = states.iter().flat_map(|state| ids(state).into_iter().map(|id| (id, state.zone)));
    owned.filter(|it| it.0 != game::WORLD).collect()
}

/// Everybody of whom something is posted that was not taken yet.
fn under_way(by_zone: &BTreeMap<ZoneId, &State>) -> BTreeSet<ObjectId> {
    let mut found = BTreeSet::new();
    for (from, state) in by_zone {
        for (to, outgoing) in &state.abroad.post {
            let taken = by_zone.get(to).and_then(|it| it.abroad.taken.get(from)).copied().unwrap_or(0);
            found.extend(outgoing.items.range(taken + 1..).filter_map(|(_, (_, item))| subject(item)));
        }
    }
    found
}

/// Of whose whereabouts an item tells.
fn subject(item: &Item) -> Option<ObjectId> {
    match item {
        Item::Offer(passage) => Some(passage.known.object),
        Item::Answer { object, .. } | Item::Lives { being: Being::Object(object), .. } => Some(*object),
        Item::Decided(_) | Item::Letter { .. } | Item::Lives { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::story::{Told, bytes, departed, judged, lives, object, posted, put, removed, taken};
    use super::*;
    use space::Position;
    use std::collections::VecDeque;
    use zone::{Cause, Change};

    /// What is said of zones 1, 2 and 3 that wrote these changes, one per record.
    fn verdict(told: [&[Change]; 3]) -> Vec<String> {
        let told: Vec<Told> = told
            .iter()
            .map(|it| it.iter().map(|change| (Cause::Post(ZoneId(9)), vec![change.clone()])).collect())
            .collect();
        judged(&told, |chains, out| {
            let states: Vec<_> = chains
                .iter()
                .map(|chain| {
                    let mut state = State::new(chain.zone);
                    chain.lines.iter().for_each(|it| state.apply(&it.record).unwrap());
                    state
                })
                .collect();
            end(&states, out);
        })
    }

    #[test]
    fn whoever_was_born_here_is_known() {
        let it = object(1, 5);
        let (born, left) = (put(it, 1, 1, b""), departed(it, 2, 2));
        let gone_on = [put(it, 2, 2, b""), departed(it, 3, 3)];
        let there = [put(it, 3, 3, b"")];
        let says = |home: &[Change], there: &[Change]| verdict([home, &gone_on, there]);
        assert!(verdict([&[born.clone(), left.clone()], &gone_on[..1], &[]]).is_empty());
        assert!(says(&[born.clone(), left.clone(), lives(it, Some(3), 3)], &there).is_empty());
        // The word of where it went on comes before the word that it arrived.
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
        let row = PlayerRow {
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
        assert!(verdict([&left, &came, &[]]).is_empty());
        assert!(verdict([&born, &came, &[]]).iter().any(|it| it.contains("is in [")));
        assert!(verdict([&left, &came[..1], &[]])[0].contains("is nowhere"));
    }

    #[test]
    fn whoever_came_back_is_not_gone() {
        let it = object(1, 5);
        let told = [put(it, 1, 1, b""), lives(it, None, 3)];
        assert!(verdict([&told, &[], &[]])[0].contains("still knows that 1.1.5 is gone"));
    }

    #[test]
    fn what_is_under_way_is_not_known_yet() {
        let it = object(1, 5);
        let home = [put(it, 1, 1, b""), departed(it, 2, 2)];
        let letter = Item::Letter { to: game::Addressee::World, letter: bytes(b""), hops: 0 };
        let word = Item::Lives { being: Being::Object(it), zone: Some(ZoneId(3)), incarnation: 3 };
        let there = [put(it, 3, 3, b""), posted(1, 1, letter), posted(1, 2, word)];
        let between = [put(it, 2, 2, b""), departed(it, 3, 3)];
        assert!(verdict([&home, &between, &there]).is_empty());
        let heard = [&home[..], &[taken(3, 1)]].concat();
        assert!(verdict([&heard, &between, &there]).is_empty());
        let ignored = [&home[..], &[taken(3, 1), taken(3, 2)]].concat();
        assert!(verdict([&ignored, &between, &there])[0].contains("zone 1 says"));
    }
}
