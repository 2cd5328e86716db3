//! The options of the experiment, and the setting that is made of them after one check.

use super::UpdateSizes;
use crate::waypoint_walk::Terrain;
use interest::{DueRule, UpdateSchedule};
use machine::Span;
use space::{Distance, OutOfRange};
use thiserror::Error;

/// A reading of the paper from which the options start.
///
/// The printed square of 750 cannot give the printed tables: a view of 120 there holds a tenth of the
/// avatars, in the tables it holds half. The fitted reading takes the square, speeds and pauses that come
/// nearest to the paper's average savings, by a rule that `scripts/fit-a3.sh` states and carries out, and lets
/// attenuation start at the critical distance for the circle too. `docs/lab-a3.md` says what it misses and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The parameters as the paper prints them.
    Stated,
    /// The parameters that the paper's tables fit.
    Fitted,
}

impl Reading {
    /// Name of the reading on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Fitted => "fitted",
        }
    }
}

/// The options of the experiment: plain numbers, unchecked. Lengths are in metres, like the paper's units.
#[derive(Clone, Debug, PartialEq)]
pub struct A3Options {
    /// Reading of the paper from which the options start.
    pub reading: Reading,
    /// Numbers of avatars, the observer among them; one set of runs each.
    pub avatars: Vec<u32>,
    /// Length of each run in minutes, rounded to a second.
    pub minutes: f64,
    /// Number of runs per avatar count and policy.
    pub runs: u32,
    /// Random seed of all runs.
    pub seed: u64,
    /// Side of the square world, in metres.
    pub world: Option<f64>,
    /// View distance of the policies, in metres.
    pub view: f64,
    /// Critical distance of A³, in metres.
    pub critical: f64,
    /// View angle of the policies, in degrees.
    pub angle: f64,
    /// The slowest and the fastest walk, in metres per second.
    pub speed: (f64, f64),
    /// The longest pause, in seconds.
    pub pause: f64,
    /// Time between two checks of the server for due updates, in milliseconds.
    pub check: u64,
    /// Size of an update on the network.
    pub sizes: UpdateSizes,
}

impl A3Options {
    /// The paper's experiment under one of its readings, seed 1.
    pub fn paper(reading: Reading) -> Self {
        Self {
            reading,
            avatars: super::paper::AVATARS.to_vec(),
            minutes: 20.0,
            runs: 10,
            seed: 1,
            world: None,
            view: super::paper::VIEW,
            critical: 40.0,
            angle: 180.0,
            speed: FITTED_SPEED,
            pause: FITTED_PAUSE,
            check: 10,
            sizes: UpdateSizes::Paper,
        }
    }
}

/// The options after the check, in the units of the machines.
#[derive(Clone, Debug, PartialEq)]
pub struct A3Setting {
    /// Reading of the paper from which it started.
    pub reading: Reading,
    /// Numbers of avatars, the observer among them, rising.
    pub avatars: Vec<u32>,
    /// Simulated length of each run.
    pub duration: Span,
    /// Number of runs per avatar count and policy.
    pub runs: u32,
    /// Random seed of all runs.
    pub seed: u64,
    /// Terrain, speeds and pauses of the walks.
    pub terrain: Terrain,
    /// View distance of the policies.
    pub view: Distance,
    /// Critical distance of the policy A³.
    pub critical: Distance,
    /// Critical distance of the attenuated circle: zero as printed, that of A³ when fitted.
    pub critical_of_circle: Distance,
    /// View angle of the policies, in degrees.
    pub angle: f64,
    /// Schedule by which updates are due.
    pub schedule: UpdateSchedule,
    /// Time between two checks of the server for due updates.
    pub check: Span,
    /// Size of an update on the network.
    pub sizes: UpdateSizes,
}

/// Side of the square as printed, in metres.
pub const STATED_WORLD: f64 = 750.0;
/// Side of the square that fits the tables, in metres.
pub const FITTED_WORLD: f64 = 300.0;
/// The slowest and the fastest walk, in metres per second. The paper gives none; these fit its tables.
pub const FITTED_SPEED: (f64, f64) = (0.5, 1.0);
/// The longest pause, in seconds. The paper gives none; this fits its tables.
pub const FITTED_PAUSE: f64 = 45.0;

