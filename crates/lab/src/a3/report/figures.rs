//! The paper's two figures with its own curves beside ours, and the one that finds the square.
//!
//! Everything plotters is in this file, so that it can be replaced.

use super::ReportError;
use crate::a3::{Results, Row, SquareRow, paper};
use plotters::element::DashedPathElement;
use plotters::prelude::*;

const SIZE: (u32, u32) = (860, 520);
const FONT: &str = "sans-serif";
/// Told apart by colour-blind readers too (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 0, 0),
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
];

/// Bandwidth grows to the right, so the upper left is free.
const KEY: SeriesLabelPosition = SeriesLabelPosition::UpperLeft;

/// One curve: its name, its points, and the paper's points if it has them.
struct Curve {
    name: String,
    ours: Vec<(f64, f64)>,
    paper: Vec<(f64, f64)>,
}

/// The words around a figure.
struct Frame<'a> {
    title: &'a str,
    x: &'a str,
    y: &'a str,
    /// Where the key does not hide a curve.
    key: SeriesLabelPosition,
}

/// Average bandwidth over the number of avatars (the paper's figure 7).
pub(super) fn average(results: &Results) -> Result<String, ReportError> {
    let frame = Frame { title: "Average bandwidth", x: "avatars", y: "bytes per second", key: KEY };
    draw(&frame, &curves(results, |it| it.average, |it| it.paper_average))
}

/// Maximum bandwidth over the number of avatars (the paper's figure 6).
pub(super) fn maximum(results: &Results) -> Result<String, ReportError> {
    let frame =
        Frame { title: "Maximum bandwidth", x: "avatars", y: "bytes in the largest second", key: KEY };
    draw(&frame, &curves(results, |it| it.maximum, |it| it.paper_maximum))
}

/// The circle's share of all traffic over the world's size.
pub(super) fn squares(results: &Results) -> Result<String, ReportError> {
    let share = |it: &SquareRow| (it.world, 100.0 * it.circle_share);
    let ours: Vec<(f64, f64)> = results.squares.iter().map(share).collect();
    let (view, level) = (results.options.view, 100.0 * paper::circle_share());
    // The paper's share is that of its own circle.
    let paper = ours.iter().filter(|_| view == paper::VIEW).map(|it| (it.0, level)).collect();
    let frame = Frame {
        title: "Which square do the tables fit?",
        x: "side of the world, metres",
        y: "circle's share of all traffic, %",
        key: SeriesLabelPosition::UpperRight,
    };
    draw(&frame, &[Curve { name: format!("circle of {view} m"), ours, paper }])
}

fn curves(results: &Results, ours: fn(&Row) -> f64, paper: fn(&Row) -> Option<u32>) -> Vec<Curve> {
    let of = |policy: &str| {
        let rows = || results.rows.iter().filter(|it| it.policy == policy);
        let printed = |row: &Row| paper(row).map(|it| (f64::from(row.avatars), f64::from(it)));
        Curve {
            name: policy.to_owned(),
            ours: rows().map(|it| (f64::from(it.avatars), ours(it))).collect(),
            paper: rows().filter_map(printed).collect(),
        }
    };
    results.quality.iter().map(|it| of(&it.policy)).collect()
}

fn draw(frame: &Frame<'_>, curves: &[Curve]) -> Result<String, ReportError> {
    let mut svg = String::new();
    draw_into(&mut svg, frame, curves).map_err(|error| ReportError::Draw(error.to_string()))?;
    Ok(svg)
}

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

fn draw_into(svg: &mut String, frame: &Frame<'_>, curves: &[Curve]) -> Drawn {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let points = || curves.iter().flat_map(|it| it.ours.iter().chain(&it.paper));
    let top = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(1.0, f64::max) * 1.05;
    let mut chart = ChartBuilder::on(&area)
        .caption(frame.title, (FONT, 22))
        .margin(14)
        .x_label_area_size(48)
        .y_label_area_size(76)
        .build_cartesian_2d(0.0..top(|it| it.0), 0.0..top(|it| it.1))?;
    let number = |it: &f64| format!("{it:.0}");
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(frame.x).y_desc(frame.y).x_label_formatter(&number).y_label_formatter(&number);
    mesh.axis_desc_style((FONT, 15)).label_style((FONT, 13)).light_line_style(WHITE).draw()?;
    for (curve, &colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let key = move |(x, y): (i32, i32)| PathElement::new([(x, y), (x + 22, y)], colour.stroke_width(2));
        chart
            .draw_series(LineSeries::new(curve.ours.clone(), colour.stroke_width(2)))?
            .label(&*curve.name)
            .legend(key);
        chart.draw_series(curve.ours.iter().map(|&at| Circle::new(at, 3, colour.filled())))?;
        if !curve.paper.is_empty() {
            let dashed = move |(x, y): (i32, i32)| {
                DashedPathElement::new([(x, y), (x + 22, y)], 4, 4, colour.stroke_width(1))
            };
            let dashes = DashedLineSeries::new(curve.paper.iter().copied(), 5, 4, colour.stroke_width(1));
            chart.draw_series(dashes)?.label(format!("{}, the paper", curve.name)).legend(dashed);
            chart.draw_series(curve.paper.iter().map(|&at| Cross::new(at, 3, colour.stroke_width(1))))?;
        }
    }
    let mut labels = chart.configure_series_labels();
    labels.position(frame.key.clone()).label_font((FONT, 13));
    labels.background_style(WHITE.mix(0.85)).border_style(BLACK.mix(0.3)).draw()?;
    area.present()
}
