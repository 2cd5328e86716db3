//! The claims of the paper and ours, one by one, compared with what was measured.

use super::oracle::OverlaySample;
use super::part::VastMeasurements;
use super::series::Series;
use super::setting::{MessageSizes, Protocol, VastOptions, WalkPattern};
use crate::report::{OURS, PAPER};
use overlay::PeerConfig;

pub use crate::report::ExperimentClaim;

/// Length of the paper's runs in hours; its averages are compared with runs at least as long.
const FULL_HOURS: f64 = 6.0;

/// Our claims hold with losses up to this share, and with sessions of at least so many minutes.
const LOSS_MAX: f64 = 0.05;
const SESSION_MINUTES_MIN: f64 = 30.0;

/// Seconds after a failure of many peers from which on no neighbour may be missing, and seconds after a cut from which
/// on the overlay must be in one piece again.
const AFTER_FAILURE: f64 = 10.0;
const AFTER_CUT: f64 = 15.0;

/// Seconds after a cut for which the other claims do not count.
const EXCUSED: f64 = 30.0;

/// Factor by which the cost per peer may grow with the number of peers, at the same density.
const FLAT: f64 = 1.1;

/// The note that tells a reader why some claims may be absent.
pub const NOTE: &str = "The paper's averages are compared only with what it ran: 500 peers, six hours, no loss; our own claims \
                        hold for any length, up to 5 % loss and sessions of 30 minutes.";

/// Every claim about which something was measured.
pub fn claims(measured: &VastMeasurements) -> Vec<ExperimentClaim> {
    measured.run.iter().flat_map(of_run).chain(flat(&measured.scaling)).collect()
}

/// The claims that do not hold.
pub fn failures(measured: &VastMeasurements) -> Vec<ExperimentClaim> {
    claims(measured).into_iter().filter(|it| !it.holds).collect()
}

fn of_run(series: &Series) -> Vec<ExperimentClaim> {
    let options = series.options();
    // Crowds are outside of the paper's world, so other claims apply to them.
    if options.name() == "fixed" && options.movement == WalkPattern::Gathering {
        return bears_crowds(series);
    }
    if !is_in_the_papers_world(options) {
        return Vec::new();
    }
    let calm = options.loss == 0.0
        && options.churn_minutes.is_none()
        && options.fail.is_none()
        && options.cut.is_none();
    let full = FULL_HOURS <= options.hours && options.peers == 500;
    match (options.name(), options.movement) {
        ("paper", WalkPattern::Random) if calm && full => stays_together(series),
        ("paper", WalkPattern::Groups) if calm && full => falls_apart(series),
        ("paper-insert", WalkPattern::Groups) if calm => one_rule(series),
        ("fixed", WalkPattern::Random | WalkPattern::Groups) if is_bearable(options) => {
            holds_together(series)
        }
        _ => Vec::new(),
    }
}

fn is_in_the_papers_world(options: &VastOptions) -> bool {
    let paper = VastOptions::paper(options.movement);
    (options.rate, options.aoi, options.speed, options.world)
        == (paper.rate, paper.aoi, paper.speed, paper.world)
}

fn is_bearable(options: &VastOptions) -> bool {
    options.loss <= LOSS_MAX && options.churn_minutes.is_none_or(|it| SESSION_MINUTES_MIN <= it)
}

/// The text of a claim: the name of the series, the pattern of walking, and `what`.
fn said(series: &Series, what: &str) -> String {
    format!("{}, {}: {what}", series.name, series.options().movement.name())
}

fn mean(series: &Series, name: &str) -> f64 {
    series.mean().at(name).unwrap_or(f64::NAN)
}

fn table_1(series: &Series, bounds: (f64, f64)) -> Option<ExperimentClaim> {
    let kilobytes = mean(series, "average_bytes_per_second") / 1e3;
    let claim = said(series, "kilobytes per second that a peer sends (table 1)");
    // The paper's table counts OverSim's sizes.
    let comparable = series.options().sizes == MessageSizes::Paper;
    comparable.then(|| ExperimentClaim::within(claim, PAPER, kilobytes, bounds))
}

