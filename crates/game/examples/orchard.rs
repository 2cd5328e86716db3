//! Orchard: walk among the trees, pick apples, give them away. A picked tree bears again after a minute.

#![allow(missing_docs, reason = "the names say it")]

use game::machine::Span;
use game::space::{Distance, Motion, ObjectId, Polygon, Position};
use game::{Addressee, Game, Hearers, PlayerId, Scope, ScopeView, Solo, Tx, Viewer, is_within_speed};
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

/// Everything stored about one object: a tree, or the avatar of a player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum OrchardState {
    Tree { ripe: bool },
    Picker { name: String, apples: u32 },
}

/// The part of an object that a player may see: the names of all pickers, but only the player's own apples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum OrchardShown {
    Tree { ripe: bool },
    Picker { name: String, apples: Option<u32> },
}

/// A request of a player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum OrchardAction {
    Pick { tree: ObjectId },
    Give { to: ObjectId, apples: u32 },
}

/// A message to players.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum OrchardNotice {
    Crunch,
    Gift { apples: u32 },
}

/// The reason why an action or a move does not happen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum OrchardRefusal {
    TooFar,
    NothingThere,
    NotEnough { have: u32 },
    TooFast,
}

/// A timer's letter to a tree: bear fruit again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub struct Ripen;

pub struct Orchard;

impl Game for Orchard {
    type State = OrchardState;
    type Shown = OrchardShown;
    type Action = OrchardAction;
    type Notice = OrchardNotice;
    type Refusal = OrchardRefusal;
    type Letter = Ripen;
    const NAME: &'static str = "Orchard";
    const RANGE: Distance = Distance::of_metres(20);

    fn populate(&self, tx: &mut Tx<'_, '_, Self>, _: &Polygon) {
        for x in [-6_000, 6_000] {
            tx.spawn(&OrchardState::Tree { ripe: true }, Position::saturating(x, 0));
        }
    }

    fn on_join(
        &self,
        tx: &mut Tx<'_, '_, Self>,
        _: PlayerId,
        name: &str,
    ) -> Result<ObjectId, OrchardRefusal> {
        Ok(tx.spawn(&OrchardState::Picker { name: name.to_owned(), apples: 0 }, Position::ORIGIN))
    }

    fn scope(
        &self,
        _: &ScopeView<'_, Self>,
        _: ObjectId,
        action: &OrchardAction,
    ) -> Result<Scope, OrchardRefusal> {
        let (OrchardAction::Pick { tree: other } | OrchardAction::Give { to: other, .. }) = action;
        Ok(Scope::objects([*other]))
    }

    fn execute(
        &self,
        tx: &mut Tx<'_, '_, Self>,
        actor: ObjectId,
        action: OrchardAction,
    ) -> Result<(), OrchardRefusal> {
        match action {
            OrchardAction::Pick { tree } => pick(tx, actor, tree),
            OrchardAction::Give { to, apples } => give(tx, actor, to, apples),
        }
    }

    fn allows(&self, _: &OrchardState, before: &Motion, after: &Motion) -> Result<(), OrchardRefusal> {
        is_within_speed(before, after, Distance::of_metres(2)).then_some(()).ok_or(OrchardRefusal::TooFast)
    }

    fn show(&self, object: &OrchardState, to: Viewer) -> Option<OrchardShown> {
        Some(match object.clone() {
            OrchardState::Tree { ripe } => OrchardShown::Tree { ripe },
            OrchardState::Picker { name, apples } => {
                OrchardShown::Picker { name, apples: to.owns.then_some(apples) }
            }
        })
    }

    fn on_letter(&self, tx: &mut Tx<'_, '_, Self>, to: Addressee, _: Ripen) -> Result<(), OrchardRefusal> {
        let Addressee::Object(tree) = to else { return Ok(()) };
        tx.put(tree, &OrchardState::Tree { ripe: true });
        Ok(())
    }
}

fn pick(tx: &mut Tx<'_, '_, Orchard>, actor: ObjectId, tree: ObjectId) -> Result<(), OrchardRefusal> {
    let Some(OrchardState::Tree { ripe: true }) = tx.get(tree) else {
        return Err(OrchardRefusal::NothingThere);
    };
    let place = within_reach(tx, actor, tree)?;
    tx.put(tree, &OrchardState::Tree { ripe: false });
    tx.schedule(tree, Span::from_secs(60), &Ripen);
    tx.notify_near(place, Orchard::RANGE, &OrchardNotice::Crunch);
    change_apples(tx, actor, |have| Ok(have + 1))
}

fn give(
    tx: &mut Tx<'_, '_, Orchard>,
    from: ObjectId,
    to: ObjectId,
    apples: u32,
) -> Result<(), OrchardRefusal> {
    within_reach(tx, from, to)?;
    change_apples(tx, from, |have| have.checked_sub(apples).ok_or(OrchardRefusal::NotEnough { have }))?;
    change_apples(tx, to, |have| Ok(have + apples))?; // To a tree? Refused, and nothing above has happened.
    tx.notify(Hearers::Player(to), &OrchardNotice::Gift { apples });
    Ok(())
}

fn within_reach(
    tx: &mut Tx<'_, '_, Orchard>,
    one: ObjectId,
    other: ObjectId,
) -> Result<Position, OrchardRefusal> {
    let (one, other) = tx.position(one).zip(tx.position(other)).ok_or(OrchardRefusal::NothingThere)?;
    one.is_within(Distance::of_metres(2), other).then_some(other).ok_or(OrchardRefusal::TooFar)
}

fn change_apples(
    tx: &mut Tx<'_, '_, Orchard>,
    picker: ObjectId,
    change: impl FnOnce(u32) -> Result<u32, OrchardRefusal>,
) -> Result<(), OrchardRefusal> {
    let Some(OrchardState::Picker { name, apples }) = tx.get(picker) else {
        return Err(OrchardRefusal::NothingThere);
    };
    tx.put(picker, &OrchardState::Picker { name, apples: change(apples)? });
    Ok(())
}

pub fn main() {
    let mut world = Solo::new(Orchard, 1);
    let tree = world.objects().next().expect("trees were planted");
    let speed = Distance::of_metres(2);
    let (_, ada) = world.join("Ada");
    let (_, bob) = world.join("Bob");
    assert_eq!(world.act(ada, &OrchardAction::Pick { tree }), Err(OrchardRefusal::TooFar));
    assert_eq!(world.walk(ada, Position::saturating(-5_000, 0), speed), Ok(()));
    assert_eq!(world.act(ada, &OrchardAction::Pick { tree }), Ok(()));
    assert_eq!(world.notices(), [(ada, OrchardNotice::Crunch), (bob, OrchardNotice::Crunch)]);
    assert_eq!(world.act(ada, &OrchardAction::Pick { tree }), Err(OrchardRefusal::NothingThere));
    assert_eq!(world.walk(ada, Position::ORIGIN, speed), Ok(()));
    assert_eq!(
        world.act(ada, &OrchardAction::Give { to: bob, apples: 2 }),
        Err(OrchardRefusal::NotEnough { have: 1 })
    );
    assert_eq!(world.act(ada, &OrchardAction::Give { to: bob, apples: 1 }), Ok(()));
    assert_eq!(world.get(bob), Some(OrchardState::Picker { name: "Bob".to_owned(), apples: 1 }));
    assert_eq!(world.sight(ada)[&bob], OrchardShown::Picker { name: "Bob".to_owned(), apples: None });
    world.advance(Span::from_secs(60));
    assert_eq!(world.get(tree), Some(OrchardState::Tree { ripe: true }));
}
