//! The driver for real networks: runs machines on threads and tasks, and carries what they say over QUIC,
//! WebTransport and WebSocket.
//!
//! Follow a message: a machine pushes it into its outbox ([`cell`]), it waits in the [`mailbox`] of a connection, leaves
//! through a [`pipe`] as a [`frame`], arrives at a [`session`] (a player's at a host), a [`mesh`] connection (between
//! hosts) or a [`dial`]led line (a host's at a player), and is handed to the machine it is for.
//!
//! This crate knows no protocol of any machine, and decides nothing.

pub mod address;
mod bucket;
pub mod callers;
pub mod cell;
pub mod clock;
mod close;
pub mod dial;
pub mod door;
pub mod endpoint;
pub mod frame;
pub mod household;
pub mod mailbox;
pub mod mesh;
mod metric;
pub mod pipe;
mod priority;
pub mod session;
pub mod switchboard;
pub mod tls;

pub use close::Close;
