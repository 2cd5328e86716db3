//! Machines that crash, and those that take their place.

use crate::probe::*;
use machine::{Lane, Span, Time};
use sim::config::GIVE_UP_AFTER;
use sim::{Counters, Profile, Sim};

fn restart(sim: &mut Sim<ProbeMachine>, at: machine::Address) {
    sim.restart(at, ProbeMachine::default());
}

#[test]
fn a_crashed_machine_gets_nothing_and_can_be_looked_at() {
    let mut sim = trio(1, delay(10));
    sim.machine_mut(B).deadline = Some(ms(30));
    sim.wake(ms(0), B);
    send(&mut sim, ms(5), Lane::Sure, &[1]);
    send(&mut sim, ms(15), latest(0), &[2]);
    sim.command(ms(40), B, ProbeCommand::Raise(1));
    sim.wake(ms(50), B);
    sim.run_until(ms(20));
    sim.crash(B);
    sim.crash(B); // A second crash changes nothing.
    assert!(!sim.is_up(B) && sim.is_up(A));
    sim.run_until(ms(1_000));
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1", "0 wake", "15 recv 0 #1 [1]"]);
    assert_eq!(sim.raised().count(), 0);
    let Counters { sent, delivered, lost, .. } = sim.counters(A, B).unwrap();
    assert_eq!((sent.messages, delivered.messages, lost.messages), (2, 1, 1));
}

#[test]
fn messages_in_flight_outlive_their_sender_and_waiting_ones_do_not() {
    // One message leaves every 10 ms and flies for 50.
    let mut sim = trio(1, delay(50).with_rate(1_000).unwrap());
    (0..5).for_each(|number| send(&mut sim, ms(0), Lane::Sure, &[number; 10]));
    sim.run_until(ms(25));
    sim.crash(A);
    sim.run_until(ms(1_000));
    assert_eq!(arrivals(&sim, B), [(ms(60), vec![0; 10]), (ms(70), vec![1; 10])]);
    assert_eq!(sim.counters(A, B).unwrap().lost.messages, 3);
}

#[test]
fn peers_hear_of_a_crash_when_their_links_give_up() {
    let mut sim = trio(1, delay(10));
    sim.run_until(ms(1_000));
    sim.crash(B);
    finish(&mut sim);
    assert_eq!(sim.now(), ms(1_000) + GIVE_UP_AFTER);
    assert_eq!(input_lines(&sim, A), ["0 up 1 #1", "0 up 2 #1", "6000 down 1 #1"]);
    assert_eq!(input_lines(&sim, C), ["0 up 0 #1"]);
}

#[test]
fn links_that_never_give_up_wait_for_the_experiment() {
    let mut sim = trio(1, delay(10));
    sim.set_give_up_after(Span::MAX);
    sim.run_until(ms(1));
    sim.crash(B);
    sim.run_until(ms(100_000));
    assert_eq!(input_lines(&sim, A), ["0 up 1 #1", "0 up 2 #1"]);
    sim.disconnect(B, A);
    finish(&mut sim);
    assert_eq!(input_lines(&sim, A)[2..], ["100000 down 1 #1"]);
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1"]);
}

#[test]
fn a_restart_cuts_the_old_links_and_starts_with_none() {
    let mut sim = trio(1, delay(10));
    sim.run_until(ms(100));
    sim.crash(A);
    send(&mut sim, ms(150), Lane::Sure, &[1]); // For the machine that is dead already.
    sim.run_until(ms(200));
    restart(&mut sim, A);
    send(&mut sim, ms(210), Lane::Sure, &[2]); // The new machine knows no link.
    sim.run_until(ms(220));
    assert_eq!(sim.unlinked(), 1);
    assert_eq!(sim.connect(A, B, delay(10)).0, 2);
    send(&mut sim, ms(230), Lane::Sure, &[3]);
    finish(&mut sim);
    assert_eq!(input_lines(&sim, A), ["220 up 1 #2"]);
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1", "200 down 0 #1", "220 up 0 #2", "240 recv 0 #2 [3]"]);
    assert_eq!(input_lines(&sim, C), ["0 up 0 #1", "200 down 0 #1"]);
}

