//! Tests with real processes: a crowd of real clients, a world of processes on this computer, faults and attacks.
//!
//! | module | content |
//! |---|---|
//! | [`crowd`] | bots as real clients, each with its own session and connections, measured |
//! | [`walkers`] | a crowd that only walks, to measure the cost of a client |
//! | [`cluster`] | a world as processes of this computer: starts, watches, signals, kills and ends them |
//! | [`running_world`] | the same, or all of it in this process; [`watch`] keeps it running and counts events |
//! | [`chaos`] | faults in such a world while bots play; the histories are checked afterwards |
//! | [`attack`] | hostile datagrams, connections and requests, each with its expected outcome |
//! | [`process`] | processor time and memory of processes, and the cores they run on |
//!
//! The crate knows no game: a test gets its game as a [`TestedGame`]. It prints nothing and reads no arguments: options
//! are plain data, and an error that is the caller's fault is an [`InvalidOptions`].

pub mod attack;
pub mod chaos;
pub mod cluster;
pub mod crowd;
mod invalid_options;
pub mod process;
pub mod running_world;
mod tested_game;
pub mod walkers;
mod walking_bot;
pub mod watch;

pub use invalid_options::InvalidOptions;
pub use tested_game::{BorderSegment, TestedGame};
