//! The printed numbers of Bezerra et al. (2008): tables I, II and III.

/// The avatar counts of tables I and II.
pub const AVATARS: [u32; 8] = [25, 50, 75, 100, 125, 150, 175, 200];

/// The view distance (section VII), in metres.
pub const VIEW: f64 = 120.0;

/// The paper's policies in its column order, by our names.
pub const POLICIES: [&str; 5] = ["none", "circle", "circle-attenuated", "field-of-view", "a3"];

/// Table II: average bandwidth in bytes per second; a row per avatar count, a column per policy.
const AVERAGE: [[u32; 5]; 8] = [
    [9_221, 4_715, 2_759, 2_534, 1_700],
    [18_826, 9_350, 5_442, 4_949, 3_303],
    [28_432, 13_963, 8_315, 7_619, 5_137],
    [38_037, 19_324, 11_029, 9_928, 6_739],
    [47_642, 23_138, 13_871, 12_434, 8_290],
    [57_247, 29_031, 16_432, 15_085, 10_062],
    [66_853, 34_697, 19_661, 23_060, 14_250],
    [76_458, 38_600, 23_450, 21_491, 14_413],
];

/// Table I: maximum bandwidth, the largest single second. All are whole updates of 100 bytes, as one second has them,
/// of one run or of several; a mean over runs would not be.
const MAXIMUM: [[u32; 5]; 8] = [
    [9_400, 8_500, 5_700, 7_100, 4_700],
    [19_300, 17_000, 10_300, 12_300, 8_100],
    [29_100, 23_600, 16_600, 17_800, 11_300],
    [38_800, 32_500, 20_500, 23_000, 15_500],
    [48_600, 37_400, 24_300, 29_500, 19_700],
    [58_300, 47_400, 29_900, 32_900, 22_700],
    [67_700, 56_100, 34_300, 32_400, 21_500],
    [77_600, 62_300, 37_500, 41_200, 28_900],
];

/// Table III: saving of A³ against each other policy's average, in per cent.
pub const SAVINGS_AVERAGE: [f64; 4] = [81.64, 63.51, 37.48, 33.58];
/// Table III: saving of A³ against each other policy's maximum, in per cent.
pub const SAVINGS_MAXIMUM: [f64; 4] = [60.10, 52.03, 24.81, 33.10];

/// Saving of circle-attenuated against circle, average and maximum, in per cent (section VIII).
pub const ATTENUATION_SAVES: (f64, f64) = (41.59, 36.19);

/// The paper's average and maximum for an avatar count and policy, if it has them.
pub fn printed(avatars: u32, policy: &str) -> Option<(u32, u32)> {
    let row = AVATARS.iter().position(|&it| it == avatars)?;
    let column = POLICIES.iter().position(|&it| it == policy)?;
    Some((AVERAGE[row][column], MAXIMUM[row][column]))
}

/// Traffic of the circle as a share of the traffic without management, mean over avatar counts.
pub fn circle_share() -> f64 {
    AVERAGE.iter().map(|row| f64::from(row[1]) / f64::from(row[0])).sum::<f64>() / AVERAGE.len() as f64
}

/// The paper's savings of A³ against `policy`, average and maximum, in per cent.
pub fn savings(policy: &str) -> Option<(f64, f64)> {
    let column = POLICIES.iter().position(|&it| it == policy).filter(|&it| it < 4)?;
    Some((SAVINGS_AVERAGE[column], SAVINGS_MAXIMUM[column]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table III is said to be the mean over avatar counts of tables I and II: a check on the typing.
    #[test]
    fn the_savings_follow_from_the_tables() {
        for (column, policy) in POLICIES[..4].iter().enumerate() {
            let mean = |table: &[[u32; 5]; 8]| {
                let saved = |row: &[u32; 5]| 100.0 * (1.0 - f64::from(row[4]) / f64::from(row[column]));
                table.iter().map(saved).sum::<f64>() / 8.0
            };
            let (average, maximum) = savings(policy).unwrap();
            assert!(
                (mean(&AVERAGE) - average).abs() < 0.02,
                "{policy}: {} printed {average}",
                mean(&AVERAGE)
            );
            assert!(
                (mean(&MAXIMUM) - maximum).abs() < 0.02,
                "{policy}: {} printed {maximum}",
                mean(&MAXIMUM)
            );
        }
    }

    #[test]
    fn maxima_are_whole_updates_and_averages_are_not() {
        let whole = |table: &[[u32; 5]; 8]| table.iter().flatten().filter(|it| **it % 100 == 0).count();
        assert_eq!((whole(&MAXIMUM), whole(&AVERAGE)), (40, 2));
    }
}
