//! The parts of the experiment, and the runs of all parts on all cores.

use super::ablation;
use super::results::{VastResults, results};
use super::series::Series;
use super::setting::{ONE_RULE, Protocol, VastOptions, VastSettingError, WalkPattern, case};
use super::world::{OverlayMap, run};
use cpu_time::ThreadTime;
use rayon::prelude::*;

/// A part of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VastPart {
    /// One protocol with one pattern of walking.
    Run,
    /// The protocols with one change at a time.
    Ablation,
    /// Ever larger worlds of the same density.
    Scaling,
}

/// The runs that are to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct VastPlan {
    /// The single run, if it was asked for.
    pub run: Option<VastOptions>,
    /// True if the protocols that a report compares with it are run, too.
    pub with_rivals: bool,
    /// Options that all rows of the ablation share.
    pub ablation: Option<VastOptions>,
    /// Options that all rows of the scaling share.
    pub scaling: Option<VastOptions>,
    /// Number of peers in each row of the scaling.
    pub scale: Vec<u32>,
    /// Number of runs per row, with the seed of the options and those that follow it.
    pub runs: u32,
}

/// The series of all parts that were run.
#[derive(Clone, Debug, Default)]
pub struct VastMeasurements {
    /// The run that was asked for, followed by those with which it is compared.
    pub run: Vec<Series>,
    /// The series of the ablation, one per row.
    pub ablation: Vec<Series>,
    /// The series of the scaling, one per row.
    pub scaling: Vec<Series>,
}

/// The most runs per row.
const RUNS_MAX: u32 = 1_000;

type PlannedRow = (VastPart, String, VastOptions);

impl VastPlan {
    /// Returns an error if a number is out of bounds or a row is invalid.
    pub fn check(&self) -> Result<(), VastSettingError> {
        let number = |name, value, expected| Err(VastSettingError::Number { name, value, expected });
        if !(1..=RUNS_MAX).contains(&self.runs) {
            return number("runs", self.runs.into(), "from 1 to 1000");
        }
        if self.scaling.is_some() && self.scale.is_empty() {
            return number("scale", 0.0, "numbers of peers, such as 500,1000");
        }
        self.rows().iter().try_for_each(|(_, _, options)| case(options).map(drop))
    }

    /// Number of seconds that are simulated altogether.
    pub fn seconds(&self) -> u64 {
        let each = self.rows().into_iter().map(|(_, _, it)| (it.hours * 3_600.0) as u64);
        each.sum::<u64>() * u64::from(self.runs)
    }

    fn rows(&self) -> Vec<PlannedRow> {
        let mut rows: Vec<PlannedRow> = Vec::new();
        let runs =
            self.run.iter().flat_map(|it| if self.with_rivals { rivals(it) } else { vec![it.clone()] });
        rows.extend(runs.map(|it| (VastPart::Run, it.name().to_owned(), it)));
        let variants = self.ablation.iter().flat_map(ablation::rows);
        rows.extend(variants.map(|(name, it)| (VastPart::Ablation, name, it)));
        if let Some(base) = &self.scaling {
            let sized = |&peers: &u32| VastOptions { peers, ..base.clone() };
            rows.extend(self.scale.iter().map(|it| (VastPart::Scaling, it.to_string(), sized(it))));
        }
        rows
    }
}

/// A run and those with which a report compares it: the paper's protocol, the same with one rule changed, and ours, in
/// both of the paper's patterns of walking.
fn rivals(run: &VastOptions) -> Vec<VastOptions> {
    let walks = match run.movement {
        WalkPattern::Random | WalkPattern::Groups => vec![WalkPattern::Random, WalkPattern::Groups],
        other @ (WalkPattern::Gathering | WalkPattern::Teleport) => vec![other],
    };
    let one_rule = vec![(ONE_RULE.0.to_owned(), ONE_RULE.1.to_owned())];
    let protocols =
        [(Protocol::Paper, Vec::new()), (Protocol::Paper, one_rule), (Protocol::Fixed, Vec::new())];
    let mut all = vec![run.clone()];
    for movement in walks {
        for (protocol, switches) in protocols.clone() {
            let rival = VastOptions { protocol, switches, movement, ..run.clone() };
            // The run that was asked for is in the list already.
            if rival != *run {
                all.push(rival);
            }
        }
    }
    all
}

/// Makes all runs of a plan. `progress` is called for every simulated second.
///
/// # Panics
/// If the plan is invalid: plans are checked before.
pub fn measure(plan: &VastPlan, progress: &(dyn Fn() + Sync)) -> VastMeasurements {
    let rows = plan.rows();
    let seeded =
        |it: &VastOptions, run: u32| VastOptions { seed: it.seed.wrapping_add(run.into()), ..it.clone() };
    let jobs: Vec<VastOptions> =
        rows.iter().flat_map(|row| (0..plan.runs).map(|run| seeded(&row.2, run))).collect();
    let done: Vec<(VastResults, Vec<OverlayMap>)> =
        // One job at a time per core: runs differ much in length.
        jobs.par_iter().with_max_len(1).map(|it| measured(it, progress)).collect();
    let mut done = done.into_iter();
    let mut all = VastMeasurements::default();
    for (part, name, _) in rows {
        let (runs, maps): (Vec<VastResults>, Vec<Vec<OverlayMap>>) =
            done.by_ref().take(plan.runs as usize).unzip();
        let series = Series { name, runs, maps: maps.into_iter().next().unwrap_or_default() };
        match part {
            VastPart::Run => all.run.push(series),
            VastPart::Ablation => all.ablation.push(series),
            VastPart::Scaling => all.scaling.push(series),
        }
    }
    all
}

fn measured(options: &VastOptions, progress: &(dyn Fn() + Sync)) -> (VastResults, Vec<OverlayMap>) {
    let case = case(options).expect("plans are checked");
    let start = ThreadTime::now();
    let mut outcome = run(&case, &|_| progress());
    let maps = std::mem::take(&mut outcome.maps);
    (results(options, &outcome, start.elapsed().as_secs_f64()), maps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_compares_three_protocols_in_both_patterns_of_walking() {
        let run = VastOptions { protocol: Protocol::Fixed, ..VastOptions::of(VastPart::Run) };
        let plan = VastPlan {
            run: Some(run.clone()),
            with_rivals: true,
            ablation: None,
            scaling: None,
            scale: Vec::new(),
            runs: 2,
        };
        let names: Vec<(String, WalkPattern)> =
            plan.rows().into_iter().map(|(_, name, it)| (name, it.movement)).collect();
        assert_eq!(names.len(), 6);
        assert_eq!(names[0], ("fixed".to_owned(), WalkPattern::Random));
        assert!(names.contains(&("paper-insert".to_owned(), WalkPattern::Groups)));
        assert_eq!(plan.seconds(), 2 * 6 * 6 * 3_600);
        assert!(VastPlan { runs: 0, ..plan }.check().unwrap_err().to_string().contains("--runs 0"));
    }
}
