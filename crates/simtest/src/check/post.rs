//! Post items arrive exactly once and in order. Letters are passed on, not for ever, until their addressee reads them;
//! a zone drops one only if it knows that the addressee is gone.

use super::living_objects::LivingObjects;
use super::surviving_log::{LogLine, SurvivingLog};
use crate::violation::Violations;
use game::Addressee;
use machine::Time;
use space::{ObjectId, ZoneId};
use std::collections::{BTreeMap, BTreeSet};
use zone::{Change, PostItem, Stamp};

const NAME: &str = "post";

/// Number of times that a letter may be passed on.
const HOPS_MAX: u8 = 3;

/// Sender and receiver of post.
type PostRoute = (ZoneId, ZoneId);

/// Everything that was posted, by route and number.
pub(super) type PostedItems<'a> = BTreeMap<(PostRoute, u64), (&'a LogLine<'a>, &'a PostItem)>;

/// Collects everything that was posted.
pub(super) fn posted<'a>(logs: &'a [SurvivingLog<'a>]) -> PostedItems<'a> {
    let mut posted = PostedItems::new();
    for log in logs {
        for (line, change) in log.changes() {
            if let Change::Posted { to, number, item } = change {
                posted.entry(((log.zone, *to), *number)).or_insert((line, item));
            }
        }
    }
    posted
}

pub fn end(logs: &[SurvivingLog<'_>], due: Option<Time>, out: &mut Violations) {
    let posted = posted(logs);
    let mut taken: BTreeMap<PostRoute, u64> = BTreeMap::new();
    for log in logs {
        look_at_sent(log, out);
        look_at_taken(log, &posted, &mut taken, out);
        look_at_letters(log, &posted, out);
    }
    // Only now are all takings known, whichever log they are in.
    let mut delivered = BTreeMap::new();
    for log in logs {
        look_at_delivered(log, &taken, &mut delivered, out);
    }
    // Items posted shortly before the end may still be on their way.
    let Some(due) = due else { return };
    for ((route, number), (line, item)) in posted.iter().filter(|it| it.1.0.at < due) {
        let last = |numbers: &BTreeMap<PostRoute, u64>| numbers.get(route).copied().unwrap_or_default();
        if last(&taken) < *number {
            out.add(NAME, format!("{} never took item {number} of {}: {item:?}", route.1, route.0));
        } else if last(&delivered) < *number {
            let since = line.at;
            out.add(
                NAME,
                format!("{} never noticed that {} took item {number} of {since}", route.0, route.1),
            );
        }
    }
}

fn look_at_sent(log: &SurvivingLog<'_>, out: &mut Violations) {
    let mut last: BTreeMap<ZoneId, u64> = BTreeMap::new();
    for (line, change) in log.changes() {
        let Change::Posted { to, number, item } = change else { continue };
        let last = last.entry(*to).or_default();
        if *number != *last + 1 {
            let text = format!("{}: item {number} for {to} follows item {last}", log.describe(line));
            out.add_at(line.at, NAME, text);
        }
        *last = *number;
        if let PostItem::Letter { hops, .. } = item
            && HOPS_MAX < *hops
        {
            out.add_at(line.at, NAME, format!("{}: a letter is passed on {hops} times", log.describe(line)));
        }
    }
}

fn look_at_taken(
    log: &SurvivingLog<'_>,
    posted: &PostedItems<'_>,
    taken: &mut BTreeMap<PostRoute, u64>,
    out: &mut Violations,
) {
    for (line, change) in log.changes() {
        let Change::Taken { from, number } = change else { continue };
        let route = (*from, log.zone);
        let last = taken.entry(route).or_default();
        if *number != *last + 1 {
            let text = format!("{}: item {number} of {from} follows item {last}", log.describe(line));
            out.add_at(line.at, NAME, text);
        }
        *last = *number;
        if !posted.contains_key(&(route, *number)) {
            let text = format!("{}: item {number} of {from} was never posted", log.describe(line));
            out.add_at(line.at, NAME, text);
        }
    }
}

/// A letter that is here, or comes: addressee, content, and number of times it was passed on.
type CarriedLetter<'a> = (&'a Addressee, &'a [u8], u8);

/// Checks every letter that arrives or is dealt with.
fn look_at_letters(log: &SurvivingLog<'_>, posted: &PostedItems<'_>, out: &mut Violations) {
    let mut living = LivingObjects::of(log.zone);
    let mut resting: BTreeMap<Stamp, (&Addressee, &[u8])> = BTreeMap::new();
    let mut here: BTreeSet<ObjectId> = BTreeSet::new();
    for line in &log.lines {
        // Letters are checked by what the zone knew before this record; only then is the record taken in.
        for change in &line.record.changes {
            let (letter, whose): (CarriedLetter<'_>, _) = match change {
                Change::Taken { from, number } => match posted.get(&((*from, log.zone), *number)) {
                    // The zone that takes a letter and passes it on counts one hop more.
                    Some((_, PostItem::Letter { to, letter, hops })) => ((to, letter, hops + 1), *from),
                    _ => continue,
                },
                Change::LetterDone { stamp } => match resting.remove(stamp) {
                    Some((to, letter)) if !is_read(line, to, &here) => ((to, letter, 0), log.zone),
                    _ => continue,
                },
                _ => continue,
            };
            if !is_kept(line, letter) && !living.is_certainly_gone(letter.0) {
                let text =
                    format!("{}: the letter to {:?} from {whose} is lost", log.describe(line), letter.0);
                out.add_at(line.at, NAME, text);
            }
        }
        for change in &line.record.changes {
            living.apply(change);
            match change {
                Change::Put { object, .. } => drop(here.insert(*object)),
                Change::Removed { object, .. } | Change::Departed { object, .. } => drop(here.remove(object)),
                _ => (),
            }
            if let Change::LetterSent { stamp, to, letter } = change {
                resting.insert(*stamp, (to, letter));
            }
        }
    }
}

/// Returns whether the addressee has read a letter: the game was called, and the object was here.
fn is_read(line: &LogLine<'_>, to: &Addressee, here: &BTreeSet<ObjectId>) -> bool {
    let is_here = match to {
        Addressee::Object(object) => here.contains(object),
        // The game reads these wherever the letter has arrived.
        Addressee::Place(_) | Addressee::World => true,
    };
    line.execution.is_some() && is_here
}

/// Returns whether a letter is this zone's own now, or passed on.
fn is_kept(line: &LogLine<'_>, (whom, text, hops): CarriedLetter<'_>) -> bool {
    line.record.changes.iter().any(|it| match it {
        Change::LetterSent { to, letter, .. } => (to, letter.as_slice()) == (whom, text),
        Change::Posted { item: PostItem::Letter { to, letter, hops: now }, .. } => {
            (to, letter.as_slice(), *now) == (whom, text, hops)
        }
        _ => false,
    })
}

fn look_at_delivered(
    log: &SurvivingLog<'_>,
    taken: &BTreeMap<PostRoute, u64>,
    delivered: &mut BTreeMap<PostRoute, u64>,
    out: &mut Violations,
) {
    for (line, change) in log.changes() {
        let Change::Delivered { to, upto } = change else { continue };
        let route = (log.zone, *to);
        let last = taken.get(&route).copied().unwrap_or_default();
        if last < *upto {
            let text =
                format!("{}: items up to {upto} count as delivered, {to} took {last}", log.describe(line));
            out.add_at(line.at, NAME, text);
        }
        let known = delivered.entry(route).or_default();
        *known = (*known).max(*upto);
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripted_log::{
        END, ScriptedLog, bytes, check_logs, check_logs_with_calls, departed, lives, object, posted, put,
        removed, taken,
    };
    use super::*;
    use game::Scope;
    use machine::Time;
    use space::Epoch;
    use zone::{Cause, Execution, GameInput};

    const POST: Cause = Cause::Post(ZoneId(9));

    fn letter(hops: u8) -> PostItem {
        PostItem::Letter { to: Addressee::World, letter: bytes(b"hi"), hops }
    }

    fn own() -> Change {
        let stamp = Stamp { epoch: Epoch(1), index: 1, place: 1 };
        Change::LetterSent { stamp, to: Addressee::World, letter: bytes(b"hi") }
    }

    fn delivered(upto: u64) -> Change {
        Change::Delivered { to: ZoneId(2), upto }
    }

    fn sent(changes: &[Change]) -> ScriptedLog {
        changes.iter().map(|it| (POST, vec![it.clone()])).collect()
    }

    fn violations(here: ScriptedLog, there: Vec<Vec<Change>>) -> Vec<String> {
        let there = there.into_iter().map(|it| (POST, it)).collect();
        check_logs(&[here, there], |logs, out| end(logs, Some(END), out))
    }

    #[test]
    fn post_arrives() {
        let here = sent(&[posted(2, 1, letter(0)), posted(2, 2, letter(1)), delivered(2)]);
        let there = vec![vec![taken(1, 1), own()], vec![taken(1, 2), posted(1, 1, letter(2))]];
        let under_way = |logs: &[SurvivingLog<'_>], out: &mut Violations| end(logs, Some(Time::ZERO), out);
        let there = there.into_iter().map(|it| (POST, it)).collect();
        assert!(check_logs(&[here, there], under_way).is_empty());
    }

    #[test]
    fn gaps_doubles_and_losses_are_noticed() {
        let both = || sent(&[posted(2, 1, letter(0)), posted(2, 2, letter(0)), delivered(2)]);
        let first = vec![taken(1, 1), own()];
        let second = vec![taken(1, 2), own()];
        let says = |here: ScriptedLog, there: &[&Vec<Change>], what: &str| {
            let found = violations(here, there.iter().map(|&it| it.clone()).collect());
            assert!(found.iter().any(|it| it.contains(what)), "{what}: {found:?}");
        };
        assert!(violations(both(), vec![first.clone(), second.clone()]).is_empty());
        says(sent(&[posted(2, 2, letter(0))]), &[], "follows item 0");
        says(both(), &[&first, &first, &second], "item 1 of zone 1 follows item 1");
        says(both(), &[&second], "follows item 0");
        says(Vec::new(), &[&first], "was never posted");
        says(both(), &[&first], "never took item 2");
        says(both(), &[&first], "count as delivered");
        says(sent(&[posted(2, 1, letter(0))]), &[&first], "never noticed");
        says(both(), &[&vec![taken(1, 1)]], "is lost");
        says(sent(&[posted(2, 1, letter(4))]), &[], "passed on 4 times");
        // Also at the end of its route a letter is kept, and sent on later.
        says(sent(&[posted(2, 1, letter(3))]), &[&vec![taken(1, 1)]], "is lost");
    }

    /// Violations of zone 2, which drops a letter to an object of which it wrote this before.
    fn dropped(whom: ObjectId, before: &[Change]) -> Vec<String> {
        let item = PostItem::Letter { to: Addressee::Object(whom), letter: bytes(b"hi"), hops: 1 };
        let there = before.iter().map(|it| vec![it.clone()]).chain([vec![taken(1, 1)]]).collect();
        violations(sent(&[posted(2, 1, item), delivered(1)]), there)
    }

    #[test]
    fn an_object_that_is_gone_gets_no_letters() {
        let it = object(2, 5);
        let born = put(it, 1, 1, b"");
        let departed = departed(it, 3, 2);
        assert!(dropped(it, &[born.clone(), removed(it, 2)]).is_empty());
        assert!(dropped(it, &[born.clone(), departed.clone(), lives(it, None, 2)]).is_empty());
        assert!(dropped(it, &[]).is_empty(), "an object that never was");
        // Reports that come in another order: it died as 3, and the report of 2 is older.
        assert!(dropped(it, &[born.clone(), lives(it, None, 3), departed.clone()]).is_empty());
        let lost = |whom, before: &[Change]| {
            let found = dropped(whom, before);
            assert!(found.iter().any(|it| it.contains("is lost")), "{found:?}");
        };
        lost(it, std::slice::from_ref(&born));
        lost(it, &[born.clone(), departed.clone()]);
        lost(it, &[born.clone(), departed, lives(it, Some(4), 3)]);
        lost(it, &[born, removed(it, 2), put(it, 3, 3, b"")]);
        // Only the birth zone knows for sure.
        lost(object(1, 5), &[lives(object(1, 5), None, 2)]);
    }

    /// Violations of zone 1, which deals with a letter; `is_asked` says whether the game was called.
    fn read(to: Addressee, is_asked: bool, more: &[Change]) -> Vec<String> {
        let stamp = Stamp { epoch: Epoch(1), index: 1, place: 1 };
        let sent = Change::LetterSent { stamp, to, letter: bytes(b"hi") };
        let done = [&[Change::LetterDone { stamp }][..], more].concat();
        let script: ScriptedLog = vec![(POST, vec![sent]), (Cause::Letter(stamp), done)];
        let execution = Execution {
            input: GameInput::Letter { to, letter: b"hi".to_vec() },
            scope: Scope::objects([]),
            time: Time::ZERO,
            seed: 1,
            reads: Vec::new(),
            next_name: 0,
            refused: false,
        };
        let asked = is_asked.then_some((1, 2, execution));
        check_logs_with_calls(&[script], asked.as_slice(), |logs, out| end(logs, None, out))
    }

    #[test]
    fn a_letter_is_read_or_sent_on_unless_its_addressee_is_gone() {
        let (here, gone) = (Addressee::World, Addressee::Object(object(1, 5)));
        assert!(read(here, true, &[]).is_empty());
        assert!(read(here, false, &[posted(2, 1, letter(0))]).is_empty());
        assert!(read(gone, false, &[]).is_empty());
        assert!(read(here, false, &[])[0].contains("is lost"));
        let elsewhere = Addressee::Object(object(2, 5));
        assert!(read(elsewhere, true, &[])[0].contains("is lost"), "its addressee was not here to read it");
        assert!(read(here, false, &[posted(2, 1, letter(1))])[0].contains("is lost"), "another letter");
    }
}
