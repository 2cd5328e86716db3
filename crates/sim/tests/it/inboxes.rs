//! Hosts that are frozen or slow: inputs wait, in order.

use crate::probe::*;
use machine::{Lane, Span, Time};
use proptest::prelude::*;
use sim::Sim;

#[test]
fn a_frozen_host_hears_everything_later_and_in_order() {
    let mut sim = trio(1, delay(10));
    sim.run_until(ms(1));
    sim.freeze(B, ms(100));
    send(&mut sim, ms(5), Lane::Sure, &[1]);
    sim.command(ms(16), B, ProbeCommand::Send(vec![A], Lane::Sure, vec![7]));
    send(&mut sim, ms(10), latest(0), &[2]);
    sim.wake(ms(25), B);
    sim.run_until(ms(30));
    sim.disconnect(A, B); // Both messages were there before.
    sim.run_until(ms(99));
    assert_eq!((sim.waiting(B), sim.waiting(A)), (5, 0));
    sim.run_until(ms(100));
    let expected = ["0 up 0 #1", "100 recv 0 #1 [1]", "100 recv 0 #1 [2]", "100 wake", "100 down 0 #1"];
    assert_eq!(input_lines(&sim, B), expected);
    assert_eq!((sim.waiting(B), sim.unlinked()), (0, 1));
}

#[test]
fn the_longest_freeze_counts() {
    let mut sim = trio(1, delay(10));
    sim.run_until(ms(1));
    sim.freeze(B, ms(50));
    send(&mut sim, ms(35), Lane::Sure, &[1]);
    sim.run_until(ms(20));
    sim.freeze(B, ms(40));
    sim.run_until(ms(46));
    assert_eq!(sim.waiting(B), 1);
    sim.freeze(B, ms(70));
    finish(&mut sim);
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1", "70 recv 0 #1 [1]"]);
    sim.freeze(B, ms(70)); // Over before it began.
    sim.wake(ms(70), B);
    finish(&mut sim);
    assert_eq!(sim.now(), ms(70));
    assert_eq!(input_lines(&sim, B).last().map(String::as_str), Some("70 wake"));
}

#[test]
fn a_host_that_is_frozen_for_ever_does_not_move_time() {
    let mut sim = trio(1, delay(10));
    sim.run_until(ms(1));
    sim.freeze(B, Time::MAX);
    send(&mut sim, ms(5), Lane::Sure, &[1]);
    finish(&mut sim);
    assert_eq!((sim.now(), sim.waiting(B)), (ms(15), 1));
}

#[test]
fn a_deadline_missed_in_a_freeze_wakes_once() {
    let mut sim = Sim::new(1);
    sim.add(ProbeMachine { deadline: Some(ms(20)), ..ProbeMachine::default() });
    sim.freeze(A, ms(100));
    [10, 30, 50].into_iter().for_each(|at| sim.command(ms(at), A, ProbeCommand::Raise(at as u32)));
    sim.run_until(ms(99));
    assert_eq!((sim.waiting(A), sim.events()), (4, 0));
    finish(&mut sim);
    assert_eq!((input_lines(&sim, A), sim.events()), (vec!["100 wake".to_owned()], 4));
}

#[test]
fn a_deadline_put_off_by_what_waited_before_it_does_not_wake() {
    let mut sim = Sim::new(1);
    sim.add(ProbeMachine { deadline: Some(ms(20)), ..ProbeMachine::default() });
    sim.freeze(A, ms(100));
    sim.command(ms(10), A, ProbeCommand::SetDeadline(Some(ms(150))));
    finish(&mut sim);
    assert_eq!(input_lines(&sim, A), ["150 wake"]);
}

#[test]
fn two_entries_for_one_deadline_wake_once_at_thaw() {
    let mut sim = Sim::new(1);
    sim.add(ProbeMachine::default());
    // The queue holds the deadline at 50 twice.
    for (at, deadline) in [(0, 50), (1, 20), (30, 50)] {
        sim.command(ms(at), A, ProbeCommand::SetDeadline(Some(ms(deadline))));
    }
    sim.run_until(ms(40));
    sim.freeze(A, ms(60));
    sim.run_until(ms(59));
    assert_eq!(sim.waiting(A), 1);
    finish(&mut sim);
    assert_eq!(input_lines(&sim, A), ["20 wake", "60 wake"]);
}

