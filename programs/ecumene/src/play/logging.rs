//! The log of a process: to standard error, as text for people or as JSON for programs.

use crate::CommandError;
use server::config::{LogConfig, LogFormat};
use tracing_subscriber::EnvFilter;

/// Starts logging. The environment variable `ECUMENE_LOG` overrides the filter of the configuration.
pub fn start(config: &LogConfig) -> Result<(), CommandError> {
    let directives = std::env::var("ECUMENE_LOG").unwrap_or_else(|_| config.filter.clone());
    let filter = EnvFilter::try_new(&directives)
        .map_err(|error| CommandError::Usage(format!("log.filter {directives:?}: {error}")))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match config.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    started.map_err(|error| CommandError::Failed(anyhow::anyhow!("cannot log: {error}")))
}
