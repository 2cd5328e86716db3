//! The two sides of a cut network, and the rules that divide walkers between them.

use super::WalkerId;
use super::draw::sample;
use machine::Rng;

/// The rule by which a cut divides the walkers. Walkers that are away get a side, too, for when they join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Division {
    /// Half of them, drawn at random.
    #[default]
    Random,
    /// Even numbers here, odd ones there: every group is torn apart.
    Parity,
    /// Half of the groups, drawn at random: no group is torn apart.
    Groups {
        /// Number of walkers per group; not zero.
        size: u32,
    },
}

/// One half of a network that is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CutSide {
    /// The first side; even numbers under [`Division::Parity`].
    Here,
    /// The second side; odd numbers under [`Division::Parity`].
    There,
}

/// The side of each walker in a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutSides(Vec<CutSide>);

impl CutSides {
    pub(super) fn draw(division: Division, count: u32, rng: &mut Rng) -> Self {
        let mut sides = match division {
            Division::Random => halves(count, rng),
            Division::Parity => {
                (0..count).map(|it| if it % 2 == 0 { CutSide::Here } else { CutSide::There }).collect()
            }
            Division::Groups { size } => {
                let groups = halves(count.div_ceil(size), rng);
                groups.into_iter().flat_map(|it| std::iter::repeat_n(it, size as usize)).collect()
            }
        };
        // The last group may be smaller than the others.
        sides.truncate(count as usize);
        Self(sides)
    }

    /// The side of the cut on which `walker` is.
    pub fn side(&self, walker: WalkerId) -> CutSide {
        self.0[walker.index()]
    }

    /// True if the cut separates the two walkers.
    pub fn are_apart(&self, one: WalkerId, other: WalkerId) -> bool {
        self.side(one) != self.side(other)
    }
}

fn halves(count: u32, rng: &mut Rng) -> Vec<CutSide> {
    let mut sides = vec![CutSide::Here; count as usize];
    let mut all: Vec<u32> = (0..count).collect();
    for &it in sample(&mut all, count as usize / 2, rng) {
        sides[it as usize] = CutSide::There;
    }
    sides
}
