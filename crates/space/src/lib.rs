//! Space, exact: where things are, how they move, and who owns which place.
//!
//! Coordinates are whole millimetres, so every machine agrees on every border, whatever its processor.
//! Floats appear only at the edges: metres typed by people come in through checked constructors, and
//! unit vectors go out to interest management and drawing.
//!
//! This crate never reads a clock, sends a message or knows what an object is.

mod heading;
mod motion;
mod name;
mod position;

pub use heading::Heading;
pub use motion::{Millis, Motion, VELOCITY_MAX, Velocity};
pub use name::{Epoch, ObjectId, ZoneId};
pub use position::{COORDINATE_MAX, COORDINATE_MIN, Distance, OutOfRange, Position};
