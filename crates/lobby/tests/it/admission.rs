//! Admission: the queue, its fairness, and what closes it. `admission_model` runs it against hosts.

use game::PlayerId;
use lobby::{
    Admission, AdmissionAnswer, AdmissionRequest, AdmissionSettings, AdmissionState, ClosedReason,
    HostReport, PaceSettings, QueuePlace,
};
use machine::{Span, Time};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

const START: Time = Time::from_millis(1_000_000);

fn after(millis: u64) -> Time {
    START + Span::from_millis(millis)
}

fn address(group: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(group))
}

/// A request of a player, who comes from an address of their own.
fn request(player: u64) -> AdmissionRequest {
    AdmissionRequest {
        player: PlayerId(player),
        address: address(player as u32),
        names_session: false,
        spread: 0.0,
    }
}

fn of_group(player: u64, group: u32) -> AdmissionRequest {
    AdmissionRequest { address: address(group), ..request(player) }
}

fn calm(host: u32) -> HostReport {
    HostReport { host, busy: 100, ..HostReport::default() }
}

fn busy(host: u32) -> HostReport {
    HostReport { host, load: 1, ..HostReport::default() }
}

/// Settings with a small burst and a rate of one per second.
fn slow(burst: f64) -> AdmissionSettings {
    let pace = PaceSettings { burst, start: 1.0, unreported: 1.0, growth: 0.0, ..PaceSettings::default() };
    AdmissionSettings { pace, ..AdmissionSettings::default() }
}

/// Admission to a world of one host, with this report.
fn with_report(settings: AdmissionSettings, report: HostReport) -> Admission {
    let mut admission = Admission::new(settings, START);
    admission.on_report(START, report);
    admission
}

fn place(answer: AdmissionAnswer) -> QueuePlace {
    match answer {
        AdmissionAnswer::Wait(place) => place,
        other => panic!("the player does not wait: {other:?}"),
    }
}

fn place_of(admission: &mut Admission, now: Time, request: &AdmissionRequest) -> usize {
    place(admission.ask(now, request)).place
}

#[test]
fn a_small_world_lets_its_first_players_in_at_once_and_the_next_ones_wait() {
    let mut admission = with_report(AdmissionSettings::default(), calm(1));
    let entered = (0..500).filter(|&it| admission.ask(START, &request(it)) == AdmissionAnswer::Enter).count();
    assert!((50..=100).contains(&entered), "{entered}");
    let status = admission.status(START);
    assert_eq!((status.waiting, status.let_in), (500 - entered, entered as u64));
    assert_eq!(status.state, AdmissionState::Queueing);
}

