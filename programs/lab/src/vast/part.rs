//! The parts of the experiment, and all runs of them, on all cores.

use super::ablation;
use super::results::{Results, results};
use super::series::Series;
use super::setting::{ONE_RULE, Options, Protocol, SettingError, Walk, case};
use super::world::{Map, run};
use cpu_time::ThreadTime;
use rayon::prelude::*;

/// A part of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// One protocol, one way of walking.
    Run,
    /// Which cure cures what.
    Ablation,
    /// Ever larger worlds, as sparse as the first.
    Scaling,
}

/// What is to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// One protocol, one way of walking.
    pub run: Option<Options>,
    /// Whether what a report compares with that is run, too.
    pub with_rivals: bool,
    /// What all rows of the ablation share.
    pub ablation: Option<Options>,
    /// What all rows of the scaling share.
    pub scaling: Option<Options>,
    /// How many peers its rows have.
    pub scale: Vec<u32>,
    /// How many runs there are of everything, with this seed and those that follow.
    pub runs: u32,
}

/// Everything that was run.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The run that was asked for, and then what it is compared with.
    pub run: Vec<Series>,
    /// The rows of the ablation.
    pub ablation: Vec<Series>,
    /// The rows of the scaling.
    pub scaling: Vec<Series>,
}

/// The most runs of everything.
const RUNS_MAX: u32 = 1_000;

type Row = (Part, String, Options);

impl Plan {
    /// Refuses what cannot be.
    pub fn check(&self) -> Result<(), SettingError> {
        let number = |name, value, expected| Err(SettingError::Number { name, value, expected });
        if !(1..=RUNS_MAX).contains(&self.runs) {
            return number("runs", self.runs.into(), "from 1 to 1000");
        }
        if self.scaling.is_some() && self.scale.is_empty() {
            return number("scale", 0.0, "numbers of peers, such as 500,1000");
        }
        self.rows().iter().try_for_each(|(_, _, options)| case(options).map(drop))
    }

    /// How many seconds are simulated altogether.
    pub fn seconds(&self) -> u64 {
        let each = self.rows().into_iter().map(|(_, _, it)| (it.hours * 3_600.0) as u64);
        each.sum::<u64>() * u64::from(self.runs)
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let runs =
            self.run.iter().flat_map(|it| if self.with_rivals { rivals(it) } else { vec![it.clone()] });
        rows.extend(runs.map(|it| (Part::Run, it.name().to_owned(), it)));
        let variants = self.ablation.iter().flat_map(ablation::rows);
        rows.extend(variants.map(|(name, it)| (Part::Ablation, name, it)));
        if let Some(base) = &self.scaling {
            let sized = |&peers: &u32| Options { peers, ..base.clone() };
            rows.extend(self.scale.iter().map(|it| (Part::Scaling, it.to_string(), sized(it))));
        }
        rows
    }
}

/// A run, and what a report compares it with: the paper's protocol, the same with one rule changed, and ours, walking in
/// both of the paper's ways.
fn rivals(run: &Options) -> Vec<Options> {
    let walks = match run.movement {
        Walk::Random | Walk::Groups => vec![Walk::Random, Walk::Groups],
        other @ (Walk::Gathering | Walk::Teleport) => vec![other],
    };
    let one_rule = vec![(ONE_RULE.0.to_owned(), ONE_RULE.1.to_owned())];
    let protocols =
        [(Protocol::Paper, Vec::new()), (Protocol::Paper, one_rule), (Protocol::Fixed, Vec::new())];
    let mut all = vec![run.clone()];
    for movement in walks {
        for (protocol, switches) in protocols.clone() {
            let rival = Options { protocol, switches, movement, ..run.clone() };
            if rival != *run {
                all.push(rival);
            }
        }
    }
    all
}

/// Runs everything. `progress` hears of every simulated second.
///
/// # Panics
/// If the plan cannot be: plans are checked before.
pub fn measure(plan: &Plan, progress: &(dyn Fn() + Sync)) -> Measured {
    let rows = plan.rows();
    let seeded = |it: &Options, run: u32| Options { seed: it.seed.wrapping_add(run.into()), ..it.clone() };
    let jobs: Vec<Options> =
        rows.iter().flat_map(|row| (0..plan.runs).map(|run| seeded(&row.2, run))).collect();
    let done: Vec<(Results, Vec<Map>)> =
        jobs.par_iter().with_max_len(1).map(|it| measured(it, progress)).collect();
    let mut done = done.into_iter();
    let mut all = Measured::default();
    for (part, name, _) in rows {
        let (runs, maps): (Vec<Results>, Vec<Vec<Map>>) = done.by_ref().take(plan.runs as usize).unzip();
        let series = Series { name, runs, maps: maps.into_iter().next().unwrap_or_default() };
        match part {
            Part::Run => all.run.push(series),
            Part::Ablation => all.ablation.push(series),
            Part::Scaling => all.scaling.push(series),
        }
    }
    all
}

fn measured(options: &Options, progress: &(dyn Fn() + Sync)) -> (Results, Vec<Map>) {
    let case = case(options).expect("plans are checked");
    let start = ThreadTime::now();
    let mut ran = run(&case, &|_| progress());
    let maps = std::mem::take(&mut ran.maps);
    (results(options, &ran, start.elapsed().as_secs_f64()), maps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_compares_three_protocols_in_both_ways_of_walking() {
        let run = Options { protocol: Protocol::Fixed, ..Options::of(Part::Run) };
        let plan = Plan {
            run: Some(run.clone()),
            with_rivals: true,
            ablation: None,
            scaling: None,
            scale: Vec::new(),
            runs: 2,
        };
        let names: Vec<(String, Walk)> =
            plan.rows().into_iter().map(|(_, name, it)| (name, it.movement)).collect();
        assert_eq!(names.len(), 6);
        assert_eq!(names[0], ("fixed".to_owned(), Walk::Random));
        assert!(names.contains(&("paper-insert".to_owned(), Walk::Groups)));
        assert_eq!(plan.seconds(), 2 * 6 * 6 * 3_600);
        assert!(Plan { runs: 0, ..plan }.check().unwrap_err().to_string().contains("--runs 0"));
    }
}
