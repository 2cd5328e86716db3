//! The joint of the two planes: a replica node is a zone's replica and a carrier, a client node is a player's machine, the receiving
//! end of a carrier and (for bots) a decision maker. [`carrier`] holds the dissemination plane's contract and carriers.
//!
//! No other crate joins the two planes: `server` only chooses their settings. In the browser, `web/client/src/world.ts` joins
//! them. This crate decides nothing and stores nothing.

pub mod carrier;
mod client_node;
mod message;
mod node;
mod replica_node;

pub use client_node::{ClientEvent, ClientNode};
pub use message::NodeMsg;
pub use node::{Node, NodeCommand, NodeEvent};
pub use replica_node::ReplicaNode;
