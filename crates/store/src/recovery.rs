//! The findings of an opening, for an operator: dropped bytes, and the reasons.
//!
//! A torn tail is ordinary: the power failed during an append that was never acknowledged. Every other
//! finding means that the disk lost bytes that it had promised to keep.

use std::fmt;

/// The findings of an opening besides undamaged records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Bytes that could not be used, in the order they were met.
    pub dropped: Vec<DroppedBytes>,
    /// Damaged files that were set aside, now or earlier, by their present names. They are
    /// never read again; an operator who has looked at them may remove them.
    pub aside: Vec<String>,
}

/// A run of bytes that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedBytes {
    /// The file that held them.
    pub file: String,
    /// The offset in the file at which they begin.
    pub at: u64,
    /// The number of bytes dropped.
    pub bytes: u64,
    /// The reason why they could not be used.
    pub reason: DropReason,
}

/// The reasons why bytes could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The log ends in an incomplete record, and no complete one follows: an append that was
    /// never acknowledged. (Or damage to the very last record: nothing can tell the two apart.)
    TornTail,
    /// A record, header or snapshot does not fit its checksum, though it was once written as a whole.
    Damaged,
    /// The log goes on with a higher number than the expected one.
    Gap {
        /// The number of the record that is missing.
        expected: u64,
    },
    /// Perhaps undamaged, but behind damage or a gap.
    Beyond,
}

impl Recovery {
    /// True if the disk lost bytes that it had promised to keep. A replica in this state must not be
    /// trusted to know all it acknowledged.
    pub fn is_damaged(&self) -> bool {
        self.dropped.iter().any(|dropped| dropped.reason != DropReason::TornTail)
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

impl fmt::Display for DroppedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, at, bytes, reason } = self;
        write!(f, "{file}: {bytes} bytes from {at} on dropped, ")?;
        match reason {
            DropReason::TornTail => write!(f, "an append that was cut short and never acknowledged"),
            DropReason::Damaged => write!(f, "damaged on the disk after they were acknowledged"),
            DropReason::Gap { expected } => write!(f, "record {expected} before them is missing"),
            DropReason::Beyond => write!(f, "they lie behind the damage"),
        }
    }
}
