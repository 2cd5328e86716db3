//! The game interface: the rules of a world, written once, run on one laptop or on many servers.
//!
//! The platform decides where and when an event runs, the game decides its effects. A game is a value that implements
//! [`Game`]: six types, and functions that zones call with them. This page builds one, step by step; `docs/game.md` in
//! the repository is the longer text.
//!
//! 1. **Types.** [`Game::State`] is everything stored about one object: here a tree or a picker. [`Game::Shown`] is the
//!    part of it that a player may see, [`Game::Action`] a request of a player, [`Game::Notice`] a message to players,
//!    [`Game::Refusal`] the reason why an event does not happen. An event reaches beyond its scope, or into the
//!    future, by a [`Game::Letter`].
//!    All derive `Clone`, `Debug`, `Serialize`, `Deserialize` and `Schema`, so `Cargo.toml` says:
//!    ```toml
//!    [dependencies]
//!    ecumene-game = { path = "../../crates/game" }
//!    serde = { version = "1", features = ["derive"] }
//!    postcard-schema = { version = "0.2", features = ["derive"] }
//!    ```
//!    (Or with the first line alone: derive from [`serde`] and [`postcard_schema`] as re-exported here, and put
//!    `#[serde(crate = "game::serde")]` and `#[postcard(crate = game::postcard_schema)]` on each type.)
//! 2. **A world.** [`Game::populate`] fills a new world, [`Game::on_join`] makes an avatar for a new player.
//!    [`Game::RANGE`] is the farthest that an event reaches and a player senses.
//! 3. **Actions.** [`Game::scope`] declares the objects that an action may read and write: here the actor, which is
//!    always in the scope, and one other. [`Game::execute`] runs the action in a [`Tx`], all or nothing: a refusal
//!    undoes every write.
//! 4. **Walking** needs no action: [`Game::allows`] only limits the speed.
//! 5. **Time.** [`Tx::schedule`] sends a letter to a tree for later; [`Game::on_letter`] receives it. Time and chance
//!    come from [`Tx::now`] and [`Tx::chance`] only, so that the same event gives the same result on every computer.
//! 6. **Secrets.** [`Game::show`] shows the names of all pickers to every player, but the apples only to their owner.
//! 7. **Testing.** [`Solo`] is a whole world in one value, as in `main` below.
//!
//! ```
#![doc = include_str!("../examples/orchard.rs")]
//! ```
//!
//! Zones know no game's types: they call [`HostedGame`], which [`Hosted`] implements for any game, and keep or discard
//! the [`Product`] of a [`Draft`]. Browsers get the types as [`typescript()`].
//!
//! This crate never decides when or where an event runs, sends nothing, and has no clock and no random source.

pub mod config;

mod name;

mod game;
mod guarded_game;
mod scope;
mod tx;

mod draft;

mod codec;
mod hosted;

mod bot;
mod call_bounds;
mod movement;

mod schema;
mod typescript;

mod solo;
mod solo_table;

pub use bot::{Bot, BotView, Intent, VisibleObject};
pub use codec::decode_state;
pub use draft::{Draft, DraftWrite, NameAllocator, Objects, Product};
pub use game::{Data, Game, MigrateError, Viewer};
pub use guarded_game::{CallGuard, GuardedGame};
pub use hosted::{Call, CallError, CallOutput, Hosted, HostedGame};
pub use movement::is_within_speed;
pub use name::{Addressee, Hearers, PlayerId, WORLD};
pub use schema::{schema_hash, schema_text, schemas};
pub use scope::Scope;
pub use solo::Solo;
pub use solo_table::SoloTable;
pub use tx::{ScopeView, Tx};
pub use typescript::{TypescriptError, typescript};
pub use {machine, postcard_schema, serde, space};
