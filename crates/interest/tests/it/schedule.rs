//! The engine and the reference live through the same random world and must agree on every update.

use crate::promise::Promise;
use crate::reference::{Avatar, Reference};
use interest::policies::{A3, Circle, CircleAttenuated, Everything, FieldOfView};
use interest::{Budget, Config, Due, Engine, Policy, Reach, Schedule, Sight, Slot};
use machine::{Rng, Span, Time};
use proptest::prelude::*;
use space::{Distance, Heading, Position};

fn metres(metres: f64) -> Distance {
    Distance::from_metres(metres).unwrap()
}

fn policy(number: usize) -> Box<dyn Policy> {
    let team = |sight: &Sight, graded: f32| {
        if sight.subject.0.is_multiple_of(2) { graded } else { graded * 0.5 }
    };
    match number {
        0 => Box::new(Everything),
        1 => Box::new(Circle::new(metres(30.0))),
        2 => Box::new(CircleAttenuated::new(metres(40.0), metres(0.0)).unwrap()),
        3 => Box::new(FieldOfView::new(metres(50.0), 120.0).unwrap()),
        4 => Box::new(A3::new(metres(40.0), metres(10.0), 180.0).unwrap()),
        5 => Box::new(Nonsense),
        _ => Box::new(
            A3::new(metres(40.0), metres(10.0), 90.0).unwrap().adjusted(Reach::Within(metres(40.0)), team),
        ),
    }
}

/// A game's policy that was never tried: what it says is no grade, mostly.
struct Nonsense;

impl Policy for Nonsense {
    fn reach(&self) -> Reach {
        Reach::Within(metres(60.0))
    }

    fn relevance(&self, sight: &Sight) -> f32 {
        let said = [f32::NAN, -1.0, 7.0, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.25, 1.0 + f32::EPSILON];
        if sight.distance() < 60_000.0 { said[sight.distance() as usize / 1_000 % said.len()] } else { 0.0 }
    }
}

/// Both implementations side by side.
struct Pair {
    engine: Engine,
    reference: Reference,
    promise: Promise,
    rng: Rng,
    budget: Option<Budget>,
}

impl Pair {
    fn new(seed: u64, schedule: Schedule, budget: Option<Budget>) -> Self {
        let engine = Engine::new(Config { schedule, budget, ..Config::default() });
        let (reference, promise) = (Reference::new(schedule), Promise::default());
        Self { engine, reference, promise, rng: Rng::seeded(seed), budget }
    }

    fn enter(&mut self) {
        let (position, heading) = (self.somewhere(), Heading(self.rng.next_u64() as u16));
        let slot = self.engine.enter(position, heading);
        // Some cost nothing: then no number of updates is too many.
        let bytes = if self.rng.chance(0.02) { 0 } else { 20 + self.rng.below(20) as u32 };
        self.engine.weigh(slot, bytes);
        let observes = self.rng.chance(0.7);
        if observes {
            self.engine.observe(slot);
        }
        if let Some(budget) = self.budget {
            self.reference.budgets.insert(slot, (budget, i128::from(budget.burst) * 1_000_000, Time::ZERO));
        }
        let before = self.reference.avatars.insert(slot, Avatar { position, heading, bytes, observes });
        assert!(before.is_none(), "{slot:?} was given out twice");
    }

    /// Mostly on a coarse lattice, so that equal places, rims and right angles happen.
    fn somewhere(&mut self) -> Position {
        let mut coordinate = || match self.rng.below(20) {
            0 => self.rng.between(-1 << 30, (1 << 30) - 1) as i32,
            1..10 => 10_000 * self.rng.between(-6, 6) as i32,
            _ => self.rng.between(-60_000, 60_000) as i32,
        };
        Position::new(coordinate(), coordinate()).unwrap()
    }

    /// Some leave, some enter, some change their minds. Before and after: who enters right after somebody
    /// left must not be mistaken for them.
    fn stir(&mut self) {
        if self.rng.chance(0.15) {
            self.enter();
        }
        self.stir_everybody();
        if self.rng.chance(0.3) {
            self.enter();
        }
    }

