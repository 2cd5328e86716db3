//! All runs together.

use super::quality::{BandQuality, Quality};
use super::run::{Load, Measured, run};
use super::square::{self, SquareRow};
use super::turn::{self, TurnRow};
use super::{Candidate, Setting, Sizes, paper};
use interest::PolicyError;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything the experiment measured.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// Always `a3`.
    pub experiment: &'static str,
    /// `stated` or `fitted`.
    pub setting: &'static str,
    /// Where chance started.
    pub seed: u64,
    /// `paper` or `wire`.
    pub sizes: &'static str,
    /// Runs behind each row.
    pub runs: u32,
    /// Simulated seconds of each run.
    pub seconds: f64,
    /// One row per avatar count and policy.
    pub rows: Vec<Row>,
    /// What A³ saves, in per cent, mean over avatar counts.
    pub savings: Savings,
    /// What circle-attenuated alone saves of circle.
    pub attenuation_saves: Saved,
    /// Per policy, how old and wrong the client's knowledge was.
    pub quality: Vec<QualityRow>,
    /// What a circle carries in squares of different size.
    pub squares: Vec<SquareRow>,
    /// Per policy, how long turning round leaves a player blind.
    pub turns: Vec<TurnRow>,
}

/// Bytes per second of one policy at one avatar count, mean over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// How many avatars, the observer among them.
    pub avatars: u32,
    /// The policy.
    pub policy: String,
    /// Bytes over the whole duration.
    pub average: f64,
    /// The standard deviation of that between runs.
    pub average_spread: f64,
    /// The largest single second.
    pub maximum: f64,
    /// `average` with what UDP and QUIC add to each datagram; null for the paper's sizes.
    pub average_with_headers: Option<f64>,
    /// `maximum` with what UDP and QUIC add to each datagram; null for the paper's sizes.
    pub maximum_with_headers: Option<f64>,
    /// What the paper printed.
    pub paper_average: Option<u32>,
    /// What the paper printed.
    pub paper_maximum: Option<u32>,
}

/// What A³ saves of each other policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Savings {
    /// Of the averages, by policy.
    pub average: BTreeMap<String, f64>,
    /// Of the maxima, by policy.
    pub maximum: BTreeMap<String, f64>,
}

/// A saving in per cent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Saved {
    /// Of the averages.
    pub average: f64,
    /// Of the maxima.
    pub maximum: f64,
}

/// One policy's quality, band by band.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QualityRow {
    /// The policy.
    pub policy: String,
    /// Its bands, the most relevant first.
    pub bands: Vec<BandQuality>,
}

/// Runs the whole experiment on all cores. `done` is called after each of [`steps`] steps, from any
/// thread.
pub fn measure(
    setting: &Setting,
    candidates: &[Candidate],
    done: &(dyn Fn() + Sync),
) -> Result<Results, PolicyError> {
    // The largest crowds first: the last steps to finish are then short ones.
    let mut steps: Vec<(u32, usize, u32)> = Vec::new();
    for &avatars in setting.avatars.iter().rev() {
        steps.extend(
            (0..candidates.len()).flat_map(|it| (0..setting.runs).map(move |run| (avatars, it, run))),
        );
    }
    let squares = square::measure(setting, middling(setting), done)?;
    let turns = candidates.par_iter().map(|candidate| {
        let row = turn::measure(setting, candidate, middling(setting));
        done();
        row
    });
    let measured = steps.par_iter().map(|&(avatars, candidate, number)| {
        let measured = run(setting, &candidates[candidate], avatars, number);
        done();
        measured
    });
    let (turns, measured) =
        rayon::join(|| turns.collect::<Result<_, _>>(), || measured.collect::<Result<Vec<_>, _>>());
    let measured = measured?;
    let of = |avatars: u32, candidate: usize| -> Vec<&Measured> {
        let matching =
            steps.iter().zip(&measured).filter(|(step, _)| (step.0, step.1) == (avatars, candidate));
        matching.map(|(_, measured)| measured).collect()
    };
    let mut rows = Vec::new();
    for &avatars in &setting.avatars {
        for (number, candidate) in candidates.iter().enumerate() {
            rows.push(row(setting, candidate, avatars, &of(avatars, number)));
        }
    }
    let mut quality = Vec::new();
    for (number, candidate) in candidates.iter().enumerate() {
        let mut merged = Quality::new(setting)?;
        setting.avatars.iter().flat_map(|&it| of(it, number)).for_each(|it| merged.merge(&it.quality));
        quality.push(QualityRow { policy: candidate.name().into(), bands: merged.summary() });
    }
    Ok(Results {
        experiment: "a3",
        setting: setting.reading.name(),
        seed: setting.seed,
        sizes: setting.sizes.name(),
        runs: setting.runs,
        seconds: setting.duration.as_secs_f64(),
        savings: savings(&rows),
        attenuation_saves: saved(&rows, "circle-attenuated", "circle"),
        rows,
        quality,
        squares,
        turns: turns?,
    })
}

