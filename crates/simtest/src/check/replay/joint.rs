//! Compares an event of several zones with the reference.

use super::super::all_or_nothing::is_motion;
use super::ReferenceObjects;
use game::{Addressee, DraftWrite, Product};
use machine::Time;
use space::{Motion, ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{Change, Record};

/// New state of one object.
#[derive(Debug, PartialEq, Eq)]
struct ObjectEffect<'a> {
    zone: ZoneId,
    incarnation: u32,
    version: u32,
    /// `None` if the object is gone.
    state: Option<&'a [u8]>,
}

/// A timer of an object: object, due time, letter.
type ObjectTimer<'a> = (ObjectId, Time, &'a [u8]);

pub fn compare(known: &ReferenceObjects<'_>, record: &Record, product: &Product) -> Result<(), String> {
    let (expected, written) = (expected(known, product), written(known, record));
    if expected != written {
        return Err(format!("it led to {written:?}, in the reference to {expected:?}"));
    }
    for (object, decided) in motions(known, product) {
        let found = record.changes.iter().find_map(|it| motion_of(it, object));
        if !found.is_some_and(|it| is_motion(&it, &decided)) {
            return Err(format!("{object} moves as {found:?}, in the reference as {decided:?}"));
        }
    }
    let mut timers: Vec<ObjectTimer<'_>> =
        product.timers.iter().map(|it| (it.0, it.1, it.2.as_slice())).collect();
    let mut set: Vec<_> = record.changes.iter().flat_map(timers_of).collect();
    timers.sort_unstable();
    set.sort_unstable();
    if timers != set {
        return Err(format!("it set the timers {set:?}, in the reference {timers:?}"));
    }
    let letters: Vec<_> = product.letters.iter().map(|(to, it)| (*to, it.as_slice())).collect();
    let sent: Vec<_> = record.changes.iter().filter_map(letter_of).collect();
    if letters != sent {
        return Err(format!("it sent {sent:?}, in the reference {letters:?}"));
    }
    Ok(())
}

/// Objects that the event moves. A move of the zone's own object that changes no state is in no record.
fn motions(known: &ReferenceObjects<'_>, product: &Product) -> Vec<(ObjectId, Motion)> {
    let written = product.writes.iter().filter_map(|(&object, write)| match write {
        DraftWrite::Spawned { motion, .. } => Some((object, *motion)),
        DraftWrite::Changed { motion, .. } => Some((object, (*motion)?)),
        DraftWrite::Removed => None,
    });
    let steered = product.steered.iter().map(|(&object, &motion)| (object, motion));
    let remote = steered.filter(|it| !product.writes.contains_key(&it.0) && is_remote(known, it.0));
    written.chain(remote).collect()
}

fn is_remote(known: &ReferenceObjects<'_>, object: ObjectId) -> bool {
    known.object(object).is_some_and(|it| it.0 != known.place)
}

fn expected<'a>(
    known: &'a ReferenceObjects<'_>,
    product: &'a Product,
) -> BTreeMap<ObjectId, ObjectEffect<'a>> {
    let here = known.states[known.place].zone;
    let effect = |object: ObjectId, write: &'a DraftWrite| {
        if let DraftWrite::Spawned { state, .. } = write {
            // Objects are born in the zone that decides.
            let (incarnation, version) = (1, 1);
            return Some(ObjectEffect { zone: here, incarnation, version, state: Some(state) });
        }
        let (place, it) = known.object(object)?;
        let (zone, incarnation, version) = (known.states[place].zone, it.incarnation, it.version + 1);
        let state = match write {
            DraftWrite::Changed { state: Some(state), .. } => Some(state.as_slice()),
            DraftWrite::Removed => None,
            _ => Some(it.state.as_slice()),
        };
        Some(ObjectEffect { zone, incarnation, version, state })
    };
    // An object of another zone that is only steered, or gets a timer, is written with its old state.
    let touched = product.steered.keys().copied().chain(product.timers.iter().map(|it| it.0));
    let touched = touched
        .filter(|&it| is_remote(known, it))
        .map(|it| (it, &DraftWrite::Changed { state: None, motion: None }));
    let writes = product.writes.iter().map(|(&object, write)| (object, write));
    // Real writes come later, so they replace the entries of objects that are only touched.
    touched.chain(writes).filter_map(|(object, write)| Some((object, effect(object, write)?))).collect()
}

