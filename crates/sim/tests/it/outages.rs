//! Directions that are cut silently, and links that change their profile.

use crate::probe::*;
use machine::{Lane, Span};
use proptest::prelude::*;
use sim::config::GIVE_UP_AFTER;
use sim::{Counters, MessageCount};

fn send_back(sim: &mut sim::Sim<ProbeMachine>, at: u64, bytes: &[u8]) {
    sim.command(ms(at), B, ProbeCommand::Send(vec![A], Lane::Sure, bytes.to_vec()));
}

#[test]
fn a_silent_cut_loses_latest_messages_and_holds_sure_ones() {
    let mut sim = trio(1, delay(10));
    for number in 0..6u8 {
        send(&mut sim, ms(u64::from(number) * 10 + 5), Lane::Sure, &[number]);
        send(&mut sim, ms(u64::from(number) * 10 + 5), latest(0), &[100 + number]);
    }
    send_back(&mut sim, 30, &[7]);
    sim.run_until(ms(20)); // 0 arrived, 1 is in flight.
    sim.cut_silently(A, B);
    sim.run_until(ms(49)); // 2, 3 and 4 are sent; 4 is in flight.
    assert_eq!(heard(&sim, B), [0, 100]);
    assert_eq!(arrivals(&sim, A), [(ms(40), vec![7])]); // The way back is open.
    sim.heal(A, B);
    finish(&mut sim);
    let expected: Vec<_> = [(15, 0), (15, 100), (59, 1), (59, 2), (59, 3), (59, 4), (65, 5), (65, 105)]
        .map(|(at, it)| (ms(at), vec![it]))
        .to_vec();
    assert_eq!(arrivals(&sim, B), expected);
    assert_eq!(input_lines(&sim, A).len(), 3, "a machine heard of the cut");
    assert_eq!(sim.counters(A, B).unwrap().lost, MessageCount { messages: 4, bytes: 4 });
}

#[test]
fn a_cut_shorter_than_a_flight_still_loses_what_is_in_flight() {
    let mut sim = trio(1, delay(50));
    send(&mut sim, ms(0), latest(0), &[1]);
    send(&mut sim, ms(0), Lane::Sure, &[2]);
    send(&mut sim, ms(20), latest(0), &[3]);
    sim.run_until(ms(10));
    sim.cut_silently(A, B);
    sim.run_until(ms(11));
    sim.heal(A, B);
    finish(&mut sim);
    assert_eq!(arrivals(&sim, B), [(ms(50), vec![2]), (ms(70), vec![3])]);
}

#[test]
fn a_cut_right_after_healing_holds_everything_again() {
    let mut sim = trio(1, delay(10));
    send(&mut sim, ms(5), Lane::Sure, &[1]);
    send(&mut sim, ms(24), Lane::Sure, &[2]);
    for (cut, heal) in [(6, 20), (25, 28)] {
        sim.run_until(ms(cut));
        sim.cut_silently(A, B);
        sim.run_until(ms(heal));
        sim.heal(A, B); // A try needs 10 ms: the first one meets the second cut.
    }
    finish(&mut sim);
    assert_eq!(arrivals(&sim, B), [(ms(38), vec![1]), (ms(38), vec![2])]);
}

#[test]
fn a_cut_that_lasts_kills_the_link() {
    let mut sim = trio(1, delay(10));
    sim.run_until(ms(100));
    sim.cut_silently(A, B);
    sim.run_until(ms(2_000));
    sim.cut_silently(A, B); // Nothing new: the link does not live longer for it.
    send(&mut sim, ms(2_000), Lane::Sure, &[1]);
    finish(&mut sim);
    assert_eq!(sim.now(), ms(100) + GIVE_UP_AFTER);
    assert_eq!(input_lines(&sim, A), ["0 up 1 #1", "0 up 2 #1", "5100 down 1 #1"]);
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1", "5100 down 0 #1"]);
    assert_eq!(sim.counters(A, B).unwrap().lost.messages, 1);
    sim.connect(A, B, delay(10)); // A new link starts whole.
    send(&mut sim, ms(6_000), Lane::Sure, &[2]);
    finish(&mut sim);
    assert_eq!(arrivals(&sim, B), [(ms(6_010), vec![2])]);
}

#[test]
fn a_healed_cut_kills_nothing() {
    let mut sim = trio(1, delay(10));
    sim.set_give_up_after(Span::from_millis(100));
    for at in [0, 90, 180] {
        sim.run_until(ms(at));
        sim.cut_silently(A, B);
        sim.run_until(ms(at + 80));
        sim.heal(A, B);
    }
    sim.heal(A, B); // Nothing to heal.
    finish(&mut sim);
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1"]);
    sim.cut_silently(A, C);
    let cut = sim.now();
    finish(&mut sim);
    assert_eq!(sim.now(), cut + Span::from_millis(100));
}

