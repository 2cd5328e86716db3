//! All runs together.

use super::quality::{BandQuality, Quality};
use super::run::{Load, Measured, run};
use super::square::{self, SquareRow};
use super::together::{self, Together};
use super::turn::{self, TurnRow};
use super::{Candidate, Setting, Sizes, paper};
use interest::PolicyError;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Everything the experiment measured.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// Always `a3`.
    pub experiment: &'static str,
    /// `stated` or `fitted`.
    pub setting: &'static str,
    /// Where chance started.
    pub seed: u64,
    /// What was run.
    pub options: Ran,
    /// One row per avatar count and policy.
    pub rows: Vec<Row>,
    /// What A³ saves, in per cent, mean over avatar counts.
    pub savings: Savings,
    /// What circle-attenuated alone saves of circle.
    pub attenuation_saves: Saved,
    /// Which policies' columns rise and fall together.
    pub together: Vec<Together>,
    /// Per policy, how old and wrong the client's knowledge was.
    pub quality: Vec<QualityRow>,
    /// What a circle carries in squares of different size.
    pub squares: Vec<SquareRow>,
    /// Per policy, how long turning round leaves a player blind.
    pub turns: Vec<TurnRow>,
}

/// What was run, in a person's units, so that results can be told apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ran {
    /// Runs behind each row.
    pub runs: u32,
    /// Simulated seconds of each run.
    pub seconds: f64,
    /// The side of the square, in metres.
    pub world: f64,
    /// The view distance, in metres.
    pub view: f64,
    /// The critical distance, in metres.
    pub critical: f64,
    /// Where the attenuated circle's attenuation starts, in metres.
    pub critical_of_circle: f64,
    /// The view angle, in degrees.
    pub angle: f64,
    /// The slowest and the fastest walk, in metres per second.
    pub speed: (f64, f64),
    /// The longest pause, in seconds.
    pub pause: f64,
    /// How often the server checked what was due, in milliseconds.
    pub check_ms: u64,
    /// `paper` or `wire`.
    pub sizes: &'static str,
    /// Whether the paper's tables say anything about this.
    pub comparable: bool,
}

/// Bytes per second of one policy at one avatar count, over all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// How many avatars, the observer among them.
    pub avatars: u32,
    /// The policy.
    pub policy: String,
    /// Bytes over the whole duration, mean over the runs.
    pub average: f64,
    /// The standard deviation of that between runs.
    pub average_spread: f64,
    /// The largest single second of all runs.
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

/// Why the experiment cannot be run.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MeasureError {
    /// A policy cannot be made for this setting.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Two policies have one name, or a name would break a table.
    #[error("policies need different names of letters, digits, spaces and - . _ < >; '{0}' will not do")]
    Name(String),
}

/// What makes one row: how many avatars, which candidate.
type Cell = (u32, usize);

/// Runs the whole experiment on all cores. `done` is called after each of [`steps`] steps, from any
/// thread.
pub fn measure(
    setting: &Setting,
    candidates: &[Candidate],
    done: &(dyn Fn() + Sync),
) -> Result<Results, MeasureError> {
    check_names(candidates)?;
    let cells = cells(setting, candidates.len());
    let runs = || {
        let of = |&(avatars, candidate): &Cell| Runs::measure(setting, &candidates[candidate], avatars, done);
        cells.par_iter().map(of).collect::<Result<Vec<_>, _>>()
    };
    let turns =
        || candidates.par_iter().map(|it| noting(done, turn::measure(setting, it, middling(setting))));
    let ((squares, turns), runs) = rayon::join(
        || {
            rayon::join(
                || square::measure(setting, middling(setting), done),
                || turns().collect::<Result<_, _>>(),
            )
        },
        runs,
    );
    let measured: BTreeMap<Cell, Runs> = cells.into_iter().zip(runs?).collect();
    let row = |(cell, runs): (&Cell, &Runs)| row(setting, candidates[cell.1].name(), cell.0, runs);
    let rows: Vec<Row> = measured.iter().map(row).collect();
    Ok(Results {
        experiment: "a3",
        setting: setting.reading.name(),
        seed: setting.seed,
        options: Ran::new(setting),
        savings: savings(&rows),
        attenuation_saves: saved(&rows, "circle-attenuated", "circle"),
        together: together::pairs(&rows),
        rows,
        quality: quality(setting, candidates, &measured)?,
        squares: squares?,
        turns: turns?,
    })
}

