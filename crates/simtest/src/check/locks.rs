//! Only the event that holds them touches locked objects and areas: no other event's locks, no event of the zone
//! itself, no object that comes or goes. And no lock is left over.

use super::surviving_log::{LogLine, SurvivingLog};
use crate::violation::Violations;
use game::Scope;
use machine::Time;
use space::ObjectId;
use std::collections::BTreeMap;
use zone::{Cause, Change, EventId};

const NAME: &str = "locks";

struct HeldLocks<'a> {
    scope: &'a Scope,
    objects: &'a [ObjectId],
    since: Time,
}

pub fn end(logs: &[SurvivingLog<'_>], due: Option<Time>, out: &mut Violations) {
    for log in logs {
        let mut held = BTreeMap::new();
        for line in &log.lines {
            for why in look_at(line, &mut held) {
                out.add_at(line.at, NAME, format!("{}: {why}", log.describe(line)));
            }
        }
        for (event, it) in held.iter().filter(|(_, it)| due.is_some_and(|due| it.since < due)) {
            out.add(NAME, format!("{} holds locks for {event} since {}", log.zone, it.since));
        }
    }
}

fn look_at<'a>(line: &'a LogLine<'_>, held: &mut BTreeMap<EventId, HeldLocks<'a>>) -> Vec<String> {
    // By the locks that were held before this record.
    let mut found: Vec<_> = held
        .iter()
        .filter(|(event, _)| line.joint() != Some(**event) && !is_turn(line, **event))
        .filter_map(|(event, it)| Some(format!("{} is locked for {event}", touched(line, it)?)))
        .collect();
    if let Some(event) = line.joint() {
        let locked = held.get(&event).map_or(&[][..], |it| it.objects);
        let unlocked = line.writes().map(|it| it.0).find(|it| !locked.contains(it));
        found.extend(unlocked.map(|it| format!("{event} writes {it}, which is not locked for it")));
        if !held.contains_key(&event) {
            found.push(format!("{event} takes place without locks"));
        }
    }
    for change in &line.record.changes {
        match change {
            Change::Granted { event, scope, objects, .. } => {
                held.remove(event); // A later attempt replaces an earlier one.
                let new = HeldLocks { scope, objects, since: line.at };
                let other = held.iter().find(|(_, it)| meet(it, &new)).map(|it| *it.0);
                found.extend(other.map(|it| format!("locks for {event} meet those for {it}")));
                held.insert(*event, new);
            }
            Change::Released { event } => drop(held.remove(event)),
            _ => (),
        }
    }
    found
}

/// Returns whether these are the locks of an object that comes here and waited for its place.
fn is_turn(line: &LogLine<'_>, event: EventId) -> bool {
    matches!(line.record.cause, Cause::Transfer(_))
        && line.record.changes.contains(&Change::Released { event })
}

/// The locked thing that a record touches, as text.
fn touched(line: &LogLine<'_>, held: &HeldLocks<'_>) -> Option<String> {
    let locked = |it: &ObjectId| held.objects.contains(it);
    let writes = line.writes().map(|it| it.0).find(locked);
    let reads = line.execution.into_iter().flat_map(|it| &it.reads).map(|it| it.0).find(locked);
    if let Some(object) = writes.or(reads) {
        return Some(object.to_string());
    }
    // Founding fills the whole region, before any lock.
    let execution = line.execution.filter(|_| line.record.cause != Cause::Founding);
    if let Some(execution) = execution.filter(|it| overlap(&it.scope, held.scope)) {
        return Some(format!("{}, which meets {},", execution.scope, held.scope));
    }
    line.record.changes.iter().find_map(|it| comes_or_goes(line, it, held))
}

fn comes_or_goes(line: &LogLine<'_>, change: &Change, held: &HeldLocks<'_>) -> Option<String> {
    match (change, held.scope) {
        (Change::Offered { object, .. }, _) if held.objects.contains(object) => Some(object.to_string()),
        (Change::Put { object, motion, .. }, Scope::Area { centre, radius })
            if line.record.cause == Cause::Transfer(*object) =>
        {
            let place = motion.position_at(line.record.time);
            centre.is_within(*radius, place).then(|| format!("{place}, where {object} comes,"))
        }
        _ => None,
    }
}

/// Returns whether two claims have a lock in common. Grants name their objects, so that positions need not be known.
fn meet(one: &HeldLocks<'_>, two: &HeldLocks<'_>) -> bool {
    one.objects.iter().any(|it| two.objects.contains(it)) || overlap(one.scope, two.scope)
}

/// Returns whether two circles have an area in common.
fn overlap(one: &Scope, two: &Scope) -> bool {
    let (Scope::Area { centre, radius }, Scope::Area { centre: other, radius: reach }) = (one, two) else {
        return false;
    };
    let both = u64::from(radius.millimetres()) + u64::from(reach.millimetres());
    // Circles that only touch have no area in common.
    centre.distance_squared(*other) < both * both
}

#[cfg(test)]
mod tests {
    use super::super::scripted_log::{END, check_logs, check_logs_with_calls, event, motion, object, put};
    use super::*;
    use space::{Distance, Motion};
    use zone::{Execution, GameInput};

