//! A folding of an endless plane of cells into a small table of slots.
//!
//! The cell in column `c` and row `r` has slot `(c + r × step) mod slots`, so the cells of a row follow each other.
//! Those that share a slot form a lattice. If the table were a torus, that lattice would be a square one, and what
//! people build is square, too: towns at the torus' period would all look into each other, and a long road into itself.
//! So the number of slots is prime and the step is chosen as for Fibonacci lattices: whatever lies in a rectangle of
//! fewer than [`Fold::window`] cells has slots of its own, be it a square or a road a thousand times as long as wide.
//! Larger regular patterns do share some slots, but not more in a larger world.

/// A folding of the plane with a certain number of slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    /// Number of slots, a prime (or 1).
    pub(crate) slots: u32,
    /// Distance in slots from a cell to the one in the next row.
    pub(crate) step: u32,
    /// Rectangles of fewer cells than this never meet themselves.
    window: u32,
}

/// By the power of two that `slots` is the largest prime below: slots, step, window. Of all steps (from 2^13 on, of
/// 6,000 around the golden section) these have the largest window.
const FOLDS: [(u32, u32, u32); 32] = [
    (1, 0, 1),
    (2, 1, 3),
    (3, 1, 4),
    (7, 2, 6),
    (13, 5, 12),
    (31, 12, 18),
    (61, 17, 32),
    (127, 29, 60),
    (251, 70, 104),
    (509, 111, 200),
    (1_021, 233, 450),
    (2_039, 462, 736),
    (4_093, 1_210, 1_440),
    (8_191, 2_431, 2_904),
    (16_381, 11_594, 5_550),
    (32_749, 20_084, 10_950),
    (65_521, 38_077, 21_110),
    (131_071, 83_064, 44_132),
    (262_139, 160_454, 86_912),
    (524_287, 325_654, 145_836),
    (1_048_573, 650_248, 297_030),
    (2_097_143, 1_294_682, 571_692),
    (4_194_301, 2_592_160, 1_323_762),
    (8_388_593, 5_184_413, 2_536_092),
    (16_777_213, 10_367_378, 4_506_660),
    (33_554_393, 20_737_139, 8_871_312),
    (67_108_859, 41_478_542, 20_211_880),
    (134_217_689, 82_950_600, 33_364_890),
    (268_435_399, 165_901_622, 67_090_292),
    (536_870_909, 331_802_380, 127_212_930),
    (1_073_741_789, 663_609_069, 318_868_056),
    (2_147_483_647, 1_327_217_102, 524_459_064),
];

impl Fold {
    /// The fold with a little fewer than 2^`bits` slots.
    pub(crate) const fn with(bits: u32) -> Self {
        let (slots, step, window) = FOLDS[bits as usize];
        Self { slots, step, window }
    }

    /// The slot of a cell.
    pub(crate) const fn slot(self, column: u32, row: u32) -> u32 {
        ((column as u64 + row as u64 * self.step as u64) % self.slots as u64) as u32
    }

    /// The slot that is `by` farther; `by` is less than the number of slots.
    pub(crate) const fn beyond(self, slot: u32, by: u32) -> u32 {
        let sum = slot + by;
        if sum < self.slots { sum } else { sum - self.slots }
    }

    /// True if all cells of a rectangle surely have slots of their own.
    pub(crate) const fn keeps_apart(self, columns: u32, rows: u32) -> bool {
        (columns as u64 * rows as u64) < self.window as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_prime_and_fill_their_power_of_two() {
        let is_prime =
            |it: u32| (2..).take_while(|&by| by * by <= u64::from(it)).all(|by| u64::from(it) % by != 0);
        for (bits, &(slots, ..)) in FOLDS.iter().enumerate().skip(1) {
            assert!(is_prime(slots) && (1u64 << bits) - u64::from(slots) < 64, "{slots}");
        }
    }

    /// The least rectangle that holds two cells of one slot. One that is smaller than the window has few rows or few
    /// columns, so that it is enough to look at each few rows for the columns that go with them, and the other way
    /// round.
    fn smallest_meeting(fold: Fold) -> u64 {
        let slots = u64::from(fold.slots);
        let few = u64::from(fold.window).isqrt() + 1;
        let nearest = |apart: u64| apart.min(slots - apart);
        let mut least = slots + 1;
        for it in 1..=few.min(slots - 1) {
            let columns = nearest(it * u64::from(fold.step) % slots);
            let rows = nearest(it * inverse(fold.step.into(), slots) % slots);
            least = least.min((it + 1) * (columns + 1)).min((it + 1) * (rows + 1));
        }
        least
    }

    /// The inverse of `number` modulo a prime (Fermat).
    fn inverse(number: u64, prime: u64) -> u64 {
        let (mut power, mut square, mut left) = (1, number, prime - 2);
        while 0 < left {
            if left % 2 == 1 {
                power = power * square % prime;
            }
            (square, left) = (square * square % prime, left / 2);
        }
        power
    }

    #[test]
    fn windows_are_as_large_as_they_can_be() {
        for bits in 1..32 {
            let fold = Fold::with(bits);
            assert_eq!(smallest_meeting(fold), fold.window.into(), "{fold:?}");
        }
    }

    #[test]
    fn no_two_cells_of_a_window_share_a_slot() {
        for bits in 5..=12 {
            let fold = Fold::with(bits);
            for columns in 1..fold.window {
                let rows = (fold.window - 1) / columns;
                let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| fold.slot(column, row)));
                let mut taken = vec![false; fold.slots as usize];
                for slot in cells {
                    let before = std::mem::replace(&mut taken[slot as usize], true);
                    assert!(!before, "{columns} x {rows} of {fold:?}");
                }
            }
        }
    }

    #[test]
    fn every_row_follows_the_one_before() {
        for bits in 0..32 {
            let fold = Fold::with(bits);
            let corner = fold.slot(u32::MAX - 1, u32::MAX - 1);
            assert!(corner < fold.slots);
            assert_eq!(fold.slot(u32::MAX - 1, u32::MAX), fold.beyond(corner, fold.step));
            assert_eq!(fold.slot(u32::MAX, u32::MAX - 1), fold.beyond(corner, 1 % fold.slots));
        }
    }
}
