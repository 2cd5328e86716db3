//! Real processes under test: a crowd of real clients, a world of processes on this machine, and what breaks it.
//!
//! | module | what it does |
//! |---|---|
//! | [`crowd`] | bots as real clients, each with its own session and connections, measured |
//! | [`walkers`] | a crowd that only walks, for measuring what a client costs |
//! | [`cluster`] | a world as processes of this machine: starts, watches, signals, kills and ends them |
//! | [`world`] | the same, or all of it in this process; [`watch`] keeps it running and counts what happens |
//! | [`chaos`] | troubles for such a world while bots play; the histories are judged afterwards |
//! | [`attack`] | hostile datagrams, connections and requests, each with what must come of it |
//! | [`process`] | processor time and memory of processes, and the cores they run on |
//!
//! The crate knows no game: what a test needs of one comes in as a [`TestedGame`]. It prints nothing and reads no
//! arguments: options are plain data, and an error that is the caller's fault is a [`Refused`].

pub mod attack;
pub mod chaos;
pub mod cluster;
pub mod crowd;
pub mod process;
mod refused;
mod tested_game;
mod walker;
pub mod walkers;
pub mod watch;
pub mod world;

pub use refused::Refused;
pub use tested_game::{Border, TestedGame};
