//! The paper's claims, one by one, and whether they come out.

use crate::a3::{Reading, Results, Sizes, paper};
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
}

impl Verdict {
    fn new(claim: String, paper: f64, ours: f64, tolerance: f64) -> Self {
        Self { claim, paper, ours, tolerance, holds: (ours - paper).abs() <= tolerance }
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
        verdicts.push(Verdict::new(format!("A³ saves of {policy}, average, %"), average, ours.0, points));
        verdicts.push(Verdict::new(
            format!("A³ saves of {policy}, maximum, %"),
            maximum,
            ours.1,
            MAXIMUM_POINTS,
        ));
    }
    let (average, maximum) = paper::ATTENUATION_SAVES;
    let ours = results.attenuation_saves;
    verdicts.push(Verdict::new(
        "attenuation alone saves of circle, average, %".into(),
        average,
        ours.average,
        ATTENUATED_POINTS,
    ));
    verdicts.push(Verdict::new(
        "attenuation alone saves of circle, maximum, %".into(),
        maximum,
        ours.maximum,
        MAXIMUM_POINTS,
    ));
    let worst = results
        .rows
        .iter()
        .filter(|it| it.policy == "none")
        .filter_map(|it| it.paper_average.map(|printed| 100.0 * (it.average / f64::from(printed) - 1.0)));
    if let Some(worst) = worst.max_by(|a, b| a.abs().total_cmp(&b.abs())) {
        verdicts.push(Verdict::new(
            "traffic without management, worst difference, %".into(),
            0.0,
            worst,
            1.0,
        ));
    }
    verdicts
}

/// What the report says about the world's size.
pub(super) fn finding(results: &Results) -> String {
    let share_in = |world: f64| {
        let row = results.squares.iter().find(|it| it.world == world);
        100.0 * row.map_or(f64::NAN, |it| it.circle_share)
    };
    let stated = format!(
        "The paper states a square of 750. In its tables a circle of 120 carries {:.0} % of all traffic; \
         in such a square it carries {:.1} % (seed {}). The tables fit a square of about 278, where it carries {:.1} %.",
        100.0 * paper::circle_share(),
        share_in(750.0),
        results.seed,
        share_in(278.0),
    );
    let reading = if results.setting == Reading::Stated.name() {
        " This report uses the parameters as stated, so its numbers cannot match the tables."
    } else {
        " This report uses the fitted square, and lets attenuation start at the critical distance for the circle too."
    };
    stated + reading
}
