//! Interest management: which subjects each observer gets updates of, and how often.
//!
//! A [`Policy`] grades the relevance of a subject to an observer, from 0 to 1. The [`UpdateSchedule`] turns
//! that into time: an update is due when `normal interval ÷ relevance` has passed since the last one.
//! The [`Budget`] limits the bytes of an observer, and decides which updates go first when more are due than its
//! connection carries. The [`Engine`] does all three for thousands of observers in one pass per tick, at a cost that
//! grows with the number of near pairs, never with players squared.
//!
//! Graded relevance, the close area and the schedule are those of Bezerra, Cecin and Geyer,
//! "A novel interest management algorithm for distributed simulations of MMGs" (2008), called A³.
//!
//! ```
//! use interest::{policies::A3, EngineConfig, Engine, UpdateSchedule};
//! use machine::{Span, Time};
//! use space::{Distance, Heading, Position};
//!
//! let metres = |it| Distance::from_metres(it).unwrap();
//! let policy = A3::new(metres(120.0), metres(40.0), 180.0).unwrap();
//! let schedule = UpdateSchedule::every(Span::from_millis(250));
//! let mut engine = Engine::new(EngineConfig { schedule, ..EngineConfig::default() });
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
//! This crate never sends anything and never decides what is true. If it leaves an update out, a client shows a
//! subject too late; nothing else can go wrong.

mod budget;
mod engine;
mod near;
mod pair_memory;
pub mod policies;
mod policy;
mod schedule;
mod slot_table;
mod subject_index;

pub use budget::Budget;
pub use engine::{Engine, EngineConfig, TickCounts, Update};
pub use policy::{AdjustedPolicy, Policy, PolicyError, PolicyReach, ProductPolicy, SubjectView};
pub use schedule::{DueRule, UpdateSchedule};
pub use slot_table::Slot;
