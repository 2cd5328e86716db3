//! The error of invalid options.

/// The caller's options are invalid, for this reason. Every other error means that a test ran and failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidOptions(pub String);
