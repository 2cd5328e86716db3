//! What peers say is not to be trusted: whatever they say, lists and answers stay small, and others are unharmed.

use crate::bench::{Bench, RENDEZVOUS, hello, info, place, step};
use machine::{Address, Input, Machine, Span, Time};
use overlay::config::{LIST_MAX, UNPROVEN_MAX};
use overlay::{Command, Config, Flags, HEADERS, Info, Knows, Msg, Search};
use proptest::prelude::*;
use space::Distance;
use wire::Message as _;

#[test]
fn whoever_does_not_prove_who_they_are_is_neither_let_in_nor_told_anything() {
    let mut bench = Bench::new();
    let stranger = info(7, place(5, 0));
    assert!(bench.hear(stranger.address, hello(stranger, b"guess")).is_empty());
    assert_eq!((bench.peer.list().count(), bench.peer.refused()), (0, 1));
    let seek = |credential: &[u8]| Msg::Seek {
        who: stranger,
        purpose: Search::Join,
        hops: 9,
        credential: credential.to_vec(),
    };
    assert!(bench.hear(RENDEZVOUS, seek(b"guess")).is_empty());
    assert!(bench.hear(stranger.address, Msg::Ping).is_empty());
    // They move near by: they are greeted, and not told where the peer is before they have answered.
    let said = bench.hear(stranger.address, step(1, place(5, 0)));
    assert!(matches!(said[..], [(Address(7), Msg::Hello { .. })]), "{said:?}");
    let said = bench.walk(Span::from_millis(500), place(1, 0));
    assert!(!said.iter().any(|it| matches!(it.1, Msg::Move { .. })), "{said:?}");
    assert!(!bench.entry(7).unwrap().is_met());
    assert!(matches!(bench.hear(RENDEZVOUS, seek(b"friend"))[..], [(Address(7), Msg::Welcome { .. })]));
}

#[test]
fn nobody_speaks_for_somebody_else() {
    let (mut bench, friend) = Bench::with_neighbour();
    let other = info(3, place(0, 20));
    bench.hear(other.address, hello(other, b"friend"));
    let elsewhere = Info { sequence: 1_000_000, position: place(500, 500), ..friend };
    bench.hear(other.address, Msg::Nodes(vec![elsewhere]));
    bench.hear(other.address, hello(elsewhere, b"friend"));
    bench.hear(other.address, Msg::Pong { who: elsewhere });
    assert_eq!(bench.entry(2).unwrap().info().position, place(20, 0), "hearsay moved somebody");
    let before = Info { life: 0, position: place(40, 0), sequence: 1_000_000, ..friend };
    bench.hear(friend.address, hello(before, b"friend"));
    assert_eq!(bench.entry(2).unwrap().info().position, place(20, 0), "an earlier life spoke");
    let welcome = Msg::Welcome { from: elsewhere, list: vec![info(8, place(3, 3))], again: true };
    bench.hear(other.address, welcome);
    assert!(bench.entry(8).is_none(), "nobody had asked");
}

#[test]
fn a_search_moves_nobody_who_has_spoken() {
    let (mut bench, friend) = Bench::with_neighbour();
    let who = Info { sequence: u32::MAX, position: place(30, 30), ..friend };
    for credential in [vec![], b"friend".to_vec()] {
        bench.hear(Address(7), Msg::Seek { who, purpose: Search::Leap, hops: 0, credential });
    }
    assert_eq!(bench.entry(2).unwrap().info().position, place(20, 0));
    bench.hear(friend.address, step(3, place(21, 0)));
    assert_eq!(bench.entry(2).unwrap().info().position, place(21, 0));
}

#[test]
fn lies_about_somebody_end_with_their_own_first_word() {
    for (life, sequence) in [(1, u32::MAX), (u32::MAX, 1)] {
        let (mut bench, friend) = Bench::with_neighbour();
        let victim = info(3, place(0, 20));
        let lie = Info { life, sequence, position: place(0, -20), ..victim };
        bench.hear(friend.address, Msg::Nodes(vec![lie]));
        assert_eq!(bench.entry(3).unwrap().info().position, place(0, -20), "it may be true");
        bench.hear(victim.address, hello(victim, b"friend"));
        assert_eq!(bench.entry(3).unwrap().info().position, place(0, 20));
        bench.hear(friend.address, Msg::Nodes(vec![lie]));
        bench.hear(victim.address, step(2, place(0, 21)));
        assert_eq!(bench.entry(3).unwrap().info().position, place(0, 21));
    }
}

