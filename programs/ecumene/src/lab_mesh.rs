//! `ecumene lab mesh`.

use ecumene::clap::{self, Args, ValueEnum};
use ecumene::command::{CommandError, OutputFormat, bar};
use lab::mesh::{self, MeshPart, MeshResults, MeshSetting, SERVICE_US, report};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `ecumene lab mesh`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ecumene lab mesh                                  everything; some minutes
  ecumene lab mesh --parts borders,servers          the paper's two experiments
  ecumene lab mesh --parts torture --seed 7         the authors' manual tests, read by all checkers
  ecumene lab mesh --service 250 --out out/mesh     slower servers, with a report

Whole worlds run on the simulator: zones with backups, disks, a directory, and clients that play Kosmos. Every message
takes --service microseconds of its server's one processor, in or out. All checkers read the histories: the exit code
is 1 if one of them finds a violation.")]
pub struct LabMeshArgs {
    /// Parts of the experiment to run.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = MeshPartArg::value_variants().to_vec())]
    parts: Vec<MeshPartArg>,
    /// Random seed; the same seed gives the same numbers on every computer.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of timed events in the paper's experiments; the tables give times per thousand events.
    #[arg(long, default_value_t = 5_000)]
    events: u64,
    /// Processor time of a server per message, in or out, in microseconds.
    #[arg(long, default_value_t = SERVICE_US)]
    service: u64,
    /// Numbers of zones of the part `zones`: squares of whole numbers.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 4, 16, 64])]
    zones: Vec<u32>,
    /// Clients per zone in the part `zones`.
    #[arg(long, default_value_t = 25)]
    clients: u32,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
    /// Fail, with exit code 1, if a claim is not reproduced.
    #[arg(long)]
    strict: bool,
    /// Also write a report into this folder: report.html, figures as SVG, JSON.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MeshPartArg {
    /// The paper's first experiment: clients anywhere, and all clients at borders.
    Borders,
    /// The paper's second experiment: one server with 100 to 200 clients, three with 200 to 400.
    Servers,
    /// Servers up to 100 ms apart.
    Distance,
    /// A growing share of clients at borders, from none to all.
    Share,
    /// Worlds of a growing number of zones.
    Zones,
    /// Simultaneous fire, constant crossing, collisions exactly on the border.
    Torture,
}

impl LabMeshArgs {
    fn setting(&self) -> MeshSetting {
        let part = |it: &MeshPartArg| match it {
            MeshPartArg::Borders => MeshPart::Borders,
            MeshPartArg::Servers => MeshPart::Servers,
            MeshPartArg::Distance => MeshPart::Distance,
            MeshPartArg::Share => MeshPart::Share,
            MeshPartArg::Zones => MeshPart::Zones,
            MeshPartArg::Torture => MeshPart::Torture,
        };
        MeshSetting {
            seed: self.seed,
            events: self.events,
            service_us: self.service,
            zones: self.zones.clone(),
            clients_per_zone: self.clients,
            parts: self.parts.iter().map(part).collect(),
        }
    }
}

pub fn run(args: &LabMeshArgs) -> Result<(), CommandError> {
    let setting = args.setting();
    setting.check().map_err(|error| CommandError::Usage(error.to_string()))?;
    crate::report::check_writable(args.out.as_deref())?;
    let bar = bar("lab mesh", mesh::steps(&setting));
    bar.enable_steady_tick(Duration::from_millis(200));
    let results = mesh::measure(&setting, &|| bar.inc(1));
    bar.finish_and_clear();
    let text = match args.format {
        OutputFormat::Table => report::tables(&results),
        OutputFormat::Json => report::json(&results),
    };
    crate::report::publish(args.out.as_deref(), |directory| report::write(directory, &results), &text)?;
    judge(args, &results)
}

/// Fails if a checker found a violation, or, with `--strict`, if a claim is not reproduced.
fn judge(args: &LabMeshArgs, results: &MeshResults) -> Result<(), CommandError> {
    if let Some(violation) = mesh::violations(results).first() {
        return Err(anyhow::anyhow!("a checker found something: {violation}").into());
    }
    let failures = if args.strict { mesh::failures(results) } else { Vec::new() };
    if failures.is_empty() {
        return Ok(());
    }
    let claims: Vec<String> = failures.iter().map(|it| format!("{}: {:.2}", it.claim, it.ours)).collect();
    Err(anyhow::anyhow!("does not come out: {}", claims.join("; ")).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LabCommand, parsed};

    #[test]
    fn without_options_it_is_everything() {
        let setting = |more: &[&str]| {
            let LabCommand::Mesh(args) = parsed(&[&["mesh"], more].concat()) else {
                panic!("that was lab mesh")
            };
            args.setting()
        };
        assert_eq!(setting(&[]), MeshSetting::default());
        assert_eq!(setting(&["--parts", "zones,torture"]).parts, [MeshPart::Zones, MeshPart::Torture]);
    }
}
