//! Hostile peers: whatever they send, lists and answers stay small, and other peers are unharmed.

use crate::bench::{PeerTestBench, RENDEZVOUS, hello, info, place, step};
use machine::{Address, Input, Machine, Span, Time};
use overlay::config::{LIST_MAX, UNPROVEN_MAX};
use overlay::{Flags, HEADERS, Info, Knows, OverlayMsg, PeerCommand, PeerConfig, SearchPurpose};
use proptest::prelude::*;
use space::Distance;
use wire::Message as _;

#[test]
fn a_peer_without_a_credential_is_neither_admitted_nor_told_anything() {
    let mut bench = PeerTestBench::new();
    let stranger = info(7, place(5, 0));
    assert!(bench.hear(stranger.address, hello(stranger, b"guess")).is_empty());
    assert_eq!((bench.peer.neighbours().count(), bench.peer.refused()), (0, 1));
    let seek = |credential: &[u8]| OverlayMsg::Seek {
        who: stranger,
        purpose: SearchPurpose::Join,
        hops: 9,
        credential: credential.to_vec(),
    };
    assert!(bench.hear(RENDEZVOUS, seek(b"guess")).is_empty());
    assert!(bench.hear(stranger.address, OverlayMsg::Ping).is_empty());
    // The stranger moves near by: it is greeted, and sent no move before it has answered.
    let said = bench.hear(stranger.address, step(1, place(5, 0)));
    assert!(matches!(said[..], [(Address(7), OverlayMsg::Hello { .. })]), "{said:?}");
    let said = bench.walk(Span::from_millis(500), place(1, 0));
    assert!(!said.iter().any(|it| matches!(it.1, OverlayMsg::Move { .. })), "{said:?}");
    assert!(!bench.neighbour(7).unwrap().is_met());
    assert!(matches!(
        bench.hear(RENDEZVOUS, seek(b"friend"))[..],
        [(Address(7), OverlayMsg::Welcome { .. })]
    ));
}

#[test]
fn no_peer_speaks_for_another() {
    let (mut bench, friend) = PeerTestBench::with_neighbour();
    let other = info(3, place(0, 20));
    bench.hear(other.address, hello(other, b"friend"));
    let elsewhere = Info { sequence: 1_000_000, position: place(500, 500), ..friend };
    bench.hear(other.address, OverlayMsg::Nodes(vec![elsewhere]));
    bench.hear(other.address, hello(elsewhere, b"friend"));
    bench.hear(other.address, OverlayMsg::Pong { who: elsewhere });
    assert_eq!(bench.neighbour(2).unwrap().info().position, place(20, 0), "a report moved a neighbour");
    let before = Info { life: 0, position: place(40, 0), sequence: 1_000_000, ..friend };
    bench.hear(friend.address, hello(before, b"friend"));
    assert_eq!(
        bench.neighbour(2).unwrap().info().position,
        place(20, 0),
        "a message of an earlier life counted"
    );
    let welcome = OverlayMsg::Welcome { from: elsewhere, list: vec![info(8, place(3, 3))], again: true };
    bench.hear(other.address, welcome);
    assert!(bench.neighbour(8).is_none(), "the peer had not searched");
}

#[test]
fn a_search_moves_no_neighbour_that_has_spoken() {
    let (mut bench, friend) = PeerTestBench::with_neighbour();
    let who = Info { sequence: u32::MAX, position: place(30, 30), ..friend };
    for credential in [vec![], b"friend".to_vec()] {
        bench.hear(Address(7), OverlayMsg::Seek { who, purpose: SearchPurpose::Leap, hops: 0, credential });
    }
    assert_eq!(bench.neighbour(2).unwrap().info().position, place(20, 0));
    bench.hear(friend.address, step(3, place(21, 0)));
    assert_eq!(bench.neighbour(2).unwrap().info().position, place(21, 0));
}

#[test]
fn lies_about_a_peer_end_with_its_own_first_message() {
    for (life, sequence) in [(1, u32::MAX), (u32::MAX, 1)] {
        let (mut bench, friend) = PeerTestBench::with_neighbour();
        let victim = info(3, place(0, 20));
        let lie = Info { life, sequence, position: place(0, -20), ..victim };
        bench.hear(friend.address, OverlayMsg::Nodes(vec![lie]));
        assert_eq!(bench.neighbour(3).unwrap().info().position, place(0, -20), "the report may be true");
        bench.hear(victim.address, hello(victim, b"friend"));
        assert_eq!(bench.neighbour(3).unwrap().info().position, place(0, 20));
        bench.hear(friend.address, OverlayMsg::Nodes(vec![lie]));
        bench.hear(victim.address, step(2, place(0, 21)));
        assert_eq!(bench.neighbour(3).unwrap().info().position, place(0, 21));
    }
}

