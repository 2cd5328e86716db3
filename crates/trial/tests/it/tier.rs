//! Which tier is run: every day, or with `ECUMENE_FULL=1` a longer one.

/// Whether this is the longer one.
#[expect(clippy::disallowed_methods, reason = "which tier is run is no part of a history")]
pub(crate) fn is_full() -> bool {
    std::env::var("ECUMENE_FULL").is_ok_and(|it| it == "1")
}
