//! The driver for real networks: runs machines on reactors, and carries their messages over QUIC, WebTransport and
//! WebSocket.
//!
//! Path of a message: a machine pushes it into its outbox ([`worker`]), it waits in the [`send_queue`] of a connection, and leaves
//! as a [`frame`] when the turn of its [`reactor`] ends. It arrives at another reactor, which checks it and hands it to the machine
//! it is for. Players who connect by WebSocket are served on tasks beside it ([`web_socket`], [`dial`]).
//!
//! This crate knows no protocol of any machine, and decides nothing.

pub mod address;
pub mod address_groups;
pub mod clock;
mod close;
pub mod connection_limits;
pub mod dial;
pub mod endpoint;
pub mod frame;
pub mod host_context;
pub mod link_router;
pub mod mesh;
mod metric;
pub mod open_connections;
pub mod pipe;
mod rate_limiter;
pub mod reactor;
pub mod send_queue;
pub mod server_port_limits;
pub mod tls;
pub mod web_socket;
pub mod worker;

pub use close::Close;
