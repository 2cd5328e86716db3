//! The report as one page that needs nothing else.

use super::verdict::{Beside, Verdict, finding, savings_beside, verdicts};
use super::{ReportError, area};
use crate::a3::{Candidate, Results, Row, Setting};
use serde::Serialize;

const TEMPLATE: &str = include_str!("report.html");

/// Everything the template speaks of.
#[derive(Serialize)]
struct Page<'a> {
    results: &'a Results,
    rows: Vec<&'a [Row]>,
    savings: Vec<Beside>,
    verdicts: Vec<Verdict>,
    shares_walks: bool,
    finding: String,
    figures: &'a [&'a str],
    areas: Vec<Area>,
    overhead: usize,
}

#[derive(Serialize)]
struct Area {
    policy: String,
    svg: String,
}

/// Fills in the page.
pub(super) fn page(
    setting: &Setting,
    candidates: &[Candidate],
    results: &Results,
    figures: &[&str],
) -> Result<String, ReportError> {
    let page = Page {
        results,
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

/// A drawing per policy, a little wider than the view.
fn areas(setting: &Setting, candidates: &[Candidate]) -> Vec<Area> {
    let half = (setting.view.millimetres() as f32 * 1.15) as i32;
    let draw = |it: &Candidate| {
        let policy = it.policy(setting).ok()?;
        Some(Area { policy: it.name().into(), svg: area::draw(policy.as_ref(), half) })
    };
    candidates.iter().filter_map(draw).collect()
}
