//! The steady state allocates nothing, and a crowd that dispersed holds nothing.

use interest::policies::{A3, Circle};
use interest::{Engine, EngineConfig, Slot};
use machine::{Rng, Span, Time};
use space::{Distance, Heading, Position};

const CROWD: usize = 300;

fn wander(engine: &mut Engine, rng: &mut Rng) {
    for slot in 0..CROWD {
        let mut coordinate = || rng.between(0, 400_000) as i32;
        let position = Position::new(coordinate(), coordinate()).unwrap();
        engine.place(Slot(slot as u32), position);
        engine.face(Slot(slot as u32), Heading(rng.next_u64() as u16));
    }
}

#[test]
fn a_warm_engine_allocates_nothing() {
    let metres = |it| Distance::from_metres(it).unwrap();
    let policy = A3::new(metres(120.0), metres(40.0), 180.0).unwrap();
    let (mut engine, mut rng, mut now) = (Engine::new(EngineConfig::default()), Rng::seeded(1), Time::ZERO);
    for _ in 0..CROWD {
        let slot = engine.enter(Position::ORIGIN, Heading::EAST);
        engine.observe(slot);
    }
    let mut tick = |now: Time| {
        wander(&mut engine, &mut rng);
        engine.tick(now, &policy, |_, _| ()).sent
    };
    for _ in 0..40 {
        tick(now);
        now += Span::from_millis(50);
    }
    let mut sent = 0;
    let counted = allocation_counter::measure(|| {
        for _ in 0..40 {
            sent += tick(now);
            now += Span::from_millis(50);
        }
    });
    assert!(10_000 < sent, "{sent} updates are no load");
    assert_eq!(counted.count_total, 0);
}

/// Bytes that an engine holds more than before `work`; negative if it gave some back.
fn held(work: impl FnOnce()) -> i64 {
    allocation_counter::measure(work).bytes_current
}

/// Five hundred observers at one place remember a quarter of a million pairs: many megabytes.
#[test]
fn the_memory_of_a_crowd_is_given_back_when_it_is_gone() {
    const MEGABYTES: i64 = 1 << 20;
    let policy = Circle::new(Distance::from_metres(10.0).unwrap());
    let (mut engine, mut now) = (Engine::new(EngineConfig::default()), Time::ZERO);
    let crowd: Vec<Slot> = (0..500).map(|_| engine.enter(Position::ORIGIN, Heading::EAST)).collect();
    crowd.iter().for_each(|&it| engine.observe(it));
    let mut ticks = |engine: &mut Engine, count: u32| {
        for _ in 0..count {
            engine.tick(now, &policy, |_, _| ());
            now += Span::from_millis(50);
        }
    };
    let gathered = held(|| ticks(&mut engine, 5));
    assert!(8 * MEGABYTES < gathered, "{gathered} bytes are no load");
    for (number, &slot) in crowd.iter().enumerate() {
        engine.place(slot, Position::from_metres(100.0 * number as f64, 0.0).unwrap());
    }
    let dispersed = held(|| ticks(&mut engine, 1_100));
    assert!(gathered + dispersed < 5 * MEGABYTES, "{gathered} bytes, {dispersed} after they dispersed");
    // They gather again, and all leave at once: without observers the engine is not ticked.
    crowd.iter().for_each(|&it| engine.place(it, Position::ORIGIN));
    let gathered = gathered + dispersed + held(|| ticks(&mut engine, 5));
    assert!(8 * MEGABYTES < gathered, "{gathered} bytes are no load");
    let gone = held(|| crowd.iter().for_each(|&it| engine.leave(it)));
    assert!(gathered + gone < 5 * MEGABYTES, "{gathered} bytes, {gone} after they left");
}
