//! The log of a process: to standard error, as text for people or as JSON for programs.

use super::log_limiter::LogLimiter;
use crate::command::CommandError;
use server::config::{LogConfig, LogFormat};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Starts logging. The environment variable `ECUMENE_LOG` overrides the filter of the configuration.
pub fn start(config: &LogConfig) -> Result<(), CommandError> {
    let directives = std::env::var("ECUMENE_LOG").unwrap_or_else(|_| config.filter.clone());
    let filter = EnvFilter::try_new(&directives)
        .map_err(|error| CommandError::Usage(format!("log.filter {directives:?}: {error}")))?;
    let limiter = LogLimiter::new();
    let writer = limiter.noting(std::io::stderr, config.format);
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    let started = match config.format {
        LogFormat::Text => builder.finish().with(limiter).try_init(),
        LogFormat::Json => builder.json().finish().with(limiter).try_init(),
    };
    started.map_err(|error| CommandError::Failed(anyhow::anyhow!("cannot log: {error}")))
}