#[test]
fn players_who_wait_enter_at_the_rate_and_in_order() {
    let mut admission = with_report(slow(1.0), calm(1));
    assert_eq!(admission.ask(START, &request(0)), AdmissionAnswer::Enter);
    assert_eq!(
        (1..=4).map(|it| place_of(&mut admission, START, &request(it))).collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    admission.on_report(after(2_000), calm(1));
    // Two entries are saved up. The third does not take the place of the first, although it asks earlier.
    assert_eq!(place_of(&mut admission, after(2_000), &request(3)), 3);
    assert_eq!(admission.ask(after(2_000), &request(2)), AdmissionAnswer::Enter);
    assert_eq!(admission.ask(after(2_000), &request(1)), AdmissionAnswer::Enter);
    assert_eq!(place_of(&mut admission, after(2_000), &request(4)), 2);
}

#[test]
fn asking_twice_keeps_the_place_and_takes_no_second_one() {
    let mut admission = with_report(slow(0.0), calm(1));
    for _ in 0..3 {
        assert_eq!(place_of(&mut admission, START, &request(1)), 1);
        assert_eq!(place_of(&mut admission, START, &of_group(2, 77)), 2, "from another address, too");
    }
    assert_eq!(admission.status(START).waiting, 2);
}

#[test]
fn a_client_near_the_front_asks_soon_and_one_far_behind_seldom() {
    let mut admission = with_report(AdmissionSettings::default(), busy(1));
    let again = Vec::from_iter((0..5_000).map(|it| place(admission.ask(START, &request(it))).again_after));
    assert_eq!((again[0], again[4_999]), (Span::from_secs(2), Span::from_secs(15)));
    assert!(again.is_sorted());
    let spread = place(admission.ask(START, &AdmissionRequest { spread: 1.0, ..request(0) })).again_after;
    assert_eq!(spread, Span::from_millis(2_500));
}

#[test]
fn a_client_that_does_not_ask_again_holds_up_no_other_and_loses_the_place_after_a_while() {
    let mut admission = with_report(AdmissionSettings { players_max: Some(0), ..slow(0.0) }, calm(1));
    for player in 1..=3 {
        assert_eq!(place(admission.ask(START, &request(player))).again_after, Span::from_secs(2));
    }
    // The first one does not ask: the second goes before it. Then it comes back to its place.
    let mut places =
        |millis, players: [u64; 2]| players.map(|it| place_of(&mut admission, after(millis), &request(it)));
    assert_eq!(places(2_000, [2, 3]), [2, 3]);
    assert_eq!(places(4_600, [2, 3]), [1, 2]);
    assert_eq!(places(6_500, [1, 2]), [1, 2]);
    assert_eq!(places(6_500, [3, 3]), [3, 3]);
    // A page in the background asks once a minute.
    for second in (8..74).step_by(2) {
        places(1_000 * second, [2, 3]);
    }
    assert_eq!(places(76_000, [2, 1]), [1, 1]);
    for second in (78..148).step_by(2) {
        places(1_000 * second, [2, 3]);
    }
    assert_eq!(places(148_000, [2, 1]), [1, 3], "it has lost its place");
}

#[test]
fn the_queue_is_bounded_and_says_when_to_come_again() {
    let settings = AdmissionSettings { queue_max: 10, ..slow(0.0) };
    let mut admission = with_report(settings, calm(1));
    for player in 0..10 {
        place_of(&mut admission, START, &request(player));
    }
    assert!(
        matches!(admission.ask(START, &request(10)), AdmissionAnswer::Full(again) if Span::from_secs(2) <= again)
    );
    assert_eq!(place_of(&mut admission, START, &request(3)), 4, "who waits keeps the place");
}

#[test]
fn a_group_of_a_thousand_holds_up_a_group_of_one_for_a_turn() {
    let mut admission = with_report(slow(0.0), calm(1));
    for player in 0..1_000 {
        place_of(&mut admission, START, &of_group(player, 1));
    }
    assert_eq!(place_of(&mut admission, START, &of_group(5_000, 2)), 2);
    assert_eq!(place_of(&mut admission, START, &of_group(5_001, 3)), 3);
    assert_eq!(place_of(&mut admission, START, &of_group(5_002, 2)), 5);
    assert_eq!(place_of(&mut admission, START, &of_group(0, 1)), 1, "and no turn is taken away");
    let v6 = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 7, 0, 0, 0, last]);
    let from = |player, last| AdmissionRequest { address: v6(last), ..request(player) };
    let (one, other) =
        (place_of(&mut admission, START, &from(6_000, 1)), place_of(&mut admission, START, &from(6_001, 2)));
    assert_eq!((one, other), (4, 7), "an IPv6 subscriber is one group");
}

#[test]
fn a_busy_host_closes_the_lobby_and_only_calm_for_a_while_opens_it() {
    let mut admission = with_report(AdmissionSettings::default(), calm(1));
    let rate = admission.status(START).rate;
    let closed = AdmissionState::Closed(ClosedReason::Busy);
    let mut state_after = |millis, report: HostReport| {
        admission.on_report(after(millis), report);
        admission.on_report(after(millis), calm(2));
        let answer = admission.ask(after(millis), &request(millis));
        let status = admission.status(after(millis));
        assert!(answer != AdmissionAnswer::Enter || status.state != closed, "{millis}");
        status
    };
    assert_eq!(state_after(500, busy(1)).state, closed);
    assert_eq!(state_after(1_000, HostReport { busy: 799, ..calm(1) }).state, closed, "not calm enough");
    assert_eq!(state_after(1_500, HostReport { late: 90_000, ..calm(1) }).state, closed, "late");
    assert_eq!(state_after(2_000, calm(1)).state, closed, "not for long enough");
    assert_eq!(state_after(2_500, HostReport { busy: 651, ..calm(1) }).state, closed, "begins anew");
    assert_eq!(state_after(3_000, calm(1)).state, closed);
    assert_eq!(state_after(3_500, calm(1)).state, closed);
    assert_eq!(state_after(4_000, calm(1)).state, AdmissionState::Queueing);
    let slower = state_after(4_500, calm(1)).rate;
    assert!(slower < rate, "{slower}");
    let tight = state_after(5_000, HostReport { busy: 799, ..calm(1) });
    assert_eq!(
        (tight.state, tight.rate),
        (AdmissionState::Queueing, slower),
        "once open, it takes more to close"
    );
    assert_eq!(state_after(6_000, HostReport { busy: 800, ..calm(1) }).state, closed);
}