fn written<'a>(known: &ReferenceObjects<'_>, record: &'a Record) -> BTreeMap<ObjectId, ObjectEffect<'a>> {
    let state = &known.states[known.place];
    let effect = |change: &'a Change| match change {
        Change::Put { object, incarnation, version, state: is, .. } => Some((
            *object,
            ObjectEffect { zone: state.zone, incarnation: *incarnation, version: *version, state: Some(is) },
        )),
        Change::Removed { object, version } => {
            let incarnation = state.objects.get(*object).map_or(0, |it| it.incarnation);
            Some((*object, ObjectEffect { zone: state.zone, incarnation, version: *version, state: None }))
        }
        Change::Elsewhere(it) => {
            let state = it.state.as_ref().map(|it| it.as_slice());
            let (zone, incarnation, version) = (it.zone, it.incarnation, it.version);
            Some((it.object, ObjectEffect { zone, incarnation, version, state }))
        }
        _ => None,
    };
    record.changes.iter().filter_map(effect).collect()
}

fn motion_of(change: &Change, of: ObjectId) -> Option<Motion> {
    match change {
        Change::Put { object, motion, .. } if *object == of => Some(*motion),
        Change::Elsewhere(it) if it.object == of => it.motion,
        _ => None,
    }
}

fn timers_of(change: &Change) -> Vec<ObjectTimer<'_>> {
    match change {
        Change::TimerSet { at, object, letter, .. } => vec![(*object, *at, letter.as_slice())],
        Change::Elsewhere(it) => {
            it.timers.iter().map(|(at, letter)| (it.object, *at, letter.as_slice())).collect()
        }
        _ => Vec::new(),
    }
}

fn letter_of(change: &Change) -> Option<(Addressee, &[u8])> {
    match change {
        Change::LetterSent { to, letter, .. } => Some((*to, letter.as_slice())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::one_order;
    use super::super::super::scripted_log::{
        ScriptedLog, bytes, check_logs_with_calls, event, motion, object, posted, put, taken, whole, written,
    };
    use super::super::super::toy::{Take, holder, item};
    use super::super::end;
    use game::{PlayerId, Scope};
    use machine::Time;
    use space::ObjectId;
    use zone::{Cause, Change, DecidedEvent, Execution, GameInput, Outcome, PostItem as Post};

    fn here() -> ObjectId {
        object(1, 5)
    }

    fn there() -> ObjectId {
        object(2, 7)
    }

    /// Violations if a player of zone 1 takes an item of zone 2, with these results.
    fn violations(bag: &[ObjectId], whole: &DecidedEvent) -> Vec<String> {
        let (player, number) = (PlayerId(1), 1);
        let acted = Change::Acted { player, number, outcome: Outcome::Done, acked: 0 };
        let elsewhere = whole.writes.iter().cloned().map(Change::Elsewhere);
        let mut decides = vec![put(here(), 1, 2, &holder(20, bag)), acted];
        decides.extend(elsewhere.chain([posted(2, 1, Post::Decided(whole.clone()))]));
        let picks: ScriptedLog = vec![
            (Cause::Join(player), vec![put(here(), 1, 1, &holder(20, &[]))]),
            (Cause::Act(player, number), decides),
        ];
        let gives: ScriptedLog = vec![
            (Cause::Founding, vec![put(there(), 1, 1, &item(there()))]),
            (Cause::Joint(whole.event), vec![taken(1, 1), Change::Removed { object: there(), version: 2 }]),
        ];
        let action = postcard::to_stdvec(&Take { item: there() }).unwrap();
        let execution = Execution {
            input: GameInput::Act { actor: here(), action },
            scope: Scope::objects([there()]),
            time: Time::from_millis(1),
            seed: 1,
            reads: vec![(here(), motion(0)), (there(), motion(1))],
            next_name: 0,
            refused: false,
        };
        check_logs_with_calls(&[picks, gives], &[(1, 2, execution)], |logs, out| {
            let order = one_order::end(logs, out).unwrap();
            end(logs, &order, out);
        })
    }

    fn taken_away() -> DecidedEvent {
        let mut gone = written(2, there(), 2, b"");
        gone.state = None;
        whole(event(1, 1), &[gone])
    }

    #[test]
    fn the_same_as_in_one_zone() {
        let found = violations(&[there()], &taken_away());
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn anything_else_is_noticed() {
        let differs = |bag: &[ObjectId], whole: &DecidedEvent| {
            let found = violations(bag, whole);
            assert!(found[0].contains("in the reference"), "{found:?}");
        };
        differs(&[], &taken_away());
        let mut stays = taken_away();
        stays.writes[0].state = Some(bytes(&item(there())));
        differs(&[there()], &stays);
        let mut waits = taken_away();
        waits.writes[0].timers.push((Time::ZERO, bytes(b"?")));
        differs(&[there()], &waits);
        let mut old = taken_away();
        old.writes[0].incarnation = 2;
        differs(&[there()], &old);
    }
}
