//! A decided event is applied by every zone that takes part, once and completely; and nothing is applied that was not
//! decided.

use super::surviving_log::{LogLine, SurvivingLog};
use crate::violation::Violations;
use machine::Time;
use space::{Motion, ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{Change, DecidedEvent, EventId, ObjectWrite};

const NAME: &str = "all_or_nothing";

/// A decision, as it was sent to one participant.
struct SentDecision<'a> {
    at: Time,
    number: u64,
    whole: &'a DecidedEvent,
    /// Number of times that it was applied there.
    applied: u32,
}

/// Sent decisions, by event and participant.
type SentDecisions<'a> = BTreeMap<(EventId, ZoneId), SentDecision<'a>>;

pub fn end(logs: &[SurvivingLog<'_>], due: Option<Time>, out: &mut Violations) {
    // All decisions first: the logs of different zones have no common order here.
    let mut decided = SentDecisions::new();
    for log in logs {
        for line in &log.lines {
            if let Err(why) = decide(log.zone, line, &mut decided) {
                out.add_at(line.at, NAME, format!("{}: {why}", log.describe(line)));
            }
        }
    }
    for log in logs {
        for line in &log.lines {
            let Some(event) = line.joint() else { continue };
            let applied = match decided.get_mut(&(event, log.zone)) {
                None => Err("no zone decided that".to_owned()),
                Some(sent) => {
                    sent.applied += 1;
                    applies(log.zone, line, sent)
                }
            };
            if let Err(why) = applied {
                out.add_at(line.at, NAME, format!("{}: {why}", log.describe(line)));
            }
        }
    }
    for ((event, zone), sent) in &decided {
        let overdue = due.is_some_and(|due| sent.at < due);
        if 1 < sent.applied || sent.applied == 0 && overdue {
            out.add_at(sent.at, NAME, format!("{zone} applied {event} {} times", sent.applied));
        }
    }
}

/// Takes in a decision: the coordinator writes its own part, names the others', and sends the same to all.
fn decide<'a>(zone: ZoneId, line: &'a LogLine<'_>, decided: &mut SentDecisions<'a>) -> Result<(), String> {
    let Some(whole) = line.decides() else { return Ok(()) };
    let event = whole.event;
    if event.zone != zone {
        return Err(format!("{event} is not this zone's to decide"));
    }
    for (to, number, other) in line.decisions() {
        if other != whole {
            return Err(format!("{to} hears another {event} than others"));
        }
        let sent = SentDecision { at: line.at, number, whole, applied: 0 };
        if decided.insert((event, to), sent).is_some() {
            return Err(format!("{event} is decided twice"));
        }
    }
    let heard = |it: &ObjectWrite| it.zone == zone || line.decisions().any(|(to, ..)| to == it.zone);
    if let Some(it) = whole.writes.iter().find(|it| !heard(it)) {
        return Err(format!("{event} writes {} of {}, which does not hear of it", it.object, it.zone));
    }
    same(zone, line, whole)
}

fn applies(zone: ZoneId, line: &LogLine<'_>, sent: &SentDecision<'_>) -> Result<(), String> {
    let event = sent.whole.event;
    let taken = Change::Taken { from: event.zone, number: sent.number };
    if !line.record.changes.contains(&taken) {
        return Err(format!("it does not take item {} of {}", sent.number, event.zone));
    }
    if !line.record.changes.contains(&Change::Released { event }) {
        return Err("its locks are not released".to_owned());
    }
    same(zone, line, sent.whole)
}

/// Returns whether a record does to its zone's objects what was decided, and names the writes of other zones.
fn same(zone: ZoneId, line: &LogLine<'_>, whole: &DecidedEvent) -> Result<(), String> {
    let changes = &line.record.changes;
    for it in &whole.writes {
        let found = match it.zone == zone {
            true => changes.iter().any(|change| is_written(change, it)),
            false => changes.contains(&Change::Elsewhere(it.clone())),
        };
        if !found {
            return Err(format!("{} of {} is not what was decided", it.object, it.zone));
        }
        let is_missing =
            |at: Time, letter: &[u8]| it.zone == zone && !has_timer(changes, it.object, at, letter);
        let missing = it.timers.iter().find(|(at, letter)| is_missing(*at, letter));
        if missing.is_some() {
            return Err(format!("a timer of {} is missing", it.object));
        }
    }
    let is_named = |object: ObjectId| whole.writes.iter().any(|it| it.object == object);
    let more = line.writes().map(|it| it.0).find(|&it| !is_named(it));
    more.map_or(Ok(()), |it| Err(format!("{it} is written, which was not decided")))
}

fn is_written(change: &Change, it: &ObjectWrite) -> bool {
    match (change, &it.state) {
        (Change::Put { object, incarnation, version, motion, state }, Some(decided)) => {
            (*object, *incarnation, *version) == (it.object, it.incarnation, it.version)
                && state == decided
                && it.motion.is_none_or(|decided| is_motion(motion, &decided))
        }
        (Change::Removed { object, version }, None) => (*object, *version) == (it.object, it.version),
        _ => false,
    }
}

