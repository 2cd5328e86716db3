//! Items are neither doubled nor lost, and coins are only handed on: they appear with a new world and with a player who
//! joins, and vanish with one who leaves. An event of several zones counts at once, with the record that decides it.

use super::one_order::RecordOrder;
use super::surviving_log::{LogLine, SurvivingLog};
use crate::scenario::{ConservedGoods, Count, ItemId};
use crate::violation::Violations;
use space::ObjectId;
use std::collections::{BTreeMap, BTreeSet};
use zone::{Cause, Change};

const NAME: &str = "conservation";

#[derive(Default)]
struct GoodsAccounts {
    /// Goods of every object, with the version at which it held them.
    of: BTreeMap<ObjectId, (u32, ConservedGoods)>,
    /// Number of objects that hold an item, for every item ever held.
    holders: BTreeMap<ItemId, u32>,
    /// Items that are not in exactly one object.
    wrong: BTreeSet<ItemId>,
    coins: u64,
}

impl GoodsAccounts {
    /// Sets the goods of an object, unless the coordinator's record set this version already.
    fn set(&mut self, object: ObjectId, version: u32, goods: ConservedGoods) {
        if self.of.get(&object).is_some_and(|it| version <= it.0) {
            return;
        }
        // New goods first: an item that stays in the object is never counted as gone.
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

    fn count(&mut self, item: ItemId, more: i32) {
        let holders = self.holders.entry(item).or_default();
        *holders = holders.saturating_add_signed(more);
        match *holders {
            // Within a record an item may be in two objects or none for a moment; it is looked at after the record.
            1 => self.wrong.remove(&item),
            _ => self.wrong.insert(item),
        };
    }

    fn take(&mut self, line: &LogLine<'_>, count: &Count) -> Result<(), String> {
        for change in &line.record.changes {
            let (object, version, state) = match change {
                Change::Put { object, version, state, .. } => (*object, *version, Some(state)),
                Change::Removed { object, version } => (*object, *version, None),
                // A participant repeats the coordinator's writes; they were counted with the decision.
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

pub fn end(logs: &[SurvivingLog<'_>], order: &RecordOrder, out: &mut Violations) {
    let mut accounts = GoodsAccounts::default();
    for &(place, number) in order {
        let (log, line) = (&logs[place], &logs[place].lines[number]);
        let Some(count) = &log.spec.count else { continue };
        let coins = accounts.coins;
        if let Err(why) = accounts.take(line, count) {
            out.add_at(line.at, NAME, format!("{}: {why}", log.describe(line)));
        }
        let may_change = matches!(line.record.cause, Cause::Founding | Cause::Join(_) | Cause::Leave(_));
        if accounts.coins != coins && !may_change {
            let text = format!("{}: {coins} coins became {}", log.describe(line), accounts.coins);
            out.add_at(line.at, NAME, text);
        }
        if let Some(item) = accounts.wrong.first() {
            let holders = accounts.holders.get(item).copied().unwrap_or_default();
            let text = format!("{}: item {item:?} is in {holders} places", log.describe(line));
            out.add_at(line.at, NAME, text);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::one_order;
    use super::super::scripted_log::{
        ScriptedLog, check_logs, event, object, posted, put, removed, taken, whole, written,
    };
    use super::super::toy::holder;
    use super::*;
    use zone::PostItem as Post;

    fn carrier(coins: u32, carries: bool) -> Vec<u8> {
        let item = object(1, 9);
        holder(coins, if carries { std::slice::from_ref(&item) } else { &[] })
    }

    /// A player of zone 2 sells an item to one of zone 1, whose zone decides; the goods of both afterwards are given.
    fn violations(buyer: &[u8], seller: &[u8], mailed: &[u8]) -> Vec<String> {
        let (here, there) = (object(1, 5), object(2, 7));
        let (joins, acts) = (Cause::Join(game::PlayerId(1)), Cause::Act(game::PlayerId(1), 1));
        let event = whole(event(1, 1), &[written(1, here, 2, buyer), written(2, there, 2, seller)]);
        let elsewhere = Change::Elsewhere(event.writes[1].clone());
        let decides = vec![put(here, 1, 2, buyer), elsewhere, posted(2, 1, Post::Decided(event.clone()))];
        let buys: ScriptedLog = vec![(joins, vec![put(here, 1, 1, &carrier(20, false))]), (acts, decides)];
        let sells: ScriptedLog = vec![
            (joins, vec![put(there, 1, 1, &carrier(20, true))]),
            (Cause::Joint(event.event), vec![taken(1, 1), put(there, 1, 2, mailed)]),
        ];
        check_logs(&[buys, sells], |logs, out| {
            let order = one_order::end(logs, out).unwrap();
            end(logs, &order, out);
        })
    }

    #[test]
    fn a_bargain_across_a_border_makes_nothing() {
        let (buyer, seller) = (carrier(15, true), carrier(25, false));
        assert!(violations(&buyer, &seller, &seller).is_empty());
    }

    #[test]
    fn a_new_world_has_coins_in_it() {
        let coins = |cause| {
            let log: ScriptedLog = vec![(cause, vec![put(object(1, 5), 1, 1, &carrier(7, false))])];
            check_logs(&[log], |logs, out| end(logs, &vec![(0, 0)], out))
        };
        assert!(coins(Cause::Founding).is_empty());
        assert!(coins(Cause::Leadership)[0].contains("0 coins became 7"));
    }

    #[test]
    fn what_is_made_or_lost_is_noticed() {
        let seller = carrier(25, false);
        let cheap = violations(&carrier(16, true), &seller, &seller);
        assert!(cheap[0].contains("40 coins became 41"), "{cheap:?}");
        let lost = violations(&carrier(15, false), &seller, &seller);
        assert!(lost[0].contains("is in 0 places"), "{lost:?}");
        let both = carrier(25, true);
        assert!(violations(&carrier(15, true), &both, &both)[0].contains("is in 2 places"));
        let gone: ScriptedLog = vec![
            (Cause::Leadership, vec![put(object(1, 5), 1, 1, &carrier(0, true))]),
            (Cause::Leadership, vec![removed(object(1, 5), 2)]),
        ];
        let found = check_logs(&[gone], |logs, out| end(logs, &vec![(0, 0), (0, 1)], out));
        assert!(found[0].contains("is in 0 places"), "{found:?}");
    }
}
