//! What a policy is, and how policies compose.

use crate::Slot;
use space::{Distance, Position};
use thiserror::Error;

/// One subject as one observer has it before them: everything a policy may look at.
///
/// Floats in millimetres: relevance is a grade, not a decision, and the same operations give the same
/// bits on every machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sight {
    /// Who looks.
    pub observer: Slot,
    /// Who is looked at.
    pub subject: Slot,
    /// How far east of the observer the subject is.
    pub dx: f32,
    /// How far north of the observer the subject is.
    pub dy: f32,
    /// The square of the distance between them.
    pub distance_squared: f32,
    /// Where the observer faces, as a unit vector.
    pub facing: (f32, f32),
}

impl Sight {
    /// The subject at `there`, seen from `here`.
    pub fn new(observer: Slot, here: Position, facing: (f32, f32), subject: Slot, there: Position) -> Self {
        let (dx, dy) = here.step_to(there);
        let (dx, dy) = (dx as f32, dy as f32);
        Self { observer, subject, dx, dy, distance_squared: dx * dx + dy * dy, facing }
    }

    /// How far away the subject is.
    pub fn distance(&self) -> f32 {
        self.distance_squared.sqrt()
    }
}

/// How far a policy can find anything relevant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Anywhere: every pair must be looked at, which costs players squared. For small worlds only.
    Everywhere,
    /// Nothing farther away than this is relevant.
    Within(Distance),
}

impl Reach {
    /// The smaller of two reaches.
    pub fn min(self, other: Self) -> Self {
        match (self, other) {
            (Self::Within(a), Self::Within(b)) => Self::Within(a.min(b)),
            (Self::Everywhere, it) | (it, Self::Everywhere) => it,
        }
    }
}

/// Grades how much an observer cares about a subject. A pure function: same sight, same grade.
///
/// A game or an experiment writes its own by implementing this for a type, or from what is there with
/// [`Policy::and`] and [`Policy::adjusted`].
pub trait Policy {
    /// How far away anything can be relevant. Beyond it the engine does not ask.
    fn reach(&self) -> Reach;

    /// 0 (of no interest) to 1 (as often as can be). The engine takes what is larger as 1, and what is
    /// negative or not a number as 0.
    fn relevance(&self, sight: &Sight) -> f32;

    /// Both must care: relevances multiply. For what hides things, such as walls, fog and stealth.
    ///
    /// ```
    /// use interest::{policies::Circle, Policy, Reach, Sight};
    /// struct Fog(f32); // sight fades with distance, in millimetres
    /// impl Policy for Fog {
    ///     fn reach(&self) -> Reach { Reach::Everywhere }
    ///     fn relevance(&self, sight: &Sight) -> f32 { 1.0 - sight.distance() / self.0 }
    /// }
    /// let policy = Circle::new(space::Distance::from_metres(120.0).unwrap()).and(Fog(50_000.0));
    /// # let _ = policy;
    /// ```
    fn and<P: Policy>(self, other: P) -> Both<Self, P>
    where
        Self: Sized,
    {
        Both(self, other)
    }

    /// Lets a game have the last word: `adjust` gets the sight and this policy's grade. `reach` is how
    /// far the adjusted policy may find anything, which may be farther (a sniper's scope) or nearer.
    fn adjusted<F: Fn(&Sight, f32) -> f32>(self, reach: Reach, adjust: F) -> Adjusted<Self, F>
    where
        Self: Sized,
    {
        Adjusted { policy: self, reach, adjust }
    }
}

/// See [`Policy::and`].
#[derive(Clone, Copy, Debug)]
pub struct Both<A, B>(A, B);

impl<A: Policy, B: Policy> Policy for Both<A, B> {
    fn reach(&self) -> Reach {
        self.0.reach().min(self.1.reach())
    }

    fn relevance(&self, sight: &Sight) -> f32 {
        let first = graded(self.0.relevance(sight));
        if first == 0.0 { 0.0 } else { first * graded(self.1.relevance(sight)) }
    }
}

/// See [`Policy::adjusted`].
#[derive(Clone, Copy, Debug)]
pub struct Adjusted<P, F> {
    policy: P,
    reach: Reach,
    adjust: F,
}

impl<P: Policy, F: Fn(&Sight, f32) -> f32> Policy for Adjusted<P, F> {
    fn reach(&self) -> Reach {
        self.reach
    }

    fn relevance(&self, sight: &Sight) -> f32 {
        (self.adjust)(sight, graded(self.policy.relevance(sight)))
    }
}

/// What a policy said, as a number from 0 to 1. NaN counts as 0.
pub(crate) fn graded(relevance: f32) -> f32 {
    if 0.0 < relevance { relevance.min(1.0) } else { 0.0 }
}

/// Numbers that make no policy.
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
