//! What an experiment may rely on: order, links in numbers, wakes, and one history per seed.

mod history;
mod links;
mod probe;
mod wakes;
