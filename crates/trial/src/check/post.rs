//! What one zone sends another arrives exactly once and in order. Letters are passed on, not for ever, until somebody reads
//! them; who drops one knows that nobody is there to read it.

use super::chain::{Chain, Line};
use super::register::Register;
use crate::violation::Violations;
use game::Addressee;
use machine::Time;
use space::{ObjectId, ZoneId};
use std::collections::{BTreeMap, BTreeSet};
use zone::{Change, Item, Stamp};

const NAME: &str = "post";

/// How often a letter may be passed on.
const HOPS_MAX: u8 = 3;

/// What is sent from a zone to another.
type Way = (ZoneId, ZoneId);

/// Everything that was posted, by its way and number.
pub(super) type Posted<'a> = BTreeMap<(Way, u64), (&'a Line<'a>, &'a Item)>;

/// Everything that was posted.
pub(super) fn posted<'a>(chains: &'a [Chain<'a>]) -> Posted<'a> {
    let mut posted = Posted::new();
    for chain in chains {
        for (line, change) in chain.changes() {
            if let Change::Posted { to, number, item } = change {
                posted.entry(((chain.zone, *to), *number)).or_insert((line, item));
            }
        }
    }
    posted
}

pub fn end(chains: &[Chain<'_>], due: Option<Time>, out: &mut Violations) {
    let posted = posted(chains);
    let mut taken: BTreeMap<Way, u64> = BTreeMap::new();
    for chain in chains {
        look_at_sent(chain, out);
        look_at_taken(chain, &posted, &mut taken, out);
        look_at_letters(chain, &posted, out);
    }
    let mut delivered = BTreeMap::new();
    for chain in chains {
        look_at_delivered(chain, &taken, &mut delivered, out);
    }
    let Some(due) = due else { return };
    for ((way, number), (line, item)) in posted.iter().filter(|it| it.1.0.at < due) {
        let last = |numbers: &BTreeMap<Way, u64>| numbers.get(way).copied().unwrap_or_default();
        if last(&taken) < *number {
            out.add(NAME, format!("{} never took item {number} of {}: {item:?}", way.1, way.0));
        } else if last(&delivered) < *number {
            let since = line.at;
            out.add(NAME, format!("{} never noticed that {} took item {number} of {since}", way.0, way.1));
        }
    }
}

fn look_at_sent(chain: &Chain<'_>, out: &mut Violations) {
    let mut last: BTreeMap<ZoneId, u64> = BTreeMap::new();
    for (line, change) in chain.changes() {
        let Change::Posted { to, number, item } = change else { continue };
        let last = last.entry(*to).or_default();
        if *number != *last + 1 {
            let text = format!("{}: item {number} for {to} follows item {last}", chain.place(line));
            out.add_at(line.at, NAME, text);
        }
        *last = *number;
        if let Item::Letter { hops, .. } = item
            && HOPS_MAX < *hops
        {
            out.add_at(line.at, NAME, format!("{}: a letter is passed on {hops} times", chain.place(line)));
        }
    }
}

fn look_at_taken(
    chain: &Chain<'_>,
    posted: &Posted<'_>,
    taken: &mut BTreeMap<Way, u64>,
    out: &mut Violations,
) {
    for (line, change) in chain.changes() {
        let Change::Taken { from, number } = change else { continue };
        let way = (*from, chain.zone);
        let last = taken.entry(way).or_default();
        if *number != *last + 1 {
            let text = format!("{}: item {number} of {from} follows item {last}", chain.place(line));
            out.add_at(line.at, NAME, text);
        }
        *last = *number;
        if !posted.contains_key(&(way, *number)) {
            let text = format!("{}: item {number} of {from} was never posted", chain.place(line));
            out.add_at(line.at, NAME, text);
        }
    }
}

/// A letter that is here, or comes: for whom, what it says, and how often it was passed on.
type Letter<'a> = (&'a Addressee, &'a [u8], u8);

/// Looks at every letter that comes or is dealt with.
fn look_at_letters(chain: &Chain<'_>, posted: &Posted<'_>, out: &mut Violations) {
    let mut register = Register::of(chain.zone);
    let mut resting: BTreeMap<Stamp, (&Addressee, &[u8])> = BTreeMap::new();
    let mut here: BTreeSet<ObjectId> = BTreeSet::new();
    for line in &chain.lines {
        for change in &line.record.changes {
            let (letter, whose): (Letter<'_>, _) = match change {
                Change::Taken { from, number } => match posted.get(&((*from, chain.zone), *number)) {
                    Some((_, Item::Letter { to, letter, hops })) => ((to, letter, hops + 1), *from),
                    _ => continue,
                },
                Change::LetterDone { stamp } => match resting.remove(stamp) {
                    Some((to, letter)) if !is_read(line, to, &here) => ((to, letter, 0), chain.zone),
                    _ => continue,
                },
                _ => continue,
            };
            if !is_kept(line, letter) && !register.is_nobody(letter.0) {
                let text =
                    format!("{}: the letter to {:?} from {whose} is lost", chain.place(line), letter.0);
                out.add_at(line.at, NAME, text);
            }
        }
        for change in &line.record.changes {
            register.hear(change);
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

/// Whether whoever a letter is for has read it: the game was asked, and they were here.
fn is_read(line: &Line<'_>, to: &Addressee, here: &BTreeSet<ObjectId>) -> bool {
    let is_here = match to {
        Addressee::Object(object) => here.contains(object),
        Addressee::Place(_) | Addressee::World => true,
    };
    line.ran.is_some() && is_here
}

/// Whether a letter is this zone's own now, or passed on.
fn is_kept(line: &Line<'_>, (whom, text, hops): Letter<'_>) -> bool {
    line.record.changes.iter().any(|it| match it {
        Change::LetterSent { to, letter, .. } => (to, letter.as_slice()) == (whom, text),
        Change::Posted { item: Item::Letter { to, letter, hops: now }, .. } => {
            (to, letter.as_slice(), *now) == (whom, text, hops)
        }
        _ => false,
    })
}

fn look_at_delivered(
    chain: &Chain<'_>,
    taken: &BTreeMap<Way, u64>,
    delivered: &mut BTreeMap<Way, u64>,
    out: &mut Violations,
) {
    for (line, change) in chain.changes() {
        let Change::Delivered { to, upto } = change else { continue };
        let way = (chain.zone, *to);
        let last = taken.get(&way).copied().unwrap_or_default();
        if last < *upto {
            let text =
                format!("{}: items up to {upto} count as delivered, {to} took {last}", chain.place(line));
            out.add_at(line.at, NAME, text);
        }
        let known = delivered.entry(way).or_default();
        *known = (*known).max(*upto);
    }
}

#[cfg(test)]
mod tests {
    use super::super::story::{
        END, Told, bytes, departed, judged, judged_with, lives, object, posted, put, removed, taken,
    };
    use super::*;
    use game::Scope;
    use machine::Time;
    use space::Epoch;
    use zone::{Asked, Cause, Ran};

    const POST: Cause = Cause::Post(ZoneId(9));

    fn letter(hops: u8) -> Item {
        Item::Letter { to: Addressee::World, letter: bytes(b"hi"), hops }
    }

    fn own() -> Change {
        let stamp = Stamp { epoch: Epoch(1), index: 1, place: 1 };
        Change::LetterSent { stamp, to: Addressee::World, letter: bytes(b"hi") }
    }

    fn delivered(upto: u64) -> Change {
        Change::Delivered { to: ZoneId(2), upto }
    }

    fn sent(changes: &[Change]) -> Told {
        changes.iter().map(|it| (POST, vec![it.clone()])).collect()
    }

    fn verdict(here: Told, there: Vec<Vec<Change>>) -> Vec<String> {
        let there = there.into_iter().map(|it| (POST, it)).collect();
        judged(&[here, there], |chains, out| end(chains, Some(END), out))
    }

    #[test]
    fn post_arrives() {
        let here = sent(&[posted(2, 1, letter(0)), posted(2, 2, letter(1)), delivered(2)]);
        let there = vec![vec![taken(1, 1), own()], vec![taken(1, 2), posted(1, 1, letter(2))]];
        let under_way = |chains: &[Chain<'_>], out: &mut Violations| end(chains, Some(Time::ZERO), out);
        let there = there.into_iter().map(|it| (POST, it)).collect();
        assert!(judged(&[here, there], under_way).is_empty());
    }

    #[test]
    fn gaps_doubles_and_losses_are_noticed() {
        let both = || sent(&[posted(2, 1, letter(0)), posted(2, 2, letter(0)), delivered(2)]);
        let first = vec![taken(1, 1), own()];
        let second = vec![taken(1, 2), own()];
        let says = |here: Told, there: &[&Vec<Change>], what: &str| {
            let found = verdict(here, there.iter().map(|&it| it.clone()).collect());
            assert!(found.iter().any(|it| it.contains(what)), "{what}: {found:?}");
        };
        assert!(verdict(both(), vec![first.clone(), second.clone()]).is_empty());
        says(sent(&[posted(2, 2, letter(0))]), &[], "follows item 0");
        says(both(), &[&first, &first, &second], "item 1 of zone 1 follows item 1");
        says(both(), &[&second], "follows item 0");
        says(Vec::new(), &[&first], "was never posted");
        says(both(), &[&first], "never took item 2");
        says(both(), &[&first], "count as delivered");
        says(sent(&[posted(2, 1, letter(0))]), &[&first], "never noticed");
        says(both(), &[&vec![taken(1, 1)]], "is lost");
        says(sent(&[posted(2, 1, letter(4))]), &[], "passed on 4 times");
        // Also at the end of its way a letter is kept, and sent on later.
        says(sent(&[posted(2, 1, letter(3))]), &[&vec![taken(1, 1)]], "is lost");
    }

    /// Zone 2 drops a letter to an object of which it wrote this before.
    fn dropped(whom: ObjectId, before: &[Change]) -> Vec<String> {
        let item = Item::Letter { to: Addressee::Object(whom), letter: bytes(b"hi"), hops: 1 };
        let there = before.iter().map(|it| vec![it.clone()]).chain([vec![taken(1, 1)]]).collect();
        verdict(sent(&[posted(2, 1, item), delivered(1)]), there)
    }

    #[test]
    fn whoever_is_gone_gets_no_letters() {
        let it = object(2, 5);
        let born = put(it, 1, 1, b"");
        let departed = departed(it, 3, 2);
        assert!(dropped(it, &[born.clone(), removed(it, 2)]).is_empty());
        assert!(dropped(it, &[born.clone(), departed.clone(), lives(it, None, 2)]).is_empty());
        assert!(dropped(it, &[]).is_empty(), "who never was");
        // News that comes in another order: it died as 3, and what is heard of 2 is older.
        assert!(dropped(it, &[born.clone(), lives(it, None, 3), departed.clone()]).is_empty());
        let lost = |whom, before: &[Change]| {
            let found = dropped(whom, before);
            assert!(found.iter().any(|it| it.contains("is lost")), "{found:?}");
        };
        lost(it, std::slice::from_ref(&born));
        lost(it, &[born.clone(), departed.clone()]);
        lost(it, &[born.clone(), departed, lives(it, Some(4), 3)]);
        lost(it, &[born, removed(it, 2), put(it, 3, 3, b"")]);
        // Only the zone of birth knows for sure.
        lost(object(1, 5), &[lives(object(1, 5), None, 2)]);
    }

    /// Zone 1 is done with a letter; whether the game was asked.
    fn read(to: Addressee, is_asked: bool, more: &[Change]) -> Vec<String> {
        let stamp = Stamp { epoch: Epoch(1), index: 1, place: 1 };
        let sent = Change::LetterSent { stamp, to, letter: bytes(b"hi") };
        let done = [&[Change::LetterDone { stamp }][..], more].concat();
        let told: Told = vec![(POST, vec![sent]), (Cause::Letter(stamp), done)];
        let ran = Ran {
            asked: Asked::Letter { to, letter: b"hi".to_vec() },
            scope: Scope::objects([]),
            time: Time::ZERO,
            seed: 1,
            reads: Vec::new(),
            next_name: 0,
            refused: false,
        };
        let asked = is_asked.then_some((1, 2, ran));
        judged_with(&[told], asked.as_slice(), |chains, out| end(chains, None, out))
    }

    #[test]
    fn a_letter_is_read_or_sent_on_unless_nobody_is_there() {
        let (here, gone) = (Addressee::World, Addressee::Object(object(1, 5)));
        assert!(read(here, true, &[]).is_empty());
        assert!(read(here, false, &[posted(2, 1, letter(0))]).is_empty());
        assert!(read(gone, false, &[]).is_empty());
        assert!(read(here, false, &[])[0].contains("is lost"));
        let elsewhere = Addressee::Object(object(2, 5));
        assert!(read(elsewhere, true, &[])[0].contains("is lost"), "nobody was here to read it");
        assert!(read(here, false, &[posted(2, 1, letter(1))])[0].contains("is lost"), "another letter");
    }
}