/// Delay of the link, one way. The paper does not say; bandwidth does not depend on it.
pub const LINK_DELAY: Span = Span::from_millis(50);

/// The paper's normal update interval.
const NORMAL_INTERVAL: Span = Span::from_millis(250);

/// One avatar is the observer, so a second one is the least that gives traffic.
const AVATARS_MIN: u32 = 2;
/// The most avatars: more take more memory and time than a table is worth.
const AVATARS_MAX: u32 = 10_000;
const COUNTS_MAX: usize = 64;
const RUNS_MAX: u32 = 1_000;
const MINUTES_MAX: f64 = 1_440.0;
const SPEED_MAX: f64 = 1_000.0;
const PAUSE_MAX: f64 = 3_600.0;

/// Reason why the options were refused, in one line that says what to do.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum A3OptionsError {
    /// A plain number lies outside its limits.
    #[error("{option} must lie between {low} and {high}, not {value}")]
    Range {
        /// Name of the option, as typed.
        option: &'static str,
        /// Value that was given for it.
        value: f64,
        /// Least value of the option.
        low: f64,
        /// Greatest value of the option.
        high: f64,
    },
    /// There is no avatar count, too many, or one twice.
    #[error("--avatars takes 1 to {COUNTS_MAX} different numbers, such as 25,50,75; it got {0}")]
    Counts(usize),
    /// The slowest walk is faster than the fastest.
    #[error("--speed takes the slowest and the fastest walk, such as 1-2, not {0}-{1}")]
    Speed(f64, f64),
    /// The world can be crossed in less than a second.
    #[error(
        "--speed {fastest} crosses the world of {world} m in less than a second: walk slower or enlarge --world"
    )]
    TooFast {
        /// Fastest walk, in metres per second.
        fastest: f64,
        /// Side of the world, in metres.
        world: f64,
    },
    /// A length is out of range.
    #[error("{option}: {source}")]
    Length {
        /// Name of the option, as typed.
        option: &'static str,
        /// Reason for which it was refused.
        source: OutOfRange,
    },
    /// The numbers do not define an area of interest.
    #[error("--view, --critical and --angle do not fit together: {0}")]
    Policy(#[from] interest::PolicyError),
}

impl A3Setting {
    /// Returns whether the paper's tables apply: the setting has their areas of interest, sizes and schedule. The walks
    /// may differ, since they are what is fitted.
    pub fn is_comparable(&self) -> bool {
        let paper = A3Options::paper(self.reading);
        let metres = (self.view.metres(), self.critical.metres(), self.angle);
        metres == (paper.view, paper.critical, paper.angle)
            && self.sizes == UpdateSizes::Paper
            && self.check == Span::from_millis(paper.check)
    }

    /// Returns whether the paper's claims apply: the setting is comparable, and has only avatar counts that the paper
    /// tried.
    pub fn is_judged(&self) -> bool {
        self.is_comparable() && self.avatars.iter().all(|it| super::paper::AVATARS.contains(it))
    }

    /// Checks the options and makes a setting of them.
    pub fn new(options: &A3Options) -> Result<Self, A3OptionsError> {
        let (view, critical) = (length("--view", options.view)?, length("--critical", options.critical)?);
        // Made for its checks only: each candidate makes its own policy later.
        interest::policies::A3::new(view, critical, options.angle)?;
        let (world, critical_of_circle) = match options.reading {
            Reading::Stated => (STATED_WORLD, Distance::ZERO),
            Reading::Fitted => (FITTED_WORLD, critical),
        };
        Ok(Self {
            reading: options.reading,
            avatars: counts(&options.avatars)?,
            duration: Span::from_secs(
                (within("--minutes", options.minutes, 0.05, MINUTES_MAX)? * 60.0).round() as u64,
            ),
            runs: within("--runs", options.runs.into(), 1.0, RUNS_MAX.into())? as u32,
            seed: options.seed,
            terrain: terrain(options, options.world.unwrap_or(world))?,
            view,
            critical,
            critical_of_circle,
            angle: options.angle,
            schedule: paper_schedule(),
            check: Span::from_millis(within("--check", options.check as f64, 1.0, 1_000.0)? as u64),
            sizes: options.sizes,
        })
    }
}

