//! The paper's two figures, with its own curves beside ours, and a figure of the square that fits its tables.

use super::ReportError;
use crate::a3::{A3Results, A3Row, SquareRow, paper};
use crate::report::{Curve, FigureFrame, SeriesLabelPosition, draw};

/// Bandwidth grows to the right, so the upper left is free.
const KEY: SeriesLabelPosition = SeriesLabelPosition::UpperLeft;

/// Average bandwidth over the number of avatars (the paper's figure 7).
pub(super) fn average(results: &A3Results) -> Result<String, ReportError> {
    let frame = FigureFrame { title: "Average bandwidth", x: "avatars", y: "bytes per second", key: KEY };
    draw(&frame, &curves(results, |it| it.average, |it| it.paper_average))
}

/// Maximum bandwidth over the number of avatars (the paper's figure 6).
pub(super) fn maximum(results: &A3Results) -> Result<String, ReportError> {
    let frame =
        FigureFrame { title: "Maximum bandwidth", x: "avatars", y: "bytes in the largest second", key: KEY };
    draw(&frame, &curves(results, |it| it.maximum, |it| it.paper_maximum))
}

/// The circle's share of all traffic over the world's size.
pub(super) fn squares(results: &A3Results) -> Result<String, ReportError> {
    let share = |it: &SquareRow| (it.world, 100.0 * it.circle_share);
    let ours: Vec<(f64, f64)> = results.squares.iter().map(share).collect();
    let (view, level) = (results.options.view, 100.0 * paper::circle_share());
    // The paper's share is that of its own circle.
    let paper = ours.iter().filter(|_| view == paper::VIEW).map(|it| (it.0, level)).collect();
    let frame = FigureFrame {
        title: "Which square do the tables fit?",
        x: "side of the world, metres",
        y: "circle's share of all traffic, %",
        key: SeriesLabelPosition::UpperRight,
    };
    draw(&frame, &[Curve { name: format!("circle of {view} m"), ours, paper }])
}

fn curves(results: &A3Results, ours: fn(&A3Row) -> f64, paper: fn(&A3Row) -> Option<u32>) -> Vec<Curve> {
    let of = |policy: &str| {
        let rows = || results.rows.iter().filter(|it| it.policy == policy);
        let printed = |row: &A3Row| paper(row).map(|it| (f64::from(row.avatars), f64::from(it)));
        Curve {
            name: policy.to_owned(),
            ours: rows().map(|it| (f64::from(it.avatars), ours(it))).collect(),
            paper: rows().filter_map(printed).collect(),
        }
    };
    results.quality.iter().map(|it| of(&it.policy)).collect()
}
