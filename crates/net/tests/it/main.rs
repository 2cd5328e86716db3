//! The driver on real sockets, with a machine that only echoes: what it promises whatever the protocol.

mod doors;
mod echo;
mod zones;
