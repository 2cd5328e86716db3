//! Overlays of peers, small enough for daily tests: the paper's falls apart, ours does not.

use lab::vast::{Protocol, VastCase, VastOptions, VastOutcome, WalkPattern, case, run};
use machine::{Span, Time};
use sim::crowd::{Churn, Cut, Division, MassFailure};

fn small(protocol: Protocol, switches: &[(&str, &str)]) -> VastCase {
    let switches = switches.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = VastOptions {
        protocol,
        switches,
        peers: 72,
        hours: 0.1,
        sample: 30,
        ..VastOptions::paper(WalkPattern::Groups)
    };
    case(&options).unwrap()
}

fn run_quietly(case: &VastCase) -> VastOutcome {
    run(case, &|_| ())
}

#[test]
fn dropping_moves_of_unknown_peers_is_what_breaks_the_papers_overlay() {
    let last = |switches: &[(&str, &str)]| {
        let outcome = run_quietly(&small(Protocol::Paper, switches));
        (*outcome.samples.last().unwrap(), outcome.exact_after)
    };
    let (paper, insert) = (last(&[]), last(&[("unknown-sender", "insert")]));
    assert!(2 <= paper.0.components, "{paper:?}");
    assert_eq!(paper.1, None, "at rest the gaps in the lists remain");
    let (paper, insert) = (paper.0, insert.0);
    assert!(insert.components == 1 && 2.0 * insert.missing < paper.missing, "{insert:?}, not {paper:?}");
}

#[test]
fn ours_stays_together_with_losses_and_churn() {
    let mut case = small(Protocol::Fixed, &[]);
    case.line = case.line.with_loss(0.05).unwrap();
    case.schedule.churn = Some(Churn::abrupt(Span::from_secs(600)));
    let outcome = run_quietly(&case);
    let settled = &outcome.samples[1..];
    assert!(settled.iter().all(|it| it.components == 1), "{settled:?}");
    let mean =
        |of: fn(&lab::vast::OverlaySample) -> f64| settled.iter().map(of).sum::<f64>() / settled.len() as f64;
    assert!(99.9 <= mean(|it| it.consistency), "{settled:?}");
    assert!(mean(|it| it.missing) <= 0.3, "{settled:?}");
    assert!(outcome.exact_after.is_some(), "at rest, every list must be exactly right");
}

#[test]
fn one_seed_gives_one_history() {
    let mut case = small(Protocol::Fixed, &[]);
    (case.peers, case.lasts) = (24, Span::from_secs(60));
    let history = |case: &VastCase| run_quietly(case).history;
    assert_eq!(history(&case), history(&case));
    let first = history(&case);
    case.seed += 1;
    assert_ne!(first, history(&case));
}

#[test]
fn a_network_that_was_divided_grows_together_again() {
    let mut case = small(Protocol::Fixed, &[]);
    let (at, lasts) = (Time::from_millis(60_000), Span::from_secs(60));
    case.schedule.cuts = vec![Cut { at, lasts, division: Division::Random }];
    (case.lasts, case.sample) = (Span::from_secs(150), Span::from_secs(5));
    let outcome = run_quietly(&case);
    let at = |second: f64| outcome.samples.iter().find(|it| it.t == second).unwrap();
    assert!(at(115.0).consistency < 60.0, "half of all peers are out of reach: {:?}", at(115.0));
    assert_eq!(at(135.0).components, 1, "{:?}", at(135.0));
    assert!(99.9 <= at(150.0).consistency, "{:?}", at(150.0));
}

#[test]
fn the_peers_left_after_a_quarter_vanished_are_together_at_once() {
    let mut case = small(Protocol::Fixed, &[]);
    case.schedule.failures =
        vec![MassFailure { at: Time::from_millis(60_000), percent: 25, back_after: None }];
    (case.lasts, case.sample) = (Span::from_secs(75), Span::from_secs(5));
    let outcome = run_quietly(&case);
    let after = &outcome.samples[13..];
    assert_eq!(after[0].peers, 54);
    assert!(after.iter().all(|it| it.components == 1 && 99.9 <= it.consistency), "{after:?}");
}

#[test]
fn in_a_crowd_no_peer_exceeds_its_budget_and_near_peers_hear_every_step() {
    // As much for each of 150 peers as the usual cap is for each of 500: too little to send every step to all.
    let (cap, switches) = (19_200, vec![("uplink".to_owned(), "19200".to_owned())]);
    let crowd = VastOptions {
        protocol: Protocol::Fixed,
        switches,
        peers: 150,
        world: Some(100.0),
        hours: 0.015,
        sample: 3,
        ..VastOptions::paper(WalkPattern::Gathering)
    };
    let outcome = run_quietly(&case(&crowd).unwrap());
    let settled: Vec<_> = outcome.samples.iter().filter(|it| 40.0 <= it.t).collect();
    let mean = settled.iter().map(|it| it.near).sum::<f64>() / settled.len() as f64;
    assert!(0 < outcome.sent.held_back, "the cap must matter");
    assert!(outcome.busiest.line.bytes <= cap, "{:?}", outcome.busiest.line);
    assert!(99.0 <= mean, "{settled:?}");
}
