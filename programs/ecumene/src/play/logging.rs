//! Logs go to standard error, as text for people or as JSON for machines.

use crate::Failure;
use server::config::{LogConfig, LogFormat};
use tracing_subscriber::EnvFilter;

/// Starts logging. The environment's `ECUMENE_LOG` wins over the configuration.
pub fn start(config: &LogConfig) -> Result<(), Failure> {
    let wanted = std::env::var("ECUMENE_LOG").unwrap_or_else(|_| config.filter.clone());
    let filter = EnvFilter::try_new(&wanted)
        .map_err(|error| Failure::Asked(format!("log.filter {wanted:?}: {error}")))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match config.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    started.map_err(|error| Failure::Ran(anyhow::anyhow!("cannot log: {error}")))
}
