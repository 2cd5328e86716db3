//! What the paper claims, and what we claim, one by one, and whether it comes out.

use super::oracle::Sample;
use super::part::Measured;
use super::series::Series;
use super::setting::{Options, Protocol, Sizes, Walk};
use crate::report::{OURS, PAPER};
use overlay::Config;

pub use crate::report::Claim;

/// What the paper says of averages is compared with runs as long as its own.
const FULL_HOURS: f64 = 6.0;

/// What holds for ours holds with losses up to this share, and with sessions of at least so many minutes.
const LOSS_MAX: f64 = 0.05;
const SESSION_MINUTES_MIN: f64 = 30.0;

/// How long after a failure of many nobody must be missing any more, and how long after a cut the overlay must be one
/// again, in seconds.
const AFTER_FAILURE: f64 = 10.0;
const AFTER_CUT: f64 = 15.0;

/// So long after a cut the overlay is not judged by what holds otherwise.
const EXCUSED: f64 = 30.0;

/// What more peers may cost each of them more, if the world is as sparse.
const FLAT: f64 = 1.1;

/// Why some claims may be absent.
pub const NOTE: &str = "The paper's averages are compared only with what it ran: 500 peers, six hours, no loss; our own claims \
                        hold for any length, up to 5 % loss and sessions of 30 minutes.";

/// Every claim about which something was measured.
pub fn claims(measured: &Measured) -> Vec<Claim> {
    measured.run.iter().flat_map(of_run).chain(flat(&measured.scaling)).collect()
}

/// Those that do not come out.
pub fn failures(measured: &Measured) -> Vec<Claim> {
    claims(measured).into_iter().filter(|it| !it.holds).collect()
}

fn of_run(series: &Series) -> Vec<Claim> {
    let options = series.options();
    if options.name() == "fixed" && options.movement == Walk::Gathering {
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
        ("paper", Walk::Random) if calm && full => stays_together(series),
        ("paper", Walk::Groups) if calm && full => falls_apart(series),
        ("paper-insert", Walk::Groups) if calm => one_rule(series),
        ("fixed", Walk::Random | Walk::Groups) if is_bearable(options) => holds_together(series),
        _ => Vec::new(),
    }
}

fn is_in_the_papers_world(options: &Options) -> bool {
    let paper = Options::paper(options.movement);
    (options.rate, options.aoi, options.speed, options.world)
        == (paper.rate, paper.aoi, paper.speed, paper.world)
}

fn is_bearable(options: &Options) -> bool {
    options.loss <= LOSS_MAX && options.churn_minutes.is_none_or(|it| SESSION_MINUTES_MIN <= it)
}

/// A claim's words, after whose run it is.
fn said(series: &Series, what: &str) -> String {
    format!("{}, {}: {what}", series.name, series.options().movement.name())
}

fn mean(series: &Series, name: &str) -> f64 {
    series.mean().at(name).unwrap_or(f64::NAN)
}

fn table_1(series: &Series, bounds: (f64, f64)) -> Option<Claim> {
    let kilobytes = mean(series, "average_bytes_per_second") / 1e3;
    let claim = said(series, "kilobytes per second that a peer sends (table 1)");
    let comparable = series.options().sizes == Sizes::Paper;
    comparable.then(|| Claim::within(claim, PAPER, kilobytes, bounds))
}

fn table_2(series: &Series, bounds: (f64, f64)) -> Claim {
    Claim::within(said(series, "neighbours (table 2)"), PAPER, mean(series, "neighbours"), bounds)
}

fn stays_together(series: &Series) -> Vec<Claim> {
    let largest = said(series, "per cent of peers in the largest component, worst sample");
    let missing = said(series, "missing entries per peer (figure 3)");
    let mut claims: Vec<Claim> = table_1(series, (0.73, 0.90)).into_iter().collect();
    claims.extend([
        table_2(series, (5.3, 6.2)),
        Claim::at_least(largest, PAPER, mean(series, "largest_worst"), 98.0),
        Claim::at_most(missing, PAPER, mean(series, "missing"), 0.3),
    ]);
    claims
}

