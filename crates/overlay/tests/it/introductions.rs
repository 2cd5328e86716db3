//! Introductions: which peers are introduced to a neighbour, and which it knows already.

use crate::bench::{PeerTestBench, hello, info, place, step};
use machine::{Address, Span};
use overlay::{Flags, Info, OverlayMsg, PeerConfig};

/// The peers that these messages introduce to one receiver.
fn introduced(said: &[(Address, OverlayMsg)], who: u64) -> Vec<u64> {
    let nodes = said.iter().filter(|it| it.0 == Address(who)).filter_map(|it| match &it.1 {
        OverlayMsg::Nodes(list) => Some(list),
        _ => None,
    });
    nodes.flatten().map(|it| it.address.0).collect()
}

/// A peer between two neighbours that do not know each other: one on each side, in view of each other. The first was
/// introduced to the second in the answer to its greeting.
fn between() -> PeerTestBench {
    let mut bench = PeerTestBench::new();
    bench.hear(Address(2), hello(info(2, place(20, 0)), b"friend"));
    let said = bench.hear(Address(3), hello(info(3, place(-20, 0)), b"friend"));
    assert!(
        matches!(&said[..], [(Address(3), OverlayMsg::Hello { nodes, .. })] if nodes.len() == 1),
        "{said:?}"
    );
    bench
}

#[test]
fn two_in_view_of_each_other_are_introduced_and_once_more_with_the_next_step() {
    let mut bench = between();
    let said = bench.hear(Address(2), step(2, place(21, 0)));
    assert_eq!((introduced(&said, 2), introduced(&said, 3)), (vec![3], vec![]));
    let said = bench.hear(Address(3), step(2, place(-21, 0)));
    assert!(said.is_empty(), "both were introduced just now: {said:?}");
    bench.now += Span::from_millis(650);
    let said = bench.hear(Address(2), step(3, place(22, 0)));
    assert_eq!(
        (introduced(&said, 2), introduced(&said, 3)),
        (vec![3], vec![2]),
        "the first introduction may have got lost"
    );
    bench.now += Span::from_millis(650);
    let said = bench.hear(Address(3), step(3, place(-22, 0)));
    assert!(said.is_empty(), "further introductions wait for a while: {said:?}");
}

#[test]
fn peers_that_a_move_names_are_not_introduced() {
    let mut bench = between();
    let met = |names: Vec<u32>| match step(2, place(21, 0)) {
        OverlayMsg::Move { sequence, position, before, flags, aoi, .. } => {
            OverlayMsg::Move { sequence, position, before, flags, aoi, met: names }
        }
        other => other,
    };
    let said = bench.hear(Address(2), met(vec![3]));
    assert!(said.is_empty(), "{said:?}");
    bench.now += Span::from_millis(650);
    let said = bench.hear(Address(3), step(2, place(-21, 0)));
    assert_eq!(
        (introduced(&said, 3), introduced(&said, 2)),
        (vec![2], vec![]),
        "the other neighbour has named no peer"
    );
}

#[test]
fn a_peer_names_new_neighbours_in_its_next_move_and_only_there() {
    let mut bench = between();
    let names = |said: Vec<(Address, OverlayMsg)>| {
        let to_two =
            said.into_iter().find(|it| it.0 == Address(2) && matches!(it.1, OverlayMsg::Move { .. }));
        match to_two {
            Some((_, OverlayMsg::Move { met, .. })) => met,
            other => panic!("{other:?}"),
        }
    };
    let unproven = info(4, place(10, 10));
    bench.hear(Address(2), OverlayMsg::Nodes(vec![unproven]));
    assert_eq!(names(bench.walk(Span::from_millis(600), place(0, 1))), [2, 3], "peer 4 has not answered yet");
    assert!(names(bench.walk(Span::from_millis(600), place(0, 2))).is_empty());
    bench.hear(Address(4), hello(unproven, b"friend"));
    assert_eq!(names(bench.walk(Span::from_millis(600), place(0, 3))), [4]);
}

#[test]
fn group_members_stay_known_and_are_heard_although_strangers_are_dropped() {
    let config = PeerConfig { groups: true, ..PeerConfig::paper() };
    let of_group = |number, x| Info { group: 7, ..info(number, place(x, 0)) };
    let mut bench = PeerTestBench::with(config, of_group(1, 0));
    // Between the peer and the member of its group stand others, one of them a stranger.
    let all = [of_group(2, 400), info(3, place(40, 0)), info(4, place(0, 40)), info(5, place(0, -40))];
    for it in all.into_iter().chain([info(6, place(45, 5))]) {
        bench.hear(Address(3), OverlayMsg::Nodes(vec![it]));
    }
    bench.walk(Span::from_millis(600), place(0, 1));
    assert!(bench.neighbour(2).is_some(), "a member of the group stays, however far away");
    let mut apart = PeerTestBench::with(PeerConfig::paper(), of_group(1, 0));
    all.into_iter().for_each(|it| drop(apart.hear(Address(3), OverlayMsg::Nodes(vec![it]))));
    apart.walk(Span::from_millis(600), place(0, 1));
    assert!(apart.neighbour(2).is_none() && apart.neighbour(3).is_some(), "without groups it does not");
    // Both are removed after a silence. The member is known again with its next move, the stranger is not.
    for _ in 0..10 {
        bench.walk(Span::from_millis(700), place(0, 1));
    }
    assert!(bench.neighbour(2).is_none() && bench.neighbour(3).is_none());
    for number in [2, 3] {
        let flags = Flags::default();
        let step = OverlayMsg::Move {
            sequence: 9,
            position: place(30, 0),
            before: None,
            flags,
            aoi: None,
            met: vec![],
        };
        bench.hear(Address(number), step);
    }
    assert!(bench.neighbour(2).is_some() && bench.neighbour(3).is_none());
}
