//! What commands share: their errors, their output, their progress bars. A program's own commands use it, too.

use clap::ValueEnum;
use std::process::ExitCode;
use testbed::InvalidOptions;

pub use crate::progress::bar;

/// The reason why a command did not succeed.
#[derive(Debug)]
pub enum CommandError {
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

/// The output format of a command that prints one report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Text for people.
    Table,
    /// JSON for programs.
    Json,
}

/// Ends a command: prints why it did not succeed.
pub(crate) fn exit_code(outcome: Result<(), CommandError>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(CommandError::Usage(why)) => {
            print_to_stderr(&format!("error: {why}"));
            ExitCode::from(2)
        }
        Err(CommandError::Failed(error)) => {
            print_to_stderr(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Writes a line to standard error.
pub fn print_to_stderr(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
    // A closed standard error must not end a run of hours.
}

/// Writes results to standard output; a reader that went away early (such as `head`) is no error.
pub fn print(text: &str) -> Result<(), CommandError> {
    Ok(write_out(text)?)
}

/// [`print`] for callers with an error type of their own.
pub(crate) fn write_out(text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