fn table_2(series: &Series, bounds: (f64, f64)) -> ExperimentClaim {
    ExperimentClaim::within(said(series, "neighbours (table 2)"), PAPER, mean(series, "neighbours"), bounds)
}

fn stays_together(series: &Series) -> Vec<ExperimentClaim> {
    let largest = said(series, "per cent of peers in the largest component, worst sample");
    let missing = said(series, "missing entries per peer (figure 3)");
    let mut claims: Vec<ExperimentClaim> = table_1(series, (0.73, 0.90)).into_iter().collect();
    claims.extend([
        table_2(series, (5.3, 6.2)),
        ExperimentClaim::at_least(largest, PAPER, mean(series, "largest_worst"), 98.0),
        ExperimentClaim::at_most(missing, PAPER, mean(series, "missing"), 0.3),
    ]);
    claims
}

fn falls_apart(series: &Series) -> Vec<ExperimentClaim> {
    let parts = said(series, "components, at most");
    let missing = said(series, "missing entries per peer (figure 4)");
    let mut claims: Vec<ExperimentClaim> = table_1(series, (1.1, 1.35)).into_iter().collect();
    claims.extend([
        table_2(series, (8.0, 10.0)),
        ExperimentClaim::at_least(parts, PAPER, mean(series, "components_max"), 30.0),
        ExperimentClaim::at_least(missing, PAPER, mean(series, "missing"), 2.0),
    ]);
    claims
}

/// The claim that the collapse comes from one rule is ours: the paper names two other causes as well.
fn one_rule(series: &Series) -> Vec<ExperimentClaim> {
    let parts = said(series, "components, at most");
    let missing = said(series, "missing entries per peer");
    vec![
        ExperimentClaim::at_most(parts, OURS, mean(series, "components_max"), 2.0),
        ExperimentClaim::at_most(missing, OURS, mean(series, "missing"), 0.6),
    ]
}

/// The claims about crowds, however many peers gather.
fn bears_crowds(series: &Series) -> Vec<ExperimentClaim> {
    let most = series.runs.iter().map(|it| it.summary.maximum_packet_bytes_per_second).fold(0.0, f64::max);
    let capped = said(series, "bytes that a peer sends in one second, headers included, at most");
    let near = said(series, "per cent of each peer's eight nearest whose every step is heard");
    let cap =
        PeerConfig::fixed().uplink.map(|cap| ExperimentClaim::at_most(capped, OURS, most, f64::from(cap)));
    let calm = series.options().loss == 0.0;
    let near = calm.then(|| ExperimentClaim::at_least(near, OURS, mean(series, "near_percent"), 99.0));
    cap.into_iter().chain(near).collect()
}

fn holds_together(series: &Series) -> Vec<ExperimentClaim> {
    let all = || series.runs.iter().flat_map(|it| settled(it.settled_at, &it.samples));
    let options = series.options();
    let calm: Vec<&OverlaySample> = all().filter(|it| !is_excused(options, it.t)).collect();
    // A run that ends before all peers have joined has no sample to judge.
    if calm.is_empty() {
        return Vec::new();
    }
    let mean = |of: fn(&OverlaySample) -> f64| calm.iter().map(|it| of(it)).sum::<f64>() / calm.len() as f64;
    let worst = calm.iter().map(|it| it.consistency).fold(100.0, f64::min);
    let parts = calm.iter().map(|it| it.components).max().unwrap_or(0);
    let found: u64 = series.runs.iter().flat_map(|it| &it.violations).map(|it| it.count).sum();
    let mut claims = vec![
        ExperimentClaim::at_least(
            said(series, "consistency, %, mean"),
            OURS,
            mean(|it| it.consistency),
            99.9,
        ),
        ExperimentClaim::at_least(said(series, "consistency, %, worst sample"), OURS, worst, 99.0),
        ExperimentClaim::at_most(said(series, "components, at most"), OURS, parts as f64, 1.0),
        ExperimentClaim::at_most(said(series, "missing entries per peer"), OURS, mean(|it| it.missing), 0.2),
        ExperimentClaim::at_most(said(series, "what the checkers found wrong"), OURS, found as f64, 0.0),
    ];
    claims.extend(options.fail.and_then(|(_, at)| {
        let after = all().filter(|it| at as f64 + AFTER_FAILURE <= it.t).map(|it| it.consistency);
        let claim = said(series, "consistency, %, worst sample from 10 s after the failure on");
        after.reduce(f64::min).map(|it| ExperimentClaim::at_least(claim, OURS, it, 99.9))
    }));
    claims.extend(options.cut.and_then(|(lasts, at)| {
        let after = all().filter(|it| (at + lasts) as f64 + AFTER_CUT <= it.t).map(|it| it.components);
        let claim = said(series, "components, at most, from 15 s after the cut was mended on");
        after.max().map(|it| ExperimentClaim::at_most(claim, OURS, it as f64, 1.0))
    }));
    claims
}

