//! The game interface: the rules of a world, written once, run on one laptop or on many servers.
//!
//! This crate never decides when or where something runs, never sends anything, and has no clock or chance.

mod bot;
pub mod config;
mod draft;
mod hosted;
mod movement;
mod name;
mod rules;
mod schema;
mod scope;
mod tx;

pub use bot::{Bot, Intent, Sight, Sighted};
pub use draft::{Draft, Names, Objects, Product, Write};
pub use hosted::{Call, Hosted, Ran, Refused, Rules};
pub use movement::is_within_speed;
pub use name::{Addressee, Hearers, PlayerId, WORLD};
pub use rules::{Data, Game, MigrateError, Viewer};
pub use schema::{schema_hash, schemas};
pub use scope::Scope;
pub use tx::{Tx, View};
