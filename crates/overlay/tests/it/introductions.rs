//! Who is told of whom, and who is not told what they know.

use crate::bench::{Bench, hello, info, place, step};
use machine::{Address, Span};
use overlay::{Config, Flags, Info, Msg};

/// Whom somebody is told of by what was said.
fn told(said: &[(Address, Msg)], who: u64) -> Vec<u64> {
    let nodes = said.iter().filter(|it| it.0 == Address(who)).filter_map(|it| match &it.1 {
        Msg::Nodes(list) => Some(list),
        _ => None,
    });
    nodes.flatten().map(|it| it.address.0).collect()
}

/// A peer between two who do not know each other: one on each side, in view of each other. The second has been told of the
/// first with the answer to its greeting.
fn between() -> Bench {
    let mut bench = Bench::new();
    bench.hear(Address(2), hello(info(2, place(20, 0)), b"friend"));
    let said = bench.hear(Address(3), hello(info(3, place(-20, 0)), b"friend"));
    assert!(matches!(&said[..], [(Address(3), Msg::Hello { nodes, .. })] if nodes.len() == 1), "{said:?}");
    bench
}

#[test]
fn two_in_view_of_each_other_are_introduced_and_once_more_with_the_next_step() {
    let mut bench = between();
    let said = bench.hear(Address(2), step(2, place(21, 0)));
    assert_eq!((told(&said, 2), told(&said, 3)), (vec![3], vec![]));
    let said = bench.hear(Address(3), step(2, place(-21, 0)));
    assert!(said.is_empty(), "both have just been told: {said:?}");
    bench.now += Span::from_millis(650);
    let said = bench.hear(Address(2), step(3, place(22, 0)));
    assert_eq!((told(&said, 2), told(&said, 3)), (vec![3], vec![2]), "it may have got lost");
    bench.now += Span::from_millis(650);
    let said = bench.hear(Address(3), step(3, place(-22, 0)));
    assert!(said.is_empty(), "then they are left alone for a while: {said:?}");
}

#[test]
fn whoever_says_whom_they_have_met_is_not_told_of_them() {
    let mut bench = between();
    let met = |names: Vec<u32>| match step(2, place(21, 0)) {
        Msg::Move { sequence, position, before, flags, aoi, .. } => {
            Msg::Move { sequence, position, before, flags, aoi, met: names }
        }
        other => other,
    };
    let said = bench.hear(Address(2), met(vec![3]));
    assert!(said.is_empty(), "{said:?}");
    bench.now += Span::from_millis(650);
    let said = bench.hear(Address(3), step(2, place(-21, 0)));
    assert_eq!((told(&said, 3), told(&said, 2)), (vec![2], vec![]), "the other has not said so");
}

#[test]
fn a_peer_says_whom_it_has_met_with_its_next_move_and_only_then() {
    let mut bench = between();
    let names = |said: Vec<(Address, Msg)>| {
        let to_two = said.into_iter().find(|it| it.0 == Address(2) && matches!(it.1, Msg::Move { .. }));
        match to_two {
            Some((_, Msg::Move { met, .. })) => met,
            other => panic!("{other:?}"),
        }
    };
    let unproven = info(4, place(10, 10));
    bench.hear(Address(2), Msg::Nodes(vec![unproven]));
    assert_eq!(names(bench.walk(Span::from_millis(600), place(0, 1))), [2, 3], "one has not answered yet");
    assert!(names(bench.walk(Span::from_millis(600), place(0, 2))).is_empty());
    bench.hear(Address(4), hello(unproven, b"friend"));
    assert_eq!(names(bench.walk(Span::from_millis(600), place(0, 3))), [4]);
}

#[test]
fn mates_stay_known_and_are_heard_although_strangers_are_dropped() {
    let config = Config { groups: true, ..Config::paper() };
    let of_group = |number, x| Info { group: 7, ..info(number, place(x, 0)) };
    let mut bench = Bench::with(config, of_group(1, 0));
    // Between the peer and its mate stand others, one of them a stranger.
    let all = [of_group(2, 400), info(3, place(40, 0)), info(4, place(0, 40)), info(5, place(0, -40))];
    for it in all.into_iter().chain([info(6, place(45, 5))]) {
        bench.hear(Address(3), Msg::Nodes(vec![it]));
    }
    bench.walk(Span::from_millis(600), place(0, 1));
    assert!(bench.entry(2).is_some(), "a mate stays, however far away");
    let mut apart = Bench::with(Config::paper(), of_group(1, 0));
    all.into_iter().for_each(|it| drop(apart.hear(Address(3), Msg::Nodes(vec![it]))));
    apart.walk(Span::from_millis(600), place(0, 1));
    assert!(apart.entry(2).is_none() && apart.entry(3).is_some(), "without groups they do not");
    // Both are forgotten after a silence. The mate is known again with its next word, the stranger is not.
    for _ in 0..10 {
        bench.walk(Span::from_millis(700), place(0, 1));
    }
    assert!(bench.entry(2).is_none() && bench.entry(3).is_none());
    for number in [2, 3] {
        let flags = Flags::default();
        let step =
            Msg::Move { sequence: 9, position: place(30, 0), before: None, flags, aoi: None, met: vec![] };
        bench.hear(Address(number), step);
    }
    assert!(bench.entry(2).is_some() && bench.entry(3).is_none());
}
