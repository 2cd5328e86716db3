//! Figures: our curves with the paper's beside them.
//!
//! Only this file uses the crate plotters, so that it can be replaced.

use super::ReportError;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

pub(crate) use plotters::prelude::SeriesLabelPosition;

const SIZE: (u32, u32) = (860, 520);
const FONT: &str = "sans-serif";
/// Axes that end below this are labelled with tenths.
const FINE_BELOW: f64 = 10.0;
/// Factor by which a figure is higher than its highest point, so that the key above the curves hides none.
const HEADROOM: f64 = 1.3;
/// Colours that colour-blind readers can tell apart, too (Okabe and Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 0, 0),
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
];

/// One curve: its name, our points, and the paper's points if the paper has any.
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) ours: Vec<(f64, f64)>,
    pub(crate) paper: Vec<(f64, f64)>,
}

/// The title, the axes and the place of the key of a figure.
pub(crate) struct FigureFrame<'a> {
    pub(crate) title: &'a str,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    /// Place of the key, chosen so that it hides no curve.
    pub(crate) key: SeriesLabelPosition,
}

/// Draws the curves as SVG.
pub(crate) fn draw(frame: &FigureFrame<'_>, curves: &[Curve]) -> Result<String, ReportError> {
    let mut svg = String::new();
    draw_into(&mut svg, frame, curves).map_err(|error| ReportError::Draw(error.to_string()))?;
    Ok(svg)
}

/// The text of a number on an axis.
fn label(number: f64, fine: bool) -> String {
    let text = if fine { format!("{number:.1}") } else { format!("{number:.0}") };
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

type DrawResult = Result<(), DrawingAreaErrorKind<std::io::Error>>;

fn draw_into(svg: &mut String, frame: &FigureFrame<'_>, curves: &[Curve]) -> DrawResult {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let points = || curves.iter().flat_map(|it| it.ours.iter().chain(&it.paper));
    // At least 1, so that an empty figure has axes, too.
    let top = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(1.0, f64::max) * 1.05;
    let mut chart = ChartBuilder::on(&area)
        .caption(frame.title, (FONT, 24))
        .margin(14)
        .x_label_area_size(54)
        .y_label_area_size(84)
        .build_cartesian_2d(0.0..top(|it| it.0), 0.0..top(|it| it.1) * HEADROOM)?;
    let (fine_x, fine_y) = (top(|it| it.0) < FINE_BELOW, top(|it| it.1) < FINE_BELOW);
    let (number, height) = (move |it: &f64| label(*it, fine_x), move |it: &f64| label(*it, fine_y));
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(frame.x).y_desc(frame.y).x_label_formatter(&number).y_label_formatter(&height);
    mesh.axis_desc_style((FONT, 18)).label_style((FONT, 16)).light_line_style(WHITE).draw()?;
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
    labels.position(frame.key.clone()).label_font((FONT, 16));
    labels.background_style(WHITE.mix(0.85)).border_style(BLACK.mix(0.3)).draw()?;
    area.present()
}
