//! The overlay over time: the paper's figures 3 and 4, and what they do not show.

use crate::report::{Curve, Frame, ReportError, SeriesLabelPosition, draw};
use crate::vast::oracle::Sample;
use crate::vast::series::Series;

/// A drawing and the name of its file, without the ending.
pub(super) type Drawing = (String, String);

/// All figures of one way of walking.
pub(super) fn over_time(walk: &str, series: &[&Series]) -> Result<Vec<Drawing>, ReportError> {
    let figure = |name: &str, title: &str, y: &str, of: fn(&Sample) -> f64| {
        let title = format!("{title}, {walk}");
        let frame = Frame { title: &title, x: "minutes", y, key: SeriesLabelPosition::UpperLeft };
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
