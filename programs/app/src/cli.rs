//! The command line of a game's program.

use crate::command::{CommandError, exit_code};
use crate::naming::named;
use crate::program::Program;
use crate::{bench, check, play, schema, sim};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::process::ExitCode;

/// The commands of every game.
#[derive(Parser)]
#[command(name = "ecumene", arg_required_else_help = true, args_override_self = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: CliCommand,
}

#[derive(Subcommand)]
pub enum CliCommand {
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
    /// Print the types of the game, for clients in other languages.
    Schema(schema::SchemaArgs),
}

/// Runs the command that the arguments of this process name. The exit code is 0 for success, 1 for a failure, 2 for a
/// wrong call.
pub fn run(mut program: Program) -> ExitCode {
    program.game_mut().complete();
    let matches = match command_line(&program).try_get_matches() {
        Ok(matches) => matches,
        Err(error) if error.use_stderr() && !is_help_request(&error) => {
            // One line on standard error, so that scripts and logs can quote it.
            return exit_code(Err(CommandError::Usage(one_line(&error.to_string()))));
        }
        Err(error) => error.exit(),
    };
    let called = matches.subcommand_name();
    if let Some(own) = program.own_commands.take_if(|own| called.is_some_and(|it| own.has(it))) {
        return exit_code(own.run(&matches));
    }
    exit_code(match Cli::from_arg_matches(&matches) {
        Ok(cli) => run_command(&program, cli.command),
        Err(error) => Err(CommandError::Usage(one_line(&error.to_string()))),
    })
}

/// All commands, under the program's name.
fn command_line(program: &Program) -> clap::Command {
    let commands = Cli::command();
    let commands = match &program.own_commands {
        Some(own) => own.add_to(commands),
        None => commands,
    };
    named(commands, program)
}

fn run_command(program: &Program, command: CliCommand) -> Result<(), CommandError> {
    match command {
        CliCommand::Bench(bench) => bench::run(program, &bench),
        CliCommand::Sim(sim) => sim::run(program, &sim),
        CliCommand::Check(args) => check::run(program, &args),
        CliCommand::Demo(args) => play::demo::run(program, &args),
        CliCommand::Directory(args) => play::serve::directory(program, &args),
        CliCommand::Host(args) => play::serve::host(program, &args),
        CliCommand::Bots(args) => play::bots::run(program, &args),
        CliCommand::Chaos(args) => play::chaos::run(program, &args),
        CliCommand::Keys(args) => play::serve::keys(program, &args),
        CliCommand::Config(command) => play::serve::config(program, &command),
        CliCommand::Schema(args) => schema::run(program, &args),
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
