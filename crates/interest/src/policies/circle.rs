//! A circular area of interest (section V-A).

use crate::{Policy, PolicyReach, SubjectView};
use space::Distance;

/// Relevance 1 nearer than the view distance.
#[derive(Clone, Copy, Debug)]
pub struct Circle {
    view: Distance,
    squared: f32,
}

impl Circle {
    /// A circle of radius `view`; its rim lies outside.
    pub fn new(view: Distance) -> Self {
        let radius = view.millimetres() as f32;
        Self { view, squared: radius * radius }
    }
}

impl Policy for Circle {
    fn reach(&self) -> PolicyReach {
        PolicyReach::Within(self.view)
    }

    #[inline]
    fn relevance(&self, view: &SubjectView) -> f32 {
        if view.distance_squared < self.squared { 1.0 } else { 0.0 }
    }
}
