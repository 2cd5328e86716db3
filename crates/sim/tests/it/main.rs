//! The guarantees of the simulator: order, links in numbers, wakes, faults, and one history per seed.

mod clocks;
mod crashes;
mod history;
mod inboxes;
mod latest_faults;
mod links;
mod outages;
mod probe;
mod storms;
mod traces;
mod wakes;
