//! Groups of observers with ticks of their own, and subjects that keep their course.

use interest::policies::Circle;
use interest::{Engine, EngineConfig, Slot, UpdateSchedule};
use machine::{Span, Time};
use space::{Distance, Heading, Position};
use std::collections::BTreeSet;

const TICK: Span = Span::from_millis(100);

fn engine(groups: usize, unchanged: Option<Span>) -> Engine {
    let schedule = UpdateSchedule::every(TICK);
    Engine::new(EngineConfig { schedule, groups, unchanged, ..EngineConfig::default() })
}

fn enter(engine: &mut Engine, x: i32, observes: bool) -> Slot {
    let slot = engine.enter(Position::new(x, 0).unwrap(), Heading::EAST);
    if observes {
        engine.observe(slot);
    }
    slot
}

/// The observers that a tick of a group serves, and the subjects that they are sent.
fn served(engine: &mut Engine, group: usize, millis: u64) -> BTreeSet<(Slot, Slot)> {
    let (mut sent, policy) = (BTreeSet::new(), Circle::new(Distance::of_metres(50)));
    engine.tick_group(group, Time::from_millis(millis), &policy, |observer, updates| {
        sent.extend(updates.iter().map(|it| (observer, it.subject)));
    });
    sent
}

#[test]
fn each_group_serves_its_own_observers_and_all_groups_serve_all() {
    let mut engine = engine(5, None);
    let slots: Vec<Slot> = (0..12).map(|it| enter(&mut engine, it, true)).collect();
    for millis in [0, 100] {
        let mut all = BTreeSet::new();
        for group in 0..5 {
            let sent = served(&mut engine, group, millis + 20 * group as u64);
            let observers: BTreeSet<Slot> = sent.iter().map(|it| it.0).collect();
            assert!((2..=3).contains(&observers.len()), "the groups have equal sizes");
            assert!(all.is_disjoint(&sent));
            all.extend(sent);
        }
        assert_eq!(all.len(), 12 * 11, "every observer hears of all others");
    }
    // An observer that leaves and another that comes: the groups stay of equal sizes.
    engine.stop_observing(slots[3]);
    engine.observe(slots[3]);
    let sizes: Vec<usize> = (0..5).map(|it| engine.observers_in(it)).collect();
    assert_eq!((sizes.iter().sum::<usize>(), sizes.iter().max()), (12, Some(&3)));
}

#[test]
fn a_slot_is_given_out_again_only_after_every_group_had_a_tick() {
    let mut engine = engine(3, None);
    let _observers: Vec<Slot> = (0..3).map(|it| enter(&mut engine, it, true)).collect();
    let thing = enter(&mut engine, 9, false);
    (0..3).for_each(|it| assert!(!served(&mut engine, it, 0).is_empty()));
    engine.leave(thing);
    for group in [1, 0] {
        drop(served(&mut engine, group, 100));
        assert_ne!(enter(&mut engine, 9_000_000, false), thing, "group 2 may remember the slot");
    }
    drop(served(&mut engine, 2, 100));
    let next = enter(&mut engine, 9, false);
    assert_eq!(next, thing);
    for group in 0..3 {
        let sent = served(&mut engine, group, 150);
        assert!(sent.iter().any(|it| it.1 == next), "it is new to group {group}");
    }
}

#[test]
fn a_subject_that_keeps_its_course_is_sent_twice_and_then_seldom() {
    let mut engine = engine(1, Some(Span::from_millis(1_000)));
    enter(&mut engine, 0, true);
    let subject = enter(&mut engine, 9, false);
    let sent_at = |engine: &mut Engine, from: u64| -> Vec<u64> {
        (0..25).map(|it| from + 100 * it).filter(|&it| !served(engine, 0, it).is_empty()).collect()
    };
    assert_eq!(sent_at(&mut engine, 0), [0, 100, 1_100, 2_100]);
    engine.change(subject);
    assert_eq!(
        sent_at(&mut engine, 2_500),
        [2_500, 2_600, 3_600, 4_600],
        "a new course is sent at once, and again"
    );
    let mut always = self::engine(1, None);
    enter(&mut always, 0, true);
    enter(&mut always, 9, false);
    assert_eq!(sent_at(&mut always, 0).len(), 25);
}
