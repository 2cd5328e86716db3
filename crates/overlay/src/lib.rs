//! VAST: players tell each other where they are, without a server (Backhaus and Krause 2007, after Hu and Liao 2004).
//!
//! Every peer keeps a list of the peers that it must know and the Voronoi diagram of their positions. It finds
//! newcomers because the neighbours at the edge of its view know the peers beyond. A [`Peer`] is a state machine; with
//! [`PeerConfig::paper`] it follows the paper's protocol, with every flaw as a switch, and with [`PeerConfig::fixed`]
//! ours, which holds together.
//!
//! | file | content |
//! |---|---|
//! | `rendezvous` | the address that every peer knows, where searches begin |
//! | `peer` | the machine: one function per input, and the order in which it calls the parts below |
//! | `membership` | whether the peer is in the overlay |
//! | `search` | how a search finds a position, and a peer's searches for itself |
//! | `peer_reports` | peers that others name: which enter the list, and which are remembered |
//! | `shortlist`, `departed_peers`, `arrivals` | peers that may be relevant soon, are gone, or arrived recently |
//! | `links`, `group_members` | which neighbours want each other's moves, and which belong to the same group |
//! | `liveness` | neighbours that are silent |
//! | `introductions` | peers that are introduced to a neighbour |
//! | `comparison` | lists compared with a neighbour's |
//! | `moves`, `crowd` | how a step is sent, and which neighbours are sent fewer steps in a crowd |
//! | `neighbours` | the neighbours, the local peer, and the diagram of their positions |
//! | `admission` | which messages are accepted: rates and credentials |
//! | `context` | time, configuration, random numbers, timers and outbox, for all parts |
//! | `send_account`, `uplink` | counts of sent messages, the send budget, and the rate limits of received messages |
//! | `event`, `peer_credentials` | commands and events of a peer, and the proof of who a peer is |
//! | `msg`, `limited`, `info` | the messages, their sizes, and the limits of their lists |
//! | `config`, `rule` | the switches and limits, and the rules that a test can break |
//!
//! A part owns its fields and uses only what stands below it in this table; a test holds the files to that. The one
//! exception is `broken`: the behaviour of a peer when a test breaks a rule.
//!
//! This crate carries only positions, decides nothing about the game, and knows no zone. Lists, messages and rates have
//! limits, whatever peers send. A peer sends its moves only to peers that have shown a credential, and believes only
//! the moves of such peers; its greeting tells its position without that, because the receiver must be able to answer.
//! About a peer that has sent messages of its own, reports of other peers are not believed.

// A fuzzer instruments every test binary of this crate, so each must link the fuzzer's runtime.
#[cfg(test)]
use bolero as _;

mod admission;
mod arrivals;
mod broken;
mod comparison;
pub mod config;
mod context;
mod crowd;
mod departed_peers;
mod event;
mod group_members;
mod info;
mod introductions;
mod limited;
mod links;
mod liveness;
mod membership;
mod moves;
mod msg;
mod neighbours;
mod peer;
mod peer_credentials;
mod peer_reports;
mod rendezvous;
mod rule;
mod search;
mod send_account;
mod shortlist;
mod uplink;

pub use config::{PeerConfig, SwitchError};
pub use event::{PeerCommand, PeerEvent};
pub use info::Info;
pub use msg::{Flags, Knows, OverlayMsg, SearchPurpose};
pub use neighbours::NeighbourState;
pub use peer::Peer;
pub use peer_credentials::{AcceptAll, PeerCredentials};
pub use rendezvous::{Rendezvous, RendezvousCommand};
pub use rule::OverlayRule;
pub use send_account::SentTraffic;
pub use uplink::HEADERS;
