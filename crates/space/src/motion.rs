//! The motions of objects: straight trajectories in time, evaluated exactly.

use crate::position::OutOfRange;
use crate::{Heading, Position};
use machine::Time;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

/// The largest speed along one axis, about 16.8 km/s.
pub const VELOCITY_MAX: i32 = (1 << 24) - 1;

/// A velocity in millimetres per second, each axis within [`VELOCITY_MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, Schema)]
#[serde(try_from = "UncheckedVelocity")]
pub struct Velocity {
    x: i32,
    y: i32,
}

/// A velocity as bytes have it: not yet known to lie in range.
#[derive(Deserialize)]
struct UncheckedVelocity {
    x: i32,
    y: i32,
}

impl TryFrom<UncheckedVelocity> for Velocity {
    type Error = OutOfRange;

    fn try_from(it: UncheckedVelocity) -> Result<Self, OutOfRange> {
        Self::new(it.x, it.y)
    }
}

impl Velocity {
    /// The velocity of an object that stands still.
    pub const ZERO: Self = Self { x: 0, y: 0 };

    /// (`x`, `y`) millimetres per second.
    pub fn new(x: i32, y: i32) -> Result<Self, OutOfRange> {
        for value in [x, y] {
            // Saturating, because `i32::MIN` has no absolute value.
            if VELOCITY_MAX < value.saturating_abs() {
                let (value, high) = (f64::from(value), f64::from(VELOCITY_MAX));
                return Err(OutOfRange { what: "a velocity in mm/s", value, low: -high, high });
            }
        }
        Ok(Self { x, y })
    }

    /// (`x`, `y`) metres per second, to the nearest millimetre per second.
    pub fn from_metres(x: f64, y: f64) -> Result<Self, OutOfRange> {
        let checked =
            |value| OutOfRange::thousandths("a velocity in m/s", value, -VELOCITY_MAX, VELOCITY_MAX);
        Ok(Self { x: checked(x)?, y: checked(y)? })
    }

    /// Speed to the east in millimetres per second.
    pub const fn x(self) -> i32 {
        self.x
    }

    /// Speed to the north in millimetres per second.
    pub const fn y(self) -> i32 {
        self.y
    }
}

/// World time in whole milliseconds: a motion starts on one, so that the wire carries it exactly.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema,
)]
pub struct Millis(pub u64);

impl Millis {
    /// The millisecond that `time` lies in.
    pub const fn floor(time: Time) -> Self {
        Self(time.as_millis())
    }

    /// The first instant of this millisecond.
    pub const fn time(self) -> Time {
        Time::from_millis(self.0)
    }
}

/// A trajectory: from `position` at `start` on with `velocity`, until a newer motion replaces it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, Schema)]
pub struct Motion {
    /// Position at the start of the motion.
    pub position: Position,
    /// Constant velocity from the start on.
    pub velocity: Velocity,
    /// Direction in which the object faces, which need not be that of its velocity.
    pub heading: Heading,
    /// World time at which the motion starts.
    pub start: Millis,
    /// Raised by every event that sets a motion, such as a teleport: a move that the player sent before knowing
    /// of the event is older, whatever its sequence says.
    pub generation: u32,
    /// Number of the object's own changes of course within a generation.
    pub sequence: u32,
}

impl Motion {
    /// The position at `now`: exact, rounded towards negative infinity, stopped at the ends
    /// of the coordinate range. Before its start a motion is at its first position.
    pub fn position_at(&self, now: Time) -> Position {
        let elapsed = now.since(self.start.time()).as_micros();
        let x = i64::from(self.position.x()) + travelled(self.velocity.x, elapsed);
        let y = i64::from(self.position.y()) + travelled(self.velocity.y, elapsed);
        Position::saturating(x, y)
    }

    /// The same trajectory, given from the millisecond of `now` on, or from its start if that is still
    /// to come. Its position is rounded once more, so it may run up to a millimetre behind.
    pub fn rebased(&self, now: Time) -> Self {
        // Not before its start: a motion that has not begun stays at its first position.
        let start = Millis::floor(now).max(self.start);
        Self { position: self.position_at(start.time()), start, ..*self }
    }

    /// True if this replaces `other`, a motion of the same object.
    pub const fn is_newer_than(&self, other: &Self) -> bool {
        self.generation > other.generation
            || self.generation == other.generation && self.sequence > other.sequence
    }
}