/// How many steps [`measure`] takes.
pub fn steps(setting: &Setting, candidates: &[Candidate]) -> u64 {
    let runs = cells(setting, candidates.len()).len() * setting.runs as usize;
    (runs + candidates.len() + square::WORLDS.len()) as u64
}

fn check_names(candidates: &[Candidate]) -> Result<(), MeasureError> {
    let mut seen = BTreeSet::new();
    let is_plain = |it: char| it.is_alphanumeric() || " -._<>".contains(it);
    for name in candidates.iter().map(Candidate::name) {
        if name.is_empty() || !name.chars().all(is_plain) || !seen.insert(name) {
            return Err(MeasureError::Name(name.into()));
        }
    }
    Ok(())
}

/// Every row to make, the largest crowds first: the last ones to finish are then short.
fn cells(setting: &Setting, candidates: usize) -> Vec<Cell> {
    let of = |&avatars: &u32| (0..candidates).map(move |it| (avatars, it));
    setting.avatars.iter().rev().flat_map(of).collect()
}

fn noting<T>(done: &(dyn Fn() + Sync), result: T) -> T {
    done();
    result
}

/// What does not depend on the crowd's size is measured once, in one of middling size.
fn middling(setting: &Setting) -> u32 {
    setting.avatars[(setting.avatars.len() - 1) / 2]
}

/// All runs of one policy with one number of avatars.
struct Runs {
    /// Payload, and with headers, by the run's number.
    loads: Vec<(Load, Load)>,
    quality: Quality,
}

impl Runs {
    /// Runs them all, and keeps of each no more than is shown: samples of thousands of runs would fill the memory.
    fn measure(
        setting: &Setting,
        candidate: &Candidate,
        avatars: u32,
        done: &(dyn Fn() + Sync),
    ) -> Result<Self, PolicyError> {
        let one = |number| noting(done, run(setting, candidate, avatars, number)).map(Self::from);
        let all = (0..setting.runs).into_par_iter().map(one).try_reduce_with(|one, other| Ok(one.and(other)));
        all.expect("a setting has at least one run")
    }

    fn and(mut self, other: Self) -> Self {
        self.loads.extend(other.loads);
        self.quality.merge(&other.quality);
        self
    }
}

impl From<Measured> for Runs {
    fn from(run: Measured) -> Self {
        Self { loads: vec![(run.payload, run.with_headers)], quality: run.quality }
    }
}

/// Per policy, what the client knew, over all numbers of avatars.
fn quality(
    setting: &Setting,
    candidates: &[Candidate],
    measured: &BTreeMap<Cell, Runs>,
) -> Result<Vec<QualityRow>, PolicyError> {
    let row = |(number, candidate): (usize, &Candidate)| {
        let mut merged = Quality::new(setting)?;
        let own = measured.iter().filter(|(cell, _)| cell.1 == number);
        own.for_each(|(_, runs)| merged.merge(&runs.quality));
        Ok(QualityRow { policy: candidate.name().into(), bands: merged.summary() })
    };
    candidates.iter().enumerate().map(row).collect()
}

impl Ran {
    fn new(setting: &Setting) -> Self {
        let metres = |thousandths: u32| f64::from(thousandths) / 1e3;
        let terrain = setting.terrain;
        Self {
            runs: setting.runs,
            seconds: setting.duration.as_secs_f64(),
            world: metres(terrain.side),
            view: setting.view.metres(),
            critical: setting.critical.metres(),
            critical_of_circle: setting.critical_of_circle.metres(),
            angle: setting.angle,
            speed: (metres(terrain.speed.0), metres(terrain.speed.1)),
            pause: terrain.pause_max.as_secs_f64(),
            check_ms: setting.check.as_millis(),
            sizes: setting.sizes.name(),
            comparable: setting.is_comparable(),
        }
    }
}

