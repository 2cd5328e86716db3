//! Progress bars of long commands, for a terminal; silent in a pipe or a log.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar of `steps` steps on standard error, labelled `what`.
pub fn bar(what: &'static str, steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {elapsed} (about {eta} left)");
    let bar =
        ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr_with_hz(8)).with_message(what);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
