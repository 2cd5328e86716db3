//! Hive: bees that think, honey that the whole world counts, keepers who are sent home by a sting. The second game of
//! `docs/game.md`, beside the orchard.

use game::machine::Span;
use game::space::{Distance, Heading, ObjectId, Polygon, Position, Velocity};
use game::{Addressee, Game, Hearers, MigrateError, PlayerId, Scope, ScopeView, Tx, Viewer, WORLD};
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum HiveState {
    World { honey: u64 },
    Bee { tired: bool },
    Keeper { veiled: bool, stings: u32 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum HiveAction {
    Harvest,
    Sting { whom: ObjectId },
    Ask,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum HiveLetter {
    Harvested { by: ObjectId, grams: u64 },
    Total { honey: u64 },
    Rest,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum HiveNotice {
    Honey { total: u64 },
    Ouch,
}

pub struct Hive;

/// The place at which a stung keeper wakes up.
pub const HOME: Position = Position::ORIGIN;

/// The schema hash of version 1, whose world state was four bytes.
pub const VERSION_1: u64 = 0x0123_4567_89ab_cdef;

impl Game for Hive {
    type State = HiveState;
    type Shown = HiveState;
    type Action = HiveAction;
    type Notice = HiveNotice;
    type Refusal = ();
    type Letter = HiveLetter;
    const NAME: &'static str = "Hive";
    const RANGE: Distance = Distance::of_metres(30);

    fn world(&self) -> Option<HiveState> {
        Some(HiveState::World { honey: 0 })
    }

    fn populate(&self, tx: &mut Tx<'_, '_, Self>, _: &Polygon) {
        tx.spawn(&HiveState::Bee { tired: false }, Position::saturating(10_000, 0));
    }

    fn entrance(&self, player: PlayerId) -> Position {
        Position::saturating(player.0 as i64 * 500_000, 0)
    }

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, player: PlayerId, name: &str) -> Result<ObjectId, ()> {
        let keeper = HiveState::Keeper { veiled: name == "Veiled", stings: 0 };
        Ok(tx.spawn(&keeper, self.entrance(player)))
    }

    fn scope(&self, _: &ScopeView<'_, Self>, _: ObjectId, action: &HiveAction) -> Result<Scope, ()> {
        match action {
            HiveAction::Harvest | HiveAction::Ask => Ok(Scope::objects([])),
            HiveAction::Sting { whom } => Ok(Scope::objects([*whom])),
        }
    }

    fn execute(&self, tx: &mut Tx<'_, '_, Self>, actor: ObjectId, action: HiveAction) -> Result<(), ()> {
        match action {
            HiveAction::Harvest => {
                tx.send(Addressee::World, &HiveLetter::Harvested { by: actor, grams: 250 })
            }
            HiveAction::Ask => tx.send(Addressee::World, &HiveLetter::Harvested { by: actor, grams: 0 }),
            HiveAction::Sting { whom } => sting(tx, whom)?,
        }
        Ok(())
    }

    fn on_letter(&self, tx: &mut Tx<'_, '_, Self>, to: Addressee, letter: HiveLetter) -> Result<(), ()> {
        match (to, letter) {
            (Addressee::World, HiveLetter::Harvested { by, grams }) => {
                let Some(HiveState::World { honey }) = tx.get(WORLD) else { return Err(()) };
                let honey = honey + grams;
                tx.put(WORLD, &HiveState::World { honey });
                tx.send(Addressee::Object(by), &HiveLetter::Total { honey });
            }
            (Addressee::Object(keeper), HiveLetter::Total { honey }) => {
                tx.notify(Hearers::Player(keeper), &HiveNotice::Honey { total: honey });
            }
            (Addressee::Object(bee), HiveLetter::Rest) => tx.put(bee, &HiveState::Bee { tired: false }),
            _ => return Err(()),
        }
        Ok(())
    }

    fn show(&self, object: &HiveState, to: Viewer) -> Option<HiveState> {
        let hidden = to.class == 1 && matches!(object, HiveState::Bee { .. });
        (!hidden).then(|| object.clone())
    }

    fn class(&self, avatar: &HiveState) -> u8 {
        u8::from(matches!(avatar, HiveState::Keeper { veiled: true, .. }))
    }

    fn thinks(&self, object: &HiveState) -> bool {
        matches!(object, HiveState::Bee { tired: false })
    }

    fn think(&self, tx: &mut Tx<'_, '_, Self>, bee: ObjectId) -> Option<Span> {
        if tx.chance().below(8) == 0 {
            tx.put(bee, &HiveState::Bee { tired: true });
            tx.schedule(bee, Span::from_secs(5), &HiveLetter::Rest);
            return None;
        }
        let heading = Heading(tx.chance().below(1 << 16) as u16);
        let (x, y) = heading.unit();
        let velocity = Velocity::from_metres(f64::from(x), f64::from(y)).unwrap_or_default();
        tx.steer(bee, velocity, heading);
        Some(Span::from_millis(500))
    }

    fn on_leave(&self, tx: &mut Tx<'_, '_, Self>, avatar: ObjectId) {
        let Some(HiveState::Keeper { stings: 0, .. }) = tx.get(avatar) else { return };
        tx.remove(avatar);
    }

    fn migrate(schema: u64, bytes: &[u8]) -> Result<HiveState, MigrateError> {
        match (schema, bytes) {
            (VERSION_1, [grams, 0, 0, 0]) => Ok(HiveState::World { honey: u64::from(*grams) }),
            _ => Err(MigrateError(format!("no version of Hive had schema {schema:016x}"))),
        }
    }
}

fn sting(tx: &mut Tx<'_, '_, Hive>, whom: ObjectId) -> Result<(), ()> {
    let Some(HiveState::Keeper { veiled: false, stings }) = tx.get(whom) else { return Err(()) };
    tx.put(whom, &HiveState::Keeper { veiled: false, stings: stings + 1 });
    tx.depart(whom, HOME);
    tx.notify(Hearers::Player(whom), &HiveNotice::Ouch);
    Ok(())
}
