//! All runs of the experiment, and their results.

use super::column_correlation::{self, ColumnCorrelation};
use super::quality::{BandQuality, Quality};
use super::run::{A3Measurement, TrafficLoad, run};
use super::square::{self, SquareRow};
use super::turn::{self, TurnRow};
use super::{A3Setting, Candidate, UpdateSizes, paper};
use interest::PolicyError;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// The results of the experiment; their fields are the JSON of the report.
#[derive(Clone, Debug, Serialize)]
pub struct A3Results {
    /// Name of the experiment, always `a3`.
    pub experiment: &'static str,
    /// Reading of the paper: `stated` or `fitted`.
    pub setting: &'static str,
    /// Random seed of all runs.
    pub seed: u64,
    /// Parameters that all runs share.
    pub options: A3Parameters,
    /// One row per avatar count and policy.
    pub rows: Vec<A3Row>,
    /// Savings of A³ in per cent, mean over avatar counts.
    pub savings: Savings,
    /// Saving of circle-attenuated against circle.
    pub attenuation_saves: Saving,
    /// Correlations of the policies' columns.
    pub together: Vec<ColumnCorrelation>,
    /// Age and error of the client's knowledge, per policy.
    pub quality: Vec<QualityRow>,
    /// Traffic of a circle in squares of different size.
    pub squares: Vec<SquareRow>,
    /// Waits after turning round, per policy.
    pub turns: Vec<TurnRow>,
}

/// The parameters of the runs, in metres and seconds, so that results can be told apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct A3Parameters {
    /// Number of runs behind each row.
    pub runs: u32,
    /// Simulated length of each run, in seconds.
    pub seconds: f64,
    /// Side of the square, in metres.
    pub world: f64,
    /// View distance of the policies, in metres.
    pub view: f64,
    /// Critical distance of A³, in metres.
    pub critical: f64,
    /// Distance at which the attenuated circle begins to attenuate, in metres.
    pub critical_of_circle: f64,
    /// View angle of the policies, in degrees.
    pub angle: f64,
    /// Slowest and fastest walk, in metres per second.
    pub speed: (f64, f64),
    /// Longest pause of a walk, in seconds.
    pub pause: f64,
    /// Time between two checks of the server, in milliseconds.
    pub check_ms: u64,
    /// Size of an update: `paper` or `wire`.
    pub sizes: &'static str,
    /// True if the paper's tables apply to these parameters.
    pub comparable: bool,
}

/// Bytes per second of one policy at one avatar count, over all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct A3Row {
    /// Number of avatars, the observer among them.
    pub avatars: u32,
    /// Name of the candidate policy, such as `circle`.
    pub policy: String,
    /// Average over the whole duration, mean of the runs.
    pub average: f64,
    /// Standard deviation of that average between runs.
    pub average_spread: f64,
    /// Bytes in the largest single second of all runs.
    pub maximum: f64,
    /// `average` with the headers of UDP and QUIC; null for the paper's sizes.
    pub average_with_headers: Option<f64>,
    /// `maximum` with the headers of UDP and QUIC; null for the paper's sizes.
    pub maximum_with_headers: Option<f64>,
    /// Average that the paper printed, if it did.
    pub paper_average: Option<u32>,
    /// Maximum that the paper printed, if it did.
    pub paper_maximum: Option<u32>,
}

/// Savings of A³ against each other policy, in per cent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Savings {
    /// Savings of the averages, by policy.
    pub average: BTreeMap<String, f64>,
    /// Savings of the maxima, by policy.
    pub maximum: BTreeMap<String, f64>,
}

/// The saving of one policy against another, in per cent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Saving {
    /// Saving of the averages, mean over avatar counts.
    pub average: f64,
    /// Saving of the maxima, mean over avatar counts.
    pub maximum: f64,
}

/// The client's knowledge under one policy, band by band.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QualityRow {
    /// Name of the candidate policy, such as `circle`.
    pub policy: String,
    /// Quality of each band, the most relevant first.
    pub bands: Vec<BandQuality>,
}

/// Reason why the experiment cannot be run.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MeasureError {
    /// A policy cannot be made for this setting.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Two policies have one name, or a name would break a table.
    #[error("policies need different names of letters, digits, spaces and - . _ < >; '{0}' will not do")]
    Name(String),
}

/// The key of one row: the number of avatars, and the index of the candidate.
type RowKey = (u32, usize);

