//! The paper's three figures, and three of ours.

use crate::mesh::results::{MeshResults, MeshRow};
use crate::report::{Curve, FigureFrame, ReportError, SeriesLabelPosition, draw};

/// File names and drawings of all parts that were run.
pub(super) fn all(results: &MeshResults) -> Result<Vec<(&'static str, String)>, ReportError> {
    let mut figures = Vec::new();
    let mut add = |name, frame: &FigureFrame<'_>, curves: Vec<Curve>| -> Result<(), ReportError> {
        if curves.iter().any(|it| !it.ours.is_empty()) {
            figures.push((name, draw(frame, &curves)?));
        }
        Ok(())
    };
    let (one, three): (Vec<&MeshRow>, Vec<&MeshRow>) =
        results.servers.iter().partition(|it| it.measured.servers == 1);
    let borders: Vec<&MeshRow> = results.borders.iter().collect();
    add("borders.svg", &timing("200 clients on three servers (figure 4)"), times(&borders))?;
    add("one-server.svg", &timing("One server (figure 5)"), times(&one))?;
    add("three-servers.svg", &timing("Three servers (figure 6)"), times(&three))?;
    let key = SeriesLabelPosition::UpperLeft;
    let load = FigureFrame { title: "How long an event takes", x: "clients", y: "mean, ms", key };
    let took = |name: &str, rows: &[&MeshRow]| {
        let ours = rows.iter().map(|it| (it.at, it.measured.event_ms.mean)).collect();
        Curve { name: name.to_owned(), ours, paper: Vec::new() }
    };
    add("load.svg", &load, vec![took("one server", &one), took("three servers", &three)])?;
    let key = SeriesLabelPosition::UpperLeft;
    let distance =
        FigureFrame { title: "Servers far apart", x: "one way between servers, ms", y: "median, ms", key };
    let of = |name: &str, y: fn(&MeshRow) -> f64| curve(name, &results.distance, y);
    let curves = vec![
        of("event within a zone", |it| it.measured.local_ms.p50),
        of("event of several zones", |it| it.measured.joint_ms.p50),
        of("transfer", |it| it.measured.transfer_ms.p50),
    ];
    add("distance.svg", &distance, curves)?;
    let key = SeriesLabelPosition::UpperLeft;
    let share = FigureFrame {
        title: "Clients at borders",
        x: "share of clients, %",
        y: "per client and second",
        key,
    };
    let of = |name: &str, y: fn(&MeshRow) -> f64| curve(name, &results.share, y);
    let curves = vec![
        of("messages", |it| it.measured.messages.all()),
        of("of these between zones", |it| it.measured.messages.between_zones),
    ];
    add("share.svg", &share, curves)?;
    let key = SeriesLabelPosition::LowerRight;
    let scaling = FigureFrame { title: "Ever larger worlds", x: "zones", y: "per client and second", key };
    let of = |name: &str, y: fn(&MeshRow) -> f64| curve(name, &results.scaling, y);
    let curves = vec![
        of("messages", |it| it.measured.messages.all()),
        of("units of work", |it| it.measured.work),
        of("messages between zones", |it| it.measured.messages.between_zones),
    ];
    add("zones.svg", &scaling, curves)?;
    Ok(figures)
}

fn timing(title: &str) -> FigureFrame<'_> {
    FigureFrame { title, x: "events", y: "seconds", key: SeriesLabelPosition::UpperLeft }
}

/// Curves of time over events, one for each row.
fn times(rows: &[&MeshRow]) -> Vec<Curve> {
    let curve = |row: &&MeshRow| {
        let thousands = (1..).map(|it| f64::from(it) * 1_000.0);
        let ours = thousands.zip(row.measured.seconds.iter().copied()).collect();
        Curve { name: row.name.clone(), ours, paper: Vec::new() }
    };
    rows.iter().map(curve).collect()
}

fn curve(name: &str, rows: &[MeshRow], y: fn(&MeshRow) -> f64) -> Curve {
    let ours = rows.iter().map(|it| (it.at, y(it))).collect();
    Curve { name: name.to_owned(), ours, paper: Vec::new() }
}