/// How many steps [`measure`] takes.
pub fn steps(setting: &Setting, candidates: &[Candidate]) -> u64 {
    let side_steps = candidates.len() + square::WORLDS.len();
    candidates.len() as u64 * setting.avatars.len() as u64 * u64::from(setting.runs) + side_steps as u64
}

/// What does not depend on the crowd's size is measured once, in one of middling size.
fn middling(setting: &Setting) -> u32 {
    setting.avatars[(setting.avatars.len() - 1) / 2]
}

fn row(setting: &Setting, candidate: &Candidate, avatars: u32, runs: &[&Measured]) -> Row {
    let mean = |of: &dyn Fn(&Measured) -> f64| runs.iter().map(|it| of(it)).sum::<f64>() / runs.len() as f64;
    let average = mean(&|it| it.payload.average);
    let variance = mean(&|it| (it.payload.average - average).powi(2));
    let with_headers = |of: fn(&Load) -> f64| match setting.sizes {
        Sizes::Paper => None,
        Sizes::Wire => Some(mean(&|it| of(&it.with_headers))),
    };
    let printed = paper::printed(avatars, candidate.name()).filter(|_| setting.sizes == Sizes::Paper);
    Row {
        avatars,
        policy: candidate.name().into(),
        average,
        average_spread: variance.sqrt(),
        maximum: mean(&|it| it.payload.maximum),
        average_with_headers: with_headers(|it| it.average),
        maximum_with_headers: with_headers(|it| it.maximum),
        paper_average: printed.map(|it| it.0),
        paper_maximum: printed.map(|it| it.1),
    }
}

fn savings(rows: &[Row]) -> Savings {
    let mut savings = Savings { average: BTreeMap::new(), maximum: BTreeMap::new() };
    let others: std::collections::BTreeSet<&str> = rows.iter().map(|it| it.policy.as_str()).collect();
    for other in others.into_iter().filter(|&it| it != "a3") {
        let Saved { average, maximum } = saved(rows, "a3", other);
        savings.average.insert(other.into(), average);
        savings.maximum.insert(other.into(), maximum);
    }
    savings
}

/// What `policy` saves of `other`, mean over avatar counts, as the paper's table III counts it.
fn saved(rows: &[Row], policy: &str, other: &str) -> Saved {
    let of = |name: &str| rows.iter().filter(|it| it.policy == name).collect::<Vec<_>>();
    let (ours, theirs) = (of(policy), of(other));
    let mean = |value: fn(&Row) -> f64| {
        let share = |(ours, theirs): (&&Row, &&Row)| 100.0 * (1.0 - value(ours) / value(theirs));
        ours.iter().zip(&theirs).map(share).sum::<f64>() / ours.len() as f64
    };
    Saved { average: mean(|it| it.average), maximum: mean(|it| it.maximum) }
}
