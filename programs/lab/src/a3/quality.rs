//! The price of the saving: how old and how wrong the client's knowledge is.
//!
//! Every policy is judged on the same bands, by A³'s relevance of the true positions, so that the same
//! avatars are compared under each policy.

use super::sighting::sightings;
use super::{A3Client, A3Server, A3Setting, LINK_DELAY};
use hdrhistogram::Histogram;
use interest::policies::A3;
use interest::{Policy as _, PolicyError};
use machine::Time;
use serde::Serialize;
use space::Position;

/// A range of relevance for which quality is reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Name of the band in reports.
    pub name: &'static str,
    /// Least relevance in the band, 0 to 1.
    pub from: f32,
}

/// The bands, from the most relevant to avatars that A³ leaves out.
pub const BANDS: [Band; 6] = [
    Band { name: "close (1)", from: 1.0 },
    Band { name: "0.75 to 1", from: 0.75 },
    Band { name: "0.5 to 0.75", from: 0.5 },
    Band { name: "0.25 to 0.5", from: 0.25 },
    Band { name: "0 to 0.25", from: f32::MIN_POSITIVE },
    Band { name: "outside (0)", from: 0.0 },
];

/// Samples of all bands, mergeable over runs.
#[derive(Clone, Debug)]
pub struct Quality {
    reference: A3,
    bands: Vec<BandSamples>,
}

#[derive(Clone, Debug)]
struct BandSamples {
    /// Milliseconds since the newest update was sent.
    age: Histogram<u64>,
    /// Millimetres between where the client puts the avatar and where it is.
    error: Histogram<u64>,
    unknown: u64,
}

/// One policy's quality in one band.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BandQuality {
    /// Name of the band, as in [`Band::name`].
    pub band: &'static str,
    /// Number of samples in the band.
    pub samples: u64,
    /// Share of samples whose avatar the client did not know, in per cent.
    pub unknown_percent: f64,
    /// Mean age of the client's knowledge, in milliseconds.
    pub age_mean_ms: f64,
    /// Age that one sample in a hundred exceeds, in milliseconds.
    pub age_p99_ms: u64,
    /// Mean error of the dead-reckoned position, in metres.
    pub error_mean_m: f64,
    /// Error that one sample in a hundred exceeds, in metres.
    pub error_p99_m: f64,
}

impl Quality {
    pub fn new(setting: &A3Setting) -> Result<Self, PolicyError> {
        let reference = A3::new(setting.view, setting.critical, setting.angle)?;
        Ok(Self { reference, bands: vec![BandSamples::new(); BANDS.len()] })
    }

    /// Compares the knowledge of `client` with the truth of `server`.
    pub fn sample(&mut self, now: Time, client: &A3Client, server: &A3Server) {
        for it in sightings(now, client, server) {
            let band = &mut self.bands[band_of(self.reference.relevance(&it.sight))];
            match it.known {
                None => band.unknown += 1,
                Some(known) => {
                    // Age counts from the sending, one link delay before the arrival.
                    let age = now.since(known.heard) + LINK_DELAY;
                    band.record(age.as_millis(), distance(known.motion.position_at(now), it.there));
                }
            }
        }
    }

    pub fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.bands.iter_mut().zip(&other.bands) {
            ours.age += &theirs.age;
            ours.error += &theirs.error;
            ours.unknown += theirs.unknown;
        }
    }

    pub fn summary(&self) -> Vec<BandQuality> {
        BANDS.iter().zip(&self.bands).map(|(band, samples)| samples.summary(band.name)).collect()
    }
}

impl BandSamples {
    fn new() -> Self {
        // A table shows two digits. The histogram grows as needed, because a policy may never send another update of an
        // avatar.
        let histogram = || Histogram::new(2).expect("two significant digits are allowed");
        Self { age: histogram(), error: histogram(), unknown: 0 }
    }

    fn record(&mut self, age: u64, error: u64) {
        self.age += age;
        self.error += error;
    }

    fn summary(&self, band: &'static str) -> BandQuality {
        let samples = self.age.len() + self.unknown;
        BandQuality {
            band,
            samples,
            unknown_percent: 100.0 * self.unknown as f64 / samples.max(1) as f64,
            age_mean_ms: self.age.mean(),
            age_p99_ms: self.age.value_at_quantile(0.99),
            error_mean_m: self.error.mean() / 1e3,
            error_p99_m: self.error.value_at_quantile(0.99) as f64 / 1e3,
        }
    }
}

/// Index of the band of a relevance.
fn band_of(relevance: f32) -> usize {
    BANDS.iter().position(|it| it.from <= relevance).expect("the last band starts at 0")
}

fn distance(a: Position, b: Position) -> u64 {
    (a.distance_squared(b) as f64).sqrt() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_begin_where_they_say() {
        let names: Vec<&str> =
            [1.0, 0.999, 0.75, 0.749, 0.5, 0.25, 0.249, 1e-6, 0.0].map(|it| BANDS[band_of(it)].name).to_vec();
        let expected = [
            "close (1)",
            "0.75 to 1",
            "0.75 to 1",
            "0.5 to 0.75",
            "0.5 to 0.75",
            "0.25 to 0.5",
            "0 to 0.25",
            "0 to 0.25",
            "outside (0)",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_summary_of_known_samples() {
        let mut samples = BandSamples::new();
        (1..=98).for_each(|_| samples.record(100, 0));
        (1..=2).for_each(|_| samples.record(2_000, 5_000));
        samples.unknown = 100;
        let summary = samples.summary("some");
        assert_eq!((summary.samples, summary.unknown_percent), (200, 50.0));
        assert!(
            (summary.age_mean_ms - 138.0).abs() < 1.0 && (summary.error_mean_m - 0.1).abs() < 0.01,
            "{summary:?}"
        );
        assert!((1_990..=2_020).contains(&summary.age_p99_ms) && (4.9..=5.1).contains(&summary.error_p99_m));
    }

    #[test]
    fn distances_are_in_millimetres() {
        let at = |x, y| Position::new(x, y).unwrap();
        assert_eq!(distance(at(0, 0), at(3, 4)), 5);
    }
}