#[test]
fn a_slow_host_takes_one_input_at_a_time() {
    let mut sim = trio(1, delay(10));
    sim.run_until(ms(1));
    sim.slow(B, Span::from_millis(7));
    (0..4).for_each(|number| send(&mut sim, ms(10), Lane::Sure, &[number]));
    send(&mut sim, ms(50), Lane::Sure, &[4]);
    sim.run_until(ms(20));
    assert_eq!(sim.waiting(B), 3);
    finish(&mut sim);
    let times: Vec<_> = arrivals(&sim, B).iter().map(|it| it.0.as_millis()).collect();
    assert_eq!(times, [20, 27, 34, 41, 60]);
    sim.slow(B, Span::ZERO);
    (0..2).for_each(|number| send(&mut sim, ms(100), Lane::Sure, &[number]));
    finish(&mut sim);
    assert_eq!(arrivals(&sim, B)[5..], [(ms(110), vec![0]), (ms(110), vec![1])]);
}

#[test]
fn messages_of_a_burdened_host_keep_it_busy_too() {
    let mut sim = trio(1, delay(10));
    sim.run_until(ms(1));
    sim.burden(A, Span::from_millis(3));
    assert_eq!(sim.work(A), 0);
    (0..3).for_each(|number| send(&mut sim, ms(10), Lane::Sure, &[number]));
    finish(&mut sim);
    let times: Vec<_> = arrivals(&sim, B).iter().map(|it| it.0.as_millis()).collect();
    assert_eq!(times, [20, 26, 32], "an input and a message each");
    assert_eq!(sim.work(A), 6);
    sim.slow(A, Span::ZERO);
    (0..2).for_each(|number| send(&mut sim, ms(100), Lane::Sure, &[number]));
    finish(&mut sim);
    assert_eq!(arrivals(&sim, B)[3..], [(ms(110), vec![0]), (ms(110), vec![1])]);
}

#[test]
fn a_host_that_is_never_idle_still_comes_to_its_deadline() {
    let mut sim = Sim::new(1);
    sim.add(ProbeMachine { deadline: Some(ms(10)), ..ProbeMachine::default() });
    sim.slow(A, Span::from_millis(5));
    (0..100).for_each(|at| sim.command(ms(at), A, ProbeCommand::Raise(at as u32)));
    sim.run_until(ms(100));
    // Ten commands came before it, the first of them served at 0.
    assert_eq!(input_lines(&sim, A), ["50 wake"]);
}

#[test]
fn a_slow_host_that_freezes_goes_on_where_it_was() {
    let mut sim = Sim::new(1);
    sim.add(ProbeMachine::default());
    sim.slow(A, Span::from_millis(10));
    (0..4).for_each(|_| sim.wake(ms(0), A));
    sim.run_until(ms(12));
    sim.freeze(A, ms(25));
    finish(&mut sim);
    assert_eq!(input_lines(&sim, A), ["0 wake", "10 wake", "25 wake", "35 wake"]);
}

#[test]
fn a_machine_hears_of_a_link_only_when_it_thaws_and_sends_only_then() {
    let mut sim = trio(1, delay(10));
    sim.freeze(A, ms(50));
    send(&mut sim, ms(20), Lane::Sure, &[1]); // Obeyed at 50, after both `LinkUp`s.
    finish(&mut sim);
    assert_eq!(arrivals(&sim, B), [(ms(60), vec![1])]);
    assert_eq!(sim.unlinked(), 0);
}

/// The times at which a host that is free from `free` on handles its inputs: the simplest queue as reference.
fn served(comes: &[u64], service: u64, mut free: u64) -> Vec<u64> {
    let serve = |&at: &u64| {
        let start = free.max(at);
        free = start + service;
        start
    };
    comes.iter().map(serve).collect()
}

proptest! {
    #[test]
    fn inputs_are_served_one_at_a_time_in_order(
        mut comes in proptest::collection::vec(0u64..200, 0..60),
        service in 0u64..10,
        frozen in 0u64..100,
    ) {
        comes.sort();
        let mut sim = Sim::new(1);
        sim.add(ProbeMachine::default());
        sim.slow(A, Span::from_micros(service));
        sim.freeze(A, Time::from_micros(frozen));
        comes.iter().for_each(|&at| sim.wake(Time::from_micros(at), A));
        finish(&mut sim);
        let times: Vec<_> = sim.machine(A).heard.iter().map(|it| it.0.as_micros()).collect();
        prop_assert_eq!(times, served(&comes, service, frozen));
    }
}
