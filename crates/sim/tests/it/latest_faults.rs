//! Datagrams that arrive twice, or much too late.

use crate::probe::*;
use machine::{Lane, Span, Time};
use sim::{Counters, MessageCount};

#[test]
fn a_latest_message_may_arrive_twice_and_a_sure_one_never() {
    let profile = delay(10).with_jitter(Span::from_millis(9)).with_duplication(1.0).unwrap();
    let mut sim = trio(1, profile);
    for number in 0..50u8 {
        send(&mut sim, ms(u64::from(number) * 100), latest(0), &[number]);
        send(&mut sim, ms(u64::from(number) * 100), Lane::Sure, &[100 + number]);
    }
    finish(&mut sim);
    let arrivals = arrivals(&sim, B);
    for number in 0..50u8 {
        let times =
            |it| arrivals.iter().filter(|(_, bytes)| bytes[0] == it).map(|it| it.0).collect::<Vec<_>>();
        assert_eq!((times(number).len(), times(100 + number).len()), (2, 1));
    }
    // Of two copies with jitter of their own, hardly any takes the bare delay.
    let bare = |(at, _): &&(Time, Vec<u8>)| at.as_micros() % 100_000 == 10_000;
    assert!(arrivals.iter().filter(bare).count() < 5, "a copy has no jitter");
    let Counters { sent, delivered, doubled, .. } = sim.counters(A, B).unwrap();
    assert_eq!((sent.messages, delivered.messages), (100, 150));
    assert_eq!(doubled, MessageCount { messages: 50, bytes: 50 });
}

#[test]
fn duplication_takes_its_share() {
    let mut sim = trio(1, delay(1).with_duplication(0.1).unwrap());
    (0..10_000u64).for_each(|at| send(&mut sim, ms(at), latest(0), &[0]));
    finish(&mut sim);
    sim.set_profile(A, B, delay(1));
    (10_000..20_000).for_each(|at| send(&mut sim, ms(at), latest(0), &[0]));
    finish(&mut sim);
    // 1000 expected of the first half, standard deviation 30.
    let doubled = sim.counters(A, B).unwrap().doubled.messages;
    assert!((800..1_200).contains(&doubled), "{doubled}");
    assert_eq!(arrivals(&sim, B).len() as u64, 20_000 + doubled);
}

#[test]
fn stragglers_are_late_and_the_others_are_not() {
    let late = delay(10).with_stragglers(0.2, Span::from_secs(60)).unwrap();
    let mut sim = trio(1, late);
    (0..1_000u64).for_each(|at| send(&mut sim, ms(at), latest(0), &at.to_be_bytes()));
    send(&mut sim, ms(0), Lane::Sure, &[0; 8]);
    finish(&mut sim);
    let lateness = |(at, bytes): &(Time, Vec<u8>)| {
        let sent = ms(u64::from_be_bytes(bytes[..].try_into().unwrap()));
        at.since(sent + Span::from_millis(10))
    };
    let late: Vec<_> = arrivals(&sim, B).iter().map(lateness).filter(|&it| it != Span::ZERO).collect();
    // 200 expected, standard deviation 13; evenly spread over a minute.
    assert!((120..280).contains(&late.len()), "{}", late.len());
    let halves = late.iter().filter(|&&it| it < Span::from_secs(30)).count();
    assert!((late.len() / 3..late.len() * 2 / 3).contains(&halves), "{halves} of {}", late.len());
    assert!(late.iter().all(|&it| it <= Span::from_secs(60)));
    assert_eq!(arrivals(&sim, B).len(), 1_001);
}

#[test]
fn a_straggler_does_not_outlive_its_link() {
    let mut sim = trio(1, delay(10).with_stragglers(1.0, Span::from_secs(60)).unwrap());
    (0..100).for_each(|number| send(&mut sim, ms(0), latest(0), &[number]));
    sim.run_until(ms(20_000));
    let before = arrivals(&sim, B).len();
    sim.connect(A, B, delay(10));
    finish(&mut sim);
    assert!((1..100).contains(&before), "{before}");
    assert_eq!(arrivals(&sim, B).len(), before);
    assert_eq!(sim.counters(A, B).unwrap().lost.messages, 100 - before as u64);
}
