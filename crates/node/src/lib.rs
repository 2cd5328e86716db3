//! Where the planes meet: a host is a zone's replica and a carrier, a client is a player's machine, the ear of a
//! carrier and (for bots) a will of its own. [`carrier`] holds the dissemination plane's contract and its carriers.
//!
//! Nothing else in the tree knows both planes. This crate decides nothing and stores nothing.

pub mod carrier;
mod client;
mod host;
mod message;
mod node;

pub use client::{Client, ClientEvent};
pub use host::Host;
pub use message::NodeMsg;
pub use node::{Node, NodeCommand, NodeEvent};
