//! Mayflies: things that live for a second or two, leap from zone to zone and write to those who were born before them, most
//! of whom are gone. Whoever is asked for somebody must know where they are, also when the news comes late or out of order.

use crate::tier::is_full;
use game::{Addressee, Bot, Game, Hosted, Intent, PlayerId, Rules, Scope, Sight, Tx, View, Viewer};
use machine::{Rng, Span, Time};
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use space::{Distance, Heading, Line, Motion, ObjectId, Partition, Polygon, Position, Velocity, ZoneId};
use std::sync::Arc;
use trial::{Asked, Ending, Layout, Options, Outcome, Scenario, World, plan, run_with};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
enum Thing {
    /// Becomes a nest, and begins to think.
    Egg,
    Nest,
    Fly {
        heard: u32,
    },
    Watcher,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
enum Letter {
    /// To oneself: do something.
    Live,
    /// To oneself, too.
    Die,
    /// To somebody born before.
    Greet,
}

/// What becomes of a fly.
#[derive(Clone, Copy)]
enum Fate {
    /// It leaps about and writes, and dies any time. What is seen of it over a border may be a second old, so it rests
    /// for a while before.
    Chance,
    /// It flies east, and dies after this.
    East(Span),
}

struct Mayflies(Fate);

impl Game for Mayflies {
    type State = Thing;
    type Shown = ();
    type Action = ();
    type Notice = ();
    type Refusal = ();
    type Letter = Letter;
    const NAME: &'static str = "Mayflies";
    const RANGE: Distance = Distance::of_metres(10);

    /// An egg in every zone.
    fn populate(&self, tx: &mut Tx<'_, '_, Self>, region: &Polygon) {
        let corners = region.vertices_f64();
        let count = corners.len() as f64;
        let [x, y] = corners.fold([0.0, 0.0], |sum, at| [sum[0] + at[0] / count, sum[1] + at[1] / count]);
        let place = match self.0 {
            Fate::Chance => Position::saturating(x as i64, y as i64),
            Fate::East(_) => Position::ORIGIN,
        };
        let egg = tx.spawn(&Thing::Egg, place);
        tx.schedule(egg, Span::from_millis(500), &Letter::Live);
    }

    fn thinks(&self, thing: &Thing) -> bool {
        *thing == Thing::Nest
    }

    fn think(&self, tx: &mut Tx<'_, '_, Self>, nest: ObjectId) -> Option<Span> {
        let place = tx.position(nest)?;
        if matches!(self.0, Fate::Chance) && tx.chance().below(3) == 0 {
            self.frighten(tx, place);
            return Some(Span::from_millis(100));
        }
        let east = Velocity::new(20_000, 0).unwrap();
        let (velocity, after) = match self.0 {
            Fate::Chance => (Velocity::ZERO, Span::from_millis(300)),
            Fate::East(life) => (east, life),
        };
        let fly = tx.spawn_moving(&Thing::Fly { heard: 0 }, place, velocity, Heading::EAST);
        tx.schedule(fly, after, &Letter::Live);
        Some(Span::from_millis(250))
    }

    fn letter_scope(&self, _: &View<'_, Self>, to: Addressee, _: &Letter) -> Scope {
        match to {
            Addressee::Object(object) => Scope::objects([object]),
            _ => Scope::objects([]),
        }
    }

    fn on_letter(&self, tx: &mut Tx<'_, '_, Self>, to: Addressee, letter: Letter) -> Result<(), ()> {
        let Addressee::Object(me) = to else { return Ok(()) };
        if tx.get(me) == Some(Thing::Egg) {
            tx.put(me, &Thing::Nest);
            return Ok(());
        }
        match (letter, self.0) {
            (Letter::Greet, _) => drop(tx.update(me, |it| {
                if let Thing::Fly { heard } = it {
                    *heard += 1;
                }
            })),
            (Letter::Die, _) | (Letter::Live, Fate::East(_)) => tx.remove(me),
            (Letter::Live, Fate::Chance) if tx.chance().below(4) == 0 => {
                tx.schedule(me, Span::from_millis(1_500), &Letter::Die);
            }
            (Letter::Live, Fate::Chance) => {
                let counter = tx.chance().below(u64::from(me.counter) + 1) as u32;
                tx.send(Addressee::Object(ObjectId { counter, ..me }), &Letter::Greet);
                let mut far = || tx.chance().between(-100_000, 100_000);
                let place = Position::saturating(far(), far());
                tx.depart(me, place);
                tx.schedule(me, Span::from_millis(300), &Letter::Live);
            }
        }
        Ok(())
    }

