//! What is locked for an event of another zone is touched by nobody else: not by another event's locks, not by an event
//! of the zone itself, not by an object that comes or goes. And no lock is left over.

use super::chain::{Chain, Line};
use crate::violation::Violations;
use game::Scope;
use machine::Time;
use space::ObjectId;
use std::collections::BTreeMap;
use zone::{Cause, Change, EventId};

const NAME: &str = "locks";

struct Held<'a> {
    scope: &'a Scope,
    objects: &'a [ObjectId],
    since: Time,
}

pub fn end(chains: &[Chain<'_>], due: Option<Time>, out: &mut Violations) {
    for chain in chains {
        let mut held = BTreeMap::new();
        for line in &chain.lines {
            for why in look_at(line, &mut held) {
                out.add_at(line.at, NAME, format!("{}: {why}", chain.place(line)));
            }
        }
        for (event, it) in held.iter().filter(|(_, it)| due.is_some_and(|due| it.since < due)) {
            out.add(NAME, format!("{} holds locks for {event} since {}", chain.zone, it.since));
        }
    }
}

fn look_at<'a>(line: &'a Line<'_>, held: &mut BTreeMap<EventId, Held<'a>>) -> Vec<String> {
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
                let new = Held { scope, objects, since: line.at };
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

/// Whether these are the locks of somebody who comes and waited for that.
fn is_turn(line: &Line<'_>, event: EventId) -> bool {
    matches!(line.record.cause, Cause::Transfer(_))
        && line.record.changes.contains(&Change::Released { event })
}

/// What a record touches that is locked.
fn touched(line: &Line<'_>, held: &Held<'_>) -> Option<String> {
    let locked = |it: &ObjectId| held.objects.contains(it);
    let writes = line.writes().map(|it| it.0).find(locked);
    let reads = line.ran.into_iter().flat_map(|it| &it.reads).map(|it| it.0).find(locked);
    if let Some(object) = writes.or(reads) {
        return Some(object.to_string());
    }
    let ran = line.ran.filter(|_| line.record.cause != Cause::Founding);
    if let Some(ran) = ran.filter(|it| overlap(&it.scope, held.scope)) {
        return Some(format!("{}, which meets {},", ran.scope, held.scope));
    }
    line.record.changes.iter().find_map(|it| comes_or_goes(line, it, held))
}

fn comes_or_goes(line: &Line<'_>, change: &Change, held: &Held<'_>) -> Option<String> {
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

/// Whether two have a lock in common. Objects are named in both, so that places need not be known.
fn meet(one: &Held<'_>, two: &Held<'_>) -> bool {
    one.objects.iter().any(|it| two.objects.contains(it)) || overlap(one.scope, two.scope)
}

/// Whether two circles have an area in common.
fn overlap(one: &Scope, two: &Scope) -> bool {
    let (Scope::Area { centre, radius }, Scope::Area { centre: other, radius: reach }) = (one, two) else {
        return false;
    };
    let both = u64::from(radius.millimetres()) + u64::from(reach.millimetres());
    centre.distance_squared(*other) < both * both
}

#[cfg(test)]
mod tests {
    use super::super::story::{END, event, judged, judged_with, motion, object, put};
    use super::*;
    use space::{Distance, Motion};
    use zone::{Asked, Ran};

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

    fn verdict(told: &[(Cause, Vec<Change>)]) -> Vec<String> {
        judged(&[told.to_vec()], |chains, out| end(chains, Some(END), out))
    }

    fn ran(scope: Scope, reads: &[u32]) -> Ran {
        let reads = reads.iter().map(|&it| (object(1, it), Motion::default())).collect();
        let asked = Asked::Think { object: object(1, 1) };
        Ran { asked, scope, time: Time::ZERO, seed: 1, reads, next_name: 0, refused: false }
    }

    /// What is said of an event of the zone itself while objects 5 and 6, 50 m to the east, are locked.
    fn meanwhile(ran: Ran, changes: &[Change]) -> Vec<String> {
        let own = (Cause::Think(object(1, 1)), changes.to_vec());
        let told = [vec![granted(1, area(50, 10), &[5, 6]), own, released(1)]];
        judged_with(&told, &[(1, 2, ran)], |chains, out| end(chains, Some(END), out))
    }

    #[test]
    fn apart_or_one_after_the_other() {
        let joint = (Cause::Joint(event(2, 2)), vec![put(object(1, 5), 1, 2, b"b")]);
        let over = (joint.0, [joint.1, released(2).1].concat());
        let told = [
            granted(1, area(0, 10), &[4]),
            granted(3, area(40, 10), &[]),
            released(1),
            granted(2, area(10, 10), &[4, 5]),
            over,
            released(3),
        ];
        assert!(verdict(&told).is_empty());
        assert!(meanwhile(ran(area(0, 10), &[4]), &[put(object(1, 4), 1, 2, b"b")]).is_empty());
    }

    #[test]
    fn no_two_hold_the_same() {
        let areas = [granted(1, area(0, 10), &[]), granted(2, area(15, 10), &[]), released(1), released(2)];
        assert!(verdict(&areas)[0].contains("locks for 2.1.2 meet those for 2.1.1"));
        let named = |it: u32| Scope::objects([object(1, it)]);
        let objects = [granted(1, named(5), &[5]), granted(2, area(0, 9), &[5]), released(1), released(2)];
        assert!(verdict(&objects)[0].contains("meet those for"));
        assert!(verdict(&[granted(1, area(0, 10), &[])])[0].contains("holds locks for 2.1.1 since"));
    }

    #[test]
    fn nobody_else_touches_what_is_locked() {
        let says = |found: Vec<String>, what: &str| assert!(found[0].contains(what), "{what}: {found:?}");
        says(meanwhile(ran(Scope::objects([]), &[5]), &[]), "is locked for 2.1.1");
        says(meanwhile(ran(Scope::objects([]), &[]), &[put(object(1, 6), 1, 2, b"b")]), "is locked for");
        says(meanwhile(ran(area(35, 10), &[]), &[]), "which meets");
        let offered = Change::Offered { object: object(1, 5), to: space::ZoneId(2) };
        let told =
            [granted(1, area(0, 10), &[5]), (Cause::Transfer(object(1, 5)), vec![offered]), released(1)];
        says(verdict(&told), "is locked for");
        let comes = (Cause::Transfer(object(3, 1)), vec![put(object(3, 1), 2, 7, b"b")]);
        says(verdict(&[granted(1, area(5, 10), &[]), comes, released(1)]), "where");
    }

    #[test]
    fn whoever_queued_for_a_place_comes_there() {
        let comes = |number| {
            (
                Cause::Transfer(object(3, 1)),
                [released(number).1, vec![put(object(3, 1), 2, 7, b"b")]].concat(),
            )
        };
        let other = granted(2, area(5, 6), &[]);
        assert!(verdict(&[granted(1, area(0, 0), &[]), comes(1)]).is_empty());
        let found = verdict(&[granted(1, area(-9, 0), &[]), other, comes(1), released(2)]);
        assert!(found[0].contains("is locked for 2.1.2"), "{found:?}");
    }

    #[test]
    fn a_joint_event_has_its_locks() {
        let joint = |it: u32| {
            (Cause::Joint(event(2, 1)), vec![put(object(1, it), 1, 2, b"b"), released(1).1[0].clone()])
        };
        assert!(verdict(&[granted(1, area(0, 10), &[5]), joint(5)]).is_empty());
        assert!(verdict(&[granted(1, area(0, 10), &[5]), joint(6)])[0].contains("not locked for it"));
        assert!(verdict(&[joint(5)]).iter().any(|it| it.contains("without locks")));
    }
}
