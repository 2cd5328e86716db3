//! Verdicts on the paper's claims, one by one.

use crate::a3::{A3Results, FITTED_WORLD, STATED_WORLD, paper};
use serde::Serialize;

/// The verdict on one claim of the paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct A3Verdict {
    /// The claim in words, with its unit.
    pub claim: String,
    /// Number of the paper that the claim concerns.
    pub about: ClaimSubject,
    /// The number that the paper printed.
    pub paper: f64,
    /// The number that was measured here.
    pub ours: f64,
    /// The most by which they may differ to agree, in points.
    pub tolerance: f64,
    /// True if the two numbers agree.
    pub holds: bool,
}

/// The subject of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimSubject {
    /// A saving of average bandwidth.
    AverageSaving,
    /// A saving of maximum bandwidth. Each maximum is one second of all runs: it grows with their number, and how many
    /// the paper made is not printed. It is shown beside the paper's, and no exit code hangs on it.
    MaximumSaving,
    /// Bandwidth without any interest management.
    Traffic,
}

/// Tolerance of an average saving, in points; the tables themselves scatter by as much.
const AVERAGE_POINTS: f64 = 3.0;
/// Tolerance for the attenuated circle: the paper describes it too vaguely for a smaller one.
const ATTENUATED_POINTS: f64 = 5.0;
const MAXIMUM_POINTS: f64 = 5.0;
/// Tolerance of the bandwidth without management, in per cent: that is plain arithmetic.
const TRAFFIC_PERCENT: f64 = 1.0;

impl A3Verdict {
    fn new(about: ClaimSubject, claim: String, paper: f64, ours: f64, tolerance: f64) -> Self {
        Self { claim, about, paper, ours, tolerance, holds: (ours - paper).abs() <= tolerance }
    }
}

/// Returns whether the paper's claims apply to the results: they have its policies, and only avatar counts that it
/// tried.
fn is_judged(results: &A3Results) -> bool {
    let is_there = |policy: &&str| results.savings.average.contains_key(*policy);
    let of_the_paper = |it: &&crate::a3::A3Row| paper::POLICIES.contains(&it.policy.as_str());
    paper::POLICIES[..4].iter().all(is_there)
        && results.rows.iter().filter(of_the_paper).all(|it| it.paper_average.is_some())
}

/// The verdicts on all claims; empty if the paper's claims do not apply.
pub fn verdicts(results: &A3Results) -> Vec<A3Verdict> {
    if !is_judged(results) {
        return Vec::new();
    }
    let mut verdicts = Vec::new();
    for policy in &paper::POLICIES[..4] {
        let paper = paper::savings(policy).expect("table III has the paper's policies");
        let points = if *policy == "circle-attenuated" { ATTENUATED_POINTS } else { AVERAGE_POINTS };
        let ours = (results.savings.average[*policy], results.savings.maximum[*policy]);
        verdicts.extend(savings(&format!("A³ saves of {policy}"), paper, ours, points));
    }
    let ours = (results.attenuation_saves.average, results.attenuation_saves.maximum);
    let claim = "attenuation alone saves of circle";
    verdicts.extend(savings(claim, paper::ATTENUATION_SAVES, ours, ATTENUATED_POINTS));
    verdicts.extend(traffic(results));
    verdicts
}

/// The saving of A³ against one policy, with the paper's number beside it if that applies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct SavingComparison {
    pub(super) policy: String,
    pub(super) average: (f64, Option<f64>),
    pub(super) maximum: (f64, Option<f64>),
}

/// The savings of A³ against every policy, in the order of the runs, also against those that the paper does not have.
/// Empty if A³ was not run.
pub(super) fn savings_beside(results: &A3Results) -> Vec<SavingComparison> {
    if results.quality.iter().all(|it| it.policy != "a3") {
        return Vec::new();
    }
    let is_judged = is_judged(results);
    let beside = |policy: &String| {
        let paper = paper::savings(policy).filter(|_| is_judged);
        Some(SavingComparison {
            average: (*results.savings.average.get(policy)?, paper.map(|it| it.0)),
            maximum: (*results.savings.maximum.get(policy)?, paper.map(|it| it.1)),
            policy: policy.clone(),
        })
    };
    results.quality.iter().filter_map(|it| beside(&it.policy)).collect()
}

/// A saving of the average and of the maximum, in per cent.
fn savings(claim: &str, paper: (f64, f64), ours: (f64, f64), points: f64) -> [A3Verdict; 2] {
    let say = |of: &str| format!("{claim}, {of}, %");
    [
        A3Verdict::new(ClaimSubject::AverageSaving, say("average"), paper.0, ours.0, points),
        A3Verdict::new(ClaimSubject::MaximumSaving, say("maximum"), paper.1, ours.1, MAXIMUM_POINTS),
    ]
}

fn traffic(results: &A3Results) -> Option<A3Verdict> {
    let differences = results
        .rows
        .iter()
        .filter(|it| it.policy == "none")
        .filter_map(|it| it.paper_average.map(|printed| 100.0 * (it.average / f64::from(printed) - 1.0)));
    let worst = differences.max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
    let claim = "traffic without management, worst difference, %".into();
    Some(A3Verdict::new(ClaimSubject::Traffic, claim, 0.0, worst, TRAFFIC_PERCENT))
}

/// The claims that do not hold, without those about maxima.
pub fn failures(results: &A3Results) -> Vec<A3Verdict> {
    let judged = |it: &A3Verdict| it.about != ClaimSubject::MaximumSaving;
    verdicts(results).into_iter().filter(|it| judged(it) && !it.holds).collect()
}

/// Root mean square difference of A³'s four average savings from the paper's, in points. `scripts/fit-a3.sh` chooses
/// the fitted setting by it. `None` if the paper's claims do not apply.
pub fn misfit(results: &A3Results) -> Option<f64> {
    if !is_judged(results) {
        return None;
    }
    let policies = &paper::POLICIES[..4];
    let square = |policy: &&str| {
        let (paper, _) = paper::savings(policy).expect("table III has the paper's policies");
        let apart = results.savings.average[*policy] - paper;
        apart * apart
    };
    Some((policies.iter().map(square).sum::<f64>() / policies.len() as f64).sqrt())
}

/// The sentence of the report about the world's size, and whether the paper's tables apply.
pub(super) fn finding(results: &A3Results) -> String {
    let options = &results.options;
    let here = format!("This report uses a square of {}.", options.world);
    if options.view != paper::VIEW {
        return format!(
            "The view distance is not the paper's, so its tables say nothing about these numbers. {here}"
        );
    }
    let share_in = |world: f64| {
        let row = results.squares.iter().find(|it| it.world == world);
        row.map_or(String::from("?"), |it| format!("{:.1}", 100.0 * it.circle_share))
    };
    format!(
        "The paper states a square of {STATED_WORLD}. In its tables a circle of {} carries {:.0} % of all traffic; \
         in such a square it carries {} % (seed {}, {} s). The tables fit a square of about {FITTED_WORLD}, where it \
         carries {} %. {here}",
        paper::VIEW,
        100.0 * paper::circle_share(),
        share_in(STATED_WORLD),
        results.seed,
        options.seconds,
        share_in(FITTED_WORLD),
    )
}
