//! An object that is offered to another zone either arrives there as it left, with its timers and its player, or stays;
//! and its old owner does what the answer says.

use super::chain::{Chain, Line};
use super::post::{Posted, posted};
use crate::violation::Violations;
use machine::Time;
use space::{ObjectId, ZoneId};
use zone::{Cause, Change, Item, Passage};

const NAME: &str = "passage";

pub fn end(chains: &[Chain<'_>], out: &mut Violations) {
    let posted = posted(chains);
    for chain in chains {
        for line in &chain.lines {
            if let Err(why) = look_at(chain.zone, line, &posted) {
                out.add_at(line.at, NAME, format!("{}: {why}", chain.place(line)));
            }
        }
    }
}

fn look_at(zone: ZoneId, line: &Line<'_>, posted: &Posted<'_>) -> Result<(), String> {
    let changes = &line.record.changes;
    let mut answered = None;
    for change in changes {
        match change {
            Change::Posted { to, item: Item::Offer(passage), .. } => offered(line, *to, passage)?,
            Change::Taken { from, number } => match posted.get(&((*from, zone), *number)) {
                Some((_, Item::Offer(passage))) => decides(line, *from, passage)?,
                Some((_, Item::Answer { object, incarnation, taken })) => {
                    answered = Some(*object);
                    obeys(line, *from, *object, *incarnation, *taken)?;
                }
                _ => (),
            },
            _ => (),
        }
    }
    let settled = changes.iter().find_map(|it| match it {
        Change::Departed { object, .. } | Change::Kept { object } => Some(*object),
        _ => None,
    });
    match settled {
        Some(object) if answered != Some(object) => Err(format!("{object} is settled without an answer")),
        _ => Ok(()),
    }
}

/// An offer is of an object that is frozen from now on.
fn offered(line: &Line<'_>, to: ZoneId, passage: &Passage) -> Result<(), String> {
    let object = passage.known.object;
    let frozen = Change::Offered { object, to };
    if line.record.changes.contains(&frozen) && line.record.cause == Cause::Transfer(object) {
        return Ok(());
    }
    Err(format!("{object} is offered to {to} and goes on here"))
}

/// Whoever hears an offer takes it or declines it, and says which.
fn decides(line: &Line<'_>, from: ZoneId, passage: &Passage) -> Result<(), String> {
    let (object, owners) = (passage.known.object, passage.known.incarnation);
    let answers: Vec<_> = line.record.changes.iter().filter_map(answer).collect();
    let [(to, it, incarnation, taken)] = answers[..] else {
        return Err(format!("the offer of {object} is answered {} times", answers.len()));
    };
    if (to, it, incarnation) != (from, object, owners) {
        return Err(format!(
            "the answer to the offer of {object} is about {it}, owner {incarnation}, to {to}"
        ));
    }
    let put = line
        .record
        .changes
        .iter()
        .find(|it| matches!(it, Change::Put { object, .. } if *object == passage.known.object));
    match (taken, put) {
        (false, None) => Ok(()),
        (false, Some(_)) => Err(format!("{object} is declined and comes")),
        (true, None) => Err(format!("{object} is accepted and does not come")),
        (true, Some(put)) => arrives(line, put, passage),
    }
}

const fn answer(change: &Change) -> Option<(ZoneId, ObjectId, u32, bool)> {
    match change {
        Change::Posted { to, item: Item::Answer { object, incarnation, taken }, .. } => {
            Some((*to, *object, *incarnation, *taken))
        }
        _ => None,
    }
}

fn arrives(line: &Line<'_>, put: &Change, passage: &Passage) -> Result<(), String> {
    let Change::Put { object, incarnation, version, state, .. } = put else { return Ok(()) };
    let known = &passage.known;
    if (*incarnation, *version) != (known.incarnation + 1, known.version + 1) {
        return Err(format!(
            "{object} comes as owner {incarnation}, version {version}, and left as owner {}, version {}",
            known.incarnation, known.version
        ));
    }
    if *state != known.state {
        return Err(format!("{object} comes as another than it left"));
    }
    let mut timers: Vec<(Time, &[u8])> = line.record.changes.iter().filter_map(timer).collect();
    let mut expected: Vec<(Time, &[u8])> = passage.timers.iter().map(|it| (it.0, it.1.as_slice())).collect();
    timers.sort_unstable();
    expected.sort_unstable();
    if timers != expected {
        return Err(format!("{object} comes with {} timers and left with {}", timers.len(), expected.len()));
    }
    let brought = line.record.changes.iter().find_map(|it| match it {
        Change::Brought { player, row } => Some((player, row)),
        _ => None,
    });
    let expected = passage.player.as_ref().map(|(player, row)| (player, row));
    if brought != expected {
        return Err(format!("{object} brings {brought:?}, and left with {expected:?}"));
    }
    Ok(())
}

fn timer(change: &Change) -> Option<(Time, &[u8])> {
    match change {
        Change::TimerSet { at, letter, .. } => Some((*at, letter.as_slice())),
        _ => None,
    }
}

/// The old owner lets go of what was taken, and keeps what was not.
fn obeys(
    line: &Line<'_>,
    from: ZoneId,
    object: ObjectId,
    incarnation: u32,
    taken: bool,
) -> Result<(), String> {
    let expected = match taken {
        true => Change::Departed { object, to: from, incarnation: incarnation + 1 },
        false => Change::Kept { object },
    };
    if line.record.changes.contains(&expected) {
        return Ok(());
    }
    Err(format!("{from} answers that it took {object}: {taken}, and this is not what happens"))
}

#[cfg(test)]
mod tests {
    use super::super::story::{bytes, judged, object, posted, put, taken};
    use super::*;
    use game::PlayerId;
    use space::{Epoch, Motion, Position};
    use zone::{Known, PlayerRow, Stamp};

    fn it() -> ObjectId {
        object(1, 5)
    }

    fn row(cursor: u64) -> PlayerRow {
        let (name, avatar, place) = (String::new(), Some(it()), Position::ORIGIN);
        PlayerRow { name, session: 1, present: true, avatar, place, cursor, kept: Default::default() }
    }

    fn passage() -> Passage {
        let (state, motion) = (bytes(b"a"), Motion::default());
        let known = Known { object: it(), incarnation: 1, version: 4, motion, state };
        let timers = vec![(Time::from_millis(9), bytes(b"wake"))];
        Passage { known, timers, player: Some((PlayerId(3), row(8))), listens: None, event: None }
    }

    fn timer(letter: &[u8]) -> Change {
        let stamp = Stamp { epoch: Epoch(1), index: 1, place: 1 };
        Change::TimerSet { stamp, at: Time::from_millis(9), object: it(), letter: bytes(letter) }
    }

    fn brought(cursor: u64) -> Change {
        Change::Brought { player: PlayerId(3), row: row(cursor) }
    }

    fn answer(taken: bool) -> Change {
        posted(1, 1, Item::Answer { object: it(), incarnation: 1, taken })
    }

    fn departed() -> Change {
        Change::Departed { object: it(), to: ZoneId(2), incarnation: 2 }
    }

    fn offered() -> Vec<Change> {
        let offer = posted(2, 1, Item::Offer(Box::new(passage())));
        vec![Change::Offered { object: it(), to: ZoneId(2) }, offer]
    }

    fn verdict(offered: Vec<Change>, arrives: &[Change], ends: &[Change]) -> Vec<String> {
        let cause = Cause::Transfer(it());
        let arrives = [&[taken(1, 1)], arrives].concat();
        let ends = [&[taken(2, 1)], ends].concat();
        judged(&[vec![(cause, offered), (cause, ends)], vec![(cause, arrives)]], end)
    }

    #[test]
    fn what_is_offered_arrives_or_stays() {
        let comes = [put(it(), 2, 5, b"a"), timer(b"wake"), brought(8), answer(true)];
        assert!(verdict(offered(), &comes, &[departed()]).is_empty());
        assert!(verdict(offered(), &[answer(false)], &[Change::Kept { object: it() }]).is_empty());
    }

    #[test]
    fn whatever_is_lost_or_changed_on_the_way_is_noticed() {
        let says = |arrives: &[Change], ends: &[Change], what: &str| {
            let found = verdict(offered(), arrives, ends);
            assert!(found.iter().any(|it| it.contains(what)), "{what}: {found:?}");
        };
        let good = put(it(), 2, 5, b"a");
        let rest = [timer(b"wake"), brought(8), answer(true)];
        let with = |put: Change| [&[put], &rest[..]].concat();
        says(&with(put(it(), 2, 6, b"a")), &[departed()], "comes as owner 2, version 6");
        says(&with(put(it(), 2, 5, b"b")), &[departed()], "comes as another");
        says(&rest, &[departed()], "does not come");
        let declined = [good.clone(), answer(false)];
        says(&declined, &[Change::Kept { object: it() }], "declined and comes");
        says(&[good.clone(), timer(b"wake"), brought(7), answer(true)], &[departed()], "brings");
        says(&[good.clone(), brought(8), answer(true)], &[departed()], "0 timers");
        says(&[good, timer(b"wake"), brought(8)], &[], "answered 0 times");
        says(&with(put(it(), 2, 5, b"a")), &[Change::Kept { object: it() }], "not what happens");
        let lost = verdict(offered().split_off(1), &[], &[]);
        assert!(lost[0].contains("goes on here"), "{lost:?}");
        let unasked = judged(&[vec![(Cause::Transfer(it()), vec![departed()])]], end);
        assert!(unasked[0].contains("without an answer"), "{unasked:?}");
    }
}
