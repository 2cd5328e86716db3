//! What opening found, for an operator: what was dropped, and why.
//!
//! A torn tail is everyday life: the power failed during an append that nobody was told had succeeded. All
//! else means that the disk lost what it had promised to keep.

use std::fmt;

/// What opening found besides whole records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// What could not be used, in the order it was met.
    pub dropped: Vec<Dropped>,
    /// Damaged files that were set aside, now or earlier, by the names they have now. They are
    /// never read again; whoever has looked at them may remove them.
    pub aside: Vec<String>,
}

/// Bytes that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The file that held them.
    pub file: String,
    /// Where in the file they begin.
    pub at: u64,
    /// How many they are.
    pub bytes: u64,
    /// Why they could not be used.
    pub reason: Reason,
}

/// Why bytes could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The log ends in a record that is not whole, and nothing whole follows: an append that was
    /// never acknowledged. (Or damage to the very last record: nothing can tell the two apart.)
    TornTail,
    /// A record, header or snapshot is not what its checksum says, though it was once whole.
    Damaged,
    /// The log goes on with another number than this.
    Gap {
        /// The number of the record that is missing.
        expected: u64,
    },
    /// Whole perhaps, but it lies behind damage or a gap.
    Beyond,
}

impl Recovery {
    /// Whether the disk lost what it had promised to keep. A replica in this state must not be
    /// trusted to know all it acknowledged.
    pub fn is_damaged(&self) -> bool {
        self.dropped.iter().any(|dropped| dropped.reason != Reason::TornTail)
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dropped.is_empty() {
            write!(f, "everything is whole")?;
        }
        for (index, dropped) in self.dropped.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{dropped}")?;
        }
        if !self.aside.is_empty() {
            write!(f, "; set aside, for you to look at and remove: {}", self.aside.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, at, bytes, reason } = self;
        write!(f, "{file}: {bytes} bytes from {at} on dropped, ")?;
        match reason {
            Reason::TornTail => write!(f, "an append that was cut short and never acknowledged"),
            Reason::Damaged => write!(f, "damaged on the disk after they were acknowledged"),
            Reason::Gap { expected } => write!(f, "record {expected} before them is missing"),
            Reason::Beyond => write!(f, "they lie behind the damage"),
        }
    }
}