fn falls_apart(series: &Series) -> Vec<Claim> {
    let parts = said(series, "components, at most");
    let missing = said(series, "missing entries per peer (figure 4)");
    let mut claims: Vec<Claim> = table_1(series, (1.1, 1.35)).into_iter().collect();
    claims.extend([
        table_2(series, (8.0, 10.0)),
        Claim::at_least(parts, PAPER, mean(series, "components_max"), 30.0),
        Claim::at_least(missing, PAPER, mean(series, "missing"), 2.0),
    ]);
    claims
}

/// That the collapse comes from one rule is ours: the paper names two others as well.
fn one_rule(series: &Series) -> Vec<Claim> {
    let parts = said(series, "components, at most");
    let missing = said(series, "missing entries per peer");
    vec![
        Claim::at_most(parts, OURS, mean(series, "components_max"), 2.0),
        Claim::at_most(missing, OURS, mean(series, "missing"), 0.6),
    ]
}

/// However many come together.
fn bears_crowds(series: &Series) -> Vec<Claim> {
    let most = series.runs.iter().map(|it| it.summary.maximum_packet_bytes_per_second).fold(0.0, f64::max);
    let capped = said(series, "bytes that a peer sends in one second, headers included, at most");
    let near = said(series, "per cent of everybody's eight nearest whose every step is heard");
    let cap = Config::fixed().uplink.map(|cap| Claim::at_most(capped, OURS, most, f64::from(cap)));
    let calm = series.options().loss == 0.0;
    let near = calm.then(|| Claim::at_least(near, OURS, mean(series, "near_percent"), 99.0));
    cap.into_iter().chain(near).collect()
}

fn holds_together(series: &Series) -> Vec<Claim> {
    let all = || series.runs.iter().flat_map(|it| settled(it.settled_at, &it.samples));
    let options = series.options();
    let calm: Vec<&Sample> = all().filter(|it| !is_excused(options, it.t)).collect();
    if calm.is_empty() {
        return Vec::new();
    }
    let mean = |of: fn(&Sample) -> f64| calm.iter().map(|it| of(it)).sum::<f64>() / calm.len() as f64;
    let worst = calm.iter().map(|it| it.consistency).fold(100.0, f64::min);
    let parts = calm.iter().map(|it| it.components).max().unwrap_or(0);
    let found: u64 = series.runs.iter().flat_map(|it| &it.violations).map(|it| it.count).sum();
    let mut claims = vec![
        Claim::at_least(said(series, "consistency, %, mean"), OURS, mean(|it| it.consistency), 99.9),
        Claim::at_least(said(series, "consistency, %, worst sample"), OURS, worst, 99.0),
        Claim::at_most(said(series, "components, at most"), OURS, parts as f64, 1.0),
        Claim::at_most(said(series, "missing entries per peer"), OURS, mean(|it| it.missing), 0.2),
        Claim::at_most(said(series, "what the checkers found wrong"), OURS, found as f64, 0.0),
    ];
    claims.extend(options.fail.and_then(|(_, at)| {
        let after = all().filter(|it| at as f64 + AFTER_FAILURE <= it.t).map(|it| it.consistency);
        let claim = said(series, "consistency, %, worst sample from 10 s after the failure on");
        after.reduce(f64::min).map(|it| Claim::at_least(claim, OURS, it, 99.9))
    }));
    claims.extend(options.cut.and_then(|(lasts, at)| {
        let after = all().filter(|it| (at + lasts) as f64 + AFTER_CUT <= it.t).map(|it| it.components);
        let claim = said(series, "components, at most, from 15 s after the cut was mended on");
        after.max().map(|it| Claim::at_most(claim, OURS, it as f64, 1.0))
    }));
    claims
}

fn settled(at: f64, samples: &[Sample]) -> impl Iterator<Item = &Sample> {
    samples.iter().filter(move |it| at <= it.t)
}

/// Whether a failure or a cut has just been, or is.
fn is_excused(options: &Options, t: f64) -> bool {
    let fails = options.fail.is_some_and(|(_, at)| (at as f64..at as f64 + AFTER_FAILURE).contains(&t));
    let cut = |(lasts, at): (u64, u64)| (at as f64..(at + lasts) as f64 + EXCUSED).contains(&t);
    fails || options.cut.is_some_and(cut)
}

