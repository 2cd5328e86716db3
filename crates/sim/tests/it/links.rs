//! Links, in numbers.

use crate::probe::*;
use machine::{Address, Lane, Rng, Span, Time};
use proptest::prelude::*;
use sim::{Counters, MessageCount, Profile, Sim};

#[test]
fn a_message_takes_the_delay_each_way() {
    let mut sim = trio(1, delay(0));
    sim.connect_with(A, B, delay(20), delay(30));
    send(&mut sim, ms(100), Lane::Sure, &[1]);
    sim.command(ms(100), B, ProbeCommand::Send(vec![A], latest(0), vec![2]));
    finish(&mut sim);
    assert_eq!(arrivals(&sim, B), [(ms(120), vec![1])]);
    assert_eq!(arrivals(&sim, A), [(ms(130), vec![2])]);
}

#[test]
fn inputs_of_one_time_come_in_the_order_of_their_causes() {
    let mut sim = trio(1, delay(5));
    for number in 0..100 {
        send(&mut sim, ms(7), if number % 2 == 0 { Lane::Sure } else { latest(0) }, &[number]);
    }
    finish(&mut sim);
    assert_eq!(arrivals(&sim, B), (0..100).map(|it| (ms(12), vec![it])).collect::<Vec<_>>());
}

#[test]
fn jitter_fills_its_range_and_changes_the_order_of_latest_messages() {
    let mut sim = trio(1, delay(10).with_jitter(Span::from_micros(9)));
    (0..200).for_each(|number| send(&mut sim, ms(1), latest(0), &[number]));
    finish(&mut sim);
    let arrivals = arrivals(&sim, B);
    let mut spent: Vec<_> = arrivals.iter().map(|it| it.0.since(ms(11)).as_micros()).collect();
    spent.dedup();
    assert_eq!(spent, (0..=9).collect::<Vec<_>>());
    assert!(!arrivals.is_sorted_by_key(|it| it.1[0]), "200 messages kept their order by chance");
}

#[test]
fn loss_takes_its_share() {
    let mut sim = trio(1, delay(10).with_loss(0.1).unwrap());
    (0..10_000u64).for_each(|at| send(&mut sim, ms(at), latest(0), &[0; 10]));
    finish(&mut sim);
    let Counters { sent, delivered, lost, .. } = sim.counters(A, B).unwrap();
    assert_eq!(sent, MessageCount { messages: 10_000, bytes: 100_000 });
    assert_eq!(delivered.messages + lost.messages, 10_000);
    assert_eq!(delivered.messages, arrivals(&sim, B).len() as u64);
    // 1000 expected, standard deviation 30.
    assert!((800..1_200).contains(&lost.messages), "{lost:?}");
}

#[test]
fn a_rate_is_kept_to_the_microsecond() {
    let mut sim = trio(1, delay(50).with_rate(10_000).unwrap().with_overhead(28));
    (0..20).for_each(|number| send(&mut sim, ms(1_000), Lane::Sure, &[number; 72]));
    finish(&mut sim);
    let expected: Vec<_> = (0..20).map(|it| (ms(1_050 + 10 * (u64::from(it) + 1)), vec![it; 72])).collect();
    assert_eq!(arrivals(&sim, B), expected);
}

#[test]
fn an_idle_rate_limiter_starts_anew() {
    let mut sim = trio(1, delay(0).with_rate(10_000).unwrap());
    for at in [0, 5, 100] {
        send(&mut sim, ms(at), Lane::Sure, &[0; 100]);
    }
    finish(&mut sim);
    let times: Vec<_> = arrivals(&sim, B).iter().map(|it| it.0.as_millis()).collect();
    assert_eq!(times, [10, 20, 110]);
}

#[test]
fn a_slow_link_carries_the_newest_of_each_key() {
    let mut sim = trio(1, delay(0).with_rate(1_000).unwrap());
    // The first leaves at once; of what waits behind it each key keeps its place and its newest.
    for (key, value) in [(7, 0), (7, 1), (8, 2), (7, 3), (8, 4), (7, 5)] {
        send(&mut sim, ms(0), latest(key), &[value; 10]);
    }
    finish(&mut sim);
    assert_eq!(arrivals(&sim, B), [(ms(10), vec![0; 10]), (ms(20), vec![5; 10]), (ms(30), vec![4; 10])]);
    let Counters { sent, delivered, replaced, .. } = sim.counters(A, B).unwrap();
    assert_eq!((sent.messages, delivered.messages, replaced.messages), (6, 3, 3));
}

