//! The trait of policies, and how policies compose.

use crate::Slot;
use space::{Distance, Position};
use thiserror::Error;

/// One subject from the view of one observer: everything that a policy may look at.
///
/// Floats in millimetres: relevance is a grade, not a decision, and the same operations give the same
/// bits on every platform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubjectView {
    /// The object whose client gets the updates.
    pub observer: Slot,
    /// The object that the updates are about.
    pub subject: Slot,
    /// Distance of the subject to the east of the observer, in millimetres.
    pub dx: f32,
    /// Distance of the subject to the north of the observer, in millimetres.
    pub dy: f32,
    /// The square of the distance between them, in square millimetres.
    pub distance_squared: f32,
    /// The observer's heading as a unit vector.
    pub facing: (f32, f32),
}

impl SubjectView {
    /// The subject at `there`, seen from `here`.
    pub fn new(observer: Slot, here: Position, facing: (f32, f32), subject: Slot, there: Position) -> Self {
        let (dx, dy) = here.step_to(there);
        let (dx, dy) = (dx as f32, dy as f32);
        Self { observer, subject, dx, dy, distance_squared: dx * dx + dy * dy, facing }
    }

    /// The distance of the subject in millimetres.
    pub fn distance(&self) -> f32 {
        self.distance_squared.sqrt()
    }
}

/// The greatest distance at which a policy can find a subject relevant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyReach {
    /// No limit: every pair must be looked at, which costs players squared. For small worlds only.
    Everywhere,
    /// Nothing farther away than this is relevant.
    Within(Distance),
}

impl PolicyReach {
    /// The smaller of two reaches.
    pub fn min(self, other: Self) -> Self {
        match (self, other) {
            (Self::Within(a), Self::Within(b)) => Self::Within(a.min(b)),
            (Self::Everywhere, it) | (it, Self::Everywhere) => it,
        }
    }
}

/// Grades the relevance of a subject to an observer. A pure function: same view, same grade.
///
/// A game or an experiment writes its own by implementing this for a type, or combines existing ones with
/// [`Policy::and`] and [`Policy::adjusted`].
pub trait Policy {
    /// The greatest distance of a relevant subject. The engine does not ask for subjects beyond it.
    fn reach(&self) -> PolicyReach;

    /// The relevance from 0 (no updates) to 1 (updates at the normal interval). The engine takes larger numbers as 1,
    /// and negative ones and NaN as 0.
    fn relevance(&self, view: &SubjectView) -> f32;

    /// Multiplies the relevances of two policies. For rules that hide subjects, such as walls, fog and stealth.
    ///
    /// ```
    /// use interest::{policies::Circle, Policy, PolicyReach, SubjectView};
    /// struct Fog(f32); // view fades with distance, in millimetres
    /// impl Policy for Fog {
    ///     fn reach(&self) -> PolicyReach { PolicyReach::Everywhere }
    ///     fn relevance(&self, view: &SubjectView) -> f32 { 1.0 - view.distance() / self.0 }
    /// }
    /// let policy = Circle::new(space::Distance::from_metres(120.0).unwrap()).and(Fog(50_000.0));
    /// # let _ = policy;
    /// ```
    fn and<P: Policy>(self, other: P) -> ProductPolicy<Self, P>
    where
        Self: Sized,
    {
        ProductPolicy(self, other)
    }

    /// Lets a game change the relevance: `adjust` gets the view and this policy's relevance. `reach` is the reach
    /// of the adjusted policy, which may be farther (a sniper's scope) or nearer.
    fn adjusted<F: Fn(&SubjectView, f32) -> f32>(
        self,
        reach: PolicyReach,
        adjust: F,
    ) -> AdjustedPolicy<Self, F>
    where
        Self: Sized,
    {
        AdjustedPolicy { policy: self, reach, adjust }
    }
}

/// The product of two policies, made by [`Policy::and`].
#[derive(Clone, Copy, Debug)]
pub struct ProductPolicy<A, B>(A, B);

impl<A: Policy, B: Policy> Policy for ProductPolicy<A, B> {
    fn reach(&self) -> PolicyReach {
        self.0.reach().min(self.1.reach())
    }

    fn relevance(&self, view: &SubjectView) -> f32 {
        // The second policy may be costly, and is not asked if the first gives 0.
        let first = graded(self.0.relevance(view));
        if first == 0.0 { 0.0 } else { first * graded(self.1.relevance(view)) }
    }
}

/// A policy with another reach and relevance, made by [`Policy::adjusted`].
#[derive(Clone, Copy, Debug)]
pub struct AdjustedPolicy<P, F> {
    policy: P,
    reach: PolicyReach,
    adjust: F,
}

impl<P: Policy, F: Fn(&SubjectView, f32) -> f32> Policy for AdjustedPolicy<P, F> {
    fn reach(&self) -> PolicyReach {
        self.reach
    }

    fn relevance(&self, view: &SubjectView) -> f32 {
        (self.adjust)(view, graded(self.policy.relevance(view)))
    }
}

/// The result of a policy as a number from 0 to 1. NaN counts as 0.
pub(crate) fn graded(relevance: f32) -> f32 {
    if 0.0 < relevance { relevance.min(1.0) } else { 0.0 }
}

/// The reason why the parameters of a policy were refused.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum PolicyError {
    /// The view angle is not an angle.
    #[error("a view angle must lie between 0 and 360 degrees, not {0}")]
    Angle(f64),
    /// The close area would reach past the view.
    #[error("the critical distance ({critical} m) must not exceed the view distance ({view} m)")]
    Critical {
        /// The critical distance, in metres.
        critical: f64,
        /// The view distance, in metres.
        view: f64,
    },
}
