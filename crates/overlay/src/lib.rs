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
//! | `limited` | lists in messages, read no further than they may be long |
//! | `list` | whom a peer knows, and the diagram of their places |
//! | `join` | how a peer finds its place, and finds it again |
//! | `travel` | what a peer does when it moves |
//! | `hear` | what it does when others move |
//! | `introductions` | who is told of whom |
//! | `links` | who wants to hear whom |
//! | `upkeep` | what is done now and then: silence, comparing lists, searching oneself |
//! | `crowd` | what is different where many are: smaller views, and far ones are told less often |
//! | `credential` | what proves who somebody is |
//! | `uplink` | how much is sent, and how much is listened to |
//! | `rule`, `broken` | rules that a test can break, and what a peer does then |
//!
//! This crate carries nothing else than places, decides nothing about the game, and knows no zone. Lists, messages and
//! rates have limits, whatever peers say. Nobody hears a peer's moves, and nobody's are believed, before they have shown a
//! credential; a greeting says where a peer is, for it must. Of those who speak for themselves hearsay is not believed.

// A fuzzer instruments every test binary of this crate, so each must link the fuzzer's runtime.
#[cfg(test)]
use bolero as _;

mod broken;
pub mod config;
mod credential;
mod crowd;
mod hear;
mod info;
mod introductions;
mod join;
mod limited;
mod links;
mod list;
mod msg;
mod peer;
mod rendezvous;
mod rule;
mod travel;
mod upkeep;
mod uplink;

pub use config::{Config, SwitchError};
pub use credential::{Credentials, Open};
pub use info::Info;
pub use list::Entry;
pub use msg::{Flags, Knows, Msg, Search};
pub use peer::{Command, Event, Peer, Sent};
pub use rendezvous::{Member, Rendezvous};
pub use rule::Rule;
pub use uplink::HEADERS;