#[test]
fn nothing_is_taken_from_an_unproven_peer() {
    let mut bench = PeerTestBench::new();
    let stranger = info(7, place(5, 0));
    bench.hear(stranger.address, step(1, place(5, 0)));
    let since = bench.neighbour(7).unwrap().heard();
    bench.now += Span::from_millis(300);
    bench.hear(stranger.address, OverlayMsg::Pong { who: Info { position: place(9, 9), ..stranger } });
    assert_eq!(
        (bench.neighbour(7).unwrap().heard(), bench.neighbour(7).unwrap().info().position),
        (since, place(5, 0))
    );
    assert_eq!(bench.peer.next_towards(place(5, 0)), None, "searches are not forwarded to an unproven peer");
    bench.hear(stranger.address, OverlayMsg::Leave(vec![info(8, place(3, 3))]));
    assert_eq!(bench.peer.neighbours().count(), 0, "peers that it names are not added either");
}

#[test]
fn no_peer_is_greeted_again_and_again() {
    let (mut bench, friend) = PeerTestBench::with_neighbour();
    let strange = (0..50).flat_map(|_| bench.hear(friend.address, OverlayMsg::Stranger)).count();
    let greetings = (0..9).flat_map(|_| bench.hear(friend.address, hello(friend, b"friend"))).count();
    assert!(strange <= 1 && greetings <= 1, "{strange}, {greetings}");
}

#[test]
fn few_peers_are_greeted_to_close_a_gap() {
    let (mut bench, friend) = PeerTestBench::with_neighbour();
    let enclosing = (1_000..1_600).map(Address).collect();
    bench.hear(friend.address, OverlayMsg::Sum { knows: Knows::default(), enclosing });
    let said = bench.walk(Span::from_secs(3), place(0, 1));
    let asked = said.iter().filter(|it| matches!(it.1, OverlayMsg::Hello { .. })).count();
    assert!((1..=16).contains(&asked), "{asked}");
}

#[test]
fn a_departed_peer_ignores_messages_until_it_joins_again() {
    let (mut bench, friend) = PeerTestBench::with_neighbour();
    let said = bench.give(Input::Command(PeerCommand::Leave));
    assert!(matches!(said[..], [(Address(2), OverlayMsg::Leave(_))]), "{said:?}");
    assert!(bench.hear(friend.address, OverlayMsg::Ping).is_empty());
    assert!(bench.hear(friend.address, hello(friend, b"friend")).is_empty());
    assert_eq!(bench.peer.deadline(), None);
    let said = bench.give(Input::Command(PeerCommand::Join(place(0, 0))));
    assert!(matches!(said[..], [(RENDEZVOUS, OverlayMsg::Seek { .. })]), "{said:?}");
}

#[test]
fn invented_peers_fill_neither_list_nor_uplink() {
    let (mut bench, friend) = PeerTestBench::with_neighbour();
    let mut greeted = 0;
    for round in 0..20 {
        let invented = (0..LIST_MAX as u64).map(|it| {
            let number = 1_000 + round * 1_000 + it;
            info(number, place((it % 40) as i32 - 20, (it / 40) as i32))
        });
        greeted += bench.hear(friend.address, OverlayMsg::Nodes(invented.collect())).len();
    }
    assert!(
        bench.peer.neighbours().count() <= 1 + UNPROVEN_MAX && greeted <= UNPROVEN_MAX,
        "{greeted} greeted"
    );
    assert!(bench.peer.sent().bytes_with_headers() <= u64::from(PeerConfig::fixed().uplink.unwrap()));
    bench.walk(Span::from_secs(3), place(0, 1));
    assert_eq!(
        bench.peer.neighbours().filter(|it| !it.1.is_proven()).count(),
        0,
        "invented peers answer nothing, so they are removed"
    );
}

