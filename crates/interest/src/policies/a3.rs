//! A³: view angle, close area, attenuated update frequency (section VI-B, algorithm 1).

use super::shape::{Falloff, Sector};
use crate::{Policy, PolicyError, PolicyReach, SubjectView};
use space::Distance;

/// Relevance 1 in the close area all around; in the view sector beyond it, falling in a straight line
/// to 0 at the view distance; else 0.
///
/// The close area is what a field of view lacks: a player who turns round already knows what is near.
#[derive(Clone, Copy, Debug)]
pub struct A3 {
    view: Distance,
    falloff: Falloff,
    sector: Sector,
}

impl A3 {
    /// A sector of radius `view` and `angle_degrees` in all, with a close area of radius `critical`.
    pub fn new(view: Distance, critical: Distance, angle_degrees: f64) -> Result<Self, PolicyError> {
        Ok(Self { view, falloff: Falloff::new(view, critical)?, sector: Sector::new(angle_degrees)? })
    }
}

impl Policy for A3 {
    fn reach(&self) -> PolicyReach {
        PolicyReach::Within(self.view)
    }

    #[inline]
    fn relevance(&self, view: &SubjectView) -> f32 {
        let distance = view.distance();
        if self.falloff.is_close(distance) {
            1.0
        } else if self.sector.holds(view, distance) {
            self.falloff.fading(distance)
        } else {
            0.0
        }
    }
}