/// What a peer sends does not depend on how many there are.
fn flat(rows: &[Series]) -> Vec<Claim> {
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
        Claim::at_most(words("bytes that a peer sends"), PAPER, ratio("average_bytes_per_second"), FLAT),
        Claim::at_most(words("neighbours"), PAPER, ratio("neighbours"), FLAT),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::part::Part;
    use super::super::results::{Cost, Results, Summary};
    use super::*;

    fn series(options: Options, summary: Summary, samples: Vec<Sample>) -> Series {
        let run = Results {
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
        let measured = Measured { run: vec![series], ..Measured::default() };
        failures(&measured).into_iter().map(|it| it.claim).collect::<Vec<_>>().join("; ")
    }

    fn count(series: Series) -> usize {
        claims(&Measured { run: vec![series], ..Measured::default() }).len()
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
            failing(series(Options::paper(walk), summary, Vec::new()))
        };
        assert_eq!(judged(Walk::Random, random, |_| ()), "");
        assert_eq!(judged(Walk::Groups, groups, |_| ()), "");
        assert!(judged(Walk::Random, random, |it| it.average_bytes_per_second = 910.0).contains("table 1"));
        assert!(judged(Walk::Random, random, |it| it.neighbours = 5.2).contains("table 2"));
        assert!(judged(Walk::Random, random, |it| it.largest_worst = 97.0).contains("largest"));
        assert!(judged(Walk::Random, random, |it| it.missing = 0.4).contains("figure 3"));
        assert!(judged(Walk::Groups, groups, |it| it.components_max = 20).contains("components"));
        assert!(judged(Walk::Groups, groups, |it| it.missing = 1.0).contains("figure 4"));
    }

    #[test]
    fn the_papers_averages_are_not_compared_with_other_worlds() {
        let short = Options { hours: 1.0, ..Options::paper(Walk::Random) };
        let wide = Options { aoi: 90.0, ..Options::paper(Walk::Random) };
        let lossy = Options { loss: 0.01, ..Options::paper(Walk::Random) };
        let counts = [short, wide, lossy].map(|it| count(series(it, random(), Vec::new())));
        assert_eq!(counts, [0, 0, 0]);
        let wire = Options { sizes: Sizes::Wire, ..Options::paper(Walk::Random) };
        assert_eq!(count(series(wire, random(), Vec::new())), 3);
    }

    fn sample(t: f64) -> Sample {
        Sample { t, consistency: 100.0, components: 1, ..Sample::default() }
    }

    #[test]
    fn ours_is_excused_for_a_while_and_then_judged() {
        let calm = Options { protocol: Protocol::Fixed, hours: 0.1, ..Options::paper(Walk::Groups) };
        let judged = |options: &Options, samples: &[Sample]| {
            failing(series(options.clone(), Summary::default(), samples.to_vec()))
        };
        let torn = |t| Sample { components: 2, consistency: 50.0, ..sample(t) };
        // Before everybody has joined nothing is judged.
        assert_eq!(judged(&calm, &[torn(100.0), sample(200.0)]), "");
        assert!(judged(&calm, &[sample(110.0), torn(200.0)]).contains("components, at most"));
        let cut = Options { cut: Some((60, 200)), ..calm.clone() };
        assert_eq!(judged(&cut, &[sample(110.0), torn(255.0), torn(270.0), sample(280.0)]), "");
        let late = judged(&cut, &[sample(110.0), torn(276.0), sample(300.0)]);
        assert!(late.contains("15 s after the cut") && !late.contains("consistency"), "{late}");
        let fail = Options { fail: Some((25, 200)), ..calm };
        assert_eq!(judged(&fail, &[sample(110.0), torn(205.0), sample(210.0)]), "");
        assert!(judged(&fail, &[sample(110.0), torn(211.0)]).contains("10 s after the failure"));
        let lossy = Options { loss: 0.2, ..fail };
        assert_eq!(judged(&lossy, &[sample(110.0), torn(211.0)]), "", "nothing is claimed of so many losses");
    }

    #[test]
    fn larger_worlds_must_not_cost_more() {
        let row = |peers, bytes| {
            let options = Options { peers, ..Options::of(Part::Scaling) };
            let summary = Summary { average_bytes_per_second: bytes, neighbours: 9.0, ..Summary::default() };
            series(options, summary, Vec::new())
        };
        let measured =
            |last| Measured { scaling: vec![row(500, 1_000.0), row(4_000, last)], ..Measured::default() };
        assert_eq!((failures(&measured(1_090.0)).len(), claims(&measured(1_090.0)).len()), (0, 2));
        assert_eq!(failures(&measured(1_110.0)).len(), 1);
    }
}