#[test]
fn a_full_queue_keeps_the_newest_latest_messages() {
    let mut sim = trio(1, delay(0).with_rate(1_000).unwrap().with_queue_limit(20));
    // The first leaves at once.
    (0..5).for_each(|key| send(&mut sim, ms(0), latest(u64::from(key)), &[key; 10]));
    finish(&mut sim);
    assert_eq!(heard(&sim, B), [0, 3, 4]);
    let Counters { delivered, refused, .. } = sim.counters(A, B).unwrap();
    assert_eq!((delivered.messages, refused), (3, MessageCount { messages: 2, bytes: 20 }));
}

#[test]
fn a_latest_message_never_takes_the_room_of_a_sure_one() {
    let mut sim = trio(1, delay(0).with_rate(1_000).unwrap().with_queue_limit(20));
    let lanes = [Lane::Sure, latest(1), Lane::Sure, latest(2), latest(3)];
    lanes.into_iter().zip(0..).for_each(|(lane, number)| send(&mut sim, ms(0), lane, &[number; 10]));
    send(&mut sim, ms(0), latest(4), &[5; 11]);
    finish(&mut sim);
    assert_eq!(heard(&sim, B), [0, 2, 4]);
    assert_eq!(sim.counters(A, B).unwrap().refused, MessageCount { messages: 3, bytes: 31 });
}

#[test]
fn a_refused_sure_message_cuts_the_link() {
    let mut sim = trio(1, delay(15).with_rate(1_000).unwrap().with_queue_limit(20));
    send(&mut sim, ms(0), Lane::Sure, &[0; 10]);
    (1..5).for_each(|number| send(&mut sim, ms(20), Lane::Sure, &[number; 10]));
    finish(&mut sim);
    // The first was in flight when the link died at 20 ms: it arrived at no link.
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1", "20 down 0 #1"]);
    assert_eq!(input_lines(&sim, A), ["0 up 1 #1", "0 up 2 #1", "20 down 1 #1"]);
    let Counters { sent, lost, refused, .. } = sim.counters(A, B).unwrap();
    assert_eq!((sent.messages, lost.messages, refused.messages), (5, 4, 1));
}

#[test]
fn a_link_that_loses_everything_is_given_up() {
    let mut sim = trio(1, delay(10).with_loss(1.0).unwrap());
    send(&mut sim, ms(0), Lane::Sure, &[1]);
    send(&mut sim, ms(1), Lane::Sure, &[2]);
    finish(&mut sim);
    // 32 tries of one round trip each.
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1", "640 down 0 #1"]);
    assert_eq!(sim.counters(A, B).unwrap().lost.messages, 2);
}

#[test]
fn messages_on_their_way_are_lost_with_their_link() {
    let mut sim = trio(1, delay(10));
    send(&mut sim, ms(0), Lane::Sure, &[1]);
    send(&mut sim, ms(6), Lane::Sure, &[2]);
    sim.run_until(ms(12));
    sim.disconnect(A, B);
    sim.disconnect(A, B); // Nothing left to cut.
    send(&mut sim, ms(13), Lane::Sure, &[3]);
    sim.run_until(ms(14));
    assert_eq!(sim.connect(B, A, delay(10)).0, 2);
    send(&mut sim, ms(15), Lane::Sure, &[4]);
    finish(&mut sim);
    let expected = ["0 up 0 #1", "10 recv 0 #1 [1]", "12 down 0 #1", "14 up 0 #2", "25 recv 0 #2 [4]"];
    assert_eq!(input_lines(&sim, B), expected);
    assert_eq!(sim.counters(A, B).unwrap().lost.messages, 1);
    assert_eq!(sim.unlinked(), 1);
}

#[test]
fn a_new_link_takes_the_place_of_the_old() {
    let mut sim = trio(1, delay(10));
    sim.run_until(ms(5));
    sim.connect(A, B, delay(1));
    finish(&mut sim);
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1", "5 down 0 #1", "5 up 0 #2"]);
}

#[test]
fn a_send_goes_over_the_newest_known_link_or_nowhere() {
    let mut sim = trio(1, delay(10));
    send(&mut sim, ms(4), Lane::Sure, &[1]);
    sim.run_until(ms(5));
    send(&mut sim, ms(5), Lane::Sure, &[2]);
    sim.connect(A, B, delay(10)); // A gets `LinkUp` only after it sent.
    send(&mut sim, ms(5), Lane::Sure, &[3]);
    finish(&mut sim);
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1", "5 down 0 #1", "5 up 0 #2", "15 recv 0 #2 [3]"]);
    assert_eq!(sim.unlinked(), 1);
    assert_eq!(sim.counters(A, B).unwrap().sent.messages, 2);
}

#[test]
fn nothing_is_sent_before_the_first_link_is_known() {
    let mut sim = trio(1, delay(10));
    sim.command(ms(0), C, ProbeCommand::Send(vec![B], Lane::Sure, vec![1]));
    sim.connect(B, C, delay(10));
    finish(&mut sim);
    assert!(arrivals(&sim, B).is_empty());
    assert_eq!(sim.unlinked(), 1);
}

