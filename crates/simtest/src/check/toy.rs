//! A toy game for histories made by hand: holders have coins and a bag, items lie around and can be taken.

use crate::scenario::{ConservedGoods, ItemId};
use game::{Game, PlayerId, Tx, Viewer};
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use space::{Distance, ObjectId};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum ToyObject {
    Holder { coins: u32, bag: Vec<ObjectId> },
    Item(ObjectId),
}

/// The only action: an item goes into the actor's bag.
#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
pub struct Take {
    pub item: ObjectId,
}

pub struct Toy;

impl Game for Toy {
    type State = ToyObject;
    type Shown = ();
    type Action = Take;
    type Notice = ();
    type Refusal = ();
    type Letter = ();
    const NAME: &'static str = "Toy";
    const RANGE: Distance = Distance::of_metres(10);

    fn execute(&self, tx: &mut Tx<'_, '_, Self>, actor: ObjectId, take: Take) -> Result<(), ()> {
        let Some(ToyObject::Item(serial)) = tx.get(take.item) else { return Err(()) };
        let Some(ToyObject::Holder { coins, mut bag }) = tx.get(actor) else { return Err(()) };
        bag.push(serial);
        tx.remove(take.item);
        tx.put(actor, &ToyObject::Holder { coins, bag });
        Ok(())
    }

    fn show(&self, _: &ToyObject, _: Viewer) -> Option<()> {
        None
    }

    fn on_join(&self, _: &mut Tx<'_, '_, Self>, _: PlayerId, _: &str) -> Result<ObjectId, ()> {
        Err(())
    }
}

pub fn holder(coins: u32, bag: &[ObjectId]) -> Vec<u8> {
    encoded(&ToyObject::Holder { coins, bag: bag.to_vec() })
}

pub fn item(serial: ObjectId) -> Vec<u8> {
    encoded(&ToyObject::Item(serial))
}

fn encoded(thing: &ToyObject) -> Vec<u8> {
    postcard::to_stdvec(thing).unwrap()
}

/// Counts the goods in an encoded object.
pub fn goods(state: &[u8]) -> Result<ConservedGoods, String> {
    Ok(match postcard::from_bytes(state).map_err(|error| error.to_string())? {
        ToyObject::Holder { coins, bag } => {
            ConservedGoods { coins: u64::from(coins), items: bag.into_iter().map(ItemId).collect() }
        }
        ToyObject::Item(serial) => ConservedGoods { coins: 0, items: vec![ItemId(serial)] },
    })
}