/// Millimetres covered in `micros` at `speed` mm/s, rounded towards negative infinity.
fn travelled(speed: i32, micros: u64) -> i64 {
    // 2^24 mm/s times 2^38 us fits an i64: exact and quick for the first three days of a motion.
    if micros < 1 << 38 {
        return (i64::from(speed) * micros as i64).div_euclid(1_000_000);
    }
    let exact = (i128::from(speed) * i128::from(micros)).div_euclid(1_000_000);
    exact.clamp(i128::from(i32::MIN), i128::from(i32::MAX)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{COORDINATE_MAX, COORDINATE_MIN};
    use proptest::prelude::*;

    fn moving(x: i32, speed: i32) -> Motion {
        let position = Position::new(x, x).unwrap();
        Motion {
            position,
            velocity: Velocity::new(speed, -speed).unwrap(),
            start: Millis(10),
            ..Motion::default()
        }
    }

    #[test]
    fn rounding_goes_down_on_both_sides_of_zero() {
        // 1 mm/s for a third of a second: +0.333 rounds to 0, -0.333 to -1.
        let at = moving(0, 1).position_at(Time::from_micros(10_000 + 333_333));
        assert_eq!((at.x(), at.y()), (0, -1));
    }

    #[test]
    fn before_its_start_a_motion_waits() {
        assert_eq!(moving(5, 1_000).position_at(Time::ZERO), Position::new(5, 5).unwrap());
    }

    #[test]
    fn rebasing_does_not_start_a_motion_early() {
        let motion = Motion { start: Millis(500), ..moving(0, 1_000) };
        let rebased = motion.rebased(Time::from_millis(100));
        let later = Time::from_millis(1_500);
        assert_eq!(rebased.position_at(later), motion.position_at(later));
    }

    #[test]
    fn a_trajectory_stops_at_the_end_of_the_range() {
        for now in [Time::from_millis(1 << 40), Time::MAX] {
            let at = moving(0, VELOCITY_MAX).position_at(now);
            assert_eq!((at.x(), at.y()), (COORDINATE_MAX, COORDINATE_MIN));
        }
    }

    #[test]
    fn four_days_at_a_crawl_are_exact() {
        assert_eq!(travelled(1, 345_600_000_000), 345_600);
        assert_eq!(travelled(-1, 345_600_000_001), -345_601);
    }

    #[test]
    fn impossible_speeds_are_refused() {
        assert!(Velocity::new(i32::MIN, 0).is_err() && Velocity::new(0, VELOCITY_MAX + 1).is_err());
        assert!(Velocity::from_metres(f64::NAN, 0.0).is_err() && Velocity::from_metres(0.0, 1e9).is_err());
    }

    #[test]
    fn a_teleport_outranks_every_earlier_step() {
        let step = Motion { generation: 1, sequence: 900, ..Motion::default() };
        let teleport = Motion { generation: 2, sequence: 0, ..Motion::default() };
        assert!(
            teleport.is_newer_than(&step) && !step.is_newer_than(&teleport) && !step.is_newer_than(&step)
        );
    }

    proptest! {
        /// Nearly all times of 64 bits lie far beyond the range of coordinates, where every answer is the same.
        #[test]
        fn travel_is_the_exact_floor(
            speed in prop_oneof![-2_000..2_000, -VELOCITY_MAX..=VELOCITY_MAX],
            micros in prop_oneof![0..1u64 << 22, 0..1u64 << 39, 0..1u64 << 50, any::<u64>()],
        ) {
            let exact = (i128::from(speed) * i128::from(micros)).div_euclid(1_000_000);
            let expected = exact.clamp(i128::from(i32::MIN), i128::from(i32::MAX));
            let got = i128::from(travelled(speed, micros)).clamp(i128::from(i32::MIN), i128::from(i32::MAX));
            prop_assert_eq!(got, expected);
        }

        #[test]
        fn rebasing_loses_at_most_a_millimetre(
            x in -1_000_000..1_000_000,
            speed in -VELOCITY_MAX..=VELOCITY_MAX,
            now in prop_oneof![0u64..20_000, 0u64..10_000_000],
            later in 0u64..10_000_000,
        ) {
            let motion = moving(x, speed);
            let now = Time::from_micros(now);
            let (dx, dy) = motion.rebased(now).position_at(now + machine::Span::from_micros(later))
                .step_to(motion.position_at(now + machine::Span::from_micros(later)));
            prop_assert!((0..=1).contains(&dx) && (0..=1).contains(&dy), "{dx} {dy}");
        }
    }
}