    fn show(&self, _: &Thing, _: Viewer) -> Option<()> {
        Some(())
    }

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, _: PlayerId, _: &str) -> Result<ObjectId, ()> {
        Ok(tx.spawn(&Thing::Watcher, Position::ORIGIN))
    }

    fn execute(&self, _: &mut Tx<'_, '_, Self>, _: ObjectId, _: ()) -> Result<(), ()> {
        Ok(())
    }

    fn allows(&self, _: &Thing, _: &Motion, _: &Motion) -> Result<(), ()> {
        Ok(())
    }
}

impl Mayflies {
    /// Everybody near flees, whosever they are: a thought that only steers.
    fn frighten(&self, tx: &mut Tx<'_, '_, Self>, place: Position) {
        for it in tx.near(place, Self::RANGE) {
            let mut speed = || tx.chance().between(-4_000, 4_000) as i32;
            let velocity = Velocity::new(speed(), speed()).unwrap();
            if let Some(Thing::Fly { .. }) = tx.get(it) {
                tx.steer(it, velocity, Heading::EAST);
            }
        }
    }
}

impl Scenario for Mayflies {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn rules(&self, _: &Polygon) -> Arc<dyn Rules> {
        Arc::new(Hosted(Self(self.0)))
    }

    fn bot(&self, _: &Layout, _: u32, _: bool) -> Box<dyn Bot> {
        Box::new(Watcher)
    }
}

/// Looks on.
struct Watcher;

impl Bot for Watcher {
    fn decide(&mut self, sight: &Sight<'_>, _: &mut Rng, wants: &mut Vec<Intent>) {
        if sight.unanswered == 0 {
            wants.push(Intent::Act(Vec::new()));
        }
    }
}

fn played(seed: u64) -> Outcome {
    let options = Options::drawn(seed, &Asked { zones: (3, 5), ..Asked::MESH });
    run_with(Mayflies(Fate::Chance), options, plan::drawn(&options), None)
}

#[test]
fn letters_find_everybody_who_lives_whatever_breaks() {
    let mut transfers = 0;
    for seed in 1..=if is_full() { 100 } else { 4 } {
        let outcome = played(seed);
        assert!(outcome.violations.is_empty(), "{}\n{:?}", outcome.violations[0], outcome.options);
        transfers += outcome.crossings.transfers;
    }
    assert!(2_000 < transfers, "{transfers}");
}

/// Four zones from west to east; everybody is born in the first, and flies through all the others.
fn strips() -> Layout {
    let at = |x: i64, y: i64| Position::saturating(x * 1_000, y * 1_000);
    let mut map = Partition::new(Polygon::rectangle(at(-60, -60), at(120, 60)).unwrap(), ZoneId(1));
    // What lies left of a line that goes south stays, so the new zone is always the eastern one.
    for (zone, x) in [(2, 10), (3, 30), (4, 50)] {
        let line = Line::through(at(x, -60), at(x, 60)).unwrap();
        map = map.split(ZoneId(zone - 1), line, ZoneId(zone)).unwrap();
    }
    Layout::new(map, 3)
}

/// Flies live for so long, and for five seconds nothing comes through from a zone to the zone of their birth: longer than
/// anything tries to get locks there.
fn flown(life: Span, deaf_to: ZoneId) -> Vec<String> {
    let options = Options { zones: 4, players: 2, ..Options::drawn(1, &Asked::MESH) };
    let options = Options { kinds: trial::fault::Kinds::NONE, faults: 0, ..options };
    let mut world = World::of(Mayflies(Fate::East(life)), options, strips());
    let (there, home) = (world.layout().replicas_of(deaf_to), world.layout().replicas_of(ZoneId(1)));
    let ways: Vec<_> = there.iter().flat_map(|&from| home.iter().map(move |&to| (from, to))).collect();
    for round in 1..=5 {
        world.run_until(Time::from_millis(round * 8_000));
        ways.iter().for_each(|&(from, to)| world.cut(from, to));
        world.run_until(Time::from_millis(round * 8_000 + 5_000));
        ways.iter().for_each(|&(from, to)| world.mend(from, to));
    }
    world.run_until(Time::from_millis(60_000));
    world.conclude(Ending::Settled);
    let born = world.primary(ZoneId(1)).unwrap().1.state().next_name;
    assert!(100 < born, "nests go on breeding: {born}");
    world.monitor.judge.violations.all().iter().map(ToString::to_string).collect()
}

#[test]
fn whoever_was_born_here_is_known_though_news_comes_in_another_order() {
    for (life, zone) in [(1_000, 2), (2_000, 2), (3_000, 2), (2_000, 3), (3_000, 3), (4_000, 3)] {
        let found = flown(Span::from_millis(life), ZoneId(zone));
        assert!(found.is_empty(), "{life} ms, {zone}: {found:?}");
    }
}
