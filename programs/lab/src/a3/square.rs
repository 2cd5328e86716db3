//! Which square the paper's tables fit.
//!
//! In the tables a circular area of interest carries half of all traffic, so half of all avatars must
//! be within 120 of the observer. How many are depends on the world's size alone.

use super::run::run;
use super::{Candidate, FITTED_WORLD, STATED_WORLD, Setting, Sizes};
use interest::PolicyError;
use rayon::prelude::*;
use serde::Serialize;

/// What a circle carries in a square of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SquareRow {
    /// The square's side in metres.
    pub world: f64,
    /// The circle's average traffic as a share of everybody's.
    pub circle_share: f64,
}

/// The squares tried, the stated and the fitted one among them.
pub(super) const WORLDS: [f64; 9] =
    [150.0, 200.0, 250.0, FITTED_WORLD, 350.0, 400.0, 500.0, 600.0, STATED_WORLD];
const RUNS_MAX: u32 = 4;

/// Measures the circle's share in squares of different size, at one crowd size.
pub(super) fn measure(
    setting: &Setting,
    avatars: u32,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<SquareRow>, PolicyError> {
    let (none, circle) = (Candidate::none(), Candidate::circle());
    // The paper's sizes: with them what everybody costs does not depend on where they are.
    let setting = &Setting { sizes: Sizes::Paper, ..setting.clone() };
    let all = run(setting, &none, avatars, 0)?.payload.average;
    let rows = WORLDS.par_iter().map(|&world| {
        let terrain = crate::walk::Terrain { side: (world * 1e3) as u32, ..setting.terrain };
        let square = Setting { terrain, ..setting.clone() };
        let runs = setting.runs.min(RUNS_MAX);
        let averages = (0..runs).map(|it| Ok(run(&square, &circle, avatars, it)?.payload.average));
        let total = averages.sum::<Result<f64, PolicyError>>()?;
        done();
        Ok(SquareRow { world, circle_share: total / f64::from(runs) / all })
    });
    rows.collect()
}
