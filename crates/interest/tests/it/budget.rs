//! A crowd around one observer whose budget allows a fraction of the updates that are due.

use interest::policies::{A3, CircleAttenuated};
use interest::{Budget, Engine, EngineConfig, UpdateSchedule};
use machine::{Span, Time};
use space::{Distance, Heading, Position};

const CROWD: u32 = 200;
const TICK_MS: u64 = 50;

/// Per subject, the times of its updates; subject k stands k ÷ 2 metres away in a view of 100.
fn heard_in(seconds: u64, budget: Budget) -> Vec<Vec<Time>> {
    let metres = |it| Distance::from_metres(it).unwrap();
    let policy = CircleAttenuated::new(metres(105.0), metres(5.0)).unwrap();
    let mut engine = Engine::new(EngineConfig {
        schedule: UpdateSchedule::every(Span::from_millis(50)),
        budget: Some(budget),
        ..EngineConfig::default()
    });
    let eye = engine.enter(Position::ORIGIN, Heading::EAST);
    engine.observe(eye);
    for step in 0..CROWD {
        let slot = engine.enter(Position::from_metres(f64::from(step) / 2.0, 0.0).unwrap(), Heading::EAST);
        engine.weigh(slot, 25);
    }
    let mut heard = vec![Vec::new(); CROWD as usize + 1];
    for tick in 0..seconds * 1_000 / TICK_MS {
        let now = Time::from_millis(tick * TICK_MS);
        engine.tick(now, &policy, |_, updates| {
            updates.iter().for_each(|it| heard[it.subject.0 as usize].push(now));
        });
    }
    heard.remove(0);
    heard
}

#[test]
fn the_budget_is_used_and_never_exceeded() {
    let budget = Budget { bytes_per_second: 2_500, burst: 500 };
    let heard = heard_in(60, budget);
    let mut times: Vec<Time> = heard.into_iter().flatten().collect();
    times.sort();
    let bytes = times.len() as u64 * 25;
    assert!((60 * 2_500 - 25..=60 * 2_500 + 500 + 25).contains(&bytes), "{bytes}");
    for (start, from) in times.iter().enumerate() {
        let until = times.partition_point(|it| *it <= *from + Span::from_secs(1));
        let in_window = (until - start) as u64 * 25;
        assert!(in_window <= 2_500 + 500 + 25, "{in_window} bytes in the second from {from}");
    }
}

#[test]
fn near_subjects_come_first_but_none_starves() {
    let heard = heard_in(60, Budget { bytes_per_second: 2_500, burst: 500 });
    let count = |range: std::ops::Range<usize>| heard[range].iter().map(Vec::len).sum::<usize>();
    // Were all equal, each quarter would get equally many updates.
    assert!(3 * count(100..150) < 2 * count(0..50), "near {} far {}", count(0..50), count(100..150));
    // 100 updates a second for 200 subjects: two seconds a round if all were equal. The least relevant
    // (about 0.05 of the nearest) may wait some rounds, not for ever.
    for (subject, times) in heard.iter().enumerate() {
        assert!(2 < times.len(), "subject {subject} was heard of {} times", times.len());
        let gap = times.windows(2).map(|pair| pair[1].since(pair[0])).max().unwrap();
        assert!(gap < Span::from_secs(20), "subject {subject} was silent for {gap}");
    }
}

#[test]
fn a_budget_too_small_for_one_update_still_allows_it() {
    let heard = heard_in(60, Budget { bytes_per_second: 10, burst: 1 });
    let total: usize = heard.iter().map(Vec::len).sum();
    // A byte saved up and 600 that flow in pay for 24 updates; the 25th leaves on credit.
    assert_eq!(total, 25);
}

/// Ten avatars close by and three hundred far away; the observer spins, so that half of the far ones are
/// newcomers again and again. The longest silence of a close one, in a minute.
fn longest_silence_of_the_close(spin: Span) -> Span {
    let metres = |it| Distance::from_metres(it).unwrap();
    let policy = A3::new(metres(120.0), metres(40.0), 180.0).unwrap();
    let budget = Some(Budget { bytes_per_second: 2_500, burst: 500 });
    let mut engine = Engine::new(EngineConfig { budget, update_bytes: 25, ..EngineConfig::default() });
    let eye = engine.enter(Position::ORIGIN, Heading::EAST);
    engine.observe(eye);
    for number in 0..310u16 {
        let distance = if number < 10 { 20.0 } else { 45.0 + f64::from(number % 36) };
        let (x, y) = Heading(number.wrapping_mul(40_503)).unit();
        engine.enter(
            Position::from_metres(f64::from(x) * distance, f64::from(y) * distance).unwrap(),
            Heading::EAST,
        );
    }
    let (mut last, mut longest) = ([Time::ZERO; 11], Span::ZERO);
    for tick in 0..60 * 1_000 / TICK_MS {
        let now = Time::from_millis(tick * TICK_MS);
        engine.face(eye, Heading((now.as_micros() * 65_536 / spin.as_micros()) as u16));
        engine.tick(now, &policy, |_, updates| {
            for subject in updates.iter().map(|it| it.subject.0 as usize).filter(|it| *it <= 10) {
                longest = longest.max(now.since(last[subject]));
                last[subject] = now;
            }
        });
    }
    longest
}

