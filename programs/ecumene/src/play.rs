//! Worlds on real networks: servers, bots, and the demo that starts everything.

pub mod bots;
pub mod chaos;
pub mod demo;
mod logging;
pub mod serve;

use crate::Failure;
use client::Transport;
use game::{Hosted, Rules};
use kosmos::Kosmos;
use server::Config;
use std::path::PathBuf;
use std::sync::Arc;

/// Where the knobs come from.
#[derive(clap::Args, Clone, Debug)]
pub struct ConfigArgs {
    /// A file that says what differs from the defaults (`ecumene config print` shows them)
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where everything is kept
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Where to write a history for `ecumene check`
    #[arg(long, value_name = "DIR")]
    pub history: Option<PathBuf>,
}

impl ConfigArgs {
    fn load(&self) -> Result<Config, Failure> {
        let mut config =
            Config::load(self.config.as_deref()).map_err(|error| Failure::Asked(format!("{error:#}")))?;
        if let Some(data) = &self.data {
            config.data.clone_from(data);
        }
        if let Some(history) = &self.history {
            config.history.clone_from(history);
        }
        Ok(config)
    }
}

/// The bundled game, in a square world.
fn rules(half_metres: u32) -> Result<Arc<dyn Rules>, Failure> {
    let region = region(half_metres)?;
    Ok(Arc::new(Hosted(Kosmos::new(region))))
}

fn region(half_metres: u32) -> Result<space::Polygon, Failure> {
    let half = f64::from(half_metres);
    let corner = |it: f64| space::Position::from_metres(it, it);
    let (low, high) = (corner(-half)?, corner(half)?);
    Ok(space::Polygon::rectangle(low, high)?)
}

/// How clients connect.
pub(crate) const fn transport(web_socket: bool) -> Transport {
    if web_socket { Transport::WebSocket } else { Transport::Quic }
}

/// Something that runs until it is told to stop, or is done.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}

/// Waits for Ctrl-C or a polite request to end.
pub(crate) async fn told_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => (),
        _ = terminate.recv() => (),
    }
}
