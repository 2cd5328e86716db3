//! How a process comes back after a thread of it was lost: it replaces itself by the same program.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Error: a call of the game does not come back, and holds a thread that nothing can end. A process that is a host of its own
/// replaces itself ([`restart_process`]); any other must end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostStuck {
    /// The call, in words.
    pub call: String,
}

impl std::fmt::Display for HostStuck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "this host must start again: {}", self.call)
    }
}

impl std::error::Error for HostStuck {}

/// Replaces this process by the same program with the same arguments. Returns only if that is impossible, and why. All threads
/// end, and all sockets and files are closed; what a crash may do to the disk, this may do.
pub fn restart_process() -> std::io::Error {
    match std::env::current_exe() {
        Ok(program) => Command::new(program).args(std::env::args_os().skip(1)).exec(),
        Err(error) => error,
    }
}
