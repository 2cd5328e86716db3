//! The driver on real sockets, with a machine that only echoes: its guarantees for any protocol.

mod connections;
mod echo;
mod hosts_port;
mod network;
mod reactors;
mod stranger;
mod strangers;
mod zones;
