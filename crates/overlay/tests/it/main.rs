//! The peer's machine, seen from outside.

mod bench;
mod fuzz;
mod hostile;
mod introductions;
mod messages;
mod parts;
