//! VAST: players tell each other where they are, without a server (Backhaus and Krause 2007, after Hu and Liao 2004).
//!
//! Every peer keeps a list of the peers it must know, draws the Voronoi diagram of their places, and finds newcomers because
//! whoever stands at the edge of its view knows those beyond. A [`Peer`] is a state machine; [`Config::paper`] makes it do
//! what the paper describes, with every flaw as a switch, and [`Config::fixed`] what holds together.
//!
//! | file | what it does |
//! |---|---|
//! | `rendezvous` | the address that every peer knows, where searches begin |
//! | `peer` | the machine: one function per input, and the order in which the parts below are asked |
//! | `membership` | whether the peer is in |
//! | `search` | how a search finds a place, and a peer's searches for itself |
//! | `hearsay` | peers that others name: which are taken in, and which are remembered |
//! | `shortlist`, `departed`, `arrivals` | peers that may matter soon, that are gone, that came lately |
//! | `links`, `mates` | who wants to hear whom, and who belongs to the same group |
//! | `liveness` | neighbours that are silent |
//! | `introductions` | who is told of whom |
//! | `comparison` | lists compared with a neighbour's |
//! | `moves`, `crowd` | how a step is told, and to whom it is told less often where many are |
//! | `neighbours` | the neighbours, the local peer, and the diagram of their places |
//! | `admission` | who may speak, how often and with which proof |
//! | `ctx` | time, settings, chance, timers and the way out, for all parts |
//! | `line`, `uplink` | how much is sent, and how much is listened to |
//! | `event`, `credential` | what the peer and its owner tell each other, and what proves who a peer is |
//! | `msg`, `limited`, `info` | what peers say, what it weighs, and how long its lists may be |
//! | `config`, `rule` | the switches and limits, and the rules that a test can break |
//!
//! A part owns its fields and uses only what stands below it in this table; a test holds the files to that. The one
//! exception is `broken`: what a peer does instead of following a rule that a test breaks.
//!
//! This crate carries nothing else than places, decides nothing about the game, and knows no zone. Lists, messages and
//! rates have limits, whatever peers say. Nobody hears a peer's moves, and nobody's are believed, before they have shown a
//! credential; a greeting says where a peer is, for it must. Of those who speak for themselves hearsay is not believed.

// A fuzzer instruments every test binary of this crate, so each must link the fuzzer's runtime.
#[cfg(test)]
use bolero as _;

mod admission;
mod arrivals;
mod broken;
mod comparison;
pub mod config;
mod credential;
mod crowd;
mod ctx;
mod departed;
mod event;
mod hearsay;
mod info;
mod introductions;
mod limited;
mod line;
mod links;
mod liveness;
mod mates;
mod membership;
mod moves;
mod msg;
mod neighbours;
mod peer;
mod rendezvous;
mod rule;
mod search;
mod shortlist;
mod uplink;

pub use config::{Config, SwitchError};
pub use credential::{Credentials, Open};
pub use event::{Command, Event};
pub use info::Info;
pub use line::Sent;
pub use msg::{Flags, Knows, Msg, Search};
pub use neighbours::Entry;
pub use peer::Peer;
pub use rendezvous::{Member, Rendezvous};
pub use rule::Rule;
pub use uplink::HEADERS;
