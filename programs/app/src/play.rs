//! Worlds on real networks: control plane, hosts, bots, and the demo that starts all of them.

pub mod bots;
pub mod chaos;
pub mod demo;
mod log_limiter;
mod logging;
pub mod serve;

use crate::command::CommandError;
use crate::program::Program;
use client::Transport;
use server::ServerConfig;
use std::path::PathBuf;

/// Sources of the configuration.
#[derive(clap::Args, Clone, Debug)]
pub struct ConfigArgs {
    /// Configuration file; it needs only values that differ from the defaults (see `ecumene config print`)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder of the world's data: logs, snapshots, keys
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder for histories, which `ecumene check` reads
    #[arg(long, value_name = "DIR")]
    pub history: Option<PathBuf>,
}

impl ConfigArgs {
    fn load(&self, program: &Program) -> Result<ServerConfig, CommandError> {
        let mut config = program
            .template()
            .load(self.config.as_deref())
            .map_err(|error| CommandError::Usage(format!("{error:#}")))?;
        if let Some(data) = &self.data {
            config.data.clone_from(data);
        }
        if let Some(history) = &self.history {
            config.history.clone_from(history);
        }
        Ok(config)
    }
}

/// The transport that `--web-socket` chooses.
pub(crate) const fn transport(web_socket: bool) -> Transport {
    if web_socket { Transport::WebSocket } else { Transport::Quic }
}

/// Runs `work` to its end on a new multi-threaded runtime.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}

/// Waits for Ctrl-C or SIGTERM.
pub(crate) async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
        // Without signal handlers the process cannot stop in good order; the system's default handling still ends it.
    };
    tokio::select! {
        _ = interrupt.recv() => (),
        _ = terminate.recv() => (),
    }
}
