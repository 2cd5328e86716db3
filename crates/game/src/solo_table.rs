//! The objects of a world in one ordered table, for tests. A search visits all of them.

use crate::{DraftWrite, Objects, Product};
use machine::Time;
use space::{Distance, Motion, ObjectId, Position};
use std::collections::BTreeMap;

/// Every object of a small world, with its motion and its encoded state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SoloTable(pub BTreeMap<ObjectId, (Motion, Vec<u8>)>);

impl SoloTable {
    /// Applies all writes and steered motions of an event.
    ///
    /// # Panics
    /// If the event changes an object that does not exist: then it was drafted on another table.
    pub fn apply(&mut self, product: &Product) {
        for (&object, write) in &product.writes {
            match write {
                DraftWrite::Spawned { motion, state } => {
                    self.0.insert(object, (*motion, state.clone()));
                }
                DraftWrite::Changed { state, motion } => {
                    let entry = self.0.get_mut(&object).expect("what an event changes exists");
                    entry.0 = motion.unwrap_or(entry.0);
                    entry.1 = state.clone().unwrap_or_else(|| std::mem::take(&mut entry.1));
                }
                DraftWrite::Removed => {
                    self.0.remove(&object);
                }
            }
        }
        for (object, motion) in &product.steered {
            self.0.get_mut(object).expect("what an event steers exists").0 = *motion;
        }
    }
}

impl Objects for SoloTable {
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])> {
        self.0.get(&object).map(|(motion, state)| (motion, state.as_slice()))
    }

    fn visit(&self, _: Position, _: Distance, _: Time, visit: &mut dyn FnMut(ObjectId, &Motion)) {
        self.0.iter().for_each(|(&object, (motion, _))| visit(object, motion));
    }
}
