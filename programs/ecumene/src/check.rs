//! `ecumene check`.

use crate::{Failure, print};
use clap::{Args as ClapArgs, ValueEnum};
use kosmos_scenario::KosmosScenario;
use std::path::PathBuf;
use trial::Violation;
use trial::histories::{self, Histories, Verdict};

/// What `ecumene check` takes.
#[derive(ClapArgs)]
#[command(after_help = "\
DIR holds what hosts, the directory and players wrote down, one file per life of a process, from the world's first
start on. The checkers of `ecumene sim zone` judge it: nothing announced may be lost, doubled or contradicted. The
exit code is 0 if nothing was violated, 1 if something was, 2 if the files cannot be judged.

Examples:
  ecumene check out/histories                 what happened, and whether it was right
  ecumene check out/histories --strict        a player who was never answered is a violation, too
  ecumene check out/histories --format json   for programs

More: docs/sim.md")]
pub struct Args {
    /// The folder with the histories.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Count an action without an answer as a violation: for runs that came to rest before they were stopped.
    #[arg(long)]
    strict: bool,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
}

/// Entries that are told before the first violation,
const BEFORE: usize = 20;
/// and after it.
const AFTER: usize = 5;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let histories = histories::read(&args.folder).map_err(|error| Failure::Asked(error.to_string()))?;
    let mut verdict = histories.judged(&KosmosScenario).map_err(|error| Failure::Asked(error.to_string()))?;
    if args.strict {
        verdict.violations.extend(unanswered(&verdict));
    }
    print(&match args.format {
        Format::Table => table(&histories, &verdict),
        Format::Json => serde_json::to_string_pretty(&json(&histories, &verdict))? + "\n",
    })?;
    match verdict.violations.first() {
        None => Ok(()),
        Some(it) => Err(anyhow::anyhow!("the history breaks {}", it.invariant).into()),
    }
}

fn unanswered(verdict: &Verdict) -> Vec<Violation> {
    let waits = verdict.unanswered.iter().map(|(player, actions)| Violation {
        seed: 0,
        invariant: "unanswered",
        detail: format!("{player} was not told what became of {actions} actions"),
        millis: 0,
    });
    waits.collect()
}

fn table(histories: &Histories, verdict: &Verdict) -> String {
    let tally = verdict.tally;
    let rows = [
        ("processes", histories.processes as u64),
        ("lives", histories.lives as u64),
        ("lives torn", histories.torn as u64),
        ("entries", histories.entries.len() as u64),
        ("records", verdict.records),
        ("actions asked", verdict.actions_asked),
        ("actions acknowledged", tally.actions_acked),
        ("actions refused", tally.aborted),
        ("actions unanswered", verdict.unanswered.values().sum()),
        ("failovers", tally.failovers),
        ("restarts", tally.restarts),
        ("full stops rolled back", tally.rolled_back),
        ("violations", verdict.violations.len() as u64),
    ];
    let mut text: String = rows.iter().map(|(name, value)| format!("{name:<24}{value}\n")).collect();
    for it in &verdict.violations {
        text += &format!("\n{}\n", told(it));
    }
    if let Some(place) = verdict.place {
        text += "\naround the first one:\n";
        for line in histories.around(place, BEFORE, AFTER) {
            text += &format!("{line}\n");
        }
    }
    text
}

fn told(it: &Violation) -> String {
    match it.millis {
        0 => format!("{}: {}", it.invariant, it.detail),
        millis => format!("{millis} ms: {}: {}", it.invariant, it.detail),
    }
}

fn json(histories: &Histories, verdict: &Verdict) -> serde_json::Value {
    let mut json = serde_json::json!(verdict);
    json["processes"] = histories.processes.into();
    json["lives"] = histories.lives.into();
    json["lives_torn"] = histories.torn.into();
    json["entries"] = histories.entries.len().into();
    json["around"] = match verdict.place {
        Some(place) => histories.around(place, BEFORE, AFTER).into(),
        None => Vec::<String>::new().into(),
    };
    let violations = verdict
        .violations
        .iter()
        .map(|it| serde_json::json!({ "invariant": it.invariant, "detail": it.detail, "millis": it.millis }));
    json["violations"] = violations.collect();
    json
}