#[test]
fn nothing_is_taken_from_whoever_has_proven_nothing() {
    let mut bench = Bench::new();
    let stranger = info(7, place(5, 0));
    bench.hear(stranger.address, step(1, place(5, 0)));
    let since = bench.entry(7).unwrap().heard();
    bench.now += Span::from_millis(300);
    bench.hear(stranger.address, Msg::Pong { who: Info { position: place(9, 9), ..stranger } });
    assert_eq!(
        (bench.entry(7).unwrap().heard(), bench.entry(7).unwrap().info().position),
        (since, place(5, 0))
    );
    assert_eq!(bench.peer.next_towards(place(5, 0)), None, "searches are not handed to them");
    bench.hear(stranger.address, Msg::Leave(vec![info(8, place(3, 3))]));
    assert_eq!(bench.peer.list().count(), 0, "nor is anybody whom they name");
}

#[test]
fn nobody_is_greeted_again_and_again() {
    let (mut bench, friend) = Bench::with_neighbour();
    let strange = (0..50).flat_map(|_| bench.hear(friend.address, Msg::Stranger)).count();
    let greetings = (0..9).flat_map(|_| bench.hear(friend.address, hello(friend, b"friend"))).count();
    assert!(strange <= 1 && greetings <= 1, "{strange}, {greetings}");
}

#[test]
fn few_are_asked_to_close_a_gap() {
    let (mut bench, friend) = Bench::with_neighbour();
    let enclosing = (1_000..1_600).map(Address).collect();
    bench.hear(friend.address, Msg::Sum { knows: Knows::default(), enclosing });
    let said = bench.walk(Span::from_secs(3), place(0, 1));
    let asked = said.iter().filter(|it| matches!(it.1, Msg::Hello { .. })).count();
    assert!((1..=16).contains(&asked), "{asked}");
}

#[test]
fn whoever_has_left_is_deaf_until_they_join_again() {
    let (mut bench, friend) = Bench::with_neighbour();
    let said = bench.give(Input::Command(Command::Leave));
    assert!(matches!(said[..], [(Address(2), Msg::Leave(_))]), "{said:?}");
    assert!(bench.hear(friend.address, Msg::Ping).is_empty());
    assert!(bench.hear(friend.address, hello(friend, b"friend")).is_empty());
    assert_eq!(bench.peer.deadline(), None);
    let said = bench.give(Input::Command(Command::Join(place(0, 0))));
    assert!(matches!(said[..], [(RENDEZVOUS, Msg::Seek { .. })]), "{said:?}");
}

#[test]
fn invented_peers_fill_neither_list_nor_line() {
    let (mut bench, friend) = Bench::with_neighbour();
    let mut greeted = 0;
    for round in 0..20 {
        let invented = (0..LIST_MAX as u64).map(|it| {
            let number = 1_000 + round * 1_000 + it;
            info(number, place((it % 40) as i32 - 20, (it / 40) as i32))
        });
        greeted += bench.hear(friend.address, Msg::Nodes(invented.collect())).len();
    }
    assert!(bench.peer.list().count() <= 1 + UNPROVEN_MAX && greeted <= UNPROVEN_MAX, "{greeted} greeted");
    assert!(bench.peer.sent().line() <= u64::from(Config::fixed().uplink.unwrap()));
    bench.walk(Span::from_secs(3), place(0, 1));
    assert_eq!(bench.peer.list().filter(|it| !it.1.is_proven()).count(), 0, "nobody answered: they are gone");
}

#[test]
fn a_flood_is_not_answered() {
    let (mut bench, friend) = Bench::with_neighbour();
    let answers = (0..10_000).flat_map(|_| bench.hear(friend.address, Msg::Ping)).count();
    assert!(answers < 100, "{answers}");
    let from_strangers = (100..10_100).flat_map(|it| bench.hear(Address(it), step(1, place(900, 900))));
    assert!(from_strangers.count() <= 200);
    bench.now += Span::from_secs(1);
    let other = info(3, place(0, 20));
    let said = bench.hear(other.address, hello(other, b"friend"));
    assert!(
        matches!(said[..], [(Address(3), Msg::Hello { answer: true, .. })]),
        "others are heard: {said:?}"
    );
}

#[test]
fn whoever_says_that_they_see_everything_is_told_no_more_than_others() {
    let (mut bench, friend) = Bench::with_neighbour();
    for (number, (x, y)) in [(3, (0, 30)), (4, (-30, 0)), (5, (0, -30)), (6, (30, 5))] {
        let other = info(number, place(x, y));
        bench.hear(other.address, hello(other, b"friend"));
    }
    let far = Msg::Move {
        sequence: 3,
        position: place(5_000, 0),
        before: Some(place(-5_000, 0)),
        flags: Flags::default(),
        aoi: Some(Distance::MAX),
        met: vec![7; 600],
    };
    bench.hear(friend.address, far);
    (0..4).for_each(|it| drop(bench.walk(Span::from_millis(600), place(0, it % 2))));
    assert!(bench.entry(2).is_none(), "five kilometres away");
}

