//! All observers get updates of all subjects: the paper's "None", and the cost that interest management saves.

use crate::{Policy, PolicyReach, SubjectView};

/// Relevance 1 for every pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everything;

impl Policy for Everything {
    fn reach(&self) -> PolicyReach {
        PolicyReach::Everywhere
    }

    fn relevance(&self, _: &SubjectView) -> f32 {
        1.0
    }
}
