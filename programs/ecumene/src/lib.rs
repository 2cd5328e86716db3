//! The bundled program: Kosmos through the door that every game has (`ecumene::App`), with the experiments of the papers
//! as commands of its own.
//!
//! It is a library, too, so that another binary can add policies to `lab a3`. A researcher's own interest policy needs
//! one file with a `main` like this; it then appears in the tables and figures beside the paper's
//! (`examples/own_policy.rs` is complete):
//!
//! ```no_run
//! use interest::policies::A3;
//! use lab::a3::Candidate;
//!
//! fn main() -> std::process::ExitCode {
//!     let narrow = Candidate::new("narrow", |it| A3::new(it.view, it.critical, 90.0));
//!     bundled::run_with(vec![narrow])
//! }
//! ```

mod kosmos_app;
mod lab_a3;
mod lab_mesh;
mod lab_vast;
mod report;

use ecumene::clap::{self, Subcommand};
use ecumene::command::CommandError;
use lab::a3::Candidate;
use std::process::ExitCode;

/// The commands that this program has besides those of every game.
#[derive(Subcommand)]
enum BundledCommand {
    /// Run a paper's experiment on the shipped code and compare with the paper's numbers.
    #[command(subcommand)]
    Lab(LabCommand),
}

#[derive(Subcommand)]
enum LabCommand {
    /// A³ graded interest management (Bezerra et al. 2008): bytes per client under each policy.
    A3(lab_a3::LabA3Args),
    /// A mesh of zone servers (Assiotis and Tzanov 2006): the cost of borders, and the gain from more servers.
    Mesh(lab_mesh::LabMeshArgs),
    /// VAST, a Voronoi overlay of peers (Backhaus and Krause 2007): when it falls apart, and the changes that prevent
    /// it.
    Vast(lab_vast::LabVastArgs),
}

/// Runs the command line. The exit code is 0 for success, 1 for a failure, 2 for a wrong call.
pub fn run() -> ExitCode {
    run_with(Vec::new())
}

/// Runs the command line with additional interest policies for `lab a3`. Exit codes as in [`run`].
pub fn run_with(policies: Vec<Candidate>) -> ExitCode {
    let lab = |BundledCommand::Lab(command)| run_lab(command, policies);
    kosmos_app::kosmos_app().commands(lab).run()
}

fn run_lab(command: LabCommand, policies: Vec<Candidate>) -> Result<(), CommandError> {
    match command {
        LabCommand::A3(args) => lab_a3::run(args, policies),
        LabCommand::Mesh(args) => lab_mesh::run(&args),
        LabCommand::Vast(args) => lab_vast::run(&args),
    }
}

/// What a call of `ecumene lab` asks for.
#[cfg(test)]
fn parsed(arguments: &[&str]) -> LabCommand {
    use clap::FromArgMatches as _;
    let command = BundledCommand::augment_subcommands(clap::Command::new("ecumene").args_override_self(true));
    let matches = command.get_matches_from([&["ecumene", "lab"], arguments].concat());
    let BundledCommand::Lab(command) = BundledCommand::from_arg_matches(&matches).expect("it was parsed");
    command
}
