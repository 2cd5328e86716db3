//! The peer's machine, seen from outside.

mod fuzz;
mod hostile;
mod messages;
