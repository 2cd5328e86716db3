//! `ecumene lab mesh`.

use crate::{Failure, progress};
use clap::{Args as ClapArgs, ValueEnum};
use lab::mesh::{self, Part, Results, SERVICE_US, Setting, report};
use std::path::PathBuf;
use std::time::Duration;

/// What `ecumene lab mesh` takes.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  ecumene lab mesh                                  everything; some minutes
  ecumene lab mesh --parts borders,servers          the paper's two experiments
  ecumene lab mesh --parts torture --seed 7         what the authors tried by hand, judged by all checkers
  ecumene lab mesh --service 250 --out out/mesh     slower servers, with a report

Whole worlds run on the simulator: zones with their backups, disks, a directory, and clients that play Kosmos. Every message
takes --service microseconds of its server's one processor, in or out. All checkers watch: the exit code is 1 if one of them
found anything.")]
pub struct Args {
    /// Which parts to run.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = PartArg::value_variants().to_vec())]
    parts: Vec<PartArg>,
    /// Where chance starts; the same seed gives the same numbers on every machine.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many events are timed in the paper's experiments, in thousands of which times are told.
    #[arg(long, default_value_t = 5_000)]
    events: u64,
    /// What a message takes of a server's time, in or out, in microseconds.
    #[arg(long, default_value_t = SERVICE_US)]
    service: u64,
    /// Numbers of zones for `zones`: squares of whole numbers.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 4, 16, 64])]
    zones: Vec<u32>,
    /// Clients per zone for `zones`.
    #[arg(long, default_value_t = 25)]
    clients: u32,
    /// What to print.
    #[arg(long, value_enum, default_value_t = FormatArg::Table)]
    format: FormatArg,
    /// Fail, with exit code 1, if a claim does not come out.
    #[arg(long)]
    strict: bool,
    /// Also write a report there: report.html, figures as SVG, JSON.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PartArg {
    /// The paper's first experiment: clients anywhere, and all at borders.
    Borders,
    /// The second: one server with 100 to 200 clients, three with 200 to 400.
    Servers,
    /// Servers up to 100 ms apart.
    Distance,
    /// From no client at borders to all of them.
    Share,
    /// Ever larger worlds.
    Zones,
    /// Simultaneous fire, constant crossing, collisions exactly on the border.
    Torture,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatArg {
    Table,
    Json,
}

impl Args {
    fn setting(&self) -> Setting {
        let part = |it: &PartArg| match it {
            PartArg::Borders => Part::Borders,
            PartArg::Servers => Part::Servers,
            PartArg::Distance => Part::Distance,
            PartArg::Share => Part::Share,
            PartArg::Zones => Part::Zones,
            PartArg::Torture => Part::Torture,
        };
        Setting {
            seed: self.seed,
            events: self.events,
            service_us: self.service,
            zones: self.zones.clone(),
            clients_per_zone: self.clients,
            parts: self.parts.iter().map(part).collect(),
        }
    }
}

/// Runs the experiment.
pub fn run(args: &Args) -> Result<(), Failure> {
    let setting = args.setting();
    setting.check().map_err(|error| Failure::Asked(error.to_string()))?;
    crate::report::ask_for(args.out.as_deref())?;
    let bar = progress::bar("lab mesh", mesh::steps(&setting));
    bar.enable_steady_tick(Duration::from_millis(200));
    let results = mesh::measure(&setting, &|| bar.inc(1));
    bar.finish_and_clear();
    let text = match args.format {
        FormatArg::Table => report::tables(&results),
        FormatArg::Json => report::json(&results),
    };
    crate::report::publish(args.out.as_deref(), |directory| report::write(directory, &results), &text)?;
    judge(args, &results)
}

/// What the checkers found always counts; the claims only if somebody insists.
fn judge(args: &Args, results: &Results) -> Result<(), Failure> {
    if let Some(violation) = mesh::violations(results).first() {
        return Err(anyhow::anyhow!("a checker found something: {violation}").into());
    }
    let failures = if args.strict { mesh::failures(results) } else { Vec::new() };
    if failures.is_empty() {
        return Ok(());
    }
    let said: Vec<String> = failures.iter().map(|it| format!("{}: {:.2}", it.claim, it.ours)).collect();
    Err(anyhow::anyhow!("does not come out: {}", said.join("; ")).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cli, Command, Experiment};
    use clap::Parser;

    #[test]
    fn without_options_it_is_everything() {
        let asked = |more: &[&str]| {
            let cli = Cli::parse_from([&["ecumene", "lab", "mesh"], more].concat());
            let Command::Lab(Experiment::Mesh(args)) = cli.command else { panic!("that was lab mesh") };
            args.setting()
        };
        assert_eq!(asked(&[]), Setting::default());
        assert_eq!(asked(&["--parts", "zones,torture"]).parts, [Part::Zones, Part::Torture]);
    }
}
