//! Pebbles: players carry pebbles from heap to heap. It is a program of its own, made by nothing but the public interface.

use ecumene::{App, ConservedGoods};
use game::machine::Rng;
use game::space::{Distance, Motion, ObjectId, Polygon, Position};
use game::{Bot, BotView, Game, Intent, PlayerId, Scope, ScopeView, Tx, Viewer, is_within_speed};
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
enum Thing {
    Heap { pebbles: u32 },
    Player { pebbles: u32 },
}

#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
enum Action {
    Take { heap: ObjectId },
    Put { heap: ObjectId },
    Count,
}

struct Pebbles;

impl Game for Pebbles {
    type State = Thing;
    type Shown = Thing;
    type Action = Action;
    type Notice = ();
    type Refusal = ();
    type Letter = ();

    const NAME: &'static str = "Pebbles";
    const RANGE: Distance = Distance::of_metres(30);

    fn populate(&self, tx: &mut Tx<'_, '_, Self>, _: &Polygon) {
        for (x, y) in [(0, 0), (-8_000, 0), (8_000, 0), (0, -8_000), (0, 8_000)] {
            tx.spawn(&Thing::Heap { pebbles: 20 }, Position::saturating(x, y));
        }
    }

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, _: PlayerId, _: &str) -> Result<ObjectId, ()> {
        Ok(tx.spawn(&Thing::Player { pebbles: 0 }, Position::ORIGIN))
    }

    fn scope(&self, _: &ScopeView<'_, Self>, _: ObjectId, action: &Action) -> Result<Scope, ()> {
        match action {
            Action::Take { heap } | Action::Put { heap } => Ok(Scope::objects([*heap])),
            Action::Count => Ok(Scope::objects([])),
        }
    }

    fn execute(&self, tx: &mut Tx<'_, '_, Self>, actor: ObjectId, action: Action) -> Result<(), ()> {
        let (heap, change) = match action {
            Action::Take { heap } => (heap, 1),
            Action::Put { heap } => (heap, -1),
            Action::Count => return Ok(()),
        };
        let Some(Thing::Player { pebbles: mine }) = tx.get(actor) else { return Err(()) };
        let Some(Thing::Heap { pebbles: there }) = tx.get(heap) else { return Err(()) };
        let places = tx.position(actor).zip(tx.position(heap));
        places.filter(|(one, other)| one.is_within(Distance::of_metres(2), *other)).ok_or(())?;
        tx.put(heap, &Thing::Heap { pebbles: there.checked_add_signed(-change).ok_or(())? });
        tx.put(actor, &Thing::Player { pebbles: mine.checked_add_signed(change).ok_or(())? });
        Ok(())
    }

    fn allows(&self, _: &Thing, before: &Motion, after: &Motion) -> Result<(), ()> {
        is_within_speed(before, after, Distance::of_metres(3)).then_some(()).ok_or(())
    }

    fn show(&self, thing: &Thing, _: Viewer) -> Option<Thing> {
        Some(thing.clone())
    }
}

/// A bot that carries a pebble from one heap to another.
#[derive(Default)]
struct CarryBot {
    goal: Option<ObjectId>,
}

impl Bot for CarryBot {
    fn decide(&mut self, view: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        let thing = |it: ObjectId| view.objects.get(&it)?.shown_as::<Thing>();
        let place = |it: ObjectId| Some(view.objects.get(&it)?.motion.position_at(view.now));
        let (Some(here), Some(Thing::Player { pebbles })) = (place(view.me), thing(view.me)) else { return };
        if let Some((heap, there)) = self.goal.and_then(|it| Some((it, place(it)?))) {
            if !here.is_within(Distance::of_metres(1), there) {
                return intents.extend(Intent::walk(here, there, Distance::of_metres(2)));
            }
            intents.extend(Intent::action(&if pebbles == 0 {
                Action::Take { heap }
            } else {
                Action::Put { heap }
            }));
        }
        let is_heap = |it: &ObjectId| matches!(thing(*it), Some(Thing::Heap { .. }));
        let heaps: Vec<ObjectId> = view.objects.keys().copied().filter(is_heap).collect();
        self.goal = heaps.get(rng.below(heaps.len().max(1) as u64) as usize).copied();
    }
}

fn goods(thing: &Thing) -> ConservedGoods {
    let (Thing::Heap { pebbles } | Thing::Player { pebbles }) = thing;
    ConservedGoods { coins: u64::from(*pebbles), items: Vec::new() }
}

fn main() -> ExitCode {
    let app = App::new(Pebbles).version(env!("CARGO_PKG_VERSION")).zones(4).half(60);
    app.bot("carry", |_| CarryBot::default()).everyday_action(&Action::Count).conserved(goods).run()
}
