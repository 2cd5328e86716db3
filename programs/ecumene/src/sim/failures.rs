//! What a person needs to understand a seed that failed.

use super::seeds::{Budget, Sweep, run_caught};
use super::trace::{described, kept, last, listed};
use kosmos_scenario::KosmosScenario;
use trial::{Asked, Options, Outcome, plan, shrink_while};

/// Failing seeds that are told in full; the others are named.
const TOLD_MAX: usize = 3;
/// The last lines of each trace.
const TAIL_LINES: usize = 40;
/// Seconds spent on leaving out faults.
const SHRINK_SECONDS: u64 = 60;

/// One command that runs a seed again.
pub fn replay(sim: &str, seed: u64, given: &str) -> String {
    format!("ecumene sim {sim} --seed {seed} --trace{given}")
}

/// Tells the seeds that failed.
pub fn told(asked: &Asked, sweep: &Sweep, given: &str) -> String {
    let mut text = String::new();
    for (place, outcome) in sweep.failed.iter().enumerate() {
        let seed = outcome.options.seed;
        if place < TOLD_MAX {
            text += &one(asked, outcome);
            if place == 0 {
                text += &shrunk(outcome);
            }
        } else if let Some(first) = outcome.violations.first() {
            text += &format!("\n{first}\n");
        }
        text += &format!("replay: {}\n", replay(sweep.sim, seed, given));
    }
    text
}

fn one(asked: &Asked, outcome: &Outcome) -> String {
    let seed = outcome.options.seed;
    let mut text = format!("\nseed {seed} failed\n  {}\n", described(&outcome.options));
    for it in &outcome.violations {
        text += &format!("  {} ms: {}: {}\n", it.millis, it.invariant, it.detail);
    }
    // The same seed again, this time with somebody who takes notes.
    let options = Options::drawn(seed, asked);
    let again = run_caught(options, plan::drawn(&options), Some(kept(TAIL_LINES)));
    text + &last(&again, TAIL_LINES)
}

/// The faults it takes, as far as there was time to find out.
fn shrunk(outcome: &Outcome) -> String {
    // A panic cannot be told from another by its name.
    if outcome.violations.first().is_none_or(|it| it.invariant == "panic") {
        return String::new();
    }
    let budget = Budget::of(Some(SHRINK_SECONDS));
    let faults = shrink_while(KosmosScenario, outcome, &|| budget.is_left());
    let left = if budget.is_left() { "" } else { ", as far as there was time" };
    let mut text = format!("faults it takes ({} of {}{left}):\n", faults.len(), outcome.faults.len());
    text += &listed(&faults, &outcome.options);
    text
}

#[cfg(test)]
mod tests {
    use super::super::seeds::sweep;
    use super::super::trials::Which;
    use super::*;
    use trial::plants::Planted;

    #[test]
    fn a_failure_is_told_with_what_it_takes_to_see_it_again() {
        let asked = Planted::by_name("announce-early").unwrap().asked();
        let sweep = sweep(Which::Zone, &asked, 1..=2, Budget::of(None));
        let text = told(&asked, &sweep, " --faults crash");
        let parts = [
            "seed 1 failed\n",
            "batched",
            "safe_to_tell: ",
            "faults it takes (",
            "last 40 things that happened:\n",
            "replay: ecumene sim zone --seed 1 --trace --faults crash\n",
        ];
        assert!(parts.iter().all(|it| text.contains(it)), "{text}");
    }
}