#[test]
fn a_link_replaced_before_it_was_known_carries_nothing() {
    let mut sim = trio(1, delay(10));
    sim.machine_mut(A).on_wake = Some(ProbeCommand::Send(vec![B], Lane::Sure, vec![1]));
    sim.wake(ms(0), A); // Here A knows link 1, but link 2 has taken its place.
    sim.connect(A, B, delay(10));
    finish(&mut sim);
    assert!(arrivals(&sim, B).is_empty());
    assert_eq!(sim.unlinked(), 1);
}

#[test]
fn a_message_leaving_an_old_link_does_not_hurry_the_new_one() {
    let slow = delay(0).with_rate(1_000).unwrap();
    let mut sim = trio(1, slow);
    send(&mut sim, ms(0), Lane::Sure, &[1; 100]); // Would have left at 100 ms.
    sim.run_until(ms(50));
    sim.connect(A, B, slow);
    send(&mut sim, ms(60), Lane::Sure, &[2; 100]);
    finish(&mut sim);
    assert_eq!(arrivals(&sim, B), [(ms(160), vec![2; 100])]);
}

#[test]
fn an_old_link_that_gives_up_does_not_cut_the_new_one() {
    let mut sim = trio(1, delay(10).with_loss(1.0).unwrap());
    send(&mut sim, ms(0), Lane::Sure, &[1]); // Would be given up at 640 ms.
    sim.run_until(ms(100));
    sim.connect(A, B, delay(10));
    send(&mut sim, ms(700), Lane::Sure, &[2]);
    finish(&mut sim);
    assert_eq!(input_lines(&sim, B), ["0 up 0 #1", "100 down 0 #1", "100 up 0 #2", "710 recv 0 #2 [2]"]);
}

#[test]
fn bytes_that_do_not_decode_are_counted_and_do_no_harm() {
    let mut sim = trio(1, delay(10));
    for first in [1, GARBAGE, 3] {
        send(&mut sim, ms(0), Lane::Sure, &[first; 4]);
    }
    finish(&mut sim);
    assert_eq!(arrivals(&sim, B), [(ms(10), vec![1; 4]), (ms(10), vec![3; 4])]);
    let Counters { garbled, delivered, .. } = sim.counters(A, B).unwrap();
    assert_eq!((garbled, delivered.messages), (MessageCount { messages: 1, bytes: 4 }, 2));
}

#[test]
fn one_message_to_many_arrives_with_the_same_bytes() {
    let mut sim = trio(1, delay(10).with_jitter(Span::from_millis(5)));
    for number in 0..50u8 {
        let bytes = vec![number; usize::from(number)];
        sim.command(ms(u64::from(number)), A, ProbeCommand::Send(vec![B, C, B], Lane::Sure, bytes));
    }
    finish(&mut sim);
    let bytes = |at| arrivals(&sim, at).into_iter().map(|it| it.1).collect::<Vec<_>>();
    let expected: Vec<_> = (0..50u8).map(|it| vec![it; usize::from(it)]).collect();
    assert_eq!(bytes(C), expected);
    assert_eq!(bytes(B), expected.into_iter().flat_map(|it| [it.clone(), it]).collect::<Vec<_>>());
}

#[test]
fn traffic_on_one_link_does_not_change_chance_on_another() {
    let run = |to_c: u64| {
        let mut sim = trio(1, delay(10).with_jitter(Span::from_millis(5)).with_loss(0.2).unwrap());
        (0..to_c).for_each(|at| sim.command(ms(at), A, ProbeCommand::Send(vec![C], latest(0), vec![])));
        (0..100).for_each(|at| send(&mut sim, ms(u64::from(at)), latest(0), &[at]));
        finish(&mut sim);
        arrivals(&sim, B)
    };
    assert_eq!(run(0), run(50));
}

/// A link whose jitter is one of a million, so that two draws hardly ever agree.
fn jittery() -> Profile {
    delay(0).with_jitter(Span::from_micros(999_999))
}

#[test]
fn the_two_directions_of_a_link_have_chance_of_their_own() {
    let mut sim = trio(1, jittery());
    for _ in 0..20 {
        sim.command(ms(0), A, ProbeCommand::Send(vec![B], latest(0), vec![]));
        sim.command(ms(0), B, ProbeCommand::Send(vec![A], latest(0), vec![]));
    }
    finish(&mut sim);
    let there = arrivals(&sim, B);
    assert_eq!(there.len(), 20);
    assert!(arrivals(&sim, A).iter().all(|back| !there.contains(back)), "a draw was shared");
}

