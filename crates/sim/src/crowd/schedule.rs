//! What shall happen to a population, and the instructions that come of it.

use super::WalkerId;
use super::error::CrowdError;
use super::sides::{Division, Sides};
use machine::{Span, Time};

/// What shall happen. By default everybody joins, one after the other, and stays.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Between two who join.
    pub spacing: Span,
    /// In which order they join.
    pub order: JoinOrder,
    /// Whether players leave and come back.
    pub churn: Option<Churn>,
    /// When many fail at once.
    pub failures: Vec<Failure>,
    /// When the network falls in two.
    pub cuts: Vec<Cut>,
}

/// In which order a population joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinOrder {
    /// By number; so groups join one after the other, and all of a group within seconds at one place.
    Numbers,
    /// Groups of this size take turns: everybody's first, then everybody's second, and so on. No place sees many join at
    /// once.
    Turns {
        /// Walkers per group, as in [`super::Groups`].
        size: u32,
    },
}

/// Players leave after sessions of exponential length, and come back as new ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Churn {
    /// How long a session lasts on average.
    pub session_mean: Span,
    /// What share of sessions ends with a goodbye, from 0 to 1.
    pub graceful: f64,
    /// How long until a player is back.
    pub back_after: Span,
}

/// Many fail at once, without a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// When.
    pub at: Time,
    /// How many of those who are there, drawn at random.
    pub percent: u32,
    /// How long until they are back, if ever.
    pub back_after: Option<Span>,
}

/// The network falls in two, and is mended again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// When.
    pub at: Time,
    /// For how long.
    pub lasts: Span,
    /// Who is where.
    pub division: Division,
}

/// What an experiment is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// A player comes.
    Join {
        /// Who walks for it.
        walker: WalkerId,
        /// How many players this walker had before: one who comes back is a new one.
        life: u32,
    },
    /// A player goes.
    Leave {
        /// Who walked for it.
        walker: WalkerId,
        /// How.
        manner: Manner,
    },
    /// Nothing passes between the sides from now on.
    Cut(Sides),
    /// Everything passes again.
    Mend,
}

/// How a player goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Manner {
    /// Vanishes.
    Abrupt,
    /// Says goodbye.
    Graceful,
}

impl Default for Schedule {
    fn default() -> Self {
        let (churn, failures, cuts) = (None, Vec::new(), Vec::new());
        Self { spacing: Span::from_millis(200), order: JoinOrder::Numbers, churn, failures, cuts }
    }
}

impl Churn {
    /// Sessions of this mean length that end without a word, and five seconds between two.
    pub const fn abrupt(session_mean: Span) -> Self {
        Self { session_mean, graceful: 0.0, back_after: Span::from_secs(5) }
    }
}

impl Schedule {
    /// When the last of so many joins for the first time.
    pub fn joined(&self, count: u32) -> Time {
        Time::ZERO + self.spacing.times(u64::from(count.saturating_sub(1)))
    }

    pub(super) fn check(&self) -> Result<(), CrowdError> {
        if self.order == (JoinOrder::Turns { size: 0 }) {
            return Err(CrowdError::GroupSize);
        }
        if let Some(churn) = self.churn {
            churn.check()?;
        }
        if let Some(wrong) = self.failures.iter().find(|it| 100 < it.percent) {
            return Err(CrowdError::Percent(wrong.percent));
        }
        if self.cuts.iter().any(|it| matches!(it.division, Division::Groups { size: 0 })) {
            return Err(CrowdError::GroupSize);
        }
        let overlap = |pair: &[Cut]| pair[1].at < pair[0].at + pair[0].lasts;
        if self.cuts_in_order().windows(2).any(overlap) {
            return Err(CrowdError::CutsOverlap);
        }
        Ok(())
    }

    pub(super) fn cuts_in_order(&self) -> Vec<Cut> {
        let mut cuts = self.cuts.clone();
        cuts.sort_by_key(|it| it.at);
        cuts
    }
}

impl JoinOrder {
    /// The numbers of so many walkers in the order in which they join.
    pub(super) fn numbers(self, count: u32) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..count).collect();
        if let Self::Turns { size } = self {
            numbers.sort_by_key(|it| (it % size, it / size));
        }
        numbers
    }
}

impl Churn {
    fn check(self) -> Result<(), CrowdError> {
        if self.session_mean == Span::ZERO {
            return Err(CrowdError::MeanTime("leaving"));
        }
        if !(0.0..=1.0).contains(&self.graceful) {
            return Err(CrowdError::Share(self.graceful));
        }
        Ok(())
    }
}
