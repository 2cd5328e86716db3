//! The direction in which an object faces.

use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

/// A direction in 65536ths of a turn, counterclockwise from east. Every value is a direction, and
/// turning wraps by itself.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema,
)]
pub struct Heading(pub u16);

impl Heading {
    /// The direction of growing x.
    pub const EAST: Self = Self(0);
    /// The direction of growing y.
    pub const NORTH: Self = Self(1 << 14);

    /// The direction of the step (`dx`, `dy`); `None` if it leads nowhere.
    pub fn along(dx: i32, dy: i32) -> Option<Self> {
        if (dx, dy) == (0, 0) {
            return None;
        }
        let turns = libm::atan2(f64::from(dy), f64::from(dx)) / std::f64::consts::TAU;
        // From -32768 to 32768; the cast to i32 and then u16 wraps the negative half.
        Some(Self((turns * 65_536.0).round() as i32 as u16))
    }

    /// The unit vector, the same bits on every platform. Along an axis it is exact, so that an object exactly beside
    /// an observer is neither before nor behind it.
    pub fn unit(self) -> (f32, f32) {
        match self.0 {
            0x0000 => (1.0, 0.0),
            0x4000 => (0.0, 1.0),
            0x8000 => (-1.0, 0.0),
            0xc000 => (0.0, -1.0),
            // `libm` and not the platform's library, which may round differently.
            other => {
                let angle = f64::from(other) / 65_536.0 * std::f64::consts::TAU;
                (libm::cos(angle) as f32, libm::sin(angle) as f32)
            }
        }
    }

    /// The direction turned by half a turn.
    pub const fn reversed(self) -> Self {
        Self(self.0.wrapping_add(1 << 15))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_compass_is_right() {
        assert_eq!(Heading::along(5, 0), Some(Heading::EAST));
        assert_eq!(Heading::along(0, i32::MAX), Some(Heading::NORTH));
        assert_eq!(Heading::along(i32::MIN, 0), Some(Heading::EAST.reversed()));
        assert_eq!(Heading::along(-7, -1), Some(Heading(34_248)));
        assert_eq!(Heading::along(0, 0), None);
        assert_eq!((Heading::EAST.unit(), Heading::NORTH.unit()), ((1.0, 0.0), (0.0, 1.0)));
        assert_eq!(Heading::NORTH.reversed().unit(), (0.0, -1.0));
    }

    proptest! {
        #[test]
        fn a_unit_vector_points_where_it_should(heading: u16) {
            let heading = Heading(heading);
            let (x, y) = heading.unit();
            prop_assert!((x * x + y * y - 1.0).abs() < 1e-6);
            let back = Heading::along((x * 1e9) as i32, (y * 1e9) as i32).unwrap();
            prop_assert!(back.0.wrapping_sub(heading.0).wrapping_add(1) <= 2, "{heading:?} became {back:?}");
        }
    }
}
