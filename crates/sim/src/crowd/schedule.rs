//! The schedule of a population, and the instructions that come of it.

use super::WalkerId;
use super::error::CrowdError;
use super::sides::{CutSides, Division};
use machine::{Span, Time};

/// The planned joins, sessions, failures and cuts. By default all players join, one after the other, and stay.
#[derive(Clone, Debug, PartialEq)]
pub struct PopulationSchedule {
    /// Time between the joins of two players.
    pub spacing: Span,
    /// The order in which the walkers join.
    pub order: JoinOrder,
    /// Sessions of limited length, if players leave and come back.
    pub churn: Option<Churn>,
    /// Failures of many players at once.
    pub failures: Vec<MassFailure>,
    /// Cuts of the network into two halves; they must not overlap.
    pub cuts: Vec<Cut>,
}

/// The order in which a population joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinOrder {
    /// By number: groups join one after the other, and all members of a group within seconds at one place.
    Numbers,
    /// Groups of this size take turns: the first member of each group, then the second of each, and so on. No place
    /// sees many walkers join at once.
    Turns {
        /// Walkers per group, as in [`super::Groups`].
        size: u32,
    },
}

/// Players leave after sessions of exponential length, and come back as new ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Churn {
    /// Mean length of a session; not zero.
    pub session_mean: Span,
    /// Share of sessions that end gracefully, from 0 to 1.
    pub graceful: f64,
    /// Time from the end of a session until the player is back.
    pub back_after: Span,
}

/// The abrupt failure of many players at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MassFailure {
    /// Time of the failure since the start.
    pub at: Time,
    /// Percentage of the joined players that fail, drawn at random; 0 to 100.
    pub percent: u32,
    /// Time until the failed players are back; `None` if they stay away.
    pub back_after: Option<Span>,
}

/// A cut of the network into two halves, and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Time of the cut since the start.
    pub at: Time,
    /// Time from the cut until the network is whole again.
    pub lasts: Span,
    /// The rule that divides the walkers into two halves.
    pub division: Division,
}

/// A change that the experiment has to carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// A player joins with its walker.
    Join {
        /// The walker that moves for the player.
        walker: WalkerId,
        /// Number of sessions that this walker had before: a player who comes back is a new one.
        life: u32,
    },
    /// A player leaves the world.
    Leave {
        /// The walker that moved for the player.
        walker: WalkerId,
        /// Graceful or abrupt: whether the player logs out.
        manner: Manner,
    },
    /// No message passes between the two sides from now on.
    Cut(CutSides),
    /// Messages pass between the sides again.
    Mend,
}

/// The manner in which a player leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Manner {
    /// The player vanishes without logging out.
    Abrupt,
    /// The player logs out first.
    Graceful,
}

impl Default for PopulationSchedule {
    fn default() -> Self {
        let (churn, failures, cuts) = (None, Vec::new(), Vec::new());
        Self { spacing: Span::from_millis(200), order: JoinOrder::Numbers, churn, failures, cuts }
    }
}

impl Churn {
    /// Sessions of this mean length that all end abruptly, and five seconds between two.
    pub const fn abrupt(session_mean: Span) -> Self {
        Self { session_mean, graceful: 0.0, back_after: Span::from_secs(5) }
    }
}

impl PopulationSchedule {
    /// The time at which the last of `count` players joins for the first time.
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
    /// The numbers of `count` walkers in the order in which they join.
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
