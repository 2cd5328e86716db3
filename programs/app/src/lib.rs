//! A game as a program: one value that implements `game::Game` becomes a command line with every command of the platform.
//!
//! ```no_run
//! # use game::{Game, PlayerId, Tx, Viewer, space::{Distance, ObjectId, Position}};
//! # struct Orchard;
//! # impl Game for Orchard {
//! #     type State = u32; type Shown = u32; type Action = (); type Notice = (); type Refusal = (); type Letter = ();
//! #     const NAME: &'static str = "Orchard";
//! #     const RANGE: Distance = Distance::of_metres(20);
//! #     fn execute(&self, _: &mut Tx<'_, '_, Self>, _: ObjectId, _: ()) -> Result<(), ()> { Ok(()) }
//! #     fn show(&self, it: &u32, _: Viewer) -> Option<u32> { Some(*it) }
//! #     fn on_join(&self, tx: &mut Tx<'_, '_, Self>, _: PlayerId, _: &str) -> Result<ObjectId, ()> {
//! #         Ok(tx.spawn(&0, Position::ORIGIN))
//! #     }
//! # }
//! fn main() -> std::process::ExitCode {
//!     ecumene::App::new(Orchard).run()
//! }
//! ```
//!
//! [`App`] says what a game may add, each with a default that works: bots, a web page, an interest policy, what is
//! conserved, the size of its world. `demo` and the benchmarks of real processes start this program again, once for each
//! process of the world.
//!
//! The library names no game. The program `ecumene` is the bundled game behind the same door.

mod app;
mod app_game;
mod bench;
mod check;
mod cli;
pub mod command;
mod naming;
mod noise_bot;
mod own_commands;
mod page_source;
mod play;
mod program;
mod progress;
mod roaming_bot;
mod schema;
mod sim;
#[cfg(test)]
mod test_program;

pub use app::App;
pub use app_game::BotGround;
pub use benchmarks::zone::ZoneCase;
pub use server::PageFile;
pub use server::config::CarrierConfig;
pub use simtest::{ConservedGoods, ItemId, Layout, Scenario};
pub use {clap, game, interest};
