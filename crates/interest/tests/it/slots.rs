//! Slots are taken and freed: an empty one must cost nothing.

use interest::policies::Circle;
use interest::{Engine, EngineConfig, Slot};
use machine::Time;
use space::{Distance, Heading, Position};
use std::collections::BTreeSet;

fn enter(engine: &mut Engine, x: i32, y: i32) -> Slot {
    engine.enter(Position::new(x, y).unwrap(), Heading::EAST)
}

/// Number of slots that a thousand short visits take.
fn slots_of_visits(engine: &mut Engine, mut meanwhile: impl FnMut(&mut Engine)) -> usize {
    let mut slots = BTreeSet::new();
    for _ in 0..1_000 {
        let slot = enter(engine, 0, 0);
        slots.insert(slot);
        engine.leave(slot);
        meanwhile(engine);
    }
    slots.len()
}

/// A zone without players is not ticked, but animals cross it.
#[test]
fn slots_are_given_out_again_without_observers() {
    let mut engine = Engine::new(EngineConfig::default());
    assert_eq!(slots_of_visits(&mut engine, |_| ()), 1);
}

#[test]
fn slots_are_given_out_again_while_an_engine_rests() {
    let mut engine = Engine::new(EngineConfig::default());
    let observer = enter(&mut engine, 0, 0);
    engine.observe(observer);
    assert_eq!(slots_of_visits(&mut engine, Engine::rest), 1);
}

/// A subject that was sent before the rest is not sent again right after it, unless it left.
#[test]
fn a_rest_forgets_only_subjects_that_left() {
    let mut engine = Engine::new(EngineConfig::default());
    let policy = Circle::new(Distance::from_metres(10.0).unwrap());
    let observer = enter(&mut engine, 0, 0);
    engine.observe(observer);
    let (stays, leaves) = (enter(&mut engine, 1, 0), enter(&mut engine, 2, 0));
    let told = |engine: &mut Engine, millis| {
        let mut told = Vec::new();
        engine.tick(Time::from_millis(millis), &policy, |_, updates| {
            told.extend(updates.iter().map(|it| it.subject));
        });
        told
    };
    assert_eq!(told(&mut engine, 0), [stays, leaves]);
    engine.leave(leaves);
    engine.rest();
    let newcomer = enter(&mut engine, 3, 0);
    assert_eq!(newcomer, leaves, "the slot is free");
    assert_eq!(told(&mut engine, 50), [newcomer]);
}

/// Few observers that are left of many do not look at the empty slots of the others, wherever they are.
#[test]
fn empty_slots_are_seldom_looked_at() {
    let mut engine = Engine::new(EngineConfig::default());
    let policy = Circle::new(Distance::from_metres(120.0).unwrap());
    let slots: Vec<Slot> = (0..20_000).map(|number| enter(&mut engine, number * 500, 0)).collect();
    let (stay, leave) = slots.split_at(100);
    leave.iter().for_each(|&it| engine.leave(it));
    stay.iter().for_each(|&it| engine.observe(it));
    let mut most = 0;
    for place in 0..400 {
        // Over many cells of the grid, which repeats itself some kilometres further.
        let (x, y) = (place % 20 * 97_000, place / 20 * 97_000);
        for (number, &slot) in stay.iter().enumerate() {
            let (dx, dy) = (number as i32 % 10 * 9_000, number as i32 / 10 * 9_000);
            engine.place(slot, Position::new(x + dx, y + dy).unwrap());
        }
        let counts = engine.tick(Time::from_millis(place as u64), &policy, |_, _| ());
        most = most.max(counts.examined);
    }
    // A hundred look at each other, and at an empty slot or two in each of the cells in view.
    assert!(most < 100 * 200, "{most} pairs were examined in one tick");
}
