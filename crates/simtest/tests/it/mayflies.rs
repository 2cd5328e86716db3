//! Mayflies: objects that live for a second or two, leap from zone to zone and write to objects born before them, most
//! of which are gone. Birth zones must know where an object is, also when reports come late or out of order.

use crate::tier::is_full;
use game::{
    Addressee, Bot, BotView, Game, Hosted, HostedGame, Intent, PlayerId, Scope, ScopeView, Tx, Viewer,
};
use machine::{Rng, Span, Time};
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use simtest::{Ending, Layout, RunOptions, RunOutcome, RunRequest, Scenario, SimulatedWorld, plan, run_with};
use space::{Distance, Heading, Line, Motion, ObjectId, Partition, Polygon, Position, Velocity, ZoneId};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
enum MayflyObject {
    /// Becomes a nest, and begins to think.
    Egg,
    Nest,
    Fly {
        heard: u32,
    },
    Watcher,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
enum MayflyLetter {
    /// To itself: leap, write a letter, or prepare to die.
    Live,
    /// To itself: disappear.
    Die,
    /// To an object born before.
    Greet,
}

/// The course of a fly's life.
#[derive(Clone, Copy)]
enum FlyBehaviour {
    /// It leaps about and writes, and dies at a random time. Its ghosts may be a second old, so it rests
    /// for a while before it dies.
    Chance,
    /// It flies east, and dies after this time.
    East(Span),
}

struct Mayflies(FlyBehaviour);

impl Game for Mayflies {
    type State = MayflyObject;
    type Shown = ();
    type Action = ();
    type Notice = ();
    type Refusal = ();
    type Letter = MayflyLetter;
    const NAME: &'static str = "Mayflies";
    const RANGE: Distance = Distance::of_metres(10);

    /// Lays an egg in every zone.
    fn populate(&self, tx: &mut Tx<'_, '_, Self>, region: &Polygon) {
        let corners = region.vertices_f64();
        let count = corners.len() as f64;
        let [x, y] = corners.fold([0.0, 0.0], |sum, at| [sum[0] + at[0] / count, sum[1] + at[1] / count]);
        let place = match self.0 {
            FlyBehaviour::Chance => Position::saturating(x as i64, y as i64),
            FlyBehaviour::East(_) => Position::ORIGIN,
        };
        let egg = tx.spawn(&MayflyObject::Egg, place);
        tx.schedule(egg, Span::from_millis(500), &MayflyLetter::Live);
    }

    fn thinks(&self, thing: &MayflyObject) -> bool {
        *thing == MayflyObject::Nest
    }

    fn think(&self, tx: &mut Tx<'_, '_, Self>, nest: ObjectId) -> Option<Span> {
        let place = tx.position(nest)?;
        if matches!(self.0, FlyBehaviour::Chance) && tx.chance().below(3) == 0 {
            self.frighten(tx, place);
            return Some(Span::from_millis(100));
        }
        let east = Velocity::new(20_000, 0).unwrap();
        let (velocity, after) = match self.0 {
            FlyBehaviour::Chance => (Velocity::ZERO, Span::from_millis(300)),
            FlyBehaviour::East(life) => (east, life),
        };
        let fly = tx.spawn_moving(&MayflyObject::Fly { heard: 0 }, place, velocity, Heading::EAST);
        tx.schedule(fly, after, &MayflyLetter::Live);
        Some(Span::from_millis(250))
    }

    fn letter_scope(&self, _: &ScopeView<'_, Self>, to: Addressee, _: &MayflyLetter) -> Scope {
        match to {
            Addressee::Object(object) => Scope::objects([object]),
            _ => Scope::objects([]),
        }
    }

    fn on_letter(&self, tx: &mut Tx<'_, '_, Self>, to: Addressee, letter: MayflyLetter) -> Result<(), ()> {
        let Addressee::Object(me) = to else { return Ok(()) };
        if tx.get(me) == Some(MayflyObject::Egg) {
            tx.put(me, &MayflyObject::Nest);
            return Ok(());
        }
        match (letter, self.0) {
            (MayflyLetter::Greet, _) => drop(tx.update(me, |it| {
                if let MayflyObject::Fly { heard } = it {
                    *heard += 1;
                }
            })),
            (MayflyLetter::Die, _) | (MayflyLetter::Live, FlyBehaviour::East(_)) => tx.remove(me),
            (MayflyLetter::Live, FlyBehaviour::Chance) if tx.chance().below(4) == 0 => {
                tx.schedule(me, Span::from_millis(1_500), &MayflyLetter::Die);
            }
            (MayflyLetter::Live, FlyBehaviour::Chance) => {
                let counter = tx.chance().below(u64::from(me.counter) + 1) as u32;
                tx.send(Addressee::Object(ObjectId { counter, ..me }), &MayflyLetter::Greet);
                let mut far = || tx.chance().between(-100_000, 100_000);
                let place = Position::saturating(far(), far());
                tx.depart(me, place);
                tx.schedule(me, Span::from_millis(300), &MayflyLetter::Live);
            }
        }
        Ok(())
    }

