//! The driver on real sockets, with a machine that only echoes: its guarantees for any protocol.

mod connections;
mod echo;
mod network;
mod reactors;
mod zones;
