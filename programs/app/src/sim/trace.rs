//! The description of one seed: its options, planned faults, the last lines of its trace, its end.

use game::machine::Span;
use simtest::plan::{self, Fault};
use simtest::{RunOptions, RunOutcome};
use zone::Durability;

/// Describes an outcome in full: plan, end of the trace, counts and violations.
pub fn describe_outcome(outcome: &RunOutcome) -> String {
    let mut text = format!("seed {}\n  {}\n", outcome.options.seed, describe_options(&outcome.options));
    text += &format!("what was to go wrong ({}):\n", outcome.faults.len());
    text += &list_faults(&outcome.faults, &outcome.options);
    text += &last_lines(outcome, LINES);
    text + &describe_end(outcome)
}

/// The planned faults, one line each.
pub fn list_faults(faults: &[Fault], options: &RunOptions) -> String {
    faults.iter().map(|it| format!("  {}\n", plan::describe(it, options))).collect()
}

/// Number of lines that are shown of one seed's trace.
pub const LINES: usize = 200;

/// Length of the recorded trace that suffices to show `lines` lines: most entries are left out by [`last_lines`].
pub const fn trace_length(lines: usize) -> usize {
    lines * 20
}

/// The last `lines` lines of the trace, without wake-ups and poses.
pub fn last_lines(outcome: &RunOutcome, lines: usize) -> String {
    let is_dull = |it: &str| it.ends_with(" Wake") || it.contains("msg: Poses(");
    let shown: Vec<_> = outcome.trace.iter().filter(|it| !is_dull(it)).collect();
    let shown = &shown[shown.len().saturating_sub(lines)..];
    let lines: String = shown.iter().map(|it| format!("  {}\n", shorten(it))).collect();
    format!("last {} things that happened:\n{lines}", shown.len())
}

fn describe_end(outcome: &RunOutcome) -> String {
    let (tally, seconds) = (&outcome.counts, outcome.simulated.as_micros() as f64 / 1e6);
    let mut text = format!(
        "{seconds:.1} simulated seconds, {} events, {} failovers, {} restarts, {} actions acknowledged, {} aborted, \
         history {:016x}\n",
        outcome.events, tally.failovers, tally.restarts, tally.actions_acked, tally.aborted, outcome.history,
    );
    for it in &outcome.violations {
        text += &format!("violated at {} ms: {}: {}\n", it.millis, it.invariant, it.detail);
    }
    if outcome.violations.is_empty() {
        text += "nothing was violated\n";
    }
    text
}

/// The options of a simulated world in one line.
pub fn describe_options(options: &RunOptions) -> String {
    let ms = |it: Span| it.as_micros() as f64 / 1e3;
    let budget = options.budget.map(|it| format!(" with {} B/s", it.bytes_per_second)).unwrap_or_default();
    let zones = if options.zones == 1 { String::new() } else { format!("{} zones, ", options.zones) };
    format!(
        "{zones}{} players, {:.1} s of trouble and {:.1} s to recover, {}, hosts {:.1} ms apart, \
         players {:.1} ms away{budget}, {} faults of: {}",
        options.players,
        ms(options.fault_period) / 1e3,
        ms(options.recovery_period) / 1e3,
        match options.durability {
            Durability::Synced => "synced",
            Durability::Batched => "batched",
            Durability::Lazy => "lazy",
        },
        ms(options.host_delay),
        ms(options.player_delay),
        options.faults,
        options.kinds,
    )
}

/// The most characters of a shown line; fits two lines of a terminal.
const LINE_MAX: usize = 220;
/// A list of more numbers than this is replaced by its length.
const NUMBERS_MAX: usize = 6;

/// Shortens a line of a trace: long lists of bytes become their length, frequent type names are left out.
fn shorten(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find('[') {
        let (before, list) = rest.split_at(start);
        text += before;
        match numbers(list) {
            Some((count, length)) if NUMBERS_MAX < count => {
                text += &format!("[{count} bytes]");
                rest = &list[length..];
            }
            _ => {
                text.push('[');
                rest = &list[1..];
            }
        }
    }
    text += rest;
    let text = WORDS.iter().fold(text, |text, word| text.replace(word.0, word.1));
    match text.char_indices().nth(LINE_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Frequent type names, and their replacements.
const WORDS: [(&str, &str); 4] =
    [("Address(", "@("), ("LinkNumber(", "("), ("msg: Zone(", "("), ("ByteBuf", "")];

/// The count of numbers in the list at the beginning of `text`, and the list's length in bytes; `None` if the list
/// holds anything but numbers.
fn numbers(text: &str) -> Option<(usize, usize)> {
    let end = text.find(']')?;
    let inside = text.get(1..end)?;
    let plain = inside.bytes().all(|it| it.is_ascii_digit() || it == b',' || it == b' ');
    plain.then(|| (inside.split(',').count(), end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_bytes_becomes_its_length() {
        let line = "1.5s @3 Recv { from: Address(1), records: [[1, 2, 3, 4, 5, 6, 7], [1]] }";
        assert_eq!(shorten(line), "1.5s @3 Recv { from: @(1), records: [[7 bytes], [1]] }");
        assert_eq!(shorten("[[[ 1"), "[[[ 1");
        assert_eq!(shorten(&"ä".repeat(500)).chars().count(), LINE_MAX + 1);
    }
}