#[test]
fn inputs_for_the_old_machine_do_not_reach_the_new_one() {
    let mut sim = trio(1, delay(10));
    sim.machine_mut(B).deadline = Some(ms(60));
    sim.wake(ms(0), B);
    sim.command(ms(50), B, ProbeCommand::Raise(1)); // As a disk that answers.
    sim.wake(ms(50), B);
    send(&mut sim, ms(15), Lane::Sure, &[1]);
    sim.run_until(ms(20));
    sim.freeze(B, ms(40));
    send(&mut sim, ms(20), Lane::Sure, &[2]); // In flight when B dies.
    sim.run_until(ms(28)); // The first message waits in the inbox.
    assert_eq!(sim.waiting(B), 1);
    sim.disconnect(A, B);
    sim.connect(A, B, delay(10)); // Three pieces of news for the old B.
    restart(&mut sim, B); // Without a crash before it: that is part of it.
    assert_eq!(sim.waiting(B), 0);
    sim.command(ms(55), B, ProbeCommand::Raise(2));
    finish(&mut sim);
    assert!(input_lines(&sim, B).is_empty(), "{:?}", input_lines(&sim, B));
    assert_eq!(sim.raised().map(|it| (it.at, it.event)).collect::<Vec<_>>(), [(ms(55), 2)]);
    let Counters { sent, lost, .. } = sim.counters(A, B).unwrap();
    assert_eq!((sent.messages, lost.messages), (2, 2));
}

#[test]
fn a_new_machine_has_its_own_deadline() {
    for restart in [20, 35] {
        // Before and after the deadline of the old one.
        let mut sim = Sim::new(1);
        sim.add(ProbeMachine { deadline: Some(ms(30)), ..ProbeMachine::default() });
        sim.run_until(ms(10));
        sim.crash(A);
        sim.run_until(ms(restart));
        sim.restart(A, ProbeMachine { deadline: Some(ms(40)), ..ProbeMachine::default() });
        finish(&mut sim);
        assert_eq!(input_lines(&sim, A), ["40 wake"], "restarted at {restart} ms");
    }
}

#[test]
fn a_service_of_the_old_machine_does_not_hold_up_the_new_one() {
    let mut sim = Sim::new(1);
    sim.add(ProbeMachine::default());
    sim.freeze(A, ms(60_000));
    sim.wake(ms(1), A);
    sim.run_until(ms(10));
    restart(&mut sim, A);
    sim.slow(A, Span::from_millis(5));
    [10, 10].into_iter().for_each(|at| sim.wake(ms(at), A));
    sim.run_until(ms(100));
    assert_eq!(input_lines(&sim, A), ["10 wake", "15 wake"]);
}

#[test]
#[should_panic(expected = "Address(1) has crashed and can hear of no link: restart it first")]
fn a_crashed_machine_takes_no_links() {
    let mut sim = trio(1, delay(10));
    sim.crash(B);
    sim.connect(A, B, delay(10));
}

#[test]
fn a_dead_sender_leaves_no_gap_in_what_arrives() {
    // Sure messages leave every millisecond and fly for 20, so some are on each side of every event below.
    // A cut that they meet loses them once A is dead; if it is healed before, A's last try is in flight.
    for (cut, crash, heal, arrive) in
        [(30, 40, 45, 10), (30, 45, 40, 45), (40, 30, 45, 20), (30, 30, 31, 10), (45, 40, 60, 25)]
    {
        let mut sim = trio(1, delay(20));
        (1..100).for_each(|number| send(&mut sim, ms(u64::from(number)), Lane::Sure, &[number]));
        let mut faults = [(cut, 'x'), (crash, 'c'), (heal, 'h')];
        faults.sort();
        for (at, fault) in faults {
            sim.run_until(ms(at));
            match fault {
                'x' => sim.cut_silently(A, B),
                'c' => sim.crash(A),
                _ => sim.heal(A, B),
            }
        }
        finish(&mut sim);
        assert_eq!(heard(&sim, B), (1..=arrive).collect::<Vec<_>>(), "{cut} {crash} {heal}");
        let Counters { sent, delivered, lost, .. } = sim.counters(A, B).unwrap();
        assert_eq!(sent.messages, delivered.messages + lost.messages);
    }
}

#[test]
fn a_frozen_machine_that_crashes_never_thaws() {
    let mut sim = trio(1, delay(10));
    sim.run_until(ms(1));
    sim.freeze(B, ms(100));
    send(&mut sim, ms(5), Lane::Sure, &[1]);
    sim.run_until(ms(50));
    sim.crash(B);
    assert_eq!(sim.waiting(B), 0);
    sim.freeze(B, Time::MAX); // A crashed machine cannot be frozen.
    sim.run_until(ms(200));
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1"]);
    restart(&mut sim, B);
    sim.connect(A, B, Profile::new(Span::ZERO));
    finish(&mut sim);
    assert_eq!(input_lines(&sim, B), ["200 up 0 #2"]);
}
