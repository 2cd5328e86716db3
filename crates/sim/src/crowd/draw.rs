//! Random draws that [`Rng`] itself does not have.

use machine::{Rng, Span};

/// A draw from the exponential distribution: the wait for an occurrence that may come at any moment.
///
/// By von Neumann's comparison of even draws (1951): exact, and without a logarithm that could differ in its
/// last bit between machines. About six draws each.
///
/// A round draws until the numbers stop falling. The chance that the first, `x`, begins a falling run of odd
/// length is e^-x; each even run before it adds a whole mean.
pub(super) fn exponential(mean: Span, rng: &mut Rng) -> Span {
    let mut whole = 0.0;
    loop {
        let first = rng.unit();
        if falling_run(first, rng) % 2 == 1 {
            return Span::from_micros((mean.as_micros() as f64 * (whole + first)) as u64);
        }
        whole += 1.0;
    }
}

/// The length of the falling run of draws that begins with `first`.
fn falling_run(first: f64, rng: &mut Rng) -> u32 {
    let (mut last, mut length) = (first, 1);
    loop {
        let next = rng.unit();
        if last <= next {
            return length;
        }
        (last, length) = (next, length + 1);
    }
}

/// Draws `count` of `all` at random, in order (Fisher and Yates).
pub(super) fn sample<'a>(all: &'a mut [u32], count: usize, rng: &mut Rng) -> &'a [u32] {
    for index in 0..count {
        let other = index + rng.below((all.len() - index) as u64) as usize;
        all.swap(index, other);
    }
    let drawn = &mut all[..count];
    drawn.sort_unstable();
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_have_their_mean_and_no_memory() {
        let mut rng = Rng::seeded(3);
        let waits: Vec<u64> =
            (0..100_000).map(|_| exponential(Span::from_secs(60), &mut rng).as_millis()).collect();
        let mean = waits.iter().sum::<u64>() / 100_000;
        assert!((59_200..60_800).contains(&mean), "{mean} ms"); // Four standard deviations.
        let longer_than = |millis| waits.iter().filter(|it| millis < **it).count();
        for (minutes, expected) in [(1, 36_788), (2, 13_534), (3, 4_979)] {
            let found = longer_than(minutes * 60_000);
            assert!(found.abs_diff(expected) < 650, "{found} of 100,000 longer than {minutes} means");
        }
    }
}
