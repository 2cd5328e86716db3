//! The `ecumene` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    bundled::run()
}
