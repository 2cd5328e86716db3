//! Connections between hosts: one per pair, mutual TLS. A port of a reactor carries them (see [`crate::reactor`]).
//!
//! Of two hosts the one with the higher number connects. Frames name the zones at both ends. Each host sends the other
//! a hello with its zones, and a new one whenever they change.

use crate::frame;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Known addresses of the other hosts, by number.
pub type HostAddresses = BTreeMap<u32, SocketAddr>;

/// The first message of a host to another, and its message whenever a zone starts or ends there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HostHello {
    /// Number of the host that sends.
    pub host: u32,
    /// Zones that run there now.
    pub zones: Vec<u32>,
}

/// The hello of a host as a frame.
pub(crate) fn hello_frame(host: u32, zones: Vec<u32>) -> Bytes {
    let hello = HostHello { host, zones };
    frame::framed(frame::CONTROL, &postcard::to_stdvec(&hello).expect("plain data encodes"))
}

/// Reads the hello of a host from a frame's body.
pub(crate) fn open_hello(body: &[u8]) -> Option<HostHello> {
    match frame::open(body) {
        Ok((frame::CONTROL, message)) => postcard::from_bytes(message).ok(),
        _ => None,
    }
}
