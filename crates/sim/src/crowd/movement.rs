//! The kinds of movement of a crowd, with their parameters.

use super::error::CrowdError;
use super::ground::Ground;
use machine::Span;
use space::Distance;

/// A kind of movement, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movement {
    /// Each walker goes to a random place, and on to the next without a pause.
    Random,
    /// Groups walk to random places together.
    Groups(Groups),
    /// Each walker goes from anywhere to one square in the world's middle, and wanders about in it.
    Gathering {
        /// The width of that square.
        side: Distance,
    },
    /// As [`Movement::Random`], but now and then a walker is suddenly somewhere else.
    Teleport {
        /// The mean time between two jumps of one walker.
        mean: Span,
    },
}

/// The parameters of groups that walk together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Walkers per group. Numbers that follow each other walk together; the last group may be smaller.
    pub size: u32,
    /// The greatest distance from its group, in each direction, at which a member starts.
    pub spread: Distance,
    /// A member that comes nearer than this to another of the group is pushed away.
    pub separation: Distance,
    /// The pull to the group's centre with each step, in percent of the step.
    pub cohesion_percent: u32,
    /// A member that is ahead of another by more than this waits for it.
    pub tether: Distance,
}

impl Default for Groups {
    /// Twelve as in *VAST revisited*, section 4.1; the separation is two steps at 6 m/s and 1.5 steps per second.
    /// With this cohesion members change places within five minutes, and the group loses a twentieth of its
    /// speed; with none it walks in formation, with more it is slower. The tether is longer than such a group,
    /// so that waiting is the exception, and shorter than the area of interest, 60 m.
    fn default() -> Self {
        let metres = Distance::of_metres;
        Self { size: 12, spread: metres(15), separation: metres(8), cohesion_percent: 5, tether: metres(40) }
    }
}

impl Movement {
    /// Groups as in *VAST revisited*.
    pub fn groups() -> Self {
        Self::Groups(Groups::default())
    }

    /// A square of 60 m: as wide as the area of interest in *VAST revisited* reaches.
    pub const fn gathering() -> Self {
        Self::Gathering { side: Distance::of_metres(60) }
    }

    /// On average one jump per walker and minute.
    pub const fn teleport() -> Self {
        Self::Teleport { mean: Span::from_secs(60) }
    }

    pub(super) fn check(&self, ground: &Ground) -> Result<(), CrowdError> {
        match self {
            Self::Groups(Groups { size: 0, .. }) => Err(CrowdError::GroupSize),
            // Otherwise targets would lie outside the world.
            Self::Gathering { side } if ground.side < *side => Err(CrowdError::Gathering(side.millimetres())),
            Self::Teleport { mean: Span::ZERO } => Err(CrowdError::MeanTime("jumps")),
            Self::Random | Self::Groups(_) | Self::Gathering { .. } | Self::Teleport { .. } => Ok(()),
        }
    }
}