#[test]
fn a_flood_is_not_answered() {
    let (mut bench, friend) = PeerTestBench::with_neighbour();
    let answers = (0..10_000).flat_map(|_| bench.hear(friend.address, OverlayMsg::Ping)).count();
    assert!(answers < 100, "{answers}");
    let from_strangers = (100..10_100).flat_map(|it| bench.hear(Address(it), step(1, place(900, 900))));
    assert!(from_strangers.count() <= 200);
    bench.now += Span::from_secs(1);
    let other = info(3, place(0, 20));
    let said = bench.hear(other.address, hello(other, b"friend"));
    assert!(
        matches!(said[..], [(Address(3), OverlayMsg::Hello { answer: true, .. })]),
        "other peers are still answered: {said:?}"
    );
}

#[test]
fn a_peer_that_claims_to_see_everything_is_told_no_more_than_others() {
    let (mut bench, friend) = PeerTestBench::with_neighbour();
    for (number, (x, y)) in [(3, (0, 30)), (4, (-30, 0)), (5, (0, -30)), (6, (30, 5))] {
        let other = info(number, place(x, y));
        bench.hear(other.address, hello(other, b"friend"));
    }
    let far = OverlayMsg::Move {
        sequence: 3,
        position: place(5_000, 0),
        before: Some(place(-5_000, 0)),
        flags: Flags::default(),
        aoi: Some(Distance::MAX),
        met: vec![7; 600],
    };
    bench.hear(friend.address, far);
    (0..4).for_each(|it| drop(bench.walk(Span::from_millis(600), place(0, it % 2))));
    assert!(bench.neighbour(2).is_none(), "five kilometres away");
}

#[test]
fn a_peer_that_leaps_searches_for_its_new_place_at_once() {
    let (mut bench, _) = PeerTestBench::with_neighbour();
    let said = bench.walk(Span::from_millis(600), place(4_000, 0));
    let asks = |it: &(Address, OverlayMsg)| {
        it.0 == RENDEZVOUS && matches!(it.1, OverlayMsg::Seek { purpose: SearchPurpose::Leap, .. })
    };
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

fn any_msg() -> impl Strategy<Value = OverlayMsg> {
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
        (any_info(), any::<u8>(), 0usize..3).prop_map(|(who, hops, purpose)| OverlayMsg::Seek {
            who,
            purpose: [SearchPurpose::Join, SearchPurpose::Check, SearchPurpose::Leap][purpose],
            hops,
            credential: b"friend".to_vec(),
        }),
        (any_info(), infos(), any::<bool>()).prop_map(|(from, list, again)| OverlayMsg::Welcome {
            from,
            list,
            again
        }),
        moves.prop_map(|(sequence, x, y, flags, aoi)| OverlayMsg::Move {
            sequence,
            position: place(x, y),
            before: (flags & 64 != 0).then(|| place(y, x)),
            flags: Flags(flags),
            aoi: aoi.map(|it| Distance::new(it).expect("a distance")),
            met: (0..u32::from(flags)).collect(),
        }),
        infos().prop_map(OverlayMsg::Nodes),
        (any_info(), any::<(bool, bool)>(), knows(), infos()).prop_map(
            |(who, (want, answer), knows, nodes)| {
                OverlayMsg::Hello { who, want, answer, knows, nodes, credential: b"friend".to_vec() }
            }
        ),
        (knows(), proptest::collection::vec((0u64..40).prop_map(Address), 0..9))
            .prop_map(|(knows, enclosing)| OverlayMsg::Sum { knows, enclosing }),
        Just(OverlayMsg::Stranger),
        infos().prop_map(OverlayMsg::Leave),
        Just(OverlayMsg::Ping),
        any_info().prop_map(|who| OverlayMsg::Pong { who }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_sequence_of_messages_breaks_a_limit(
        script in proptest::collection::vec((0u64..40, any_msg(), 0u64..300, -50i32..50), 1..300)
    ) {
        let mut bench = PeerTestBench::new();
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
            prop_assert!(bench.peer.neighbours().all(|it| it.0 != me && it.0 == it.1.info().address));
            prop_assert!(bench.peer.neighbours().count() <= LIST_MAX);
            for (_, msg) in said {
                let mut bytes = Vec::new();
                msg.encode(&mut bytes);
                prop_assert_eq!(OverlayMsg::decode(&bytes), Ok(msg));
                sent.push((bench.now, bytes.len() + HEADERS as usize));
            }
        }
        let cap = PeerConfig::fixed().uplink.unwrap() as usize;
        for &(start, _) in &sent {
            let second = sent.iter().filter(|it| start <= it.0 && it.0.since(start) < Span::from_secs(1));
            prop_assert!(second.map(|it| it.1).sum::<usize>() <= cap);
        }
    }
}
