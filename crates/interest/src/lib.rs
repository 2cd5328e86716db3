//! Who hears of whom, and how often.
//!
//! A [`Policy`] grades how much an observer cares about a subject, from 0 to 1. The [`Schedule`] turns
//! that into time: an update is due when `normal interval ÷ relevance` has passed since the last one.
//! The [`Budget`] decides who goes first when a crowd has more to say than an observer's line can
//! carry. The [`Engine`] does all three for thousands of observers in one pass per tick, at a cost that
//! grows with what is near, never with players squared.
//!
//! Graded relevance, the close area and the schedule are those of Bezerra, Cecin and Geyer,
//! "A novel interest management algorithm for distributed simulations of MMGs" (2008), called A³.
//!
//! ```
//! use interest::{policies::A3, Config, Engine, Schedule};
//! use machine::{Span, Time};
//! use space::{Distance, Heading, Position};
//!
//! let metres = |it| Distance::from_metres(it).unwrap();
//! let policy = A3::new(metres(120.0), metres(40.0), 180.0).unwrap();
//! let mut engine = Engine::new(Config { schedule: Schedule::every(Span::from_millis(250)), ..Config::default() });
//!
//! let eye = engine.enter(Position::ORIGIN, Heading::EAST);
//! let ahead = engine.enter(Position::from_metres(50.0, 0.0).unwrap(), Heading::EAST);
//! let behind = engine.enter(Position::from_metres(-50.0, 0.0).unwrap(), Heading::EAST);
//! engine.observe(eye);
//!
//! let mut heard = Vec::new();
//! engine.tick(Time::ZERO, &policy, |observer, updates| {
//!     assert_eq!(observer, eye);
//!     heard.extend(updates.iter().map(|it| it.subject));
//! });
//! assert_eq!(heard, [ahead]); // `behind` is out of view and not close
//! # let _ = behind;
//! ```
//!
//! This crate never sends anything and never decides what is true: what it leaves out, somebody does
//! not see in time; nothing else can go wrong.

mod budget;
mod crowd;
mod engine;
mod memory;
mod near;
pub mod policies;
mod policy;
mod recall;
mod schedule;

pub use budget::Budget;
pub use crowd::Slot;
pub use engine::{Config, Engine, Tally, Update};
pub use policy::{Adjusted, Both, Policy, PolicyError, Reach, Sight};
pub use schedule::{Due, Schedule};
