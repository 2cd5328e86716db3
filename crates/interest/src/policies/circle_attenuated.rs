//! A circle whose updates grow rarer with distance (section VI-A).

use super::shape::Falloff;
use crate::{Policy, PolicyError, PolicyReach, SubjectView};
use space::Distance;

/// Relevance 1 up to the critical distance, then falling in a straight line to 0 at the view distance.
///
/// The paper prints it without a critical distance (0 here), but its tables come out only with the one
/// that A³ uses; `lab a3` shows both.
#[derive(Clone, Copy, Debug)]
pub struct CircleAttenuated {
    view: Distance,
    falloff: Falloff,
}

impl CircleAttenuated {
    /// A circle of radius `view`, of full relevance up to `critical`.
    pub fn new(view: Distance, critical: Distance) -> Result<Self, PolicyError> {
        Ok(Self { view, falloff: Falloff::new(view, critical)? })
    }
}

impl Policy for CircleAttenuated {
    fn reach(&self) -> PolicyReach {
        PolicyReach::Within(self.view)
    }

    #[inline]
    fn relevance(&self, view: &SubjectView) -> f32 {
        let distance = view.distance();
        if self.falloff.is_close(distance) { 1.0 } else { self.falloff.fading(distance) }
    }
}