#[test]
fn an_experiment_with_the_same_seed_does_not_share_the_links_chance() {
    for seed in 0..16 {
        let mut sim = trio(seed, jittery());
        send(&mut sim, ms(0), latest(0), &[]);
        finish(&mut sim);
        let drawn = arrivals(&sim, B)[0].0.as_micros();
        // The names that an experiment is likely to give: numbers, and pairs of addresses.
        let mut own = (0..100).map(|name| Rng::seeded(seed).fork_named(name).below(1_000_000));
        assert!(own.all(|it| it != drawn), "seed {seed}");
    }
}

proptest! {
    #[test]
    fn sure_messages_arrive_complete_and_in_order(
        seed: u64,
        loss in 0.0..0.4f64,
        jitter in 0u64..50,
        rate in proptest::option::of(2_000u64..20_000),
    ) {
        let mut profile = delay(10).with_jitter(Span::from_millis(jitter)).with_loss(loss).unwrap();
        if let Some(rate) = rate {
            profile = profile.with_rate(rate).unwrap();
        }
        let mut sim = trio(seed, profile);
        (0..200u8).for_each(|number| send(&mut sim, Time::from_millis(u64::from(number)), Lane::Sure, &[number]));
        finish(&mut sim);
        let arrivals = arrivals(&sim, B);
        prop_assert_eq!(arrivals.iter().map(|it| it.1[0]).collect::<Vec<_>>(), (0..200).collect::<Vec<_>>());
        let soonest = arrivals.iter().all(|it| ms(u64::from(it.1[0]) + 10) <= it.0);
        prop_assert!(soonest, "a message was faster than its delay");
    }
}

#[test]
fn in_an_open_network_every_machine_reaches_every_other() {
    let mut sim = Sim::new(1);
    assert_eq!([A, B, C].map(|_| sim.add(ProbeMachine::default())), [A, B, C]);
    sim.command(ms(0), A, ProbeCommand::Send(vec![C], Lane::Sure, vec![1]));
    sim.run_until(ms(10));
    assert_eq!((sim.unlinked(), sim.is_linked(A, C)), (1, false));
    sim.open(delay(10));
    sim.command(ms(20), A, ProbeCommand::Send(vec![B, C, Address(9), A], Lane::Sure, vec![2]));
    sim.command(ms(40), C, ProbeCommand::Send(vec![A], Lane::Sure, vec![3]));
    sim.run_until(ms(100));
    assert_eq!(arrivals(&sim, B), [(ms(30), vec![2])]);
    assert_eq!(arrivals(&sim, C), [(ms(30), vec![2])]);
    assert_eq!(arrivals(&sim, A), [(ms(50), vec![3])]);
    assert_eq!(sim.unlinked(), 3, "one address has no machine, and the other is the sender's own");
    assert!(sim.is_linked(A, C) && !sim.is_linked(B, C));
}

/// A machine that sends before it got `LinkUp` for its new link sends over that link, and loses nothing.
#[test]
fn in_an_open_network_a_new_link_is_not_opened_again() {
    let mut sim = Sim::new(1);
    assert_eq!([A, B].map(|_| sim.add(ProbeMachine::default())), [A, B]);
    sim.open(delay(10));
    sim.connect(A, B, delay(10));
    for (at, message) in [(0, 1), (5, 2), (6, 3), (30, 4)] {
        sim.command(ms(at), A, ProbeCommand::Send(vec![B], Lane::Sure, vec![message]));
    }
    sim.run_until(ms(100));
    let heard: Vec<u8> = arrivals(&sim, B).into_iter().map(|it| it.1[0]).collect();
    assert_eq!(heard, [1, 2, 3, 4]);
}

/// A machine learns that its peer is gone only from its silence.
#[test]
fn in_an_open_network_no_machine_hears_that_a_peer_is_gone() {
    let mut sim = Sim::new(1);
    assert_eq!([A, B].map(|_| sim.add(ProbeMachine::default())), [A, B]);
    sim.open(delay(10));
    send(&mut sim, ms(0), Lane::Sure, &[1]);
    sim.run_until(ms(20));
    sim.crash(B);
    send(&mut sim, ms(30), latest(0), &[2]);
    sim.run_until(ms(60_000));
    sim.restart(B, ProbeMachine::default());
    send(&mut sim, ms(60_010), Lane::Sure, &[3]);
    sim.run_until(ms(60_100));
    assert_eq!(input_lines(&sim, A), [""; 0]);
    assert_eq!(heard(&sim, B), [3]);
    // Of a link made by `connect` they get `LinkUp` and `LinkDown`.
    sim.connect(A, B, delay(10));
    sim.run_until(ms(60_200));
    sim.disconnect(A, B);
    sim.run_until(ms(60_300));
    assert_eq!(input_lines(&sim, A), ["60100 up 1 #3", "60200 down 1 #3"]);
}
