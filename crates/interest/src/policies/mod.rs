//! The policies of the platform, one file each.
//!
//! | policy | area of interest | grade inside |
//! |---|---|---|
//! | [`Everything`] | everywhere | 1 |
//! | [`Circle`] | a disc | 1 |
//! | [`CircleAttenuated`] | a disc | 1 up to the critical distance, then falling to 0 at the view distance |
//! | [`FieldOfView`] | a sector | 1 |
//! | [`A3`] | a sector and a small disc | 1 in the disc; in the sector falling to 0 at the view distance |
//!
//! Section numbers refer to Bezerra et al. (2008).

mod a3;
mod circle;
mod circle_attenuated;
mod everything;
mod field_of_view;
mod shape;

pub use a3::A3;
pub use circle::Circle;
pub use circle_attenuated::CircleAttenuated;
pub use everything::Everything;
pub use field_of_view::FieldOfView;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Policy, Slot, SubjectView};
    use space::{Distance, Heading, Position};

    fn metres(metres: f64) -> Distance {
        Distance::from_metres(metres).unwrap()
    }

    /// The relevance of a subject at (x, y) metres to an observer at the origin that faces east.
    fn grade(policy: &dyn Policy, x: f64, y: f64) -> f32 {
        let there = Position::from_metres(x, y).unwrap();
        let view = SubjectView::new(Slot(0), Position::ORIGIN, Heading::EAST.unit(), Slot(1), there);
        policy.relevance(&view)
    }

    #[test]
    fn everything_is_relevant_everywhere() {
        assert_eq!(grade(&Everything, -9e5, 9e5), 1.0);
    }

    #[test]
    fn a_circle_ends_before_its_rim() {
        let circle = Circle::new(metres(120.0));
        assert_eq!(grade(&circle, 0.0, 0.0), 1.0);
        assert_eq!(grade(&circle, -119.999, 0.0), 1.0);
        assert_eq!(grade(&circle, 0.0, 120.0), 0.0);
    }

    #[test]
    fn attenuation_as_printed_starts_at_the_observer() {
        let printed = CircleAttenuated::new(metres(120.0), metres(0.0)).unwrap();
        assert_eq!(grade(&printed, 0.0, 0.0), 1.0);
        assert_eq!(grade(&printed, -60.0, 0.0), 0.5);
        assert_eq!(grade(&printed, 130.0, 0.0), 0.0);
    }

    #[test]
    fn attenuation_as_fitted_starts_at_the_critical_distance() {
        let fitted = CircleAttenuated::new(metres(120.0), metres(40.0)).unwrap();
        assert_eq!(grade(&fitted, 0.0, -40.0), 1.0);
        assert_eq!(grade(&fitted, 0.0, -80.0), 0.5);
        assert_eq!(grade(&fitted, 0.0, -120.0), 0.0);
    }

    #[test]
    fn a_field_of_view_is_blind_behind() {
        let half = FieldOfView::new(metres(120.0), 180.0).unwrap();
        assert_eq!(grade(&half, 0.0, 0.0), 1.0);
        assert_eq!(grade(&half, 100.0, 50.0), 1.0);
        assert_eq!(grade(&half, 0.0, 100.0), 1.0, "straight to the side is still in view");
        assert_eq!(grade(&half, -0.001, 100.0), 0.0);
        assert_eq!(grade(&half, -1.0, 0.0), 0.0);
        assert_eq!(grade(&half, 120.0, 0.0), 0.0);
    }

    #[test]
    fn both_sides_are_in_view_whatever_the_heading() {
        let half = FieldOfView::new(metres(120.0), 180.0).unwrap();
        for quarter in 0..4 {
            let facing = Heading(quarter << 14);
            for side in [Heading(facing.0.wrapping_add(1 << 14)), Heading(facing.0.wrapping_sub(1 << 14))] {
                let (x, y) = side.unit();
                let there = Position::from_metres(100.0 * f64::from(x), 100.0 * f64::from(y)).unwrap();
                let view = SubjectView::new(Slot(0), Position::ORIGIN, facing.unit(), Slot(1), there);
                assert_eq!(half.relevance(&view), 1.0, "{facing:?} {side:?}");
            }
        }
    }

    #[test]
    fn narrow_and_full_views() {
        let narrow = FieldOfView::new(metres(120.0), 60.0).unwrap();
        assert_eq!(grade(&narrow, 10.0, 5.7), 1.0);
        assert_eq!(grade(&narrow, 10.0, 5.8), 0.0);
        let full = FieldOfView::new(metres(120.0), 360.0).unwrap();
        assert_eq!(grade(&full, -100.0, 0.0), 1.0);
        let none = FieldOfView::new(metres(120.0), 0.0).unwrap();
        assert_eq!(grade(&none, 10.0, 0.0), 1.0);
        assert_eq!(grade(&none, 10.0, 0.1), 0.0);
    }

    #[test]
    fn a3_is_a_close_disc_and_a_fading_sector() {
        let a3 = A3::new(metres(120.0), metres(40.0), 180.0).unwrap();
        assert_eq!(grade(&a3, -40.0, 0.0), 1.0, "close, though behind");
        assert_eq!(grade(&a3, -40.001, 0.0), 0.0);
        assert_eq!(grade(&a3, 80.0, 0.0), 0.5);
        assert_eq!(grade(&a3, 0.0, 100.0), 0.25);
        assert_eq!(grade(&a3, 120.0, 0.0), 0.0);
        assert_eq!(grade(&a3, 900.0, 0.0), 0.0);
    }

    #[test]
    fn a_close_area_as_wide_as_the_view_is_a_circle() {
        let a3 = A3::new(metres(120.0), metres(120.0), 90.0).unwrap();
        assert_eq!(grade(&a3, -120.0, 0.0), 1.0);
        assert_eq!(grade(&a3, 120.001, 0.0), 0.0);
    }

    #[test]
    fn impossible_shapes_are_refused_in_words() {
        for angle in [-1.0, 361.0, f64::NAN, f64::INFINITY] {
            assert!(
                FieldOfView::new(metres(1.0), angle).is_err()
                    && A3::new(metres(1.0), metres(0.5), angle).is_err()
            );
        }
        let error = A3::new(metres(40.0), metres(120.0), 180.0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the critical distance (120 m) must not exceed the view distance (40 m)"
        );
        assert!(CircleAttenuated::new(metres(40.0), metres(120.0)).is_err());
    }

    #[test]
    fn policies_compose() {
        let wall = |view: &SubjectView, graded: f32| if view.dy > 0.0 { 0.0 } else { graded };
        let half = Circle::new(metres(120.0));
        let behind_a_wall = half.adjusted(half.reach(), wall);
        assert_eq!(grade(&behind_a_wall, 5.0, 1.0), 0.0);
        assert_eq!(grade(&behind_a_wall, 5.0, -1.0), 1.0);

        let fading = CircleAttenuated::new(metres(100.0), metres(0.0)).unwrap();
        let twice = fading.and(fading);
        assert_eq!(grade(&twice, 50.0, 0.0), 0.25);
        assert_eq!(half.and(fading).reach(), fading.reach());
        assert_eq!(half.and(Everything).reach(), half.reach());
    }

    #[test]
    fn a_policy_with_invalid_grades_composes_to_a_grade() {
        let invalid =
            Everything.adjusted(Everything.reach(), |view, _| if view.dx > 0.0 { f32::NAN } else { 7.0 });
        assert_eq!(grade(&Everything.and(invalid), 1.0, 0.0), 0.0);
        assert_eq!(grade(&Everything.and(invalid), -1.0, 0.0), 1.0);
    }
}
