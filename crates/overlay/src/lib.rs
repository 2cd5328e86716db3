//! VAST: players tell each other where they are, without a server (Backhaus and Krause 2007, after Hu and Liao 2004).
//!
//! Every peer keeps a list of the peers it must know, draws the Voronoi diagram of their places, and finds newcomers because
//! whoever stands at the edge of its view knows those beyond. A [`Peer`] is a state machine; [`Config::paper`] makes it do
//! what the paper describes, with every flaw as a switch, and [`Config::fixed`] what holds together.
//!
//! | file | what it does |
//! |---|---|
//! | `config` | the switches and limits |
//! | `info`, `msg` | what peers say, and what it weighs |
//! | `list` | whom a peer knows, and the diagram of their places |
//! | `join` | how a peer finds its place, and finds it again |
//! | `travel` | what a peer does when it moves |
//! | `hear` | what it does when others move: it tells them of each other |
//! | `links` | who wants to hear whom |
//! | `upkeep` | what is done now and then: silence, comparing lists, searching oneself |
//!
//! This crate carries nothing else than places, decides nothing about the game, and knows no zone. Lists and messages have
//! limits, whatever peers say. Still to come, before strangers may take part: credentials, limits on rates, and areas of
//! interest that shrink in crowds.

pub mod config;
mod hear;
mod info;
mod join;
mod links;
mod list;
mod msg;
mod peer;
mod rendezvous;
mod travel;
mod upkeep;

pub use config::{Config, SwitchError};
pub use info::Info;
pub use list::Entry;
pub use msg::{Flags, Msg};
pub use peer::{Command, Event, Peer, Sent};
pub use rendezvous::{Member, Rendezvous};
