//! The objects that a rocket met, in whole millimetres: exact, and alike on every computer.

use machine::{Span, Time};
use space::{Distance, Motion};

/// The time at which a rocket came nearest to a target in the `window` before `until`, if within `reach`.
///
/// Seen from the target the rocket moves on a straight line, so no target slips through between two looks. A
/// target that changed its course within the window is taken to have waited where the new course starts: that
/// is wrong by less than it walks in the window.
pub(crate) fn nearest_pass(
    rocket: &Motion,
    target: &Motion,
    window: Span,
    until: Time,
    reach: Distance,
) -> Option<Time> {
    let from = (until - window).max(rocket.start.time());
    let apart = |at| {
        let (x, y) = target.position_at(at).step_to(rocket.position_at(at));
        (i128::from(x), i128::from(y))
    };
    let ((x, y), (end_x, end_y)) = (apart(from), apart(until));
    let (dx, dy) = (end_x - x, end_y - y);
    // The way is (x, y) + (dx, dy) s / length, for s from 0 to length. It is nearest where it stands upright on
    // the line to the target, and there the distance is |cross| / sqrt(length).
    let length = dx * dx + dy * dy;
    let s = -(x * dx + y * dy);
    let reach = i128::from(reach.squared());
    let is_hit = if s <= 0 {
        x * x + y * y <= reach
    } else if length <= s {
        end_x * end_x + end_y * end_y <= reach
    } else {
        let cross = x * dy - y * dx;
        // Why saturating: far beyond any range both sides may overflow; near, they are exact.
        cross.saturating_mul(cross) <= reach.saturating_mul(length)
    };
    let part = i128::from(until.since(from).as_micros()) * s.clamp(0, length) / length.max(1);
    is_hit.then(|| from + Span::from_micros(part as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use space::{Millis, Position, Velocity};

    const WINDOW: Span = Span::from_millis(100);

    fn motion(start: u64, (x, y): (i32, i32), (vx, vy): (i32, i32)) -> Motion {
        let position = Position::new(x, y).unwrap();
        let velocity = Velocity::new(vx, vy).unwrap();
        Motion { position, velocity, start: Millis(start), ..Motion::default() }
    }

    fn pass(rocket: &Motion, target: &Motion, until: u64) -> Option<Time> {
        nearest_pass(rocket, target, WINDOW, Time::from_millis(until), Distance::of_metres(1))
    }

    #[test]
    fn no_walker_slips_through_between_two_looks() {
        // It flies 4 m in the window. The walker crosses its line half way and is far off at both ends.
        let rocket = motion(0, (0, 0), (40_000, 0));
        let walker = |y| motion(0, (2_000, y), (0, 6_000));
        assert_eq!(pass(&rocket, &walker(-300), 100), Some(Time::from_millis(50)));
        // Seen from the walker it passes at 1000 mm if he starts 1311.2 mm off.
        assert!(pass(&rocket, &walker(-1_311), 100).is_some());
        assert!(pass(&rocket, &walker(-1_312), 100).is_none(), "behind its tail");
    }

    #[test]
    fn passes_before_the_window_do_not_count() {
        let rocket = motion(0, (0, 0), (40_000, 0));
        assert_eq!(pass(&rocket, &motion(0, (2_000, 0), (0, 0)), 300), None);
        assert_eq!(pass(&rocket, &motion(0, (-500, 0), (0, 0)), 20), Some(Time::ZERO), "it starts beside it");
    }

    #[test]
    fn two_that_move_alike_stay_as_near_as_they_are() {
        let rocket = motion(0, (0, 0), (3, 4));
        assert!(pass(&rocket, &motion(0, (1_000, 0), (3, 4)), 100).is_some());
        assert!(pass(&rocket, &motion(0, (1_001, 0), (3, 4)), 100).is_none());
    }

    proptest! {
        /// The simplest model: look every millisecond, and allow for the distance between two looks.
        #[test]
        fn a_sweep_agrees_with_looking_all_the_time(
            target in (-6_000..6_000, -6_000..6_000), walk in (-6_000..6_000, -6_000..6_000),
            fly in (-40_000..40_000, -40_000..40_000), until in 0u64..300,
        ) {
            let (rocket, target) = (motion(0, (0, 0), fly), motion(0, target, walk));
            let distance = |ms| {
                let at = Time::from_millis(ms);
                rocket.position_at(at).distance_squared(target.position_at(at)).isqrt()
            };
            let nearest = (until.saturating_sub(100)..=until).map(distance).min().unwrap();
            let hit = pass(&rocket, &target, until);
            // Half a millisecond at no more than 66 m/s, and the roundings of four positions.
            prop_assert!(nearest < 1_040 || hit.is_none(), "missed by {nearest} mm");
            prop_assert!(995 < nearest || hit.is_some(), "hit at {nearest} mm");
            if let Some(at) = hit {
                prop_assert!(at <= Time::from_millis(until));
                prop_assert!(distance(at.as_millis()) < 1_080);
            }
        }
    }
}
