//! A page that tells what came of it: both protocols beside each other, figures, and maps.

mod map;

pub use crate::report::{ReportError, prepare};

use super::results::{Results, json};
use super::setting::{Options, Walk, paper_tables};
use super::world::{Case, Ran};
use crate::report::{Curve, Frame, SeriesLabelPosition, draw, fill};
use serde::Serialize;
use std::path::Path;

const TEMPLATE: &str = include_str!("report.html");

/// One protocol's run.
pub struct Told<'a> {
    /// What it was called.
    pub name: &'a str,
    /// What came of it.
    pub results: &'a Results,
    /// The run itself.
    pub ran: &'a Ran,
}

/// Everything the template speaks of.
#[derive(Serialize)]
struct Page<'a> {
    hours: f64,
    loss: f64,
    churn_minutes: Option<f64>,
    peers: u32,
    seed: u64,
    movement: Walk,
    paper: Option<(f64, f64, f64)>,
    rows: Vec<(&'a str, &'a Results)>,
    figures: Vec<String>,
    maps: Vec<(String, String, String)>,
}

/// Writes the whole report into `directory`.
pub fn write(directory: &Path, options: &Options, case: &Case, told: &[Told<'_>]) -> Result<(), ReportError> {
    prepare(directory)?;
    let figures = figures(told)?;
    let maps: Vec<_> = told
        .iter()
        .map(|it| {
            let whole = map::whole(&it.ran.dots, case.ground.side, case.config.aoi);
            (it.name.to_owned(), whole, map::close(&it.ran.dots, case.config.aoi))
        })
        .collect();
    let page = Page {
        hours: options.hours,
        loss: options.loss,
        churn_minutes: options.churn_minutes,
        peers: options.peers,
        seed: options.seed,
        movement: options.movement,
        paper: paper_tables(options.movement),
        rows: told.iter().map(|it| (it.name, it.results)).collect(),
        figures: figures.iter().map(|it| it.1.clone()).collect(),
        maps: maps.clone(),
    };
    let page = fill(TEMPLATE, page)?;
    let mut files = vec![("report.html".to_owned(), page)];
    files.extend(figures.into_iter().map(|(name, svg)| (name.to_owned(), svg)));
    files.extend(told.iter().map(|it| (format!("{}.json", it.name), json(it.results))));
    for (name, whole, close) in maps {
        files.extend([(format!("map-{name}.svg"), whole), (format!("map-{name}-close.svg"), close)]);
    }
    let files: Vec<(&str, &str)> = files.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
    crate::report::write(directory, &files)
}

/// Missing and superfluous over time (the paper's figures 3 and 4), components, and consistency.
fn figures(told: &[Told<'_>]) -> Result<Vec<(&'static str, String)>, ReportError> {
    let curves = |words: &str, of: fn(&super::Sample) -> f64| -> Vec<Curve> {
        let curve = |it: &Told<'_>| Curve {
            name: format!("{}{words}", it.name),
            ours: it.results.samples.iter().map(|it| (it.t / 60.0, of(it))).collect(),
            paper: Vec::new(),
        };
        told.iter().map(curve).collect()
    };
    let frame = |title, y| Frame { title, x: "minutes", y, key: SeriesLabelPosition::UpperLeft };
    let wrong: Vec<Curve> = curves(", missing", |it| it.missing)
        .into_iter()
        .chain(curves(", superfluous", |it| it.superfluous))
        .collect();
    Ok(vec![
        ("entries.svg", draw(&frame("Missing and superfluous entries", "per peer"), &wrong)?),
        (
            "components.svg",
            draw(&frame("Parts of the overlay", "components"), &curves("", |it| it.components as f64))?,
        ),
        (
            "consistency.svg",
            draw(
                &frame("Pairs in view that do not know each other", "%"),
                &curves("", |it| 100.0 - it.consistency),
            )?,
        ),
        ("neighbours.svg", draw(&frame("Length of lists", "neighbours"), &curves("", |it| it.neighbours))?),
    ])
}
