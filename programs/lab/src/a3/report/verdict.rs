//! The paper's claims, one by one, and whether they come out.

use crate::a3::{FITTED_WORLD, Results, STATED_WORLD, paper};
use serde::Serialize;

/// One claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// What the paper says.
    pub claim: String,
    /// What it is about.
    pub about: About,
    /// Its number.
    pub paper: f64,
    /// Ours.
    pub ours: f64,
    /// How far apart they may be to agree, in points.
    pub tolerance: f64,
    /// Whether they agree.
    pub holds: bool,
}

/// What a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// A saving of average bandwidth.
    AverageSaving,
    /// A saving of maximum bandwidth. Each maximum is one second of all runs: it grows with their number, and how many the
    /// paper made is not printed. It is shown beside the paper's, and no exit code hangs on it.
    MaximumSaving,
    /// Bandwidth without management.
    Traffic,
}

/// How near an average saving must come, in points; the tables themselves scatter by as much.
const AVERAGE_POINTS: f64 = 3.0;
/// The attenuated circle is described too vaguely for more.
const ATTENUATED_POINTS: f64 = 5.0;
const MAXIMUM_POINTS: f64 = 5.0;
/// Bandwidth without management is plain arithmetic.
const TRAFFIC_PERCENT: f64 = 1.0;

impl Verdict {
    fn new(about: About, claim: String, paper: f64, ours: f64, tolerance: f64) -> Self {
        Self { claim, about, paper, ours, tolerance, holds: (ours - paper).abs() <= tolerance }
    }
}

/// Whether the paper says something about all of what was run: its policies, and numbers of avatars that it tried.
fn is_judged(results: &Results) -> bool {
    let is_there = |policy: &&str| results.savings.average.contains_key(*policy);
    let of_the_paper = |it: &&crate::a3::Row| paper::POLICIES.contains(&it.policy.as_str());
    paper::POLICIES[..4].iter().all(is_there)
        && results.rows.iter().filter(of_the_paper).all(|it| it.paper_average.is_some())
}

/// A verdict per claim; none if the paper says nothing about what was run.
pub fn verdicts(results: &Results) -> Vec<Verdict> {
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

/// What A³ saves of one policy, and what the paper says of it, if it says anything about what was run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Beside {
    pub(super) policy: String,
    pub(super) average: (f64, Option<f64>),
    pub(super) maximum: (f64, Option<f64>),
}

/// What A³ saves of every policy, in the order they were run: also of those that the paper does not know. Nothing if A³
/// was not among them.
pub(super) fn savings_beside(results: &Results) -> Vec<Beside> {
    if results.quality.iter().all(|it| it.policy != "a3") {
        return Vec::new();
    }
    let is_judged = is_judged(results);
    let beside = |policy: &String| {
        let paper = paper::savings(policy).filter(|_| is_judged);
        Some(Beside {
            average: (*results.savings.average.get(policy)?, paper.map(|it| it.0)),
            maximum: (*results.savings.maximum.get(policy)?, paper.map(|it| it.1)),
            policy: policy.clone(),
        })
    };
    results.quality.iter().filter_map(|it| beside(&it.policy)).collect()
}

/// A saving of the average and of the maximum, in per cent.
fn savings(claim: &str, paper: (f64, f64), ours: (f64, f64), points: f64) -> [Verdict; 2] {
    let say = |of: &str| format!("{claim}, {of}, %");
    [
        Verdict::new(About::AverageSaving, say("average"), paper.0, ours.0, points),
        Verdict::new(About::MaximumSaving, say("maximum"), paper.1, ours.1, MAXIMUM_POINTS),
    ]
}

fn traffic(results: &Results) -> Option<Verdict> {
    let differences = results
        .rows
        .iter()
        .filter(|it| it.policy == "none")
        .filter_map(|it| it.paper_average.map(|printed| 100.0 * (it.average / f64::from(printed) - 1.0)));
    let worst = differences.max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
    let claim = "traffic without management, worst difference, %".into();
    Some(Verdict::new(About::Traffic, claim, 0.0, worst, TRAFFIC_PERCENT))
}

/// The claims that hold or fall with the setting and do not come out.
pub fn failures(results: &Results) -> Vec<Verdict> {
    let judged = |it: &Verdict| it.about != About::MaximumSaving;
    verdicts(results).into_iter().filter(|it| judged(it) && !it.holds).collect()
}

/// How far A³'s four average savings are from the paper's: the root of the mean square difference, in points, by which
/// `scripts/fit-a3.sh` chooses the fitted setting; none if the paper says nothing about what was run.
pub fn misfit(results: &Results) -> Option<f64> {
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

/// What the report says about the world's size, and about whether the paper can be compared with.
pub(super) fn finding(results: &Results) -> String {
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
