//! The game interface: the rules of a world, written once, run on one laptop or on many servers.
//!
//! The platform decides where and when, the game decides what. A game is a value that implements [`Game`]: six
//! types, and functions that are called with them. This page builds one, step by step; `docs/game.md` in the
//! repository is the longer text.
//!
//! 1. **Types.** What there is is [`Game::State`]: trees and pickers. What a player may see of it is
//!    [`Game::Shown`], what a player can want [`Game::Action`], what players are told [`Game::Notice`], why
//!    something does not happen [`Game::Refusal`]. Events speak to elsewhere and to later by [`Game::Letter`].
//!    All derive `Clone`, `Debug`, `Serialize`, `Deserialize` and `Schema`, so `Cargo.toml` says:
//!    ```toml
//!    [dependencies]
//!    ecumene-game = { path = "../../crates/game" }
//!    serde = { version = "1", features = ["derive"] }
//!    postcard-schema = { version = "0.2", features = ["derive"] }
//!    ```
//!    (Or with the first line alone: derive from [`serde`] and [`postcard_schema`] as re-exported here, and put
//!    `#[serde(crate = "game::serde")]` and `#[postcard(crate = game::postcard_schema)]` on each type.)
//! 2. **A world.** [`Game::populate`] plants it, [`Game::on_join`] makes an avatar for a newcomer.
//!    [`Game::RANGE`] is how far anything reaches.
//! 3. **Actions.** [`Game::scope`] says what an action may touch: here the actor, who is always in it, and one
//!    other. [`Game::execute`] does it in a [`Tx`]: all of it becomes true at once. If it refuses, nothing does,
//!    however much it had written.
//! 4. **Walking** needs no action: [`Game::allows`] only says how fast.
//! 5. **Time.** [`Tx::schedule`] sends a letter to a tree's own future; [`Game::on_letter`] gets it. No clock, no
//!    chance but [`Tx::now`] and [`Tx::chance`]: the same event comes out the same on every machine.
//! 6. **Secrets.** [`Game::show`] tells everybody's name, but only one's own apples.
//! 7. **Testing.** [`Solo`] is a whole world in one value, as in `main` below.
//!
//! ```
#![doc = include_str!("../examples/orchard.rs")]
//! ```
//!
//! Servers know no game's types: they call [`Rules`], which [`Hosted`] makes of any game, and keep or throw away the
//! [`Product`] of a [`Draft`]. Browsers get the types as [`typescript()`].
//!
//! This crate never decides when or where something runs, never sends anything, and has no clock or chance.

pub mod config;

mod name;

mod rules;
mod scope;
mod tx;

mod draft;

mod codec;
mod hosted;

mod bot;
mod movement;

mod schema;
mod typescript;

mod solo;
mod table;

pub use bot::{Bot, Intent, Sight, Sighted};
pub use draft::{Draft, Names, Objects, Product, Write};
pub use hosted::{Call, Hosted, Ran, Refused, Rules};
pub use movement::is_within_speed;
pub use name::{Addressee, Hearers, PlayerId, WORLD};
pub use rules::{Data, Game, MigrateError, Viewer};
pub use schema::{schema_hash, schema_text, schemas};
pub use scope::Scope;
pub use solo::Solo;
pub use table::Table;
pub use tx::{Tx, View};
pub use typescript::{TypescriptError, typescript};
pub use {machine, postcard_schema, serde, space};