#[test]
fn whoever_leaps_asks_for_its_new_place_at_once() {
    let (mut bench, _) = Bench::with_neighbour();
    let said = bench.walk(Span::from_millis(600), place(4_000, 0));
    let asks =
        |it: &(Address, Msg)| it.0 == RENDEZVOUS && matches!(it.1, Msg::Seek { purpose: Search::Leap, .. });
    assert!(said.iter().any(asks), "{said:?}");
}

fn any_info() -> impl Strategy<Value = Info> {
    let parts = (0u64..40, 0u32..3, 0u32..50, -200i32..200, -200i32..200, 0u32..200_000, 0u32..3);
    parts.prop_map(|(address, life, sequence, x, y, aoi, group)| Info {
        address: Address(address),
        life,
        sequence,
        position: place(x, y),
        aoi: Distance::new(aoi).expect("a distance"),
        group,
    })
}

fn any_msg() -> impl Strategy<Value = Msg> {
    let infos = || proptest::collection::vec(any_info(), 0..12);
    let knows = || {
        let names = proptest::collection::vec(0u32..40, 0..20);
        (names, proptest::option::of(0u32..100_000)).prop_map(|(names, within)| Knows {
            names,
            within: within.map(|it| Distance::new(it).expect("a distance")),
        })
    };
    let moves = (0u32..50, -200i32..200, -200i32..200, any::<u8>(), proptest::option::of(0u32..200_000));
    prop_oneof![
        (any_info(), any::<u8>(), 0usize..3).prop_map(|(who, hops, purpose)| Msg::Seek {
            who,
            purpose: [Search::Join, Search::Check, Search::Leap][purpose],
            hops,
            credential: b"friend".to_vec(),
        }),
        (any_info(), infos(), any::<bool>()).prop_map(|(from, list, again)| Msg::Welcome {
            from,
            list,
            again
        }),
        moves.prop_map(|(sequence, x, y, flags, aoi)| Msg::Move {
            sequence,
            position: place(x, y),
            before: (flags & 64 != 0).then(|| place(y, x)),
            flags: Flags(flags),
            aoi: aoi.map(|it| Distance::new(it).expect("a distance")),
            met: (0..u32::from(flags)).collect(),
        }),
        infos().prop_map(Msg::Nodes),
        (any_info(), any::<(bool, bool)>(), knows(), infos()).prop_map(
            |(who, (want, answer), knows, nodes)| {
                Msg::Hello { who, want, answer, knows, nodes, credential: b"friend".to_vec() }
            }
        ),
        (knows(), proptest::collection::vec((0u64..40).prop_map(Address), 0..9))
            .prop_map(|(knows, enclosing)| Msg::Sum { knows, enclosing }),
        Just(Msg::Stranger),
        infos().prop_map(Msg::Leave),
        Just(Msg::Ping),
        any_info().prop_map(|who| Msg::Pong { who }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_said_nothing_breaks(
        script in proptest::collection::vec((0u64..40, any_msg(), 0u64..300, -50i32..50), 1..300)
    ) {
        let mut bench = Bench::new();
        let mut sent: Vec<(Time, usize)> = Vec::new();
        for (from, msg, pause, x) in script {
            let mut said = bench.hear(Address(from), msg);
            if pause % 3 == 0 {
                said.extend(bench.walk(Span::from_millis(pause), place(x, 0)));
            }
            if bench.peer.deadline().is_some_and(|at| at <= bench.now) {
                said.extend(bench.give(Input::Wake));
            }
            let me = bench.peer.info().address;
            prop_assert!(bench.peer.list().all(|it| it.0 != me && it.0 == it.1.info().address));
            prop_assert!(bench.peer.list().count() <= LIST_MAX);
            for (_, msg) in said {
                let mut bytes = Vec::new();
                msg.encode(&mut bytes);
                prop_assert_eq!(Msg::decode(&bytes), Ok(msg));
                sent.push((bench.now, bytes.len() + HEADERS as usize));
            }
        }
        let cap = Config::fixed().uplink.unwrap() as usize;
        for &(start, _) in &sent {
            let second = sent.iter().filter(|it| start <= it.0 && it.0.since(start) < Span::from_secs(1));
            prop_assert!(second.map(|it| it.1).sum::<usize>() <= cap);
        }
    }
}
