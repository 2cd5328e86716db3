//! Orchard: walk among the trees, pick apples, give them away. A picked tree bears again after a minute.

#![allow(missing_docs, reason = "the names say it")]

use game::machine::Span;
use game::space::{Distance, Motion, ObjectId, Polygon, Position};
use game::{Addressee, Game, Hearers, PlayerId, Scope, Solo, Tx, View, Viewer, is_within_speed};
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

/// What there is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Thing {
    Tree { ripe: bool },
    Picker { name: String, apples: u32 },
}

/// What a player may see of it: everybody's name, but only one's own apples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Look {
    Tree { ripe: bool },
    Picker { name: String, apples: Option<u32> },
}

/// What a player can want.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Wish {
    Pick { tree: ObjectId },
    Give { to: ObjectId, apples: u32 },
}

/// What players are told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum News {
    Crunch,
    Gift { apples: u32 },
}

/// Why something does not happen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum No {
    TooFar,
    NothingThere,
    NotEnough { have: u32 },
    TooFast,
}

/// A letter from a tree to itself: bear fruit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub struct Ripen;

pub struct Orchard;

impl Game for Orchard {
    type State = Thing;
    type Shown = Look;
    type Action = Wish;
    type Notice = News;
    type Refusal = No;
    type Letter = Ripen;
    const NAME: &'static str = "Orchard";
    const RANGE: Distance = Distance::of_metres(20);

    fn populate(&self, tx: &mut Tx<'_, '_, Self>, _: &Polygon) {
        for x in [-6_000, 6_000] {
            tx.spawn(&Thing::Tree { ripe: true }, Position::saturating(x, 0));
        }
    }

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, _: PlayerId, name: &str) -> Result<ObjectId, No> {
        Ok(tx.spawn(&Thing::Picker { name: name.to_owned(), apples: 0 }, Position::ORIGIN))
    }

    fn scope(&self, _: &View<'_, Self>, _: ObjectId, wish: &Wish) -> Result<Scope, No> {
        let (Wish::Pick { tree: other } | Wish::Give { to: other, .. }) = wish;
        Ok(Scope::objects([*other]))
    }

    fn execute(&self, tx: &mut Tx<'_, '_, Self>, actor: ObjectId, wish: Wish) -> Result<(), No> {
        match wish {
            Wish::Pick { tree } => pick(tx, actor, tree),
            Wish::Give { to, apples } => give(tx, actor, to, apples),
        }
    }

    fn allows(&self, _: &Thing, before: &Motion, after: &Motion) -> Result<(), No> {
        is_within_speed(before, after, Distance::of_metres(2)).then_some(()).ok_or(No::TooFast)
    }

    fn show(&self, thing: &Thing, to: Viewer) -> Option<Look> {
        Some(match thing.clone() {
            Thing::Tree { ripe } => Look::Tree { ripe },
            Thing::Picker { name, apples } => Look::Picker { name, apples: to.owns.then_some(apples) },
        })
    }

    fn on_letter(&self, tx: &mut Tx<'_, '_, Self>, to: Addressee, _: Ripen) -> Result<(), No> {
        let Addressee::Object(tree) = to else { return Ok(()) };
        tx.put(tree, &Thing::Tree { ripe: true });
        Ok(())
    }
}

fn pick(tx: &mut Tx<'_, '_, Orchard>, actor: ObjectId, tree: ObjectId) -> Result<(), No> {
    let Some(Thing::Tree { ripe: true }) = tx.get(tree) else { return Err(No::NothingThere) };
    let place = within_reach(tx, actor, tree)?;
    tx.put(tree, &Thing::Tree { ripe: false });
    tx.schedule(tree, Span::from_secs(60), &Ripen);
    tx.notify_near(place, Orchard::RANGE, &News::Crunch);
    change_apples(tx, actor, |have| Ok(have + 1))
}

fn give(tx: &mut Tx<'_, '_, Orchard>, from: ObjectId, to: ObjectId, apples: u32) -> Result<(), No> {
    within_reach(tx, from, to)?;
    change_apples(tx, from, |have| have.checked_sub(apples).ok_or(No::NotEnough { have }))?;
    change_apples(tx, to, |have| Ok(have + apples))?; // To a tree? Refused, and nothing above has happened.
    tx.notify(Hearers::Player(to), &News::Gift { apples });
    Ok(())
}

fn within_reach(tx: &mut Tx<'_, '_, Orchard>, one: ObjectId, other: ObjectId) -> Result<Position, No> {
    let (one, other) = tx.position(one).zip(tx.position(other)).ok_or(No::NothingThere)?;
    one.is_within(Distance::of_metres(2), other).then_some(other).ok_or(No::TooFar)
}

fn change_apples(
    tx: &mut Tx<'_, '_, Orchard>,
    picker: ObjectId,
    change: impl FnOnce(u32) -> Result<u32, No>,
) -> Result<(), No> {
    let Some(Thing::Picker { name, apples }) = tx.get(picker) else { return Err(No::NothingThere) };
    tx.put(picker, &Thing::Picker { name, apples: change(apples)? });
    Ok(())
}

pub fn main() {
    let mut world = Solo::new(Orchard, 1);
    let tree = world.objects().next().expect("trees were planted");
    let speed = Distance::of_metres(2);
    let (_, ada) = world.join("Ada");
    let (_, bob) = world.join("Bob");
    assert_eq!(world.act(ada, &Wish::Pick { tree }), Err(No::TooFar));
    assert_eq!(world.walk(ada, Position::saturating(-5_000, 0), speed), Ok(()));
    assert_eq!(world.act(ada, &Wish::Pick { tree }), Ok(()));
    assert_eq!(world.notices(), [(ada, News::Crunch), (bob, News::Crunch)]);
    assert_eq!(world.act(ada, &Wish::Pick { tree }), Err(No::NothingThere));
    assert_eq!(world.walk(ada, Position::ORIGIN, speed), Ok(()));
    assert_eq!(world.act(ada, &Wish::Give { to: bob, apples: 2 }), Err(No::NotEnough { have: 1 }));
    assert_eq!(world.act(ada, &Wish::Give { to: bob, apples: 1 }), Ok(()));
    assert_eq!(world.get(bob), Some(Thing::Picker { name: "Bob".to_owned(), apples: 1 }));
    assert_eq!(world.sight(ada)[&bob], Look::Picker { name: "Bob".to_owned(), apples: None });
    world.advance(Span::from_secs(60));
    assert_eq!(world.get(tree), Some(Thing::Tree { ripe: true }));
}
