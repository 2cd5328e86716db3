//! Tests of the peer's machine through its public interface.

mod bench;
mod fuzz;
mod hostile;
mod introductions;
mod messages;
mod parts;