#[test]
fn a_cut_without_a_link_is_nothing() {
    let mut sim = trio(1, delay(10));
    sim.cut_silently(B, C);
    sim.set_profile(B, C, delay(1));
    sim.disconnect(A, B);
    sim.cut_silently(A, B);
    sim.heal(A, B);
    sim.set_profile(A, B, delay(1));
    finish(&mut sim);
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1", "0 down 0 #1"]);
    assert_eq!(sim.now(), ms(0));
}

#[test]
fn a_delay_spike_ends_without_changing_the_order_of_sure_messages() {
    let mut sim = trio(1, delay(10));
    for (at, spike) in [(100, 500), (110, 10)] {
        sim.run_until(ms(at));
        sim.set_profile(A, B, delay(spike));
        send(&mut sim, ms(at), Lane::Sure, &[at as u8]);
        send(&mut sim, ms(at), latest(0), &[at as u8 + 1]);
        send_back(&mut sim, at, &[at as u8]);
    }
    send(&mut sim, ms(700), Lane::Sure, &[1]);
    finish(&mut sim);
    assert_eq!(
        arrivals(&sim, B),
        [(120, 111), (600, 100), (600, 101), (600, 110), (710, 1)].map(|(at, it)| (ms(at), vec![it]))
    );
    assert_eq!(arrivals(&sim, A), [(ms(110), vec![100]), (ms(120), vec![110])]);
    assert_eq!(input_lines(&sim, A).len(), 4, "the link broke");
}

#[test]
fn a_link_that_slows_down_and_speeds_up_keeps_what_waits() {
    let rate = |bytes| delay(0).with_rate(bytes).unwrap();
    let mut sim = trio(1, delay(0));
    sim.run_until(ms(100));
    sim.set_profile(A, B, rate(1_000).with_queue_limit(50));
    (0..5).for_each(|number| send(&mut sim, ms(100), Lane::Sure, &[number; 10]));
    sim.run_until(ms(105)); // The first would be out at 110.
    sim.set_profile(A, B, rate(100).with_queue_limit(1)); // It still is; the next takes 100 ms.
    sim.run_until(ms(150));
    sim.set_profile(A, B, rate(10_000)); // The second is out 1 ms from now, as is each after it.
    sim.run_until(ms(151));
    sim.set_profile(A, B, delay(0)); // Everything else leaves now.
    sim.run_until(ms(152));
    sim.set_profile(A, B, rate(1_000)); // Departures of old rates must not hurry this one.
    send(&mut sim, ms(152), Lane::Sure, &[5; 100]);
    finish(&mut sim);
    let times: Vec<_> = arrivals(&sim, B).iter().map(|it| (it.0.as_millis(), it.1[0])).collect();
    assert_eq!(times, [(110, 0), (151, 1), (151, 2), (151, 3), (151, 4), (252, 5)]);
    assert_eq!(input_lines(&sim, B).len(), 1 + 6, "the link broke");
}

#[test]
fn a_loss_burst_takes_latest_messages_only_while_it_lasts() {
    let mut sim = trio(1, delay(0));
    (0..30).for_each(|at| send(&mut sim, ms(u64::from(at)), latest(0), &[at]));
    sim.run_until(ms(9));
    sim.set_profile(A, B, delay(0).with_loss(1.0).unwrap());
    sim.run_until(ms(19));
    sim.set_profile(A, B, delay(0));
    finish(&mut sim);
    assert_eq!(heard(&sim, B), (0..10).chain(20..30).collect::<Vec<_>>());
}

#[derive(Clone, Copy, Debug)]
enum LinkFault {
    Cut,
    Heal,
    Delay(u64),
    Rate(u64),
}

fn link_fault() -> impl Strategy<Value = LinkFault> {
    let (cut, heal) = (Just(LinkFault::Cut), Just(LinkFault::Heal));
    prop_oneof![cut, heal, (0u64..40).prop_map(LinkFault::Delay), (500u64..5_000).prop_map(LinkFault::Rate)]
}

proptest! {
    /// The promise of `Sure`, whatever fault the link has short of an end.
    #[test]
    fn sure_messages_survive_trouble_complete_and_in_order(
        seed: u64,
        link_faults in proptest::collection::vec((1u64..12, link_fault()), 0..40),
    ) {
        let rough = |millis| delay(millis).with_jitter(Span::from_millis(8)).with_loss(0.1).unwrap();
        let mut sim = trio(seed, rough(10));
        (0..200u8).for_each(|number| send(&mut sim, ms(u64::from(number)), Lane::Sure, &[number]));
        for (later, link_fault) in link_faults {
            sim.run_until(sim.now() + Span::from_millis(later));
            match link_fault {
                LinkFault::Cut => sim.cut_silently(A, B),
                LinkFault::Heal => sim.heal(A, B),
                LinkFault::Delay(millis) => sim.set_profile(A, B, rough(millis)),
                LinkFault::Rate(rate) => sim.set_profile(A, B, rough(10).with_rate(rate).unwrap()),
            }
        }
        sim.heal(A, B);
        finish(&mut sim);
        prop_assert_eq!(heard(&sim, B), (0..200).collect::<Vec<_>>());
        let Counters { sent, delivered, .. } = sim.counters(A, B).unwrap();
        prop_assert_eq!(sent, delivered);
    }
}
