//! The commands that a program has besides those of every game.

use crate::command::CommandError;
use clap::{ArgMatches, Command, Subcommand};

type Run = dyn FnOnce(&ArgMatches) -> Result<(), CommandError>;

/// A program's own commands: the variants of a type with `clap::Subcommand`.
pub struct OwnCommands {
    add: fn(Command) -> Command,
    has: fn(&str) -> bool,
    run: Box<Run>,
}

impl OwnCommands {
    pub fn new<C: Subcommand + 'static>(run: impl FnOnce(C) -> Result<(), CommandError> + 'static) -> Self {
        let run = move |matches: &ArgMatches| match C::from_arg_matches(matches) {
            Ok(command) => run(command),
            Err(error) => Err(CommandError::Usage(error.to_string())),
        };
        Self { add: C::augment_subcommands, has: C::has_subcommand, run: Box::new(run) }
    }

    /// The command line with these commands, too.
    pub fn add_to(&self, command: Command) -> Command {
        (self.add)(command)
    }

    /// Returns whether one of them has this name.
    pub fn has(&self, name: &str) -> bool {
        (self.has)(name)
    }

    /// Runs the one that was called.
    pub fn run(self, matches: &ArgMatches) -> Result<(), CommandError> {
        (self.run)(matches)
    }
}
