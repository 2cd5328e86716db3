//! Ecumene's command line, as a library: another binary can offer every command and add policies to `lab a3`.
//!
//! A researcher's own interest policy needs one file with a `main` like this; it then appears in the
//! tables and figures beside the paper's (`examples/own_policy.rs` is complete):
//!
//! ```no_run
//! use interest::policies::A3;
//! use lab::a3::Candidate;
//!
//! fn main() -> std::process::ExitCode {
//!     let narrow = Candidate::new("narrow", |it| A3::new(it.view, it.critical, 90.0));
//!     ecumene::run_with(vec![narrow])
//! }
//! ```

mod bench;
mod check;
mod kosmos_game;
mod lab_a3;
mod lab_mesh;
mod lab_vast;
mod play;
mod progress;
mod report;
mod schema;
mod sim;

use clap::{Parser, Subcommand};
use lab::a3::Candidate;
use std::process::ExitCode;
use testbed::InvalidOptions;

/// One seamless world on as many servers as it needs.
#[derive(Parser)]
#[command(name = "ecumene", version, arg_required_else_help = true, args_override_self = true)]
struct Cli {
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Subcommand)]
enum CliCommand {
    /// Run a paper's experiment on the shipped code and compare with the paper's numbers.
    #[command(subcommand)]
    Lab(LabCommand),
    /// Measure how fast the shipped code is.
    #[command(subcommand)]
    Bench(bench::BenchCommand),
    /// Run simulated worlds with faults, and check their histories for lost, doubled or contradictory events.
    #[command(subcommand)]
    Sim(sim::SimCommand),
    /// Check the histories that a world's processes wrote: was anything lost, doubled or contradicted?
    Check(check::CheckArgs),
    /// Start a whole world on this computer: control plane, hosts, bots and the web page to play on.
    Demo(play::demo::DemoArgs),
    /// Run the control plane: directory, log-in and web page.
    Directory(play::serve::DirectoryArgs),
    /// Run a host: a process that holds replicas of zones.
    Host(play::serve::HostArgs),
    /// Let many bots play as real clients, and measure latency and traffic.
    Bots(play::bots::BotsArgs),
    /// Break a world of real processes on purpose while bots play, then check the histories.
    Chaos(play::chaos::ChaosArgs),
    /// Make the keys and certificates of a world.
    Keys(play::serve::KeysArgs),
    /// Print or check the configuration.
    #[command(subcommand)]
    Config(play::serve::ConfigCommand),
    /// Print the types of the bundled game, for clients in other languages.
    Schema(schema::SchemaArgs),
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
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && !is_help_request(&error) => {
            // One line on standard error, so that scripts and logs can quote it.
            return refuse(&one_line(&error.to_string()));
        }
        Err(error) => error.exit(),
    };
    let outcome = match cli.command {
        CliCommand::Lab(LabCommand::A3(args)) => lab_a3::run(args, policies),
        CliCommand::Lab(LabCommand::Mesh(args)) => lab_mesh::run(&args),
        CliCommand::Lab(LabCommand::Vast(args)) => lab_vast::run(&args),
        CliCommand::Bench(bench) => bench::run(&bench),
        CliCommand::Sim(sim) => sim::run(&sim),
        CliCommand::Check(args) => check::run(&args),
        CliCommand::Demo(args) => play::demo::run(&args),
        CliCommand::Directory(args) => play::serve::directory(&args),
        CliCommand::Host(args) => play::serve::host(&args),
        CliCommand::Bots(args) => play::bots::run(&args),
        CliCommand::Chaos(args) => play::chaos::run(&args),
        CliCommand::Keys(args) => play::serve::keys(&args),
        CliCommand::Config(command) => play::serve::config(&command),
        CliCommand::Schema(args) => schema::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(CommandError::Usage(why)) => refuse(&why),
        Err(CommandError::Failed(error)) => {
            print_to_stderr(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// The reason why a command did not succeed.
enum CommandError {
    /// The call itself is wrong, such as an impossible value: exit code 2.
    Usage(String),
    /// The call is valid, but the work failed: exit code 1.
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for CommandError {
    fn from(error: E) -> Self {
        match error.into().downcast() {
            Ok(InvalidOptions(why)) => Self::Usage(why),
            Err(error) => Self::Failed(error),
        }
    }
}

fn is_help_request(error: &clap::Error) -> bool {
    error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// Clap's message of several lines as one line, without the usage that follows it.
fn one_line(text: &str) -> String {
    let message =
        text.split("\n\nUsage:").next().unwrap_or(text).split("\n\nFor more").next().unwrap_or(text);
    let words: Vec<&str> = message.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

fn refuse(why: &str) -> ExitCode {
    print_to_stderr(&format!("error: {why}"));
    ExitCode::from(2)
}

/// Writes a line to standard error.
fn print_to_stderr(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
    // A closed standard error must not end a run of hours.
}

/// Writes results to standard output; a reader that went away early (such as `head`) is no error.
fn print(text: &str) -> Result<(), CommandError> {
    Ok(write_out(text)?)
}

/// [`print`] for callers with an error type of their own.
fn write_out(text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