    fn show(&self, _: &MayflyObject, _: Viewer) -> Option<()> {
        Some(())
    }

    fn on_join(&self, tx: &mut Tx<'_, '_, Self>, _: PlayerId, _: &str) -> Result<ObjectId, ()> {
        Ok(tx.spawn(&MayflyObject::Watcher, Position::ORIGIN))
    }

    fn execute(&self, _: &mut Tx<'_, '_, Self>, _: ObjectId, _: ()) -> Result<(), ()> {
        Ok(())
    }

    fn allows(&self, _: &MayflyObject, _: &Motion, _: &Motion) -> Result<(), ()> {
        Ok(())
    }
}

impl Mayflies {
    /// Makes all flies near flee, of whatever zone: a thought that only steers.
    fn frighten(&self, tx: &mut Tx<'_, '_, Self>, place: Position) {
        for it in tx.near(place, Self::RANGE) {
            let mut speed = || tx.chance().between(-4_000, 4_000) as i32;
            let velocity = Velocity::new(speed(), speed()).unwrap();
            if let Some(MayflyObject::Fly { .. }) = tx.get(it) {
                tx.steer(it, velocity, Heading::EAST);
            }
        }
    }
}

impl Scenario for Mayflies {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn rules(&self, _: &Polygon) -> Arc<dyn HostedGame> {
        Arc::new(Hosted(Self(self.0)))
    }

    fn bot(&self, _: &Layout, _: u32, _: bool) -> Box<dyn Bot> {
        Box::new(WatcherBot)
    }
}

/// A bot that acts, and does not move.
struct WatcherBot;

impl Bot for WatcherBot {
    fn decide(&mut self, sight: &BotView<'_>, _: &mut Rng, wants: &mut Vec<Intent>) {
        if sight.unanswered == 0 {
            wants.push(Intent::Act(Vec::new()));
        }
    }
}

fn played(seed: u64) -> RunOutcome {
    let options = RunOptions::draw(seed, &RunRequest { zones: (3, 5), ..RunRequest::MESH });
    run_with(Mayflies(FlyBehaviour::Chance), options, plan::draw(&options), None)
}

#[test]
fn letters_find_all_living_objects_whatever_breaks() {
    let mut transfers = 0;
    for seed in 1..=if is_full() { 100 } else { 4 } {
        let outcome = played(seed);
        assert!(outcome.violations.is_empty(), "{}\n{:?}", outcome.violations[0], outcome.options);
        transfers += outcome.crossings.transfers;
    }
    assert!(2_000 < transfers, "{transfers}");
}

/// Four zones from west to east; all flies are born in the first, and fly through all the others.
fn strips() -> Layout {
    let at = |x: i64, y: i64| Position::saturating(x * 1_000, y * 1_000);
    let mut map = Partition::new(Polygon::rectangle(at(-60, -60), at(120, 60)).unwrap(), ZoneId(1));
    // The part left of a line that goes south stays, so the new zone is always the eastern one.
    for (zone, x) in [(2, 10), (3, 30), (4, 50)] {
        let line = Line::through(at(x, -60), at(x, 60)).unwrap();
        map = map.split(ZoneId(zone - 1), line, ZoneId(zone)).unwrap();
    }
    Layout::new(map, 3)
}

/// Violations of a world whose flies live for `life`. For five seconds at a time nothing arrives from a zone at the
/// birth zone: longer than any event tries to get locks there.
fn flown(life: Span, deaf_to: ZoneId) -> Vec<String> {
    let options = RunOptions { zones: 4, players: 2, ..RunOptions::draw(1, &RunRequest::MESH) };
    let options = RunOptions { kinds: simtest::fault::FaultKinds::NONE, faults: 0, ..options };
    let mut world = SimulatedWorld::of(Mayflies(FlyBehaviour::East(life)), options, strips());
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
    world.monitor.checker.violations.all().iter().map(ToString::to_string).collect()
}

#[test]
fn birth_zones_know_their_objects_though_reports_come_in_another_order() {
    for (life, zone) in [(1_000, 2), (2_000, 2), (3_000, 2), (2_000, 3), (3_000, 3), (4_000, 3)] {
        let found = flown(Span::from_millis(life), ZoneId(zone));
        assert!(found.is_empty(), "{life} ms, {zone}: {found:?}");
    }
}
