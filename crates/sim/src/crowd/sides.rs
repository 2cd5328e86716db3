//! A network in two halves.

use super::WalkerId;
use super::draw::sample;
use machine::Rng;

/// By what rule a cut divides the walkers. Also those who are away have a side, for when they come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Division {
    /// Half of them, drawn at random.
    #[default]
    Random,
    /// Even numbers here, odd ones there: every group is torn apart.
    Parity,
    /// Half of the groups, drawn at random: no group is torn apart.
    Groups {
        /// Walkers per group.
        size: u32,
    },
}

/// One half of a network that is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// One.
    Here,
    /// The other.
    There,
}

/// Who is on which side of a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides(Vec<Side>);

impl Sides {
    pub(super) fn draw(division: Division, count: u32, rng: &mut Rng) -> Self {
        let mut sides = match division {
            Division::Random => halves(count, rng),
            Division::Parity => {
                (0..count).map(|it| if it % 2 == 0 { Side::Here } else { Side::There }).collect()
            }
            Division::Groups { size } => {
                let groups = halves(count.div_ceil(size), rng);
                groups.into_iter().flat_map(|it| std::iter::repeat_n(it, size as usize)).collect()
            }
        };
        sides.truncate(count as usize);
        Self(sides)
    }

    /// Where `walker` is.
    pub fn side(&self, walker: WalkerId) -> Side {
        self.0[walker.index()]
    }

    /// Whether nothing gets from one to the other.
    pub fn are_apart(&self, one: WalkerId, other: WalkerId) -> bool {
        self.side(one) != self.side(other)
    }
}

fn halves(count: u32, rng: &mut Rng) -> Vec<Side> {
    let mut sides = vec![Side::Here; count as usize];
    let mut all: Vec<u32> = (0..count).collect();
    for &it in sample(&mut all, count as usize / 2, rng) {
        sides[it as usize] = Side::There;
    }
    sides
}
