//! Items are neither doubled nor lost, and coins are only handed on: they appear with a player who joins and vanish
//! with one who leaves. An event of several zones counts at once, with the record that decides it.

use super::chain::{Chain, Line};
use super::one_order::Order;
use crate::scenario::{Count, Goods, Serial};
use crate::violation::Violations;
use space::ObjectId;
use std::collections::{BTreeMap, BTreeSet};
use zone::{Cause, Change};

const NAME: &str = "conservation";

#[derive(Default)]
struct Accounts {
    /// What every object holds, as of which version.
    of: BTreeMap<ObjectId, (u32, Goods)>,
    /// How many objects hold an item; and those that any ever held.
    holders: BTreeMap<Serial, u32>,
    /// Items that are not in one place.
    wrong: BTreeSet<Serial>,
    coins: u64,
}

impl Accounts {
    /// An object is this now, unless that was known already from who decided it.
    fn set(&mut self, object: ObjectId, version: u32, goods: Goods) {
        if self.of.get(&object).is_some_and(|it| version <= it.0) {
            return;
        }
        for &item in &goods.items {
            self.count(item, 1);
        }
        self.coins += goods.coins;
        if let Some((_, old)) = self.of.insert(object, (version, goods)) {
            for &item in &old.items {
                self.count(item, -1);
            }
            self.coins -= old.coins;
        }
    }

    fn count(&mut self, item: Serial, more: i32) {
        let holders = self.holders.entry(item).or_default();
        *holders = holders.saturating_add_signed(more);
        match *holders {
            1 => self.wrong.remove(&item),
            _ => self.wrong.insert(item),
        };
    }

    fn take(&mut self, line: &Line<'_>, count: Count) -> Result<(), String> {
        for change in &line.record.changes {
            let (object, version, state) = match change {
                Change::Put { object, version, state, .. } => (*object, *version, Some(state)),
                Change::Removed { object, version } => (*object, *version, None),
                Change::Elsewhere(it) if !line.is_joint() => (it.object, it.version, it.state.as_ref()),
                _ => continue,
            };
            let goods = state.map(|it| count(it)).transpose();
            let goods = goods.map_err(|error| format!("{object} does not decode: {error}"))?;
            self.set(object, version, goods.unwrap_or_default());
        }
        Ok(())
    }
}

pub fn end(chains: &[Chain<'_>], order: &Order, out: &mut Violations) {
    let mut accounts = Accounts::default();
    for &(place, number) in order {
        let (chain, line) = (&chains[place], &chains[place].lines[number]);
        let Some(count) = chain.about.count else { continue };
        let coins = accounts.coins;
        if let Err(why) = accounts.take(line, count) {
            out.add_at(line.at, NAME, format!("{}: {why}", chain.place(line)));
        }
        if accounts.coins != coins && !matches!(line.record.cause, Cause::Join(_) | Cause::Leave(_)) {
            let text = format!("{}: {coins} coins became {}", chain.place(line), accounts.coins);
            out.add_at(line.at, NAME, text);
        }
        if let Some(item) = accounts.wrong.first() {
            let holders = accounts.holders.get(item).copied().unwrap_or_default();
            let text = format!("{}: item {item:?} is in {holders} places", chain.place(line));
            out.add_at(line.at, NAME, text);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::one_order;
    use super::super::story::{Told, event, judged, object, posted, put, removed, taken, whole, written};
    use super::super::toy::holder;
    use super::*;
    use zone::Item as Post;

    fn carrier(coins: u32, carries: bool) -> Vec<u8> {
        let item = object(1, 9);
        holder(coins, if carries { std::slice::from_ref(&item) } else { &[] })
    }

    /// A player of zone 2 sells an item to one of zone 1, who decides; what each ends up with is given.
    fn verdict(buyer: &[u8], seller: &[u8], mailed: &[u8]) -> Vec<String> {
        let (here, there) = (object(1, 5), object(2, 7));
        let (joins, acts) = (Cause::Join(game::PlayerId(1)), Cause::Act(game::PlayerId(1), 1));
        let event = whole(event(1, 1), &[written(1, here, 2, buyer), written(2, there, 2, seller)]);
        let elsewhere = Change::Elsewhere(event.writes[1].clone());
        let decides = vec![put(here, 1, 2, buyer), elsewhere, posted(2, 1, Post::Decided(event.clone()))];
        let buys: Told = vec![(joins, vec![put(here, 1, 1, &carrier(20, false))]), (acts, decides)];
        let sells: Told = vec![
            (joins, vec![put(there, 1, 1, &carrier(20, true))]),
            (Cause::Joint(event.event), vec![taken(1, 1), put(there, 1, 2, mailed)]),
        ];
        judged(&[buys, sells], |chains, out| {
            let order = one_order::end(chains, out).unwrap();
            end(chains, &order, out);
        })
    }

    #[test]
    fn a_bargain_across_a_border_makes_nothing() {
        let (buyer, seller) = (carrier(15, true), carrier(25, false));
        assert!(verdict(&buyer, &seller, &seller).is_empty());
    }

    #[test]
    fn what_is_made_or_lost_is_noticed() {
        let seller = carrier(25, false);
        let cheap = verdict(&carrier(16, true), &seller, &seller);
        assert!(cheap[0].contains("40 coins became 41"), "{cheap:?}");
        let lost = verdict(&carrier(15, false), &seller, &seller);
        assert!(lost[0].contains("is in 0 places"), "{lost:?}");
        let both = carrier(25, true);
        assert!(verdict(&carrier(15, true), &both, &both)[0].contains("is in 2 places"));
        let gone: Told = vec![
            (Cause::Reign, vec![put(object(1, 5), 1, 1, &carrier(0, true))]),
            (Cause::Reign, vec![removed(object(1, 5), 2)]),
        ];
        let found = judged(&[gone], |chains, out| end(chains, &vec![(0, 0), (0, 1)], out));
        assert!(found[0].contains("is in 0 places"), "{found:?}");
    }
}
