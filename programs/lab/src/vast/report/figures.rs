//! Figures of the overlay over time: the paper's figures 3 and 4, and curves that the paper does not show.

use crate::report::{Curve, FigureFrame, ReportError, SeriesLabelPosition, draw};
use crate::vast::oracle::OverlaySample;
use crate::vast::series::Series;

/// The name of a file, without its ending, and the drawing.
pub(super) type Drawing = (String, String);

/// All figures of one pattern of walking.
pub(super) fn over_time(walk: &str, series: &[&Series]) -> Result<Vec<Drawing>, ReportError> {
    let figure = |name: &str, title: &str, y: &str, of: fn(&OverlaySample) -> f64| {
        let title = format!("{title}, {walk}");
        let frame = FigureFrame { title: &title, x: "minutes", y, key: SeriesLabelPosition::UpperLeft };
        let curve = |it: &&Series| Curve { name: it.name.clone(), ours: it.curve(of), paper: Vec::new() };
        let curves: Vec<Curve> = series.iter().map(curve).collect();
        Ok((format!("{walk}-{name}"), draw(&frame, &curves)?))
    };
    let figures = [
        figure("missing", "Missing entries", "per peer", |it| it.missing),
        figure("superfluous", "Superfluous entries", "per peer", |it| it.superfluous),
        figure("components", "Parts of the overlay", "components", |it| it.components as f64),
        figure("consistency", "Pairs in view, the one not known to the other", "%", |it| {
            100.0 - it.consistency
        }),
    ];
    figures.into_iter().collect()
}
