//! Random numbers, seeded and forkable.
//!
//! A machine that needs randomness is given its own [`Rng`] when it is made. Forks are independent
//! streams, so that one more draw in one part does not change what another part draws.

use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// A seeded source of random numbers, the same on every computer and in every version of this crate: the ways
/// to draw are written out here, because a library may change its own between releases.
///
/// Not for secrets.
#[derive(Clone, Debug)]
pub struct Rng(Pcg64Mcg);

impl Rng {
    /// The source for a seed. Near seeds give unrelated streams.
    pub fn seeded(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// A new, independent source; this one moves on by one draw.
    pub fn fork(&mut self) -> Self {
        Self::seeded(self.next_u64())
    }

    /// The independent source named `stream`; this one does not move. The same name gives the same
    /// source again, so parts can be told apart by number instead of by the order they were made in.
    pub fn fork_named(&self, stream: u64) -> Self {
        // Why the constant: without it, `fork_named(seed)` of `seeded(seed)` would XOR two equal draws to zero.
        let mut name = Self::seeded(stream ^ 0x9e37_79b9_7f4a_7c15);
        Self::seeded(self.clone().next_u64() ^ name.next_u64())
    }

    /// Draws 64 evenly distributed bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// An even draw from `0..bound`. By multiplication, with the few draws that would bias it thrown
    /// away (Lemire 2019).
    ///
    /// # Panics
    /// If `bound` is 0: there is nothing to draw from.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(0 < bound, "nothing to draw from");
        // Why reject: 2^64 is no multiple of most bounds, so the first few products would come up once too often.
        let reject_under = bound.wrapping_neg() % bound;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(bound);
            // The low half tells whether this draw is one of the few too many.
            if reject_under <= wide as u64 {
                return (wide >> 64) as u64;
            }
        }
    }

    /// An even draw from `low..=high`.
    ///
    /// # Panics
    /// If `high < low`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        assert!(low <= high, "nothing to draw from");
        // Why wrapping: the width of the full range fits `u64`, but not `i64`.
        let width = high.wrapping_sub(low) as u64;
        // Why the special case: `width + 1` would overflow for the full range.
        let step = if width == u64::MAX { self.next_u64() } else { self.below(width + 1) };
        low.wrapping_add(step as i64)
    }

    /// An even draw from `[0, 1)`, on a grid of 2^-53.
    pub fn unit(&mut self) -> f64 {
        // Why 53: an `f64` holds no more bits exactly, and rounding up could give 1.
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability one half.
    pub fn coin(&mut self) -> bool {
        self.next_u64() >> 63 == 1
    }

    /// True with probability `p`; never at 0 or below (or NaN), always at 1 and above.
    pub fn chance(&mut self, p: f64) -> bool {
        // A comparison with NaN is false, so that NaN never happens.
        self.unit() < p
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;
    use proptest::prelude::*;

    #[test]
    fn streams_never_change() {
        // Golden: saved seeds must replay in every later version.
        let mut rng = Rng::seeded(1);
        let drawn =
            [rng.next_u64(), rng.below(1_000), rng.fork().below(1_000), rng.fork_named(3).below(1_000)];
        assert_eq!(drawn, [15_803_641_690_485_367_939, 137, 616, 672]);
    }

    #[test]
    fn forks_do_not_depend_on_how_often_others_draw() {
        let rng = Rng::seeded(5);
        let mut first = rng.fork_named(1);
        let mut busy = rng.fork_named(2);
        busy.next_u64();
        assert_eq!(first.next_u64(), rng.fork_named(1).next_u64());
        assert_ne!(first.next_u64(), busy.next_u64());
    }

    #[test]
    fn probabilities_of_zero_and_one_are_certain() {
        let mut rng = Rng::seeded(2);
        for _ in 0..1_000 {
            assert!(!rng.chance(0.0) && !rng.chance(f64::NAN) && rng.chance(1.0));
        }
        assert_eq!(rng.between(i64::MAX, i64::MAX), i64::MAX);
        rng.between(i64::MIN, i64::MAX);
    }

    proptest! {
        #[test]
        fn draws_stay_in_range(seed: u64, low in -1_000_000i64..1_000_000, width in 0i64..1_000_000) {
            let mut rng = Rng::seeded(seed);
            for _ in 0..64 {
                let drawn = rng.between(low, low + width);
                prop_assert!((low..=low + width).contains(&drawn));
                prop_assert!((0.0..1.0).contains(&rng.unit()));
            }
        }

        #[test]
        fn draws_are_even(seed: u64) {
            let mut rng = Rng::seeded(seed);
            let mut counts = [0u32; 6];
            for _ in 0..6_000 {
                counts[rng.below(6) as usize] += 1;
            }
            // 1000 expected each, standard deviation about 29: seven of them is one in 10^11.
            prop_assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
        }
    }
}
