//! One seed, told to a person.

use game::machine::Span;
use trial::plan::{self, Fault};
use trial::{Options, Outcome};
use zone::Durability;

/// The plan, the last things that happened, and how it ended.
pub fn told(outcome: &Outcome) -> String {
    let mut text = format!("seed {}\n  {}\n", outcome.options.seed, described(&outcome.options));
    text += &format!("what was to go wrong ({}):\n", outcome.faults.len());
    text += &listed(&outcome.faults, &outcome.options);
    text += &last(outcome, LINES);
    text + &ended(outcome)
}

/// Faults, one line each.
pub fn listed(faults: &[Fault], options: &Options) -> String {
    faults.iter().map(|it| format!("  {}\n", plan::told(it, options))).collect()
}

/// Lines of the trace of one seed.
pub const LINES: usize = 200;

/// How much must be kept to tell the last `lines` things: most of what happens is not worth telling.
pub const fn kept(lines: usize) -> usize {
    lines * 20
}

/// The last things that happened. That somebody looked at a clock, or heard where somebody is, is left out.
pub fn last(outcome: &Outcome, lines: usize) -> String {
    let is_dull = |it: &str| it.ends_with(" Wake") || it.contains("msg: Poses(");
    let told: Vec<_> = outcome.trace.iter().filter(|it| !is_dull(it)).collect();
    let told = &told[told.len().saturating_sub(lines)..];
    let lines: String = told.iter().map(|it| format!("  {}\n", shortened(it))).collect();
    format!("last {} things that happened:\n{lines}", told.len())
}

fn ended(outcome: &Outcome) -> String {
    let (tally, seconds) = (&outcome.tally, outcome.simulated.as_micros() as f64 / 1e6);
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

/// What a trial is like, in a line.
pub fn described(options: &Options) -> String {
    let ms = |it: Span| it.as_micros() as f64 / 1e3;
    let budget = options.budget.map(|it| format!(" with {} B/s", it.bytes_per_second)).unwrap_or_default();
    let zones = if options.zones == 1 { String::new() } else { format!("{} zones, ", options.zones) };
    format!(
        "{zones}{} players, {:.1} s of trouble and {:.1} s to recover, {}, hosts {:.1} ms apart, \
         players {:.1} ms away{budget}, {} faults of: {}",
        options.players,
        ms(options.trouble) / 1e3,
        ms(options.calm) / 1e3,
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

/// The most characters of a line.
const LINE_MAX: usize = 220;
/// Lists of more numbers than this are told by their length.
const NUMBERS_MAX: usize = 6;

/// A line of a trace that fits a screen: long lists of bytes by their length, names of types left out.
fn shortened(line: &str) -> String {
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

/// What every line would say.
const WORDS: [(&str, &str); 4] =
    [("Address(", "@("), ("LinkNumber(", "("), ("msg: Zone(", "("), ("ByteBuf", "")];

/// How many numbers a list at the beginning of `text` has, and how long it is in bytes; `None` if it holds anything
/// else.
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
    fn bytes_are_told_by_their_number() {
        let line = "1.5s @3 Recv { from: Address(1), records: [[1, 2, 3, 4, 5, 6, 7], [1]] }";
        assert_eq!(shortened(line), "1.5s @3 Recv { from: @(1), records: [[7 bytes], [1]] }");
        assert_eq!(shortened("[[[ 1"), "[[[ 1");
        assert_eq!(shortened(&"ä".repeat(500)).chars().count(), LINE_MAX + 1);
    }
}
