//! Ecumene's command line, as a library: another binary can carry every command and add to it.
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
use testbed::Refused;

/// One seamless world on as many servers as it needs.
#[derive(Parser)]
#[command(name = "ecumene", version, arg_required_else_help = true, args_override_self = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a paper's experiment on the machines that ship, beside the paper's own numbers.
    #[command(subcommand)]
    Lab(Experiment),
    /// Measure how fast the shipped code is.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Run worlds on the simulator, break everything that can break, and see whether they hold.
    #[command(subcommand)]
    Sim(sim::Sim),
    /// Judge what the processes of a world wrote down: was anything lost, doubled or contradicted?
    Check(check::Args),
    /// Start a whole world on this machine: servers, bots and the page to play on.
    Demo(play::demo::DemoArgs),
    /// Serve who reigns, log-in and the page.
    Directory(play::serve::DirectoryArgs),
    /// Serve replicas of zones.
    Host(play::serve::HostArgs),
    /// Play with many bots, as real clients, and measure what they experience.
    Bots(play::bots::BotsArgs),
    /// Break a world of real processes on purpose while bots play, and judge what they wrote down.
    Chaos(play::chaos::ChaosArgs),
    /// Make the keys of a world.
    Keys(play::serve::KeysArgs),
    /// Show or check the configuration.
    #[command(subcommand)]
    Config(play::serve::ConfigCommand),
    /// Show the types of the bundled game, for clients in other languages.
    Schema(schema::Args),
}

#[derive(Subcommand)]
enum Experiment {
    /// A³ graded interest management (Bezerra et al. 2008): who hears of whom, how often, at what cost.
    A3(lab_a3::Args),
    /// A mesh of zone servers (Assiotis and Tzanov 2006): what borders cost, and what more servers bring.
    Mesh(lab_mesh::Args),
    /// VAST, a Voronoi overlay of peers (Backhaus and Krause 2007): how it falls apart, and what holds it together.
    Vast(lab_vast::Args),
}

/// Runs the command line; the exit code is 0, 1 for what went wrong, or 2 for what was asked wrongly.
pub fn run() -> ExitCode {
    run_with(Vec::new())
}

/// Runs the command line with more interest policies for `lab a3`.
pub fn run_with(policies: Vec<Candidate>) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && !is_plea_for_help(&error) => {
            return refuse(&one_line(&error.to_string()));
        }
        Err(error) => error.exit(),
    };
    let outcome = match cli.command {
        Command::Lab(Experiment::A3(args)) => lab_a3::run(args, policies),
        Command::Lab(Experiment::Mesh(args)) => lab_mesh::run(&args),
        Command::Lab(Experiment::Vast(args)) => lab_vast::run(&args),
        Command::Bench(bench) => bench::run(&bench),
        Command::Sim(sim) => sim::run(&sim),
        Command::Check(args) => check::run(&args),
        Command::Demo(args) => play::demo::run(&args),
        Command::Directory(args) => play::serve::directory(&args),
        Command::Host(args) => play::serve::host(&args),
        Command::Bots(args) => play::bots::run(&args),
        Command::Chaos(args) => play::chaos::run(&args),
        Command::Keys(args) => play::serve::keys(&args),
        Command::Config(command) => play::serve::config(&command),
        Command::Schema(args) => schema::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Asked(why)) => refuse(&why),
        Err(Failure::Ran(error)) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Why a command did not succeed.
enum Failure {
    /// It was asked for something that cannot be: exit code 2.
    Asked(String),
    /// It tried and failed: exit code 1.
    Ran(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        match error.into().downcast() {
            Ok(Refused(why)) => Self::Asked(why),
            Err(error) => Self::Ran(error),
        }
    }
}

fn is_plea_for_help(error: &clap::Error) -> bool {
    error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// What clap says in several lines, without the usage that follows.
fn one_line(text: &str) -> String {
    let told = text.split("\n\nUsage:").next().unwrap_or(text).split("\n\nFor more").next().unwrap_or(text);
    let words: Vec<&str> = told.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

fn refuse(why: &str) -> ExitCode {
    say(&format!("error: {why}"));
    ExitCode::from(2)
}

/// Speaks to a person, if one is still listening.
fn say(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Writes results to standard output; a reader that went away early (such as `head`) is no error.
fn print(text: &str) -> Result<(), Failure> {
    Ok(write_out(text)?)
}

/// The same, for callers that know other errors.
fn write_out(text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