/// The paper's server waits until more than the interval has passed, and never forgets when it last sent.
fn paper_schedule() -> UpdateSchedule {
    UpdateSchedule {
        due: DueRule::AfterInterval,
        forget_after: Span::MAX,
        ..UpdateSchedule::every(NORMAL_INTERVAL)
    }
}

fn terrain(options: &A3Options, world: f64) -> Result<Terrain, A3OptionsError> {
    let side = length("--world", within("--world", world, 1.0, 1_000_000.0)?)?;
    let (slowest, fastest) = options.speed;
    for speed in [slowest, fastest] {
        within("--speed", speed, 0.1, SPEED_MAX)?;
    }
    if fastest < slowest {
        return Err(A3OptionsError::Speed(slowest, fastest));
    }
    if world < fastest {
        return Err(A3OptionsError::TooFast { fastest, world });
    }
    let pause_max = seconds(within("--pause", options.pause, 0.0, PAUSE_MAX)?);
    let speed = ((slowest * 1e3).round() as u32, (fastest * 1e3).round() as u32);
    Ok(Terrain { side: side.millimetres(), speed, pause_max })
}

fn counts(asked: &[u32]) -> Result<Vec<u32>, A3OptionsError> {
    for &count in asked {
        within("--avatars", count.into(), AVATARS_MIN.into(), AVATARS_MAX.into())?;
    }
    let mut counts = asked.to_vec();
    counts.sort_unstable();
    counts.dedup();
    if counts.len() != asked.len() || !(1..=COUNTS_MAX).contains(&counts.len()) {
        return Err(A3OptionsError::Counts(asked.len()));
    }
    Ok(counts)
}

fn within(option: &'static str, value: f64, low: f64, high: f64) -> Result<f64, A3OptionsError> {
    // This refuses NaN, too: no range contains it.
    if (low..=high).contains(&value) {
        Ok(value)
    } else {
        Err(A3OptionsError::Range { option, value, low, high })
    }
}

fn length(option: &'static str, metres: f64) -> Result<Distance, A3OptionsError> {
    Distance::from_metres(metres).map_err(|source| A3OptionsError::Length { option, source })
}

fn seconds(seconds: f64) -> Span {
    Span::from_micros((seconds * 1e6) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut A3Options)) -> String {
        let mut options = A3Options::paper(Reading::Fitted);
        change(&mut options);
        A3Setting::new(&options).expect_err("this should be refused").to_string()
    }

    #[test]
    fn both_readings_of_the_paper_stand() {
        let stated = A3Setting::new(&A3Options::paper(Reading::Stated)).unwrap();
        let fitted = A3Setting::new(&A3Options::paper(Reading::Fitted)).unwrap();
        assert_eq!((stated.terrain.side, fitted.terrain.side), (750_000, 300_000));
        assert_eq!((stated.critical_of_circle, fitted.critical_of_circle), (Distance::ZERO, fitted.critical));
    }

    #[test]
    fn bad_values_are_refused_in_one_line() {
        assert_eq!(refusal(|it| it.minutes = f64::NAN), "--minutes must lie between 0.05 and 1440, not NaN");
        assert_eq!(refusal(|it| it.runs = 0), "--runs must lie between 1 and 1000, not 0");
        assert_eq!(refusal(|it| it.avatars = vec![1]), "--avatars must lie between 2 and 10000, not 1");
        assert_eq!(
            refusal(|it| it.avatars = vec![25, 25]),
            "--avatars takes 1 to 64 different numbers, such as 25,50,75; it got 2"
        );
        assert_eq!(
            refusal(|it| it.critical = 200.0),
            "--view, --critical and --angle do not fit together: \
             the critical distance (200 m) must not exceed the view distance (120 m)"
        );
        assert_eq!(
            refusal(|it| it.speed = (6.0, 3.0)),
            "--speed takes the slowest and the fastest walk, such as 1-2, not 6-3"
        );
        assert_eq!(
            refusal(|it| it.view = -1.0),
            "--view: a distance in metres must lie between 0 and 2147483.647, not -1"
        );
        assert!(
            refusal(|it| (it.world, it.speed) = (Some(1.0), (1.0, 1_000.0)))
                .contains("in less than a second")
        );
        for world in [f64::INFINITY, 0.0, 1e9] {
            assert!(refusal(|it| it.world = Some(world)).starts_with("--world must lie between"));
        }
    }
}
