//! What proves that somebody is who they say: of this world, with this address, in this life, of this group.
//!
//! What it is, the runtime knows: a signature of the lobby, most likely. A peer asks before it lets anybody in, before it
//! tells them of its moves, and before it believes theirs; a greeting says where it is, for it must.

use crate::info::Info;

/// Makes and checks credentials.
pub trait Credentials: Send + Sync {
    /// What we show of ourselves; at most [`CREDENTIAL_MAX`](crate::config::CREDENTIAL_MAX) bytes.
    fn show(&self, me: &Info) -> Vec<u8>;

    /// Whether what somebody shows proves that address, life and group are theirs.
    fn admits(&self, who: &Info, credential: &[u8]) -> bool;
}

/// Everybody is let in: among friends, and in experiments.
#[derive(Clone, Copy, Debug)]
pub struct Open;

impl Credentials for Open {
    fn show(&self, _: &Info) -> Vec<u8> {
        Vec::new()
    }

    fn admits(&self, _: &Info, _: &[u8]) -> bool {
        true
    }
}
