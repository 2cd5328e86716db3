//! The two shapes the policies are made of.

use crate::{PolicyError, SubjectView};
use space::Distance;

/// A view sector: all directions within half the view angle of the observer's heading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sector {
    /// The cosine of half the view angle.
    cosine: f32,
}

impl Sector {
    pub(super) fn new(angle_degrees: f64) -> Result<Self, PolicyError> {
        if !(0.0..=360.0).contains(&angle_degrees) {
            return Err(PolicyError::Angle(angle_degrees));
        }
        let cosine = libm::cos(angle_degrees.to_radians() / 2.0) as f32;
        // 180 degrees must mean exactly "not behind", and 360 exactly "all around".
        let cosine = match cosine {
            it if it.abs() < 1e-9 => 0.0,
            it if it <= -1.0 => f32::NEG_INFINITY,
            it => it,
        };
        Ok(Self { cosine })
    }

    /// True if the subject, `distance` away, is in view. A subject at the observer's own place is.
    #[inline]
    pub(super) fn holds(self, view: &SubjectView, distance: f32) -> bool {
        let ahead = view.dx * view.facing.0 + view.dy * view.facing.1;
        distance == 0.0 || self.cosine * distance <= ahead
    }
}

/// Relevance that is 1 up to the critical distance and falls in a straight line to 0 at the view distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Falloff {
    critical: f32,
    /// The rest of the view distance beyond the critical distance; never 0, so that it can divide.
    span: f32,
}

impl Falloff {
    pub(super) fn new(view: Distance, critical: Distance) -> Result<Self, PolicyError> {
        if view < critical {
            return Err(PolicyError::Critical { critical: critical.metres(), view: view.metres() });
        }
        let (view, critical) = (view.millimetres() as f32, critical.millimetres() as f32);
        Ok(Self { critical, span: (view - critical).max(f32::MIN_POSITIVE) })
    }

    #[inline]
    pub(super) fn is_close(self, distance: f32) -> bool {
        distance <= self.critical
    }

    /// The relevance beyond the critical distance.
    #[inline]
    pub(super) fn fading(self, distance: f32) -> f32 {
        (1.0 - (distance - self.critical) / self.span).max(0.0)
    }
}
