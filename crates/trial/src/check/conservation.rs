//! Items are neither doubled nor lost, and coins are only handed on: they appear with a player who joins and vanish
//! with one who leaves.

use crate::ledger::{Ledger, Name};
use crate::violation::Violations;
use kosmos::{Goods, Serial, State, conserved};
use space::ObjectId;
use std::collections::BTreeMap;
use zone::{Cause, Change};

const NAME: &str = "conservation";

#[derive(Default)]
struct Accounts {
    of: BTreeMap<ObjectId, Goods>,
    /// How many objects hold an item; and those that any ever held.
    holders: BTreeMap<Serial, u32>,
    coins: u64,
}

impl Accounts {
    fn set(&mut self, object: ObjectId, goods: Goods) {
        for item in &goods.items {
            *self.holders.entry(*item).or_default() += 1;
        }
        self.coins += goods.coins;
        if let Some(old) = self.of.insert(object, goods) {
            for item in &old.items {
                *self.holders.entry(*item).or_default() -= 1;
            }
            self.coins -= old.coins;
        }
    }
}

pub fn end(records: &[Name], ledger: &Ledger, out: &mut Violations) {
    let mut accounts = Accounts::default();
    for (at, record) in ledger.decoded(records) {
        let coins = accounts.coins;
        for change in &record.changes {
            match change {
                Change::Put { object, state, .. } => match postcard::from_bytes::<State>(state) {
                    Ok(state) => accounts.set(*object, conserved(&state)),
                    Err(error) => {
                        let text = format!("record {}: {object} does not decode: {error}", record.index);
                        out.add_at(at, NAME, text);
                    }
                },
                Change::Removed { object, .. } => accounts.set(*object, Goods::default()),
                _ => (),
            }
        }
        if accounts.coins != coins && !matches!(record.cause, Cause::Join(_) | Cause::Leave(_)) {
            out.add_at(
                at,
                NAME,
                format!(
                    "record {} ({:?}): {coins} coins became {}",
                    record.index, record.cause, accounts.coins
                ),
            );
        }
        if let Some((item, holders)) = accounts.holders.iter().find(|it| *it.1 != 1) {
            out.add_at(
                at,
                NAME,
                format!("record {} ({:?}): item {item:?} is in {holders} places", record.index, record.cause),
            );
            return;
        }
    }
}
