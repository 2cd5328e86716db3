//! Server processes: a *seat* (directory, lobby and page) and *hosts*, put together from the machines of `node`, the
//! driver `net`, disks and keys.
//!
//! Read [`seat`] and [`host`] first: each is one process. Everything else is a part of one of them.
//!
//! This crate decides nothing about the world: zones do, and the directory about who reigns.

mod disk;
pub mod front;
mod keeper;
mod origin;
mod page;
mod tally;
mod zone_cell;

pub mod config;
pub mod directory;
pub mod host;
pub mod keys;
pub mod map;
pub mod seat;
pub mod web;
pub mod world;

pub use config::Config;
pub use host::Host;
pub use seat::Seat;
