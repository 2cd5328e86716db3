//! Hive: bees that think, honey that the whole world counts, keepers who are stung home. What `docs/game.md` shows
//! beyond the orchard.

use game::machine::Span;
use game::space::{Distance, Heading, ObjectId, Polygon, Position, Velocity};
use game::{Addressee, Game, Hearers, MigrateError, PlayerId, Scope, Tx, View, Viewer, WORLD};
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Thing {
    World { honey: u64 },
    Bee { tired: bool },
    Keeper { veiled: bool, stings: u32 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Deed {
    Harvest,
    Sting { whom: ObjectId },
    Ask,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Letter {
    Harvested { by: ObjectId, grams: u64 },
    Total { honey: u64 },
    Rest,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum News {
    Honey { total: u64 },
    Ouch,
}

pub struct Hive;

/// Where the stung wake up.
pub const HOME: Position = Position::ORIGIN;

/// How the world's state looked in version 1, by its schema's number.
pub const VERSION_1: u64 = 0x0123_4567_89ab_cdef;

impl Game for Hive {
    type State = Thing;
    type Shown = Thing;
    type Action = Deed;
    type Notice = News;
    type Refusal = ();
    type Letter = Letter;
    const NAME: &'static str = "Hive";
    const RANGE: Distance = Distance::of_metres(30);

    fn world(&self) -> Option<Thing> {
        Some(Thing::World { honey: 0 })
    }

    fn populate(&self, tx: &mut Tx<'_, '_, Self>, _: &Polygon) {
        tx.spawn(&Thing::Bee { tired: false }, Position::saturating(10_000, 0));
    }

    fn entrance(&self, player: PlayerId) -> Position {
        Position::saturating(player.0 as i64 * 500_000, 0)
    }

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, player: PlayerId, name: &str) -> Result<ObjectId, ()> {
        let keeper = Thing::Keeper { veiled: name == "Veiled", stings: 0 };
        Ok(tx.spawn(&keeper, self.entrance(player)))
    }

    fn scope(&self, _: &View<'_, Self>, _: ObjectId, deed: &Deed) -> Result<Scope, ()> {
        match deed {
            Deed::Harvest | Deed::Ask => Ok(Scope::objects([])),
            Deed::Sting { whom } => Ok(Scope::objects([*whom])),
        }
    }

    fn execute(&self, tx: &mut Tx<'_, '_, Self>, actor: ObjectId, deed: Deed) -> Result<(), ()> {
        match deed {
            Deed::Harvest => tx.send(Addressee::World, &Letter::Harvested { by: actor, grams: 250 }),
            Deed::Ask => tx.send(Addressee::World, &Letter::Harvested { by: actor, grams: 0 }),
            Deed::Sting { whom } => sting(tx, whom)?,
        }
        Ok(())
    }

    fn on_letter(&self, tx: &mut Tx<'_, '_, Self>, to: Addressee, letter: Letter) -> Result<(), ()> {
        match (to, letter) {
            (Addressee::World, Letter::Harvested { by, grams }) => {
                let Some(Thing::World { honey }) = tx.get(WORLD) else { return Err(()) };
                let honey = honey + grams;
                tx.put(WORLD, &Thing::World { honey });
                tx.send(Addressee::Object(by), &Letter::Total { honey });
            }
            (Addressee::Object(keeper), Letter::Total { honey }) => {
                tx.notify(Hearers::Player(keeper), &News::Honey { total: honey });
            }
            (Addressee::Object(bee), Letter::Rest) => tx.put(bee, &Thing::Bee { tired: false }),
            _ => return Err(()),
        }
        Ok(())
    }

    fn show(&self, thing: &Thing, to: Viewer) -> Option<Thing> {
        let hidden = to.class == 1 && matches!(thing, Thing::Bee { .. });
        (!hidden).then(|| thing.clone())
    }

    fn class(&self, avatar: &Thing) -> u8 {
        u8::from(matches!(avatar, Thing::Keeper { veiled: true, .. }))
    }

    fn thinks(&self, thing: &Thing) -> bool {
        matches!(thing, Thing::Bee { tired: false })
    }

    fn think(&self, tx: &mut Tx<'_, '_, Self>, bee: ObjectId) -> Option<Span> {
        if tx.chance().below(8) == 0 {
            tx.put(bee, &Thing::Bee { tired: true });
            tx.schedule(bee, Span::from_secs(5), &Letter::Rest);
            return None;
        }
        let heading = Heading(tx.chance().below(1 << 16) as u16);
        let (x, y) = heading.unit();
        let velocity = Velocity::from_metres(f64::from(x), f64::from(y)).unwrap_or_default();
        tx.steer(bee, velocity, heading);
        Some(Span::from_millis(500))
    }

    fn on_leave(&self, tx: &mut Tx<'_, '_, Self>, avatar: ObjectId) {
        let Some(Thing::Keeper { stings: 0, .. }) = tx.get(avatar) else { return };
        tx.remove(avatar);
    }

    fn migrate(schema: u64, bytes: &[u8]) -> Result<Thing, MigrateError> {
        match (schema, bytes) {
            (VERSION_1, [grams, 0, 0, 0]) => Ok(Thing::World { honey: u64::from(*grams) }),
            _ => Err(MigrateError(format!("no version of Hive had schema {schema:016x}"))),
        }
    }
}

fn sting(tx: &mut Tx<'_, '_, Hive>, whom: ObjectId) -> Result<(), ()> {
    let Some(Thing::Keeper { veiled: false, stings }) = tx.get(whom) else { return Err(()) };
    tx.put(whom, &Thing::Keeper { veiled: false, stings: stings + 1 });
    tx.depart(whom, HOME);
    tx.notify(Hearers::Player(whom), &News::Ouch);
    Ok(())
}
