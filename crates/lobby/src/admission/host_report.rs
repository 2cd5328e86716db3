//! The report of a host about its headroom.

use machine::Span;
use serde::{Deserialize, Serialize};

/// First byte of a report. A report of another version is ignored: the next version of the program may report other numbers.
const VERSION: u8 = 1;

/// How busy a host is, as it reports every half second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostReport {
    /// Number of the host.
    pub host: u32,
    /// Number of players whose avatars its primaries own.
    pub players: u32,
    /// The highest load level of its primaries: 0 calm, 1 busy, 2 overloaded.
    pub load: u8,
    /// Thousandths of the time since the last report in which its busiest reactor worked.
    pub busy: u16,
    /// Microseconds by which timers of its primaries were late lately, at most.
    pub late: u32,
    /// The host shuts down: this is its last report, and its silence means nothing.
    pub is_leaving: bool,
}

impl HostReport {
    /// The most bytes of a report: it fits into a datagram.
    pub const BYTES_MAX: usize = 32;

    /// The report as bytes, with its version.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend(postcard::to_stdvec(self).expect("plain data encodes"));
        debug_assert!(bytes.len() <= Self::BYTES_MAX);
        bytes
    }

    /// Reads a report; `None` if it is of another version, or malformed.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        if *version != VERSION || Self::BYTES_MAX < bytes.len() {
            return None;
        }
        let (report, rest) = postcard::take_from_bytes(rest).ok()?;
        rest.is_empty().then_some(report)
    }

    /// The lateness as a span.
    pub(super) const fn lateness(&self) -> Span {
        Span::from_micros(self.late as u64)
    }
}