/// Number of updates of a subject ahead, for an observer in a crowd of 60 that turns round every `turn`, in ten
/// minutes. The close subjects are always in view, the one ahead only half of the time.
fn updates_of_subject_ahead(metres_ahead: f64, turn: Span) -> usize {
    let metres = |it| Distance::from_metres(it).unwrap();
    let policy = A3::new(metres(120.0), metres(40.0), 180.0).unwrap();
    let budget = Some(Budget { bytes_per_second: 250, burst: 250 });
    let mut engine = Engine::new(EngineConfig { budget, update_bytes: 25, ..EngineConfig::default() });
    let eye = engine.enter(Position::ORIGIN, Heading::EAST);
    engine.observe(eye);
    let ahead = engine.enter(Position::from_metres(metres_ahead, 0.0).unwrap(), Heading::EAST);
    for number in 0..60 {
        engine.enter(Position::from_metres(20.0, f64::from(number) / 10.0).unwrap(), Heading::EAST);
    }
    let mut heard = 0;
    for tick in 0..600 * 1_000 / TICK_MS {
        let now = Time::from_millis(tick * TICK_MS);
        let turns = now.as_micros() / turn.as_micros();
        engine.face(eye, if turns.is_multiple_of(2) { Heading::EAST } else { Heading::EAST.reversed() });
        engine.tick(now, &policy, |_, updates| {
            heard += updates.iter().filter(|it| it.subject == ahead).count();
        });
    }
    heard
}

/// A round through the crowd takes six seconds: longer than the subject is in view at a time.
#[test]
fn a_subject_that_is_seldom_in_view_gets_updates_too() {
    for metres in [45.0, 60.0, 80.0] {
        for turn in [Span::from_secs(1), Span::from_secs(3), Span::from_secs(10)] {
            let heard = updates_of_subject_ahead(metres, turn);
            assert!(20 <= heard, "{metres} m ahead, a turn every {turn}: heard of {heard} times");
        }
    }
}

#[test]
fn turning_round_in_a_crowd_does_not_silence_close_subjects() {
    for spin in [Span::from_secs(1), Span::from_secs(2), Span::from_secs(3_600)] {
        let silence = longest_silence_of_the_close(spin);
        assert!(
            silence < Span::from_secs(2),
            "a close avatar was silent for {silence}, one turn every {spin}"
        );
    }
}

/// The times in milliseconds of the updates of a subject that is owed an update when it walks out of view, and comes
/// back after 20 seconds, far away. The budget allows one update a second. Then no other update is due, or one that is
/// more urgent.
fn updates_of_returning_subject(company: bool) -> Vec<u64> {
    let metres = |it| Distance::from_metres(it).unwrap();
    let at = |it| Position::from_metres(it, 0.0).unwrap();
    let policy = CircleAttenuated::new(metres(120.0), metres(40.0)).unwrap();
    let budget = Some(Budget { bytes_per_second: 26, burst: 26 });
    let mut engine = Engine::new(EngineConfig { budget, update_bytes: 26, ..EngineConfig::default() });
    let eye = engine.enter(at(0.0), Heading::EAST);
    engine.observe(eye);
    let (walker, other) = (engine.enter(at(20.0), Heading::EAST), engine.enter(at(20.0), Heading::EAST));
    let mut heard = Vec::new();
    for tick in 0..210 {
        let now = Time::from_millis(100 * tick);
        if tick == 4 {
            engine.place(walker, at(500.0));
            engine.leave(other);
        }
        if tick == 200 {
            engine.place(walker, at(116.0));
        }
        if tick == 200 && company {
            engine.enter(at(20.0), Heading::EAST);
        }
        engine.tick(now, &policy, |_, updates| {
            heard.extend(updates.iter().filter(|it| it.subject == walker).map(|_| now.as_millis()));
        });
    }
    heard
}

/// At 116 metres an update is due every five seconds, and the last one is twenty seconds old. The time out of view
/// decides how urgent it is, not whether it is due.
#[test]
fn an_owed_update_is_sent_when_the_subject_comes_back() {
    assert_eq!(updates_of_returning_subject(false), [0, 20_000]);
    // The other one goes first. Then a tick's bytes are there, and it leaves on credit.
    assert_eq!(updates_of_returning_subject(true), [0, 20_100]);
}
