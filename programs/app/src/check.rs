//! `ecumene check`.

use crate::command::{CommandError, OutputFormat, print};
use crate::program::Program;
use clap::Args;
use simtest::Violation;
use simtest::histories::{self, Histories, HistoryReport};
use std::path::PathBuf;

/// Arguments of `ecumene check`.
#[derive(Args)]
#[command(after_help = "\
DIR holds the histories of hosts, directory and players: one file per life of a process, from the world's first
start on. The checkers of `ecumene sim mesh` read them, but for those that look into living machines: nothing announced may be lost, doubled or contradicted. The
exit code is 0 without violations, 1 with violations, 2 if the files cannot be read as histories.

Examples:
  ecumene check out/histories                 counts of what happened, and every violation
  ecumene check out/histories --strict        a player who was never answered is a violation, too
  ecumene check out/histories --format json   for programs

More: docs/sim.md")]
pub struct CheckArgs {
    /// The folder with the histories.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Count an action without a result as a violation: for runs whose players were all answered before the end.
    #[arg(long)]
    strict: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

/// Entries that the report shows before the first violation.
const BEFORE: usize = 20;
/// Entries that the report shows after the first violation.
const AFTER: usize = 5;

pub fn run(program: &Program, args: &CheckArgs) -> Result<(), CommandError> {
    let histories = histories::read(&args.folder).map_err(|error| CommandError::Usage(error.to_string()))?;
    let mut verdict =
        histories.check(&*program.scenario()).map_err(|error| CommandError::Usage(error.to_string()))?;
    if args.strict {
        verdict.violations.extend(unanswered(&verdict));
    }
    print(&match args.format {
        OutputFormat::Table => table(&histories, &verdict),
        OutputFormat::Json => serde_json::to_string_pretty(&json(&histories, &verdict))? + "\n",
    })?;
    match verdict.violations.first() {
        None => Ok(()),
        Some(it) => Err(anyhow::anyhow!("the history breaks {}", it.invariant).into()),
    }
}

fn unanswered(verdict: &HistoryReport) -> Vec<Violation> {
    let waits = verdict.unanswered.iter().map(|(player, actions)| Violation {
        seed: 0,
        invariant: "unanswered",
        detail: format!("{player} was not told what became of {actions} actions"),
        millis: 0,
    });
    waits.collect()
}

fn table(histories: &Histories, verdict: &HistoryReport) -> String {
    let counts = verdict.counts;
    let rows = [
        ("processes", histories.processes as u64),
        ("lives", histories.lives as u64),
        ("lives torn", histories.torn as u64),
        ("entries", histories.entries.len() as u64),
        ("records", verdict.records),
        ("actions asked", verdict.actions_asked),
        ("actions acknowledged", counts.actions_acked),
        ("actions refused", counts.aborted),
        ("actions unanswered", verdict.unanswered.values().sum()),
        ("failovers", counts.failovers),
        ("restarts", counts.restarts),
        ("full stops rolled back", counts.rolled_back),
        ("violations", verdict.violations.len() as u64),
    ];
    let mut text: String = rows.iter().map(|(name, value)| format!("{name:<24}{value}\n")).collect();
    for it in &verdict.violations {
        text += &format!("\n{}\n", describe_violation(it));
    }
    if let Some(place) = verdict.place {
        text += "\naround the first one:\n";
        for line in histories.around(place, BEFORE, AFTER) {
            text += &format!("{line}\n");
        }
    }
    text
}

fn describe_violation(it: &Violation) -> String {
    match it.millis {
        0 => format!("{}: {}", it.invariant, it.detail),
        millis => format!("{millis} ms: {}: {}", it.invariant, it.detail),
    }
}

fn json(histories: &Histories, verdict: &HistoryReport) -> serde_json::Value {
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
