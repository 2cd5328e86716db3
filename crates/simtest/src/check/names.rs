//! An object has one owner at a time: its versions rise by one over all zones, each is written by one of them, it is
//! born once, and only a transferred object gets a new incarnation. No name is given twice.

use super::surviving_log::{LogLine, SurvivingLog};
use crate::violation::Violations;
use machine::Time;
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{Cause, Change};

const NAME: &str = "names";

/// A version that a zone gave an object.
#[derive(Clone, Copy, Debug)]
struct VersionWrite {
    zone: ZoneId,
    at: Time,
    index: u64,
    version: u32,
    /// `None` if the object is gone.
    incarnation: Option<u32>,
    /// True if the object was transferred with this.
    comes: bool,
}

pub fn end(logs: &[SurvivingLog<'_>], out: &mut Violations) {
    let mut objects: BTreeMap<ObjectId, Vec<VersionWrite>> = BTreeMap::new();
    for log in logs {
        for (line, change) in log.changes() {
            if let Some((object, given)) = given(log.zone, line, change) {
                objects.entry(object).or_default().push(given);
            }
        }
    }
    for (object, mut life) in objects {
        // Several zones: in the order of versions. The records of one zone stay in its order.
        let mixed = life.iter().any(|it| it.zone != life[0].zone);
        if mixed {
            life.sort_by_key(|it| it.version);
        }
        look_at(object, &life, out);
    }
}

fn given(zone: ZoneId, line: &LogLine<'_>, change: &Change) -> Option<(ObjectId, VersionWrite)> {
    let (object, version, incarnation) = match *change {
        Change::Put { object, version, incarnation, .. } => (object, version, Some(incarnation)),
        Change::Removed { object, version } => (object, version, None),
        _ => return None,
    };
    let comes = line.record.cause == Cause::Transfer(object);
    Some((object, VersionWrite { zone, at: line.at, index: line.record.index, version, incarnation, comes }))
}

fn look_at(object: ObjectId, life: &[VersionWrite], out: &mut Violations) {
    let mut before: Option<VersionWrite> = None;
    for it in life {
        let place = format!("{}, record {}", it.zone, it.index);
        let expected = match before {
            Some(VersionWrite { version, incarnation: Some(_), .. }) => Some(version + 1),
            // A removed object has no next version.
            Some(_) => None,
            None => Some(1),
        };
        if expected != Some(it.version) {
            let before = before.map(|it| (it.zone, it.version, it.incarnation.is_some()));
            let text = format!("{place}: version {} of {object} comes after {before:?}", it.version);
            out.add_at(it.at, NAME, text);
        } else if let Err(why) = fits(object, before.as_ref(), it) {
            out.add_at(it.at, NAME, format!("{place}: version {} of {object} {why}", it.version));
        }
        before = Some(*it);
    }
}

/// Returns whether the zone that wrote this is the object's owner.
fn fits(object: ObjectId, before: Option<&VersionWrite>, it: &VersionWrite) -> Result<(), String> {
    let Some(before) = before else {
        // The world's own object has no birth zone.
        let at_home = object == game::WORLD || object.zone == it.zone;
        return if at_home { Ok(()) } else { Err("is born under another zone's name".to_owned()) };
    };
    let owner = before.incarnation.unwrap_or_default();
    let incarnation = it.incarnation.unwrap_or(owner);
    match (it.comes, it.zone == before.zone) {
        (false, true) if incarnation == owner => Ok(()),
        // Only a transfer may change the owner, and it must.
        (true, false) if incarnation == owner + 1 => Ok(()),
        (false, false) => Err(format!("is written though {} owns it", before.zone)),
        _ => Err(format!("is of owner {incarnation}, the one before of {owner}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripted_log::{ScriptedLog, check_logs, object, put, removed};
    use super::*;

    const LEADERSHIP: Cause = Cause::Leadership;

    fn violations(script: &[ScriptedLog]) -> Vec<String> {
        check_logs(script, end)
    }

    #[test]
    fn an_object_goes_over_and_comes_back() {
        let it = object(1, 5);
        let over = Cause::Transfer(it);
        let here = vec![
            (LEADERSHIP, vec![put(it, 1, 1, b"a")]),
            (LEADERSHIP, vec![put(it, 1, 2, b"b")]),
            (over, vec![put(it, 3, 4, b"b")]),
            (LEADERSHIP, vec![removed(it, 5)]),
        ];
        let there = vec![(over, vec![put(it, 2, 3, b"b")])];
        assert!(violations(&[here, there]).is_empty());
    }

    #[test]
    fn only_the_owner_writes_an_object() {
        let (it, born) = (object(1, 5), vec![(LEADERSHIP, vec![put(object(1, 5), 1, 1, b"a")])]);
        let stolen = violations(&[born.clone(), vec![(LEADERSHIP, vec![put(it, 1, 2, b"b")])]]);
        assert!(stolen[0].contains("is written though"), "{stolen:?}");
        let doubled = violations(&[
            [born.clone(), vec![(LEADERSHIP, vec![put(it, 1, 2, b"b")])]].concat(),
            vec![(Cause::Transfer(it), vec![put(it, 2, 2, b"a")])],
        ]);
        assert!(doubled[0].contains("version 2 of") && doubled[0].contains("comes after"), "{doubled:?}");
        let same = violations(&[born.clone(), vec![(Cause::Transfer(it), vec![put(it, 1, 2, b"a")])]]);
        assert!(same[0].contains("is of owner 1, the one before of 1"), "{same:?}");
        let foreign = violations(&[Vec::new(), born]);
        assert!(foreign[0].contains("another zone's name"), "{foreign:?}");
    }
}
