//! Credentials: proof that a peer belongs to this world and has this address, life and group.
//!
//! The runtime decides what a credential is; most likely a signature of the lobby. A peer asks for one before it admits
//! another peer, sends it moves or believes its moves. Only a greeting tells a position without proof: it must, so that
//! the receiver can answer.

use crate::info::Info;

/// Makes the credential of the local peer and checks those of others.
pub trait PeerCredentials: Send + Sync {
    /// The credential of the local peer; at most [`CREDENTIAL_MAX`](crate::config::CREDENTIAL_MAX) bytes.
    fn show(&self, me: &Info) -> Vec<u8>;

    /// Returns whether the credential proves the address, life and group of that peer.
    fn admits(&self, who: &Info, credential: &[u8]) -> bool;
}

/// Admits every peer: for trusted networks and experiments.
#[derive(Clone, Copy, Debug)]
pub struct AcceptAll;

impl PeerCredentials for AcceptAll {
    fn show(&self, _: &Info) -> Vec<u8> {
        Vec::new()
    }

    fn admits(&self, _: &Info, _: &[u8]) -> bool {
        true
    }
}
