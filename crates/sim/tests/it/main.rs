//! What an experiment may rely on: order, links in numbers, wakes, faults, and one history per seed.

mod clocks;
mod crashes;
mod history;
mod inboxes;
mod links;
mod outages;
mod probe;
mod quirks;
mod storms;
mod traces;
mod wakes;
