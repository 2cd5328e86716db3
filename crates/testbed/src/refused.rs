//! The error of options that cannot be.

/// The caller asked for something that cannot be, and this is why. Every other error means that a test was tried and
/// failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);
