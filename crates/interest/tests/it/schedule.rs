//! The engine and the reference run in the same random world and must agree on every update.

use crate::reference::{Reference, ReferenceAvatar};
use crate::schedule_checker::ScheduleChecker;
use interest::policies::{A3, Circle, CircleAttenuated, Everything, FieldOfView};
use interest::{
    Budget, DueRule, Engine, EngineConfig, Policy, PolicyReach, Slot, SubjectView, UpdateSchedule,
};
use machine::{Rng, Span, Time};
use proptest::prelude::*;
use space::{Distance, Heading, Position};

fn metres(metres: f64) -> Distance {
    Distance::from_metres(metres).unwrap()
}

fn policy(number: usize) -> Box<dyn Policy> {
    let team = |view: &SubjectView, graded: f32| {
        if view.subject.0.is_multiple_of(2) { graded } else { graded * 0.5 }
    };
    match number {
        0 => Box::new(Everything),
        1 => Box::new(Circle::new(metres(30.0))),
        2 => Box::new(CircleAttenuated::new(metres(40.0), metres(0.0)).unwrap()),
        3 => Box::new(FieldOfView::new(metres(50.0), 120.0).unwrap()),
        4 => Box::new(A3::new(metres(40.0), metres(10.0), 180.0).unwrap()),
        5 => Box::new(InvalidGrades),
        _ => Box::new(
            A3::new(metres(40.0), metres(10.0), 90.0)
                .unwrap()
                .adjusted(PolicyReach::Within(metres(40.0)), team),
        ),
    }
}

/// A faulty policy of a game: most of its results are no relevance.
struct InvalidGrades;

impl Policy for InvalidGrades {
    fn reach(&self) -> PolicyReach {
        PolicyReach::Within(metres(60.0))
    }

    fn relevance(&self, view: &SubjectView) -> f32 {
        let said = [f32::NAN, -1.0, 7.0, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.25, 1.0 + f32::EPSILON];
        if view.distance() < 60_000.0 { said[view.distance() as usize / 1_000 % said.len()] } else { 0.0 }
    }
}

/// Both implementations side by side.
struct EngineAndReference {
    engine: Engine,
    reference: Reference,
    checker: ScheduleChecker,
    rng: Rng,
    budget: Option<Budget>,
}

impl EngineAndReference {
    fn new(seed: u64, schedule: UpdateSchedule, budget: Option<Budget>) -> Self {
        // A tick of all groups is a tick of all observers, however many groups there are.
        let groups = 1 + seed as usize % 5;
        let engine = Engine::new(EngineConfig { schedule, budget, groups, ..EngineConfig::default() });
        let (reference, checker) = (Reference::new(schedule), ScheduleChecker::default());
        Self { engine, reference, checker, rng: Rng::seeded(seed), budget }
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
        let before =
            self.reference.avatars.insert(slot, ReferenceAvatar { position, heading, bytes, observes });
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

    /// Some objects leave, some enter, some start or stop observing. They enter before and after: an object that enters
    /// right after another left must not be mistaken for it.
    fn change_some(&mut self) {
        if self.rng.chance(0.15) {
            self.enter();
        }
        self.change_all();
        if self.rng.chance(0.3) {
            self.enter();
        }
    }

    fn change_all(&mut self) {
        let slots: Vec<Slot> = self.reference.avatars.keys().copied().collect();
        for slot in slots {
            match self.rng.below(60) {
                0 => {
                    self.engine.leave(slot);
                    self.reference.leave(slot);
                    self.checker.forget_observer(slot);
                    self.checker.forget_subject(slot);
                }
                1 => {
                    self.engine.stop_observing(slot);
                    self.reference.stop_observing(slot);
                    self.checker.forget_observer(slot);
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
        let counts = self.engine.tick(now, policy, |observer, updates| {
            sent.extend(updates.iter().map(|it| (observer, it.subject, it.relevance.to_bits())));
        });
        sent.sort();
        let expected = self.reference.tick(now, policy);
        self.checker.check(now, &sent, &expected, &self.reference, policy);
        assert_eq!(sent, expected.sent, "at {now}");
        assert_eq!((counts.sent, counts.deferred), (sent.len() as u64, expected.deferred), "at {now}");
        assert!(counts.graded <= expected.not_fresh, "{} graded of {}", counts.graded, expected.not_fresh);
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
        let due = if strict { DueRule::AfterInterval } else { DueRule::AtInterval };
        let schedule = UpdateSchedule { normal, due, forget_after: normal.times(forget) };
        let budget = budgeted.then_some(Budget { bytes_per_second: 800, burst: 150 });
        let policy = policy(number);
        let mut pair = EngineAndReference::new(seed, schedule, budget);
        (0..crowd).for_each(|_| pair.enter());
        let mut now = Time::ZERO;
        for _ in 0..60 {
            pair.tick(now, policy.as_ref());
            pair.change_some();
            now += Span::from_millis([10, 50, 50, 100, 700][pair.rng.below(5) as usize]);
        }
    }
}

#[test]
fn a_newcomer_is_sent_at_once_and_then_in_its_turn() {
    let policy = CircleAttenuated::new(metres(100.0), metres(0.0)).unwrap();
    let mut engine = Engine::new(EngineConfig {
        schedule: UpdateSchedule::every(Span::from_millis(200)),
        ..EngineConfig::default()
    });
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
fn calls_with_a_slot_whose_owner_left_do_nothing() {
    let policy = Circle::new(metres(100.0));
    let mut engine = Engine::new(EngineConfig::default());
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
