//! The dullest world there is: an ordered table, searched from end to end. For tests.

use crate::{Objects, Product, Write};
use machine::Time;
use space::{Distance, Motion, ObjectId, Position};
use std::collections::BTreeMap;

/// Every object of a small world, with how it moves and what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table(pub BTreeMap<ObjectId, (Motion, Vec<u8>)>);

impl Table {
    /// Makes an event true: all of its writes and courses.
    ///
    /// # Panics
    /// If the event changes what is not there: it was drafted on another table.
    pub fn apply(&mut self, product: &Product) {
        for (&object, write) in &product.writes {
            match write {
                Write::Spawned { motion, state } => {
                    self.0.insert(object, (*motion, state.clone()));
                }
                Write::Changed { state, motion } => {
                    let entry = self.0.get_mut(&object).expect("what an event changes exists");
                    entry.0 = motion.unwrap_or(entry.0);
                    entry.1 = state.clone().unwrap_or_else(|| std::mem::take(&mut entry.1));
                }
                Write::Removed => {
                    self.0.remove(&object);
                }
            }
        }
        for (object, motion) in &product.steered {
            self.0.get_mut(object).expect("what an event steers exists").0 = *motion;
        }
    }
}

impl Objects for Table {
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])> {
        self.0.get(&object).map(|(motion, state)| (motion, state.as_slice()))
    }

    fn visit(&self, _: Position, _: Distance, _: Time, visit: &mut dyn FnMut(ObjectId, &Motion)) {
        self.0.iter().for_each(|(&object, (motion, _))| visit(object, motion));
    }
}
