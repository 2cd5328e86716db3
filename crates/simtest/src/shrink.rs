//! Finds the faults of a run without which it would not fail.

use crate::plan::Fault;
use crate::run::{RunOutcome, run_with};
use crate::scenario::Scenario;

/// Leaves out faults while the run still fails in the same way. Returns those that are needed.
pub fn shrink(scenario: impl Scenario + Clone, outcome: &RunOutcome) -> Vec<Fault> {
    shrink_while(scenario, outcome, &|| true)
}

/// Leaves out faults while the run still fails in the same way and `goes_on` returns true. Returns the needed ones,
/// or more if there was no time to find out.
pub fn shrink_while(
    scenario: impl Scenario + Clone,
    outcome: &RunOutcome,
    goes_on: &dyn Fn() -> bool,
) -> Vec<Fault> {
    let mut faults = outcome.faults.clone();
    let Some(first) = outcome.violations.first() else { return faults };
    let fails = |faults: &[Fault]| {
        let again = run_with(scenario.clone(), outcome.options, faults.to_vec(), None);
        again.violations.first().is_some_and(|it| it.invariant == first.invariant)
    };
    // Halves first: most faults have nothing to do with the failure.
    let mut size = faults.len().div_ceil(2);
    while 0 < size {
        let mut start = 0;
        while start < faults.len() {
            if !goes_on() {
                return faults;
            }
            let mut fewer = faults.clone();
            fewer.drain(start..(start + size).min(faults.len()));
            if fails(&fewer) {
                faults = fewer;
            } else {
                start += size;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    faults
}
