//! An object has one owner at a time: its versions rise by one over all zones, each is written by one of them, it is
//! born once, and only an object that comes over gets a new incarnation. No name is given twice.

use super::chain::{Chain, Line};
use crate::violation::Violations;
use machine::Time;
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{Cause, Change};

const NAME: &str = "names";

/// A state that some zone gave an object.
#[derive(Clone, Copy, Debug)]
struct Given {
    zone: ZoneId,
    at: Time,
    index: u64,
    version: u32,
    /// `None` if it is gone.
    incarnation: Option<u32>,
    /// Whether it came over with this.
    comes: bool,
}

pub fn end(chains: &[Chain<'_>], out: &mut Violations) {
    let mut objects: BTreeMap<ObjectId, Vec<Given>> = BTreeMap::new();
    for chain in chains {
        for (line, change) in chain.changes() {
            if let Some((object, given)) = given(chain.zone, line, change) {
                objects.entry(object).or_default().push(given);
            }
        }
    }
    for (object, mut life) in objects {
        // Several zones: in the order of versions. What one zone wrote stays in its order.
        let mixed = life.iter().any(|it| it.zone != life[0].zone);
        if mixed {
            life.sort_by_key(|it| it.version);
        }
        look_at(object, &life, out);
    }
}

fn given(zone: ZoneId, line: &Line<'_>, change: &Change) -> Option<(ObjectId, Given)> {
    let (object, version, incarnation) = match *change {
        Change::Put { object, version, incarnation, .. } => (object, version, Some(incarnation)),
        Change::Removed { object, version } => (object, version, None),
        _ => return None,
    };
    let comes = line.record.cause == Cause::Transfer(object);
    Some((object, Given { zone, at: line.at, index: line.record.index, version, incarnation, comes }))
}

fn look_at(object: ObjectId, life: &[Given], out: &mut Violations) {
    let mut before: Option<Given> = None;
    for it in life {
        let place = format!("{}, record {}", it.zone, it.index);
        let expected = match before {
            Some(Given { version, incarnation: Some(_), .. }) => Some(version + 1),
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

/// Whether an object's owner is who may write this.
fn fits(object: ObjectId, before: Option<&Given>, it: &Given) -> Result<(), String> {
    let Some(before) = before else {
        let at_home = object == game::WORLD || object.zone == it.zone;
        return if at_home { Ok(()) } else { Err("is born under another zone's name".to_owned()) };
    };
    let owner = before.incarnation.unwrap_or_default();
    let incarnation = it.incarnation.unwrap_or(owner);
    match (it.comes, it.zone == before.zone) {
        (false, true) if incarnation == owner => Ok(()),
        (true, false) if incarnation == owner + 1 => Ok(()),
        (false, false) => Err(format!("is written though {} owns it", before.zone)),
        _ => Err(format!("is of owner {incarnation}, the one before of {owner}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::story::{Told, judged, object, put, removed};
    use super::*;

    const REIGN: Cause = Cause::Reign;

    fn verdict(told: &[Told]) -> Vec<String> {
        judged(told, end)
    }

    #[test]
    fn an_object_goes_over_and_comes_back() {
        let it = object(1, 5);
        let over = Cause::Transfer(it);
        let here = vec![
            (REIGN, vec![put(it, 1, 1, b"a")]),
            (REIGN, vec![put(it, 1, 2, b"b")]),
            (over, vec![put(it, 3, 4, b"b")]),
            (REIGN, vec![removed(it, 5)]),
        ];
        let there = vec![(over, vec![put(it, 2, 3, b"b")])];
        assert!(verdict(&[here, there]).is_empty());
    }

    #[test]
    fn nobody_writes_what_another_owns() {
        let (it, born) = (object(1, 5), vec![(REIGN, vec![put(object(1, 5), 1, 1, b"a")])]);
        let stolen = verdict(&[born.clone(), vec![(REIGN, vec![put(it, 1, 2, b"b")])]]);
        assert!(stolen[0].contains("is written though"), "{stolen:?}");
        let doubled = verdict(&[
            [born.clone(), vec![(REIGN, vec![put(it, 1, 2, b"b")])]].concat(),
            vec![(Cause::Transfer(it), vec![put(it, 2, 2, b"a")])],
        ]);
        assert!(doubled[0].contains("version 2 of") && doubled[0].contains("comes after"), "{doubled:?}");
        let same = verdict(&[born.clone(), vec![(Cause::Transfer(it), vec![put(it, 1, 2, b"a")])]]);
        assert!(same[0].contains("is of owner 1, the one before of 1"), "{same:?}");
        let foreign = verdict(&[Vec::new(), born]);
        assert!(foreign[0].contains("another zone's name"), "{foreign:?}");
    }
}
