//! An object that is offered to another zone either arrives there as it left, with its timers and its player, or stays;
//! and its old owner does what the answer says.

use super::post::{PostedItems, posted};
use super::surviving_log::{LogLine, SurvivingLog};
use crate::violation::Violations;
use machine::Time;
use space::{ObjectId, ZoneId};
use zone::{Cause, Change, PostItem, Transfer};

const NAME: &str = "passage";

pub fn end(logs: &[SurvivingLog<'_>], out: &mut Violations) {
    let posted = posted(logs);
    for log in logs {
        for line in &log.lines {
            if let Err(why) = look_at(log.zone, line, &posted) {
                out.add_at(line.at, NAME, format!("{}: {why}", log.describe(line)));
            }
        }
    }
}

fn look_at(zone: ZoneId, line: &LogLine<'_>, posted: &PostedItems<'_>) -> Result<(), String> {
    let changes = &line.record.changes;
    let mut answered = None;
    for change in changes {
        match change {
            Change::Posted { to, item: PostItem::Offer(transfer), .. } => offered(line, *to, transfer)?,
            Change::Taken { from, number } => match posted.get(&((*from, zone), *number)) {
                Some((_, PostItem::Offer(transfer))) => decides(line, *from, transfer)?,
                Some((_, PostItem::Answer { object, incarnation, taken })) => {
                    answered = Some(*object);
                    obeys(line, *from, *object, *incarnation, *taken)?;
                }
                _ => (),
            },
            _ => (),
        }
    }
    // Only an answer may end an offer.
    let settled = changes.iter().find_map(|it| match it {
        Change::Departed { object, .. } | Change::Kept { object } => Some(*object),
        _ => None,
    });
    match settled {
        Some(object) if answered != Some(object) => Err(format!("{object} is settled without an answer")),
        _ => Ok(()),
    }
}

/// Checks an offer: its object must be frozen from now on.
fn offered(line: &LogLine<'_>, to: ZoneId, transfer: &Transfer) -> Result<(), String> {
    let object = transfer.snapshot.object;
    let frozen = Change::Offered { object, to };
    if line.record.changes.contains(&frozen) && line.record.cause == Cause::Transfer(object) {
        return Ok(());
    }
    Err(format!("{object} is offered to {to} and goes on here"))
}

/// Checks the answer to an offer: the zone takes the object or declines it, and says which.
fn decides(line: &LogLine<'_>, from: ZoneId, transfer: &Transfer) -> Result<(), String> {
    let (object, owners) = (transfer.snapshot.object, transfer.snapshot.incarnation);
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
        .find(|it| matches!(it, Change::Put { object, .. } if *object == transfer.snapshot.object));
    match (taken, put) {
        (false, None) => Ok(()),
        (false, Some(_)) => Err(format!("{object} is declined and comes")),
        (true, None) => Err(format!("{object} is accepted and does not come")),
        (true, Some(put)) => arrives(line, put, transfer),
    }
}

const fn answer(change: &Change) -> Option<(ZoneId, ObjectId, u32, bool)> {
    match change {
        Change::Posted { to, item: PostItem::Answer { object, incarnation, taken }, .. } => {
            Some((*to, *object, *incarnation, *taken))
        }
        _ => None,
    }
}

fn arrives(line: &LogLine<'_>, put: &Change, transfer: &Transfer) -> Result<(), String> {
    let Change::Put { object, incarnation, version, state, .. } = put else { return Ok(()) };
    let known = &transfer.snapshot;
    // A new owner gives a new incarnation and a new version, though the state is the same.
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
    let mut expected: Vec<(Time, &[u8])> = transfer.timers.iter().map(|it| (it.0, it.1.as_slice())).collect();
    // The order in which timers are written does not matter.
    timers.sort_unstable();
    expected.sort_unstable();
    if timers != expected {
        return Err(format!("{object} comes with {} timers and left with {}", timers.len(), expected.len()));
    }
    let brought = line.record.changes.iter().find_map(|it| match it {
        Change::Brought { player, row } => Some((player, row)),
        _ => None,
    });
    let expected = transfer.player.as_ref().map(|(player, row)| (player, row));
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

/// Checks the old owner: it gives up an object that was taken, and keeps one that was not.
fn obeys(
    line: &LogLine<'_>,
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
    use super::super::scripted_log::{bytes, check_logs, object, posted, put, taken};
    use super::*;
    use game::PlayerId;
    use space::{Epoch, Motion, Position};
    use zone::{ObjectSnapshot, PlayerState, Stamp};

    fn it() -> ObjectId {
        object(1, 5)
    }

    fn row(cursor: u64) -> PlayerState {
        let (name, avatar, place) = (String::new(), Some(it()), Position::ORIGIN);
        PlayerState { name, session: 1, present: true, avatar, place, cursor, kept: Default::default() }
    }

    fn transfer() -> Transfer {
        let (state, motion) = (bytes(b"a"), Motion::default());
        let snapshot = ObjectSnapshot { object: it(), incarnation: 1, version: 4, motion, state };
        let timers = vec![(Time::from_millis(9), bytes(b"wake"))];
        Transfer { snapshot, timers, player: Some((PlayerId(3), row(8))), player_address: None, event: None }
    }

    fn timer(letter: &[u8]) -> Change {
        let stamp = Stamp { epoch: Epoch(1), index: 1, place: 1 };
        Change::TimerSet { stamp, at: Time::from_millis(9), object: it(), letter: bytes(letter) }
    }

    fn brought(cursor: u64) -> Change {
        Change::Brought { player: PlayerId(3), row: row(cursor) }
    }

    fn answer(taken: bool) -> Change {
        posted(1, 1, PostItem::Answer { object: it(), incarnation: 1, taken })
    }

    fn departed() -> Change {
        Change::Departed { object: it(), to: ZoneId(2), incarnation: 2 }
    }

    fn offered() -> Vec<Change> {
        let offer = posted(2, 1, PostItem::Offer(Box::new(transfer())));
        vec![Change::Offered { object: it(), to: ZoneId(2) }, offer]
    }

    fn violations(offered: Vec<Change>, arrives: &[Change], ends: &[Change]) -> Vec<String> {
        let cause = Cause::Transfer(it());
        let arrives = [&[taken(1, 1)], arrives].concat();
        let ends = [&[taken(2, 1)], ends].concat();
        check_logs(&[vec![(cause, offered), (cause, ends)], vec![(cause, arrives)]], end)
    }

    #[test]
    fn what_is_offered_arrives_or_stays() {
        let comes = [put(it(), 2, 5, b"a"), timer(b"wake"), brought(8), answer(true)];
        assert!(violations(offered(), &comes, &[departed()]).is_empty());
        assert!(violations(offered(), &[answer(false)], &[Change::Kept { object: it() }]).is_empty());
    }

    #[test]
    fn whatever_is_lost_or_changed_on_the_way_is_noticed() {
        let says = |arrives: &[Change], ends: &[Change], what: &str| {
            let found = violations(offered(), arrives, ends);
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
        let lost = violations(offered().split_off(1), &[], &[]);
        assert!(lost[0].contains("goes on here"), "{lost:?}");
        let unasked = check_logs(&[vec![(Cause::Transfer(it()), vec![departed()])]], end);
        assert!(unasked[0].contains("without an answer"), "{unasked:?}");
    }
}
