//! The report as one HTML page without external files.

use super::verdict::{A3Verdict, SavingComparison, finding, savings_beside, verdicts};
use super::{ReportError, area};
use crate::a3::{A3Results, A3Row, A3Setting, Candidate};
use serde::Serialize;

const TEMPLATE: &str = include_str!("report.html");

/// Everything that the template of the page shows.
#[derive(Serialize)]
struct A3Page<'a> {
    results: &'a A3Results,
    rows: Vec<&'a [A3Row]>,
    savings: Vec<SavingComparison>,
    verdicts: Vec<A3Verdict>,
    shares_walks: bool,
    finding: String,
    figures: &'a [&'a str],
    areas: Vec<AreaDrawing>,
    overhead: usize,
}

#[derive(Serialize)]
struct AreaDrawing {
    policy: String,
    svg: String,
}

/// Fills in the template of the page.
pub(super) fn page(
    setting: &A3Setting,
    candidates: &[Candidate],
    results: &A3Results,
    figures: &[&str],
) -> Result<String, ReportError> {
    let page = A3Page {
        results,
        // `chunks` panics at zero, which an empty list of candidates would give.
        rows: results.rows.chunks(candidates.len().max(1)).collect(),
        savings: savings_beside(results),
        verdicts: verdicts(results),
        shares_walks: results.together.iter().any(|it| it.correlation.is_some()),
        finding: finding(results),
        figures,
        areas: areas(setting, candidates),
        overhead: wire::QUIC_DATAGRAM_OVERHEAD,
    };
    crate::report::fill(TEMPLATE, page)
}

/// One drawing per policy, a little wider than the view.
fn areas(setting: &A3Setting, candidates: &[Candidate]) -> Vec<AreaDrawing> {
    let half = (setting.view.millimetres() as f32 * 1.15) as i32;
    let draw = |it: &Candidate| {
        let policy = it.policy(setting).ok()?;
        Some(AreaDrawing { policy: it.name().into(), svg: area::draw(policy.as_ref(), half) })
    };
    candidates.iter().filter_map(draw).collect()
}
