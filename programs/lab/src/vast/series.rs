//! Series: runs that differ by their seeds only, with the mean of every number and its confidence interval.

use super::oracle::OverlaySample;
use super::results::{Summary, VastResults};
use super::setting::VastOptions;
use super::world::OverlayMap;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// One or more runs that differ by their seeds only.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name of the series in tables.
    pub name: String,
    /// The runs, by rising seed.
    pub runs: Vec<VastResults>,
    /// Maps of the first run.
    pub maps: Vec<OverlayMap>,
}

/// The numbers of a summary by name; `None` where a run lacks the number.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct SummaryNumbers(BTreeMap<String, Option<f64>>);

/// Half the width of a 95 % interval in standard errors, by the number of runs less one (Student's t).
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// The same for more runs than [`STUDENT`] lists.
const NORMAL: f64 = 1.960;

impl SummaryNumbers {
    fn of(summary: &Summary) -> Self {
        let Ok(Value::Object(fields)) = serde_json::to_value(summary) else { return Self::default() };
        Self(fields.into_iter().map(|(name, value)| (name, value.as_f64())).collect())
    }

    /// The number of that name, if there is one.
    pub fn at(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied().flatten()
    }
}

impl Series {
    /// The options of the series; the seed is that of the first run.
    pub fn options(&self) -> &VastOptions {
        &self.runs[0].options
    }

    /// The mean of every number; `None` if a run lacks the number.
    pub fn mean(&self) -> SummaryNumbers {
        self.each(|values| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// Half of the 95 % interval of every mean.
    pub fn spread(&self) -> SummaryNumbers {
        self.each(spread)
    }

    fn each(&self, of: impl Fn(&[f64]) -> f64) -> SummaryNumbers {
        let runs: Vec<SummaryNumbers> = self.runs.iter().map(|it| SummaryNumbers::of(&it.summary)).collect();
        let values = |name: &str| runs.iter().map(|it| it.at(name)).collect::<Option<Vec<f64>>>();
        let number = |name: &String| (name.clone(), values(name).map(|it| of(&it)));
        SummaryNumbers(runs[0].0.keys().map(number).collect())
    }

    /// A curve of a number of the samples over minutes, as the mean of all runs.
    pub fn curve(&self, of: impl Fn(&OverlaySample) -> f64) -> Vec<(f64, f64)> {
        let samples = self.runs.iter().map(|it| it.samples.len()).min().unwrap_or(0);
        let mean = |at: usize| self.runs.iter().map(|it| of(&it.samples[at])).sum::<f64>();
        let point = |at: usize| (self.runs[0].samples[at].t / 60.0, mean(at) / self.runs.len() as f64);
        (0..samples).map(point).collect()
    }
}

/// Half of the 95 % interval of the mean; zero for a single value, which has no interval.
fn spread(values: &[f64]) -> f64 {
    let count = values.len();
    if count < 2 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / count as f64;
    let variance = values.iter().map(|it| (it - mean) * (it - mean)).sum::<f64>() / (count - 1) as f64;
    // Two values have one degree of freedom, which is the first entry of the table.
    STUDENT.get(count - 2).unwrap_or(&NORMAL) * (variance / count as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_widens_as_runs_differ() {
        assert_eq!(spread(&[7.0]), 0.0);
        assert_eq!(spread(&[7.0, 7.0, 7.0]), 0.0);
        // Two values that are 2 apart: a standard error of 1.
        assert!((spread(&[6.0, 8.0]) - 12.706).abs() < 1e-9);
        assert!((spread(&[6.0, 8.0].repeat(50)) - 1.96 * 0.100_503_8).abs() < 1e-3);
    }
}
