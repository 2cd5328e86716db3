//! The square that the paper's tables fit.
//!
//! In the tables a circular area of interest carries half of all traffic, so half of all avatars must be within 120 m
//! of the observer. That share depends on the size of the world alone.

use super::run::run;
use super::{A3Setting, Candidate, FITTED_WORLD, STATED_WORLD, UpdateSizes};
use interest::PolicyError;
use rayon::prelude::*;
use serde::Serialize;

/// The traffic of a circle in a square of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SquareRow {
    /// Side of the square, in metres.
    pub world: f64,
    /// Average traffic of the circle, as a share of the traffic without management.
    pub circle_share: f64,
}

/// The squares tried, the stated and the fitted one among them.
pub(super) const WORLDS: [f64; 9] =
    [150.0, 200.0, 250.0, FITTED_WORLD, 350.0, 400.0, 500.0, 600.0, STATED_WORLD];
const RUNS_MAX: u32 = 4;

/// Measures the circle's share in squares of different size, at one crowd size.
pub(super) fn measure(
    setting: &A3Setting,
    avatars: u32,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<SquareRow>, PolicyError> {
    let (none, circle) = (Candidate::none(), Candidate::circle());
    // Why the paper's sizes: with them the traffic without management does not depend on where the avatars are.
    let setting = &A3Setting { sizes: UpdateSizes::Paper, ..setting.clone() };
    // Without management every run has the same traffic, so one is enough.
    let all = run(setting, &none, avatars, 0)?.payload.average;
    let rows = WORLDS.par_iter().map(|&world| {
        let terrain = crate::waypoint_walk::Terrain { side: (world * 1e3) as u32, ..setting.terrain };
        let square = A3Setting { terrain, ..setting.clone() };
        let runs = setting.runs.min(RUNS_MAX);
        let averages = (0..runs).map(|it| Ok(run(&square, &circle, avatars, it)?.payload.average));
        let total = averages.sum::<Result<f64, PolicyError>>()?;
        done();
        Ok(SquareRow { world, circle_share: total / f64::from(runs) / all })
    });
    rows.collect()
}
