//! The paper's claims, one by one, and whether they come out.

use crate::a3::{FITTED_WORLD, Reading, Results, STATED_WORLD, Sizes, paper};
use serde::Serialize;

/// One claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// What the paper says.
    pub claim: String,
    /// Its number.
    pub paper: f64,
    /// Ours.
    pub ours: f64,
    /// How far apart they may be to agree, in points.
    pub tolerance: f64,
    /// Whether they agree.
    pub holds: bool,
    /// Whether it is about averages. Maxima are shown beside the paper's, and judged more mildly: each is
    /// one second of 1200, of one run there and of several here.
    pub about_averages: bool,
}

impl Verdict {
    fn average(claim: String, paper: f64, ours: f64, tolerance: f64) -> Self {
        Self { claim, paper, ours, tolerance, holds: (ours - paper).abs() <= tolerance, about_averages: true }
    }

    fn maximum(claim: String, paper: f64, ours: f64) -> Self {
        Self { about_averages: false, ..Self::average(claim, paper, ours, MAXIMUM_POINTS) }
    }
}

/// How near an average saving must come, in points; the tables themselves scatter by as much.
const AVERAGE_POINTS: f64 = 3.0;
/// The attenuated circle is described too vaguely for more.
const ATTENUATED_POINTS: f64 = 5.0;
/// A maximum is one second out of 1200, so it scatters more.
const MAXIMUM_POINTS: f64 = 5.0;

/// A verdict per claim. Only the paper's own update sizes are judged.
pub fn verdicts(results: &Results) -> Vec<Verdict> {
    if results.sizes != Sizes::Paper.name() {
        return Vec::new();
    }
    let mut verdicts = Vec::new();
    for policy in &paper::POLICIES[..4] {
        let (average, maximum) = paper::savings(policy).expect("table III has the paper's policies");
        let points = if *policy == "circle-attenuated" { ATTENUATED_POINTS } else { AVERAGE_POINTS };
        let ours = (results.savings.average[*policy], results.savings.maximum[*policy]);
        verdicts.push(Verdict::average(format!("A³ saves of {policy}, average, %"), average, ours.0, points));
        verdicts.push(Verdict::maximum(format!("A³ saves of {policy}, maximum, %"), maximum, ours.1));
    }
    let ((average, maximum), ours) = (paper::ATTENUATION_SAVES, results.attenuation_saves);
    let claim = |what: &str| format!("attenuation alone saves of circle, {what}, %");
    verdicts.push(Verdict::average(claim("average"), average, ours.average, ATTENUATED_POINTS));
    verdicts.push(Verdict::maximum(claim("maximum"), maximum, ours.maximum));
    let worst = results
        .rows
        .iter()
        .filter(|it| it.policy == "none")
        .filter_map(|it| it.paper_average.map(|printed| 100.0 * (it.average / f64::from(printed) - 1.0)));
    if let Some(worst) = worst.max_by(|a, b| a.abs().total_cmp(&b.abs())) {
        let claim = "traffic without management, worst difference, %".into();
        verdicts.push(Verdict::average(claim, 0.0, worst, 1.0));
    }
    verdicts
}

/// How far the average savings are from the paper's: the root of the mean square difference, in points.
/// The fitted setting is where this is least.
pub fn misfit(results: &Results) -> Option<f64> {
    let savings: Vec<Verdict> =
        verdicts(results).into_iter().filter(|it| it.about_averages && it.paper != 0.0).collect();
    let squares: f64 = savings.iter().map(|it| (it.ours - it.paper).powi(2)).sum();
    (!savings.is_empty()).then(|| (squares / savings.len() as f64).sqrt())
}

/// What the report says about the world's size.
pub(super) fn finding(results: &Results) -> String {
    let share_in = |world: f64| {
        let row = results.squares.iter().find(|it| it.world == world);
        100.0 * row.map_or(f64::NAN, |it| it.circle_share)
    };
    let stated = format!(
        "The paper states a square of {STATED_WORLD}. In its tables a circle of 120 carries {:.0} % of all traffic; \
         in such a square it carries {:.1} % (seed {}). The tables fit a square of about {FITTED_WORLD}, where it \
         carries {:.1} %.",
        100.0 * paper::circle_share(),
        share_in(STATED_WORLD),
        results.seed,
        share_in(FITTED_WORLD),
    );
    let reading = if results.setting == Reading::Stated.name() {
        " This report uses the parameters as stated, so its numbers cannot match the tables."
    } else {
        " This report uses the fitted square, and lets attenuation start at the critical distance for the circle too."
    };
    stated + reading
}