/// Runs the whole experiment on all cores. `done` is called after each of [`steps`] steps, from any
/// thread.
pub fn measure(
    setting: &A3Setting,
    candidates: &[Candidate],
    done: &(dyn Fn() + Sync),
) -> Result<A3Results, MeasureError> {
    check_names(candidates)?;
    let cells = cells(setting, candidates.len());
    let runs = || {
        let of = |&(avatars, candidate): &RowKey| {
            PolicyRuns::measure(setting, &candidates[candidate], avatars, done)
        };
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
    // The map restores the order of the table, which the runs did not follow.
    let measured: BTreeMap<RowKey, PolicyRuns> = cells.into_iter().zip(runs?).collect();
    let row = |(cell, runs): (&RowKey, &PolicyRuns)| row(setting, candidates[cell.1].name(), cell.0, runs);
    let rows: Vec<A3Row> = measured.iter().map(row).collect();
    Ok(A3Results {
        experiment: "a3",
        setting: setting.reading.name(),
        seed: setting.seed,
        options: A3Parameters::new(setting),
        savings: savings(&rows),
        attenuation_saves: saved(&rows, "circle-attenuated", "circle"),
        together: column_correlation::pairs(&rows),
        rows,
        quality: quality(setting, candidates, &measured)?,
        squares: squares?,
        turns: turns?,
    })
}

/// Number of steps that [`measure`] takes.
pub fn steps(setting: &A3Setting, candidates: &[Candidate]) -> u64 {
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

/// The keys of all rows, the largest crowds first, so that the last runs to finish are short.
fn cells(setting: &A3Setting, candidates: usize) -> Vec<RowKey> {
    let of = |&avatars: &u32| (0..candidates).map(move |it| (avatars, it));
    setting.avatars.iter().rev().flat_map(of).collect()
}

fn noting<T>(done: &(dyn Fn() + Sync), result: T) -> T {
    done();
    result
}

/// The middle avatar count. Measurements that do not depend on the count are made once, with this one.
fn middling(setting: &A3Setting) -> u32 {
    setting.avatars[(setting.avatars.len() - 1) / 2]
}

/// All runs of one policy with one number of avatars.
struct PolicyRuns {
    /// Payload, and payload with headers, of each run.
    loads: Vec<(TrafficLoad, TrafficLoad)>,
    quality: Quality,
}

impl PolicyRuns {
    /// Makes all runs, and keeps of each only what is shown: samples of thousands of runs would fill the memory.
    fn measure(
        setting: &A3Setting,
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

impl From<A3Measurement> for PolicyRuns {
    fn from(run: A3Measurement) -> Self {
        Self { loads: vec![(run.payload, run.with_headers)], quality: run.quality }
    }
}

/// The quality of the client's knowledge per policy, over all avatar counts.
fn quality(
    setting: &A3Setting,
    candidates: &[Candidate],
    measured: &BTreeMap<RowKey, PolicyRuns>,
) -> Result<Vec<QualityRow>, PolicyError> {
    let row = |(number, candidate): (usize, &Candidate)| {
        let mut merged = Quality::new(setting)?;
        let own = measured.iter().filter(|(cell, _)| cell.1 == number);
        own.for_each(|(_, runs)| merged.merge(&runs.quality));
        Ok(QualityRow { policy: candidate.name().into(), bands: merged.summary() })
    };
    candidates.iter().enumerate().map(row).collect()
}

impl A3Parameters {
    fn new(setting: &A3Setting) -> Self {
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

fn row(setting: &A3Setting, policy: &str, avatars: u32, runs: &PolicyRuns) -> A3Row {
    let (payload, with_headers): (Vec<TrafficLoad>, Vec<TrafficLoad>) = runs.loads.iter().copied().unzip();
    let mean = |numbers: &mut dyn Iterator<Item = f64>| numbers.sum::<f64>() / payload.len() as f64;
    let average = mean(&mut payload.iter().map(|it| it.average));
    let variance = mean(&mut payload.iter().map(|it| (it.average - average) * (it.average - average)));
    let largest = |loads: &[TrafficLoad]| loads.iter().map(|it| it.maximum).fold(0.0, f64::max);
    let has_headers = setting.sizes == UpdateSizes::Wire;
    let printed = paper::printed(avatars, policy).filter(|_| setting.is_comparable());
    A3Row {
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

fn savings(rows: &[A3Row]) -> Savings {
    let mut savings = Savings { average: BTreeMap::new(), maximum: BTreeMap::new() };
    let others: BTreeSet<&str> = rows.iter().map(|it| it.policy.as_str()).collect();
    for other in others.into_iter().filter(|&it| it != "a3") {
        let Saving { average, maximum } = saved(rows, "a3", other);
        savings.average.insert(other.into(), average);
        savings.maximum.insert(other.into(), maximum);
    }
    savings
}

/// The saving of `policy` against `other`, mean over avatar counts, as in the paper's table III. Counts at which the
/// other has no traffic are left out; if all are, the saving is 0.
fn saved(rows: &[A3Row], policy: &str, other: &str) -> Saving {
    let of = |name: &str| rows.iter().filter(|it| it.policy == name).collect::<Vec<_>>();
    let (ours, theirs) = (of(policy), of(other));
    let mean = |value: fn(&A3Row) -> f64| {
        let pairs = ours.iter().zip(&theirs).map(|(ours, theirs)| (value(ours), value(theirs)));
        let shares: Vec<f64> = pairs.filter(|it| 0.0 < it.1).map(|it| 100.0 * (1.0 - it.0 / it.1)).collect();
        // Not `sum`: that of no numbers is minus zero, which tables would show.
        shares.iter().fold(0.0, |sum, it| sum + it) / shares.len().max(1) as f64
    };
    Saving { average: mean(|it| it.average), maximum: mean(|it| it.maximum) }
}

#[cfg(test)]
mod tests {
    use super::super::{A3Options, Reading};
    use super::*;

    fn setting() -> A3Setting {
        A3Setting::new(&A3Options { avatars: vec![25], ..A3Options::paper(Reading::Fitted) }).unwrap()
    }

    fn measured(average: f64, maximum: f64) -> PolicyRuns {
        let (payload, with_headers) =
            (TrafficLoad { average, maximum }, TrafficLoad { average: 2.0 * average, maximum });
        A3Measurement { payload, with_headers, quality: Quality::new(&setting()).unwrap() }.into()
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
