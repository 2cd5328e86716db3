//! Everybody hears of everybody: the paper's "None", and the price that interest management saves.

use crate::{Policy, Reach, Sight};

/// Relevance 1 for every pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everything;

impl Policy for Everything {
    fn reach(&self) -> Reach {
        Reach::Everywhere
    }

    fn relevance(&self, _: &Sight) -> f32 {
        1.0
    }
}