fn row(setting: &Setting, policy: &str, avatars: u32, runs: &Runs) -> Row {
    let (payload, with_headers): (Vec<Load>, Vec<Load>) = runs.loads.iter().copied().unzip();
    let mean = |numbers: &mut dyn Iterator<Item = f64>| numbers.sum::<f64>() / payload.len() as f64;
    let average = mean(&mut payload.iter().map(|it| it.average));
    let variance = mean(&mut payload.iter().map(|it| (it.average - average) * (it.average - average)));
    let largest = |loads: &[Load]| loads.iter().map(|it| it.maximum).fold(0.0, f64::max);
    let has_headers = setting.sizes == Sizes::Wire;
    let printed = paper::printed(avatars, policy).filter(|_| setting.is_comparable());
    Row {
        avatars,
        policy: policy.into(),
        average,
        average_spread: variance.sqrt(),
        maximum: largest(&payload),
        average_with_headers: has_headers.then(|| mean(&mut with_headers.iter().map(|it| it.average))),
        maximum_with_headers: has_headers.then(|| largest(&with_headers)),
        paper_average: printed.map(|it| it.0),
        paper_maximum: printed.map(|it| it.1),
    }
}

fn savings(rows: &[Row]) -> Savings {
    let mut savings = Savings { average: BTreeMap::new(), maximum: BTreeMap::new() };
    let others: BTreeSet<&str> = rows.iter().map(|it| it.policy.as_str()).collect();
    for other in others.into_iter().filter(|&it| it != "a3") {
        let Saved { average, maximum } = saved(rows, "a3", other);
        savings.average.insert(other.into(), average);
        savings.maximum.insert(other.into(), maximum);
    }
    savings
}

/// What `policy` saves of `other`, mean over avatar counts, as the paper's table III counts it. Where the
/// other costs nothing there is nothing to save: such counts are left out, and nothing of nothing is 0.
fn saved(rows: &[Row], policy: &str, other: &str) -> Saved {
    let of = |name: &str| rows.iter().filter(|it| it.policy == name).collect::<Vec<_>>();
    let (ours, theirs) = (of(policy), of(other));
    let mean = |value: fn(&Row) -> f64| {
        let pairs = ours.iter().zip(&theirs).map(|(ours, theirs)| (value(ours), value(theirs)));
        let shares: Vec<f64> = pairs.filter(|it| 0.0 < it.1).map(|it| 100.0 * (1.0 - it.0 / it.1)).collect();
        shares.iter().fold(0.0, |sum, it| sum + it) / shares.len().max(1) as f64
    };
    Saved { average: mean(|it| it.average), maximum: mean(|it| it.maximum) }
}

#[cfg(test)]
mod tests {
    use super::super::{Options, Reading};
    use super::*;

    fn setting() -> Setting {
        Setting::new(&Options { avatars: vec![25], ..Options::paper(Reading::Fitted) }).unwrap()
    }

    fn measured(average: f64, maximum: f64) -> Runs {
        let (payload, with_headers) = (Load { average, maximum }, Load { average: 2.0 * average, maximum });
        Measured { payload, with_headers, quality: Quality::new(&setting()).unwrap() }.into()
    }

    #[test]
    fn a_row_is_the_mean_of_averages_and_the_largest_second_of_all() {
        let both = measured(100.0, 300.0).and(measured(300.0, 500.0));
        let row = row(&setting(), "circle", 25, &both);
        assert_eq!((row.average, row.average_spread, row.maximum), (200.0, 100.0, 500.0));
        assert_eq!(
            (row.paper_average, row.paper_maximum, row.average_with_headers),
            (Some(4_715), Some(8_500), None)
        );
    }

    #[test]
    fn nothing_of_nothing_saves_nothing() {
        let of = |policy: &str, average: f64| row(&setting(), policy, 25, &measured(average, average));
        let rows = [
            of("a3", 0.0),
            of("none", 50.0),
            of("circle", 0.0),
            of("a3", 25.0),
            of("none", 50.0),
            of("circle", 0.0),
        ];
        assert_eq!(saved(&rows, "a3", "none").average, 75.0);
        assert_eq!(saved(&rows, "a3", "circle").average.to_bits(), 0.0f64.to_bits(), "nor minus nothing");
    }

    #[test]
    fn names_that_break_tables_are_refused() {
        let of = |name: &str| Candidate::new(name, |_| Ok(interest::policies::Everything));
        assert!(check_names(&[of("a"), of("b")]).is_ok());
        for bad in ["", "a,b", "a\"", "a\nb"] {
            assert_eq!(check_names(&[of(bad)]), Err(MeasureError::Name(bad.into())));
        }
        assert_eq!(check_names(&[of("a"), of("a")]), Err(MeasureError::Name("a".into())));
    }
}