    fn area(metres: i32, radius: u32) -> Scope {
        Scope::area(motion(metres).position, Distance::of_metres(radius))
    }

    fn granted(number: u64, scope: Scope, objects: &[u32]) -> (Cause, Vec<Change>) {
        let (event, objects) = (event(2, number), objects.iter().map(|&it| object(1, it)).collect());
        (Cause::Lock(event), vec![Change::Granted { event, attempt: 1, scope, objects }])
    }

    fn released(number: u64) -> (Cause, Vec<Change>) {
        (Cause::Lock(event(2, number)), vec![Change::Released { event: event(2, number) }])
    }

    fn violations(script: &[(Cause, Vec<Change>)]) -> Vec<String> {
        check_logs(&[script.to_vec()], |logs, out| end(logs, Some(END), out))
    }

    fn execution(scope: Scope, reads: &[u32]) -> Execution {
        let reads = reads.iter().map(|&it| (object(1, it), Motion::default())).collect();
        let input = GameInput::Think { object: object(1, 1) };
        Execution { input, scope, time: Time::ZERO, seed: 1, reads, next_name: 0, refused: false }
    }

    /// Violations of an event of the zone itself while objects 5 and 6, 50 m to the east, are locked.
    fn meanwhile(execution: Execution, changes: &[Change]) -> Vec<String> {
        let own = (Cause::Think(object(1, 1)), changes.to_vec());
        let script = [vec![granted(1, area(50, 10), &[5, 6]), own, released(1)]];
        check_logs_with_calls(&script, &[(1, 2, execution)], |logs, out| end(logs, Some(END), out))
    }

    #[test]
    fn apart_or_one_after_the_other() {
        let joint = (Cause::Joint(event(2, 2)), vec![put(object(1, 5), 1, 2, b"b")]);
        let over = (joint.0, [joint.1, released(2).1].concat());
        let script = [
            granted(1, area(0, 10), &[4]),
            granted(3, area(40, 10), &[]),
            released(1),
            granted(2, area(10, 10), &[4, 5]),
            over,
            released(3),
        ];
        assert!(violations(&script).is_empty());
        assert!(meanwhile(execution(area(0, 10), &[4]), &[put(object(1, 4), 1, 2, b"b")]).is_empty());
    }

    #[test]
    fn no_two_hold_the_same() {
        let areas = [granted(1, area(0, 10), &[]), granted(2, area(15, 10), &[]), released(1), released(2)];
        assert!(violations(&areas)[0].contains("locks for 2.1.2 meet those for 2.1.1"));
        let named = |it: u32| Scope::objects([object(1, it)]);
        let objects = [granted(1, named(5), &[5]), granted(2, area(0, 9), &[5]), released(1), released(2)];
        assert!(violations(&objects)[0].contains("meet those for"));
        assert!(violations(&[granted(1, area(0, 10), &[])])[0].contains("holds locks for 2.1.1 since"));
    }

    #[test]
    fn only_the_event_touches_what_it_locked() {
        let says = |found: Vec<String>, what: &str| assert!(found[0].contains(what), "{what}: {found:?}");
        says(meanwhile(execution(Scope::objects([]), &[5]), &[]), "is locked for 2.1.1");
        says(
            meanwhile(execution(Scope::objects([]), &[]), &[put(object(1, 6), 1, 2, b"b")]),
            "is locked for",
        );
        says(meanwhile(execution(area(35, 10), &[]), &[]), "which meets");
        let offered = Change::Offered { object: object(1, 5), to: space::ZoneId(2) };
        let script =
            [granted(1, area(0, 10), &[5]), (Cause::Transfer(object(1, 5)), vec![offered]), released(1)];
        says(violations(&script), "is locked for");
        let comes = (Cause::Transfer(object(3, 1)), vec![put(object(3, 1), 2, 7, b"b")]);
        says(violations(&[granted(1, area(5, 10), &[]), comes, released(1)]), "where");
    }

    #[test]
    fn an_object_that_queued_for_a_place_comes_there() {
        let comes = |number| {
            (
                Cause::Transfer(object(3, 1)),
                [released(number).1, vec![put(object(3, 1), 2, 7, b"b")]].concat(),
            )
        };
        let other = granted(2, area(5, 6), &[]);
        assert!(violations(&[granted(1, area(0, 0), &[]), comes(1)]).is_empty());
        let found = violations(&[granted(1, area(-9, 0), &[]), other, comes(1), released(2)]);
        assert!(found[0].contains("is locked for 2.1.2"), "{found:?}");
    }

    #[test]
    fn a_joint_event_has_its_locks() {
        let joint = |it: u32| {
            (Cause::Joint(event(2, 1)), vec![put(object(1, it), 1, 2, b"b"), released(1).1[0].clone()])
        };
        assert!(violations(&[granted(1, area(0, 10), &[5]), joint(5)]).is_empty());
        assert!(violations(&[granted(1, area(0, 10), &[5]), joint(6)])[0].contains("not locked for it"));
        assert!(violations(&[joint(5)]).iter().any(|it| it.contains("without locks")));
    }
}