    fn stir_everybody(&mut self) {
        let slots: Vec<Slot> = self.reference.avatars.keys().copied().collect();
        for slot in slots {
            match self.rng.below(60) {
                0 => {
                    self.engine.leave(slot);
                    self.reference.leave(slot);
                    self.promise.forget_observer(slot);
                    self.promise.forget_subject(slot);
                }
                1 => {
                    self.engine.stop_observing(slot);
                    self.reference.stop_observing(slot);
                    self.promise.forget_observer(slot);
                }
                2 => {
                    self.engine.observe(slot);
                    self.reference.avatars.get_mut(&slot).unwrap().observes = true;
                }
                3 if self.budget.is_some() => self.limit(slot),
                4..20 => {
                    let (position, heading) = (self.somewhere(), Heading(self.rng.next_u64() as u16));
                    self.engine.place(slot, position);
                    self.engine.face(slot, heading);
                    let avatar = self.reference.avatars.get_mut(&slot).unwrap();
                    (avatar.position, avatar.heading) = (position, heading);
                }
                _ => (),
            }
        }
    }

    fn limit(&mut self, slot: Slot) {
        let budget =
            Budget { bytes_per_second: self.rng.below(1_000) as u32, burst: 1 + self.rng.below(200) as u32 };
        self.engine.limit(slot, Some(budget));
        let (old, level, _) = self.reference.budgets.get_mut(&slot).unwrap();
        (*old, *level) = (budget, (*level).min(i128::from(budget.burst) * 1_000_000));
    }

    fn tick(&mut self, now: Time, policy: &dyn Policy) {
        let mut sent = Vec::new();
        let tally = self.engine.tick(now, policy, |observer, updates| {
            sent.extend(updates.iter().map(|it| (observer, it.subject, it.relevance.to_bits())));
        });
        sent.sort();
        let expected = self.reference.tick(now, policy);
        self.promise.check(now, &sent, &expected, &self.reference, policy);
        assert_eq!(sent, expected.sent, "at {now}");
        assert_eq!((tally.sent, tally.deferred), (sent.len() as u64, expected.deferred), "at {now}");
        assert!(tally.graded <= expected.not_fresh, "{} graded of {}", tally.graded, expected.not_fresh);
    }
}

proptest! {
    #[test]
    fn the_engine_does_what_the_reference_does(
        seed: u64,
        number in 0usize..7,
        crowd in 0usize..30,
        strict: bool,
        budgeted: bool,
        forget in 0u64..5,
    ) {
        let normal = Span::from_millis(200);
        let due = if strict { Due::AfterInterval } else { Due::AtInterval };
        let schedule = Schedule { normal, due, forget_after: normal.times(forget) };
        let budget = budgeted.then_some(Budget { bytes_per_second: 800, burst: 150 });
        let policy = policy(number);
        let mut pair = Pair::new(seed, schedule, budget);
        (0..crowd).for_each(|_| pair.enter());
        let mut now = Time::ZERO;
        for _ in 0..60 {
            pair.tick(now, policy.as_ref());
            pair.stir();
            now += Span::from_millis([10, 50, 50, 100, 700][pair.rng.below(5) as usize]);
        }
    }
}

#[test]
fn a_newcomer_is_heard_of_at_once_and_then_in_its_turn() {
    let policy = CircleAttenuated::new(metres(100.0), metres(0.0)).unwrap();
    let mut engine =
        Engine::new(Config { schedule: Schedule::every(Span::from_millis(200)), ..Config::default() });
    let eye = engine.enter(Position::ORIGIN, Heading::EAST);
    engine.observe(eye);
    let other = engine.enter(Position::from_metres(50.0, 0.0).unwrap(), Heading::EAST);
    let mut heard = Vec::new();
    for tick in 0..20u64 {
        let now = Time::from_millis(50 * tick);
        engine.tick(now, &policy, |_, updates| {
            heard.extend(updates.iter().map(|it| (now.as_millis(), it.subject)))
        });
    }
    assert_eq!(heard, [(0, other), (400, other), (800, other)]);
}

#[test]
fn what_is_said_of_a_slot_whose_owner_left_does_nothing() {
    let policy = Circle::new(metres(100.0));
    let mut engine = Engine::new(Config::default());
    let (eye, other) =
        (engine.enter(Position::ORIGIN, Heading::EAST), engine.enter(Position::ORIGIN, Heading::EAST));
    engine.observe(eye);
    engine.leave(other);
    engine.leave(other);
    engine.place(other, Position::ORIGIN);
    engine.observe(other);
    let mut heard = 0;
    engine.tick(Time::ZERO, &policy, |_, updates| heard += updates.len());
    assert_eq!(heard, 0);
    let (first, second) =
        (engine.enter(Position::ORIGIN, Heading::EAST), engine.enter(Position::ORIGIN, Heading::EAST));
    assert_ne!(first, second, "a slot that was left twice is given out once");
    engine.tick(Time::ZERO, &policy, |observer, updates| {
        assert_eq!(observer, eye);
        heard += updates.len();
    });
    assert_eq!(heard, 2);
}
