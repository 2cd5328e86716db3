//! A check of speed for [`crate::Game::allows`].

use space::{Distance, Motion};

/// Tolerated excess of speed, in thousandths: clocks differ, and positions are rounded.
const TOLERANCE: u64 = 50;

/// Tolerated jump at any speed, in millimetres: two roundings and a little jitter.
const SLACK: u64 = 250;

/// True if an object can change its motion from `before` to `after` without exceeding `speed` per second: neither on
/// the way to the start of `after`, nor from there on.
pub fn is_within_speed(before: &Motion, after: &Motion, speed: Distance) -> bool {
    let speed = u64::from(speed.millimetres());
    let allowed = speed * (1000 + TOLERANCE) / 1000;
    let (vx, vy) = (i64::from(after.velocity.x()), i64::from(after.velocity.y()));
    let fast = (vx * vx + vy * vy) as u64;
    let millis = after.start.0.saturating_sub(before.start.0);
    let reach = u128::from(allowed) * u128::from(millis) / 1000 + u128::from(SLACK);
    let stepped = u128::from(before.position.distance_squared(after.position));
    // Saturating: a hostile client may send a start far in the future, and an overflow must not become a panic.
    fast <= allowed * allowed && stepped <= reach.saturating_mul(reach)
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::{Millis, Position, Velocity};

    fn motion(millis: u64, x: i32, speed: i32) -> Motion {
        Motion {
            position: Position::new(x, 0).unwrap(),
            velocity: Velocity::new(speed, 0).unwrap(),
            start: Millis(millis),
            ..Motion::default()
        }
    }

    #[test]
    fn neither_the_way_there_nor_the_way_on_may_be_too_fast() {
        let speed = Distance::of_metres(5);
        let before = motion(1_000, 0, 5_000);
        assert!(is_within_speed(&before, &motion(2_000, 5_000, 5_000), speed));
        assert!(
            is_within_speed(&before, &motion(2_000, -5_000, 0), speed),
            "the object may have turned in between"
        );
        assert!(!is_within_speed(&before, &motion(2_000, 5_600, 0), speed), "5.6 m in a second");
        assert!(!is_within_speed(&before, &motion(2_000, 5_000, 5_300), speed), "5.3 m/s from here on");
        assert!(!is_within_speed(&before, &motion(500, 5_000, 0), speed), "time does not run back");
    }

    #[test]
    fn a_start_at_the_end_of_time_is_no_panic() {
        let (before, after) = (motion(0, 0, 0), motion(u64::MAX, 5_000, 0));
        assert!(is_within_speed(&before, &after, Distance::MAX), "there was time enough");
    }
}
