//! Reads the entries of hosts in the directory.
//!
//! An entry that does not decode was written by another version of the program. Its host counts as unknown; the entry is
//! never written by any process but that host.

use crate::world_entry::{self, HostEntries};
use machine::directory::{DirectoryEntry, Key, Revision};
use std::collections::BTreeSet;

/// Reads the entries of certain hosts, and remembers which it could not decode.
#[derive(Debug)]
pub struct HostEntryReader {
    hosts: BTreeSet<u32>,
    /// Hosts whose entry did not decode when it was last read: each is logged once, not at every read.
    undecoded: BTreeSet<u32>,
}

impl HostEntryReader {
    /// Reads the entries of these hosts.
    pub fn new(hosts: BTreeSet<u32>) -> Self {
        Self { hosts, undecoded: BTreeSet::new() }
    }

    /// The keys to read.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.hosts.iter().map(|&host| world_entry::host_key(host))
    }

    /// The number of keys to read.
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Decodes the entries of [`keys`](Self::keys), in their order. Hosts that never registered are missing.
    pub fn decode(&mut self, entries: &[DirectoryEntry]) -> HostEntries {
        let mut found = HostEntries::new();
        for (&host, entry) in self.hosts.iter().zip(entries) {
            if entry.revision == Revision(0) {
                continue;
            }
            match world_entry::read(&entry.value) {
                Some(it) => {
                    self.undecoded.remove(&host);
                    found.insert(host, it);
                }
                None if self.undecoded.insert(host) => tracing::warn!(
                    host,
                    "the directory's entry of this host is of another version: it is left alone, and the host stays \
                     unknown here; run the same version of the program everywhere"
                ),
                None => (),
            }
        }
        found
    }
}