#[test]
fn the_rate_grows_while_players_wait_and_hosts_are_calm() {
    let mut admission = with_report(AdmissionSettings::default(), calm(1));
    let mut rate_at = |second: u64, players: u64, busy| {
        admission.on_report(after(1_000 * second), HostReport { busy, ..calm(1) });
        for player in 0..players {
            admission.ask(after(1_000 * second), &request(second * 10_000 + player));
        }
        admission.status(after(1_000 * second)).rate
    };
    let first = rate_at(0, 1_000, 100);
    let grown = rate_at(10, 1_000, 100);
    assert!((20.0..=40.0).contains(&first) && first + 5.0 <= grown, "{first} {grown}");
    assert_eq!(rate_at(12, 1_000, 700), grown, "no growth without headroom");
}

#[test]
fn without_a_queue_the_rate_goes_back_to_where_it_began() {
    let mut admission = with_report(AdmissionSettings::default(), calm(1));
    let start = admission.status(START).rate;
    admission.on_report(after(500), busy(1));
    for second in 1..120 {
        admission.on_report(after(1_000 * second), calm(1));
    }
    assert_eq!(admission.status(after(119_000)).rate, start);
}

#[test]
fn missing_reports_close_the_lobby_until_the_host_counts_as_gone() {
    let mut admission = with_report(AdmissionSettings::default(), calm(1));
    admission.on_report(START, calm(2));
    let mut state_after = |millis| {
        admission.on_report(after(millis), calm(1));
        admission.status(after(millis)).state
    };
    assert_eq!(state_after(2_000), AdmissionState::Open);
    for millis in [2_500, 5_000, 9_900] {
        assert_eq!(state_after(millis), AdmissionState::Closed(ClosedReason::Silent));
    }
    let states = [10_000, 10_500, 11_000, 11_500].map(&mut state_after);
    assert_eq!(states.last(), Some(&AdmissionState::Open), "{states:?}");
    assert_eq!(
        admission.status(after(60_000)).state,
        AdmissionState::Closed(ClosedReason::Silent),
        "none is left"
    );
}

#[test]
fn a_host_that_leaves_in_good_order_closes_nothing() {
    let mut admission = with_report(AdmissionSettings::default(), calm(1));
    admission.on_report(START, calm(2));
    admission.on_report(after(100), HostReport { is_leaving: true, ..calm(2) });
    admission.on_report(after(2_500), calm(1));
    assert_eq!(admission.status(after(2_500)).state, AdmissionState::Open);
}

#[test]
fn a_world_without_reports_lets_players_in_slowly() {
    let mut admission = Admission::new(AdmissionSettings::default(), START);
    let all = |admission: &mut Admission, now| {
        (0..1_000).filter(|&it| admission.ask(now, &request(it)) == AdmissionAnswer::Enter).count()
    };
    let burst = all(&mut admission, START);
    let (status, later) = (admission.status(START), all(&mut admission, after(2_000)) - burst);
    assert!(0.0 < status.rate && status.rate <= 10.0 && (5..=20).contains(&later), "{status:?} {later}");
}

#[test]
fn the_world_holds_as_many_players_as_the_operator_allows() {
    let settings = AdmissionSettings { players_max: Some(3), ..AdmissionSettings::default() };
    let mut admission = with_report(settings, calm(1));
    let enters = |admission: &mut Admission, now, player| {
        admission.ask(now, &request(player)) == AdmissionAnswer::Enter
    };
    let entered = (0..10).filter(|&it| enters(&mut admission, START, it)).count();
    assert_eq!(entered, 3);
    assert_eq!(admission.status(START).state, AdmissionState::Closed(ClosedReason::PlayersMax));
    // Hosts count them as they arrive; then one leaves.
    let reported = |players| HostReport { players, ..calm(1) };
    for (millis, players) in [(1_000, 0), (2_000, 1), (3_000, 1), (4_000, 3)] {
        admission.on_report(after(millis), reported(players));
        assert!(!enters(&mut admission, after(millis), 30 + millis), "{millis}");
    }
    admission.on_report(after(20_000), reported(3));
    assert!(!enters(&mut admission, after(20_000), 20));
    admission.on_report(after(20_500), reported(2));
    assert!(enters(&mut admission, after(20_500), 20), "the others who waited are absent by now");
    assert!(!enters(&mut admission, after(20_600), 21));
    assert!(enters(&mut admission, after(20_700), 1), "who was let in comes back in any case");
}

