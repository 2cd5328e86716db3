//! The steady state allocates nothing.

use interest::policies::A3;
use interest::{Config, Engine, Slot};
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
    let (mut engine, mut rng, mut now) = (Engine::new(Config::default()), Rng::seeded(1), Time::ZERO);
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