fn settled(at: f64, samples: &[OverlaySample]) -> impl Iterator<Item = &OverlaySample> {
    samples.iter().filter(move |it| at <= it.t)
}

/// Returns whether a failure or a cut is under way or was shortly before.
fn is_excused(options: &VastOptions, t: f64) -> bool {
    let fails = options.fail.is_some_and(|(_, at)| (at as f64..at as f64 + AFTER_FAILURE).contains(&t));
    let cut = |(lasts, at): (u64, u64)| (at as f64..(at + lasts) as f64 + EXCUSED).contains(&t);
    fails || options.cut.is_some_and(cut)
}

/// The claims that a peer's traffic does not depend on the number of peers.
fn flat(rows: &[Series]) -> Vec<ExperimentClaim> {
    let [first, .., last] = rows else { return Vec::new() };
    let ratio = |name| mean(last, name) / mean(first, name);
    let words = |what: &str| {
        let by = if last.options().protocol == Protocol::Paper { "paper" } else { "fixed" };
        format!(
            "{by}, {}: {what} with {} peers, against {}",
            last.options().movement.name(),
            last.name,
            first.name
        )
    };
    vec![
        ExperimentClaim::at_most(
            words("bytes that a peer sends"),
            PAPER,
            ratio("average_bytes_per_second"),
            FLAT,
        ),
        ExperimentClaim::at_most(words("neighbours"), PAPER, ratio("neighbours"), FLAT),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::part::VastPart;
    use super::super::results::{Cost, Summary, VastResults};
    use super::*;

    fn series(options: VastOptions, summary: Summary, samples: Vec<OverlaySample>) -> Series {
        let run = VastResults {
            experiment: "vast",
            options: options.clone(),
            samples,
            summary,
            by_kind: Vec::new(),
            violations: Vec::new(),
            history: String::new(),
            settled_at: 105.0,
            cost: Cost::default(),
        };
        Series { name: options.name().to_owned(), runs: vec![run], maps: Vec::new() }
    }

    fn failing(series: Series) -> String {
        let measured = VastMeasurements { run: vec![series], ..VastMeasurements::default() };
        failures(&measured).into_iter().map(|it| it.claim).collect::<Vec<_>>().join("; ")
    }

    fn count(series: Series) -> usize {
        claims(&VastMeasurements { run: vec![series], ..VastMeasurements::default() }).len()
    }

    fn random() -> Summary {
        Summary {
            average_bytes_per_second: 846.0,
            neighbours: 6.1,
            largest_worst: 99.0,
            missing: 0.1,
            ..Summary::default()
        }
    }

    fn groups() -> Summary {
        Summary {
            average_bytes_per_second: 1_260.0,
            neighbours: 9.6,
            components_max: 48,
            missing: 2.8,
            ..Summary::default()
        }
    }

    #[test]
    fn each_of_the_papers_claims_can_fail() {
        let judged = |walk, good: fn() -> Summary, change: fn(&mut Summary)| {
            let mut summary = good();
            change(&mut summary);
            failing(series(VastOptions::paper(walk), summary, Vec::new()))
        };
        assert_eq!(judged(WalkPattern::Random, random, |_| ()), "");
        assert_eq!(judged(WalkPattern::Groups, groups, |_| ()), "");
        assert!(
            judged(WalkPattern::Random, random, |it| it.average_bytes_per_second = 910.0).contains("table 1")
        );
        assert!(judged(WalkPattern::Random, random, |it| it.neighbours = 5.2).contains("table 2"));
        assert!(judged(WalkPattern::Random, random, |it| it.largest_worst = 97.0).contains("largest"));
        assert!(judged(WalkPattern::Random, random, |it| it.missing = 0.4).contains("figure 3"));
        assert!(judged(WalkPattern::Groups, groups, |it| it.components_max = 20).contains("components"));
        assert!(judged(WalkPattern::Groups, groups, |it| it.missing = 1.0).contains("figure 4"));
    }

    #[test]
    fn the_papers_averages_are_not_compared_with_other_worlds() {
        let short = VastOptions { hours: 1.0, ..VastOptions::paper(WalkPattern::Random) };
        let wide = VastOptions { aoi: 90.0, ..VastOptions::paper(WalkPattern::Random) };
        let lossy = VastOptions { loss: 0.01, ..VastOptions::paper(WalkPattern::Random) };
        let counts = [short, wide, lossy].map(|it| count(series(it, random(), Vec::new())));
        assert_eq!(counts, [0, 0, 0]);
        let wire = VastOptions { sizes: MessageSizes::Wire, ..VastOptions::paper(WalkPattern::Random) };
        assert_eq!(count(series(wire, random(), Vec::new())), 3);
    }

    fn sample(t: f64) -> OverlaySample {
        OverlaySample { t, consistency: 100.0, components: 1, ..OverlaySample::default() }
    }

    #[test]
    fn ours_is_excused_for_a_while_and_then_judged() {
        let calm =
            VastOptions { protocol: Protocol::Fixed, hours: 0.1, ..VastOptions::paper(WalkPattern::Groups) };
        let judged = |options: &VastOptions, samples: &[OverlaySample]| {
            failing(series(options.clone(), Summary::default(), samples.to_vec()))
        };
        let torn = |t| OverlaySample { components: 2, consistency: 50.0, ..sample(t) };
        // Samples before all peers have joined do not count.
        assert_eq!(judged(&calm, &[torn(100.0), sample(200.0)]), "");
        assert!(judged(&calm, &[sample(110.0), torn(200.0)]).contains("components, at most"));
        let cut = VastOptions { cut: Some((60, 200)), ..calm.clone() };
        assert_eq!(judged(&cut, &[sample(110.0), torn(255.0), torn(270.0), sample(280.0)]), "");
        let late = judged(&cut, &[sample(110.0), torn(276.0), sample(300.0)]);
        assert!(late.contains("15 s after the cut") && !late.contains("consistency"), "{late}");
        let fail = VastOptions { fail: Some((25, 200)), ..calm };
        assert_eq!(judged(&fail, &[sample(110.0), torn(205.0), sample(210.0)]), "");
        assert!(judged(&fail, &[sample(110.0), torn(211.0)]).contains("10 s after the failure"));
        let lossy = VastOptions { loss: 0.2, ..fail };
        assert_eq!(judged(&lossy, &[sample(110.0), torn(211.0)]), "", "nothing is claimed of so many losses");
    }

    #[test]
    fn larger_worlds_must_not_cost_more() {
        let row = |peers, bytes| {
            let options = VastOptions { peers, ..VastOptions::of(VastPart::Scaling) };
            let summary = Summary { average_bytes_per_second: bytes, neighbours: 9.0, ..Summary::default() };
            series(options, summary, Vec::new())
        };
        let measured = |last| VastMeasurements {
            scaling: vec![row(500, 1_000.0), row(4_000, last)],
            ..VastMeasurements::default()
        };
        assert_eq!((failures(&measured(1_090.0)).len(), claims(&measured(1_090.0)).len()), (0, 2));
        assert_eq!(failures(&measured(1_110.0)).len(), 1);
    }
}
