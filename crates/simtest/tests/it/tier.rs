//! The tier of tests: every day's, or with `ECUMENE_FULL=1` a longer one.

/// Returns whether this is the longer tier.
#[expect(clippy::disallowed_methods, reason = "which tier is run is no part of a history")]
pub(crate) fn is_full() -> bool {
    std::env::var("ECUMENE_FULL").is_ok_and(|it| it == "1")
}