/// Returns whether this is the decided motion. An owner that knows a newer one raises the generation, so that the
/// decided one still counts.
pub(super) fn is_motion(motion: &Motion, decided: &Motion) -> bool {
    decided.generation <= motion.generation
        && Motion { generation: motion.generation, sequence: motion.sequence, ..*decided } == *motion
}

fn has_timer(changes: &[Change], of: ObjectId, due: Time, text: &[u8]) -> bool {
    changes.iter().any(|it| match it {
        Change::TimerSet { at, object, letter, .. } => {
            (*object, *at) == (of, due) && letter.as_slice() == text
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::scripted_log::{
        END, ScriptedLog, bytes, check_logs, event, object, posted, put, taken, whole, written,
    };
    use super::*;
    use space::Epoch;
    use zone::{Cause, PostItem, Stamp};

    fn both() -> DecidedEvent {
        let mut theirs = written(2, object(2, 7), 4, b"theirs");
        theirs.timers.push((Time::from_millis(9), bytes(b"wake")));
        whole(event(1, 1), &[written(1, object(1, 5), 3, b"ours"), theirs])
    }

    fn decision(whole: &DecidedEvent) -> Vec<Change> {
        let ours = put(object(1, 5), 1, 3, b"ours");
        let theirs = Change::Elsewhere(whole.writes[1].clone());
        vec![ours, theirs, posted(2, 1, PostItem::Decided(whole.clone()))]
    }

    fn applied() -> Vec<Change> {
        let stamp = Stamp { epoch: Epoch(1), index: 1, place: 1 };
        vec![
            taken(1, 1),
            put(object(2, 7), 1, 4, b"theirs"),
            Change::TimerSet {
                stamp,
                at: Time::from_millis(9),
                object: object(2, 7),
                letter: bytes(b"wake"),
            },
            Change::Elsewhere(both().writes[0].clone()),
            Change::Released { event: event(1, 1) },
        ]
    }

    fn violations(here: &[Vec<Change>], there: &[Vec<Change>]) -> Vec<String> {
        let script = |cause: Cause, records: &[Vec<Change>]| -> ScriptedLog {
            records.iter().map(|it| (cause, it.clone())).collect()
        };
        let here = script(Cause::Think(object(1, 5)), here);
        let there = script(Cause::Joint(event(1, 1)), there);
        check_logs(&[here, there], |logs, out| end(logs, Some(END), out))
    }

    #[test]
    fn all_of_it_or_nothing() {
        assert!(violations(&[decision(&both())], &[applied()]).is_empty());
        assert!(violations(&[], &[]).is_empty());
    }

    #[test]
    fn a_part_is_noticed() {
        let says = |there: &[Vec<Change>], what: &str| {
            let found = violations(&[decision(&both())], there);
            assert!(found.iter().any(|it| it.contains(what)), "{what}: {found:?}");
        };
        let without = |place: usize| {
            let mut changes = applied();
            changes.remove(place);
            vec![changes]
        };
        says(&[], "applied 1.1.1 0 times");
        says(&[applied(), applied()], "applied 1.1.1 2 times");
        says(&without(0), "does not take item 1");
        says(&without(1), "is not what was decided");
        says(&without(2), "a timer of");
        says(&without(3), "is not what was decided");
        says(&without(4), "not released");
        let mut more = applied();
        more.push(put(object(2, 8), 1, 2, b"x"));
        says(&[more], "which was not decided");
        let mut other = applied();
        other[1] = put(object(2, 7), 1, 4, b"other");
        says(&[other], "is not what was decided");
    }

    #[test]
    fn a_zone_applies_only_what_was_decided() {
        assert!(violations(&[], &[applied()])[0].contains("no zone decided that"));
        let foreign = whole(event(2, 1), &[]);
        let found = violations(&[vec![posted(2, 1, PostItem::Decided(foreign))]], &[]);
        assert!(found[0].contains("not this zone's to decide"), "{found:?}");
        let mut outsider = both();
        outsider.writes.push(written(3, object(3, 1), 2, b"c"));
        let found = violations(&[decision(&outsider)], &[]);
        assert!(found[0].contains("which does not hear of it"), "{found:?}");
        let mut two = decision(&both());
        two.push(posted(3, 1, PostItem::Decided(whole(event(1, 1), &[]))));
        assert!(violations(&[two], &[applied()])[0].contains("hears another"));
    }

    #[test]
    fn a_motion_that_came_late_is_raised() {
        let decided = Motion { generation: 3, ..Motion::default() };
        assert!(is_motion(&Motion { generation: 4, ..decided }, &decided) && is_motion(&decided, &decided));
        assert!(!is_motion(&Motion { generation: 2, ..decided }, &decided));
        let elsewhere = Motion { position: space::Position::new(1, 1).unwrap(), ..decided };
        assert!(!is_motion(&elsewhere, &decided));
    }
}
