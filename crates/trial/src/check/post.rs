//! What one zone sends another arrives exactly once and in order. Letters are kept or passed on, and not passed on for
//! ever.

use super::chain::{Chain, Line};
use crate::violation::Violations;
use machine::Time;
use space::ZoneId;
use std::collections::BTreeMap;
use zone::{Change, Item};

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
        match posted.get(&(way, *number)) {
            None => {
                let text = format!("{}: item {number} of {from} was never posted", chain.place(line));
                out.add_at(line.at, NAME, text);
            }
            Some((_, Item::Letter { to, letter, hops })) if !is_kept(line, to, letter, *hops) => {
                let text = format!("{}: the letter to {to:?} from {from} is lost", chain.place(line));
                out.add_at(line.at, NAME, text);
            }
            Some(_) => (),
        }
    }
}

/// Whether a letter is this zone's own now, or passed on. At the end of its way it may find nobody.
fn is_kept(line: &Line<'_>, to: &game::Addressee, letter: &[u8], hops: u8) -> bool {
    let is_it = |addressee: &game::Addressee, text: &[u8]| addressee == to && text == letter;
    let kept = line.record.changes.iter().any(|it| match it {
        Change::LetterSent { to, letter, .. } => is_it(to, letter),
        Change::Posted { item: Item::Letter { to, letter, hops: now }, .. } => {
            is_it(to, letter) && *now == hops + 1
        }
        _ => false,
    });
    kept || HOPS_MAX <= hops
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
    use super::super::story::{END, Told, bytes, judged, posted, taken};
    use super::*;
    use game::Addressee;
    use machine::Time;
    use space::Epoch;
    use zone::{Cause, Stamp};

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
    }
}
