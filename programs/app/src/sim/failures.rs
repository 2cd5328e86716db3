//! The report about seeds that failed: violations, the last lines of the trace, the faults needed, a command to replay.

use super::seeds::{Sweep, TimeBudget, run_caught};
use super::trace::{describe_options, last_lines, list_faults, trace_length};
use crate::program::Program;
use simtest::{RunOptions, RunOutcome, RunRequest, plan, shrink_while};

/// Number of failed seeds that are described in full; the others get one line.
const DESCRIBED_MAX: usize = 3;
/// Number of lines at the end of each trace that are shown.
const TAIL_LINES: usize = 40;
/// Seconds spent on finding a smaller set of faults that still fails.
const SHRINK_SECONDS: u64 = 60;

/// The command that runs a seed again; `given` are its other options.
pub fn replay(program: &Program, sim: &str, seed: u64, given: &str) -> String {
    format!("{} sim {sim} --seed {seed} --trace{given}", program.name)
}

/// Describes the seeds that failed, each with its command to replay.
pub fn describe_failures(program: &Program, asked: &RunRequest, sweep: &Sweep, given: &str) -> String {
    let mut text = String::new();
    for (place, outcome) in sweep.failed.iter().enumerate() {
        let seed = outcome.options.seed;
        if place < DESCRIBED_MAX {
            text += &describe_one(program, asked, outcome);
            // Only the first: shrinking takes up to a minute.
            if place == 0 {
                text += &describe_shrunk_faults(program, outcome);
            }
        } else if let Some(first) = outcome.violations.first() {
            text += &format!("\n{first}\n");
        }
        text += &format!("replay: {}\n", replay(program, sweep.sim, seed, given));
    }
    text
}

fn describe_one(program: &Program, asked: &RunRequest, outcome: &RunOutcome) -> String {
    let seed = outcome.options.seed;
    let mut text = format!("\nseed {seed} failed\n  {}\n", describe_options(&outcome.options));
    for it in &outcome.violations {
        text += &format!("  {} ms: {}: {}\n", it.millis, it.invariant, it.detail);
    }
    // The sweep recorded no traces, to save memory, so this seed runs again with one.
    let options = RunOptions::draw(seed, asked);
    let again =
        run_caught(&program.scenario(), options, plan::draw(&options), Some(trace_length(TAIL_LINES)));
    text + &last_lines(&again, TAIL_LINES)
}

/// A smallest set of faults that still violates the same invariant, as far as the time sufficed.
fn describe_shrunk_faults(program: &Program, outcome: &RunOutcome) -> String {
    // Shrinking compares names of invariants; two different panics have the same name.
    if outcome.violations.first().is_none_or(|it| it.invariant == "panic") {
        return String::new();
    }
    let budget = TimeBudget::of(Some(SHRINK_SECONDS));
    let faults = shrink_while(program.scenario(), outcome, &|| budget.is_left());
    let left = if budget.is_left() { "" } else { ", as far as there was time" };
    let mut text = format!("faults it takes ({} of {}{left}):\n", faults.len(), outcome.faults.len());
    text += &list_faults(&faults, &outcome.options);
    text
}

#[cfg(test)]
mod tests {
    use super::super::seed_args::WorldKind;
    use super::super::seeds::sweep;
    use super::*;
    use crate::test_program::test_program;
    use simtest::planted_bug::PlantedBug;

    #[test]
    fn a_failure_is_described_with_its_faults_and_its_replay_command() {
        let asked = PlantedBug::by_name("announce-early").unwrap().request();
        let program = test_program();
        let sweep = sweep(&program, WorldKind::Zone, &asked, 1..=2, TimeBudget::of(None));
        let text = describe_failures(&program, &asked, &sweep, " --faults crash");
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