#[test]
fn a_player_who_was_let_in_passes_for_ten_minutes_after_the_last_request() {
    let mut admission = with_report(slow(1.0), calm(1));
    assert_eq!(admission.ask(START, &request(1)), AdmissionAnswer::Enter);
    let mut ask = |second: u64| {
        admission.on_report(after(1_000 * second), busy(1));
        admission.ask(after(1_000 * second), &AdmissionRequest { names_session: true, ..request(1) })
    };
    for second in [1, 500, 1_099, 1_698] {
        assert_eq!(ask(second), AdmissionAnswer::Enter, "{second}");
    }
    assert!(matches!(ask(2_298), AdmissionAnswer::Wait(_)));
}

#[test]
fn a_named_session_is_believed_only_right_after_a_start() {
    let mut admission = with_report(slow(0.0), busy(1));
    let named = |player| AdmissionRequest { names_session: true, ..request(player) };
    assert_eq!(admission.ask(after(59_000), &named(1)), AdmissionAnswer::Enter);
    assert!(matches!(admission.ask(after(59_000), &request(2)), AdmissionAnswer::Wait(_)));
    assert!(matches!(admission.ask(after(301_000), &named(3)), AdmissionAnswer::Wait(_)), "a made-up number");
    assert_eq!(admission.ask(after(301_000), &named(1)), AdmissionAnswer::Enter);
}

#[test]
fn admission_can_be_switched_off() {
    let settings = AdmissionSettings { is_on: false, players_max: Some(0), ..slow(0.0) };
    let mut admission = with_report(settings, busy(1));
    assert!((0..1_000).all(|it| admission.ask(START, &request(it)) == AdmissionAnswer::Enter));
    assert_eq!(admission.status(START).state, AdmissionState::Open);
}

#[test]
fn a_report_has_a_version_and_a_bound() {
    let report = HostReport {
        host: u32::MAX,
        players: u32::MAX,
        load: 2,
        busy: u16::MAX,
        late: u32::MAX,
        is_leaving: true,
    };
    let bytes = report.to_bytes();
    assert!(bytes.len() <= HostReport::BYTES_MAX);
    assert_eq!(HostReport::from_bytes(&bytes), Some(report));
    let newer = [&[2], &bytes[1..]].concat();
    let longer = [&bytes[..], &[0]].concat();
    for bad in [&newer[..], &longer, &bytes[..bytes.len() - 1], &[], &[1]] {
        assert_eq!(HostReport::from_bytes(bad), None, "{bad:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_are_a_report_of_another_host(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        // What is read can be written again: nothing is lost or added.
        if let Some(report) = HostReport::from_bytes(&bytes) {
            prop_assert_eq!(HostReport::from_bytes(&report.to_bytes()), Some(report));
        }
    }

    /// Whatever players and hosts do: places are 1 to the number of waiting players, each taken once; entries keep to the rate; a closed
    /// lobby lets no new player in.
    #[test]
    fn places_and_entries_add_up(
        steps in prop::collection::vec((0..1_500_u64, 0..60_u64, 0..8_u32, prop::option::of(0..1_000_u16)), 1..300),
    ) {
        let settings = slow(5.0);
        let mut admission = with_report(settings, calm(1));
        let (mut now, mut entered, mut places) = (START, BTreeSet::new(), BTreeMap::new());
        for (pause, player, group, report) in steps {
            now += Span::from_millis(pause);
            if let Some(busy) = report {
                admission.on_report(now, HostReport { busy, ..calm(1) });
            }
            let was_closed = matches!(admission.status(now).state, AdmissionState::Closed(_));
            match admission.ask(now, &of_group(player, group)) {
                AdmissionAnswer::Enter => {
                    prop_assert!(!was_closed || entered.contains(&player));
                    entered.insert(player);
                    places.remove(&player);
                }
                AdmissionAnswer::Wait(it) => {
                    prop_assert!(!entered.contains(&player) && (1..=it.waiting).contains(&it.place));
                    prop_assert!(it.waiting <= 60 - entered.len());
                    places.insert(player, it.place);
                }
                AdmissionAnswer::Full(_) => prop_assert!(false, "the queue is long enough"),
            }
            let allowed = settings.pace.burst + now.since(START).as_secs_f64() * settings.pace.start;
            prop_assert!(entered.len() as f64 <= allowed);
            prop_assert_eq!(admission.status(now).let_in, entered.len() as u64);
        }
        // All who still wait ask at the same moment: their places are all different, and none is left out.
        let waiting = Vec::from_iter(places.keys().copied());
        let mut last = BTreeSet::new();
        admission.on_report(now, busy(1));
        for _ in 0..2 {
            last = waiting.iter().map(|&it| place_of(&mut admission, now, &of_group(it, 0))).collect();
        }
        prop_assert!(last.iter().copied().eq(1..=waiting.len()));
    }
}
