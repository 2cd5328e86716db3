//! Which of a trial's faults it takes to fail.

use crate::plan::Fault;
use crate::run::{Outcome, run_with};
use crate::scenario::Scenario;

/// Leaves out faults while the trial still fails in the same way: what is left is what it takes.
pub fn shrink(scenario: impl Scenario + Clone, outcome: &Outcome) -> Vec<Fault> {
    shrink_while(scenario, outcome, &|| true)
}

/// Leaves out faults while the trial still fails in the same way, for as long as `goes_on` says: what is left is what
/// it takes, or more if there was no time to find out.
pub fn shrink_while(
    scenario: impl Scenario + Clone,
    outcome: &Outcome,
    goes_on: &dyn Fn() -> bool,
) -> Vec<Fault> {
    let mut faults = outcome.faults.clone();
    let Some(first) = outcome.violations.first() else { return faults };
    let fails = |faults: &[Fault]| {
        let again = run_with(scenario.clone(), outcome.options, faults.to_vec(), None);
        again.violations.first().is_some_and(|it| it.invariant == first.invariant)
    };
    // Halves first: most faults have nothing to do with it.
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
