//! Commands, wakes and the events that machines raise.

use crate::probe::*;
use machine::{Input, Machine, Outbox, Span, Time};
use sim::config::INPUTS_AT_ONCE_MAX;
use sim::echo::{Ball, Echo};
use sim::{Profile, RaisedEvent, Sim};

fn alone() -> Sim<ProbeMachine> {
    let mut sim = Sim::new(1);
    sim.add(ProbeMachine::default());
    sim
}

fn set_deadline(sim: &mut Sim<ProbeMachine>, at: u64, deadline: Option<u64>) {
    sim.command(ms(at), A, ProbeCommand::SetDeadline(deadline.map(ms)));
}

#[test]
fn a_machine_is_woken_at_its_deadline_and_once() {
    let mut sim = Sim::new(1);
    sim.add(ProbeMachine { deadline: Some(ms(30)), ..ProbeMachine::default() });
    sim.run_until(ms(29));
    assert!(input_lines(&sim, A).is_empty());
    sim.run_until(ms(100));
    assert_eq!(input_lines(&sim, A), ["30 wake"]);
}

#[test]
fn a_deadline_that_moved_wakes_only_at_its_new_time() {
    let mut sim = alone();
    set_deadline(&mut sim, 0, Some(50));
    set_deadline(&mut sim, 10, Some(20)); // Earlier: the entry at 50 is stale.
    set_deadline(&mut sim, 30, Some(40));
    set_deadline(&mut sim, 35, Some(60)); // Later: the entry at 40 is stale.
    set_deadline(&mut sim, 70, Some(80));
    set_deadline(&mut sim, 75, None);
    finish(&mut sim);
    assert_eq!(input_lines(&sim, A), ["20 wake", "60 wake"]);
    assert_eq!(sim.events(), 6 + 2);
}

#[test]
fn a_deadline_in_the_past_wakes_now() {
    let mut sim = alone();
    set_deadline(&mut sim, 10, Some(3));
    finish(&mut sim);
    assert_eq!(input_lines(&sim, A), ["10 wake"]);
}

#[test]
fn the_end_of_time_never_comes() {
    let mut sim = alone();
    sim.command(ms(1), A, ProbeCommand::SetDeadline(Some(Time::MAX)));
    finish(&mut sim);
    assert_eq!((sim.now(), sim.events()), (ms(1), 1));
}

#[test]
fn an_early_wake_comes_only_if_asked_for() {
    let mut sim = alone();
    set_deadline(&mut sim, 0, Some(20));
    sim.wake(ms(5), A);
    finish(&mut sim);
    assert_eq!(input_lines(&sim, A), ["5 wake", "20 wake"]);
}

/// A machine whose deadline never moves on.
struct LateMachine;

impl Machine for LateMachine {
    type Msg = Ball;
    type Command = ();
    type Event = ();

    fn handle(&mut self, _: Time, _: Input<Ball, ()>, _: &mut Outbox<Ball, ()>) {}

    fn deadline(&self) -> Option<Time> {
        Some(ms(10))
    }
}

#[test]
#[should_panic(expected = "time does not move on from 0.010000s")]
fn a_deadline_that_never_moves_on_does_not_stop_time_unnoticed() {
    let mut sim = Sim::new(1);
    sim.add(LateMachine);
    sim.run_until(ms(20));
}

#[test]
#[should_panic(expected = "time does not move on from 0.010000s")]
fn messages_that_take_no_time_do_not_stop_time_unnoticed() {
    let mut sim = Sim::new(1);
    let (a, b) = (sim.add(Echo::opening(1)), sim.add(Echo::answering()));
    sim.run_until(ms(10));
    sim.connect(a, b, Profile::new(Span::ZERO));
    sim.run_until(ms(20));
}

#[test]
fn inputs_at_different_times_are_not_too_many() {
    let mut sim = Sim::new(1);
    let (a, b) = (sim.add(Echo::opening(1)), sim.add(Echo::answering()));
    sim.connect(a, b, Profile::new(Span::from_micros(1)));
    let inputs = u64::from(INPUTS_AT_ONCE_MAX) + 10;
    sim.run_until(Time::from_micros(inputs));
    assert_eq!(sim.events(), 2 + inputs);
}

#[test]
fn time_stands_at_the_limit_of_the_run() {
    let mut sim = alone();
    sim.run_until(ms(10));
    assert_eq!((sim.now(), sim.events()), (ms(10), 0));
    sim.run_until(ms(5));
    assert_eq!(sim.now(), ms(10));
    set_deadline(&mut sim, 10, None);
    set_deadline(&mut sim, 500_000, None);
    sim.run_until(ms(20));
    set_deadline(&mut sim, 21, None); // Before something that waits already.
    assert!(sim.step());
    assert_eq!(sim.now(), ms(21));
    assert!(sim.step());
    assert!(!sim.step());
    assert_eq!((sim.now(), sim.events()), (ms(500_000), 3));
}

#[test]
#[should_panic(expected = "0.001000s is past: it is 0.002000s already")]
fn the_past_takes_no_commands() {
    let mut sim = alone();
    sim.run_until(ms(2));
    set_deadline(&mut sim, 1, None);
}

#[test]
fn raised_events_are_handed_over_in_order_and_once() {
    let mut sim = trio(1, Profile::new(Span::from_millis(1)));
    for (at, by, event) in [(3, A, 1), (2, B, 2), (3, C, 3)] {
        sim.command(ms(at), by, ProbeCommand::Raise(event));
    }
    finish(&mut sim);
    let expected =
        [(2, B, 2), (3, A, 1), (3, C, 3)].map(|(at, by, event)| RaisedEvent { at: ms(at), by, event });
    assert_eq!(sim.raised().collect::<Vec<_>>(), expected);
    assert_eq!(sim.raised().count(), 0);
}

#[test]
fn an_owner_can_answer_each_event_at_its_time() {
    let mut sim = trio(1, Profile::new(Span::from_millis(1)));
    for at in [3, 4, 9] {
        sim.command(ms(at), A, ProbeCommand::Raise(at as u32));
    }
    while sim.step_until(ms(5)) {
        let raised: Vec<_> = sim.raised().collect();
        raised.into_iter().for_each(|it| sim.wake(it.at, B));
    }
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1", "3 wake", "4 wake"]);
    assert_eq!(sim.now(), ms(5));
    assert!(sim.step_until(ms(9)));
    assert_eq!(sim.now(), ms(9));
}

#[test]
fn a_step_that_finds_nothing_leaves_room_for_more() {
    let mut sim = alone();
    sim.wake(Time::from_micros(70), A);
    assert!(!sim.step_until(Time::from_micros(66)));
    sim.wake(sim.now(), A);
    assert!(sim.step());
    assert_eq!(sim.now(), Time::from_micros(66));
}

#[test]
fn a_machine_can_be_set_up_by_hand() {
    let mut sim = alone();
    sim.machine_mut(A).deadline = Some(ms(5));
    sim.wake(ms(0), A);
    finish(&mut sim);
    assert_eq!(input_lines(&sim, A), ["0 wake", "5 wake"]);
}
