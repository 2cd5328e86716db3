//! The result of a run.

use crate::Options;
use crate::median::medians;
use crate::row::{Ratios, Row};
use crate::system::System;
use serde::Serialize;

/// The result of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Seconds measured per row.
    pub seconds: f64,
    pub rounds: u32,
    /// Ticks per second of all servers but Ecumene's.
    pub hz: u32,
    pub rows: Vec<RatedRow>,
    /// Ecumene's rows divided by renet's with as many clients.
    pub ecumene_to_renet: Vec<Comparison>,
    /// Texts about the measurements that came to nothing.
    pub failures: Vec<String>,
    /// All rows of all rounds, in the order in which they were measured.
    pub samples: Vec<Row>,
}

/// The medians of a row, and their ratios to plain UDP with as many clients.
#[derive(Debug, Serialize)]
pub struct RatedRow {
    #[serde(flatten)]
    pub row: Row,
    pub cpu_us_per_update: f64,
    /// `None` if plain UDP was not measured.
    pub to_floor: Option<Ratios>,
}

/// One row divided by another.
#[derive(Debug, Serialize)]
pub struct Comparison {
    pub clients: u16,
    pub system: System,
    pub ratios: Ratios,
}

impl Report {
    /// The report of these measurements.
    pub fn new(options: &Options, samples: Vec<Row>, failures: Vec<String>) -> Self {
        let medians = medians(&samples);
        Self {
            seconds: options.seconds,
            rounds: options.rounds,
            hz: options.hz,
            ecumene_to_renet: ecumene_to_renet(&medians),
            rows: medians.iter().map(|it| rated(it, &medians)).collect(),
            failures,
            samples,
        }
    }
}

fn rated(row: &Row, all: &[Row]) -> RatedRow {
    let floor = with_as_many_clients(all, System::Udp, row);
    RatedRow {
        cpu_us_per_update: row.figures.cpu_us_per_update(),
        to_floor: floor.map(|it| row.figures.ratios(&it.figures)),
        row: row.clone(),
    }
}

fn ecumene_to_renet(rows: &[Row]) -> Vec<Comparison> {
    let ecumene = rows.iter().filter(|it| it.system.ecumene_policy().is_some());
    let compared = ecumene.filter_map(|it| {
        let renet = with_as_many_clients(rows, System::Renet, it)?;
        Some(Comparison { clients: it.clients, system: it.system, ratios: it.figures.ratios(&renet.figures) })
    });
    compared.collect()
}

fn with_as_many_clients<'a>(rows: &'a [Row], system: System, row: &Row) -> Option<&'a Row> {
    rows.iter().find(|it| it.system == system && it.clients == row.clients)
}
