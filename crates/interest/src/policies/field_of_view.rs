//! The sector that the observer can see, and nothing else (section V-B).

use super::shape::Sector;
use crate::{Policy, PolicyError, PolicyReach, SubjectView};
use space::Distance;

/// Relevance 1 in the view sector. Cheap, but blind: a player who turns round must wait for updates of what is there.
#[derive(Clone, Copy, Debug)]
pub struct FieldOfView {
    view: Distance,
    sector: Sector,
}

impl FieldOfView {
    /// A sector of radius `view` and `angle_degrees` in all, centred on the observer's heading.
    pub fn new(view: Distance, angle_degrees: f64) -> Result<Self, PolicyError> {
        Ok(Self { view, sector: Sector::new(angle_degrees)? })
    }
}

impl Policy for FieldOfView {
    fn reach(&self) -> PolicyReach {
        PolicyReach::Within(self.view)
    }

    #[inline]
    fn relevance(&self, view: &SubjectView) -> f32 {
        let distance = view.distance();
        let in_reach = distance < self.view.millimetres() as f32;
        if in_reach && self.sector.holds(view, distance) { 1.0 } else { 0.0 }
    }
}
