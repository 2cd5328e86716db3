//! The bytes of a record of the journal: one change of one log.

/// A change of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JournalEntry<'a> {
    /// The number of the log.
    pub log: u32,
    /// The schema of the log's records.
    pub schema: u64,
    /// The number of the record in the log, or of the first one that is deleted.
    pub index: u64,
    pub kind: JournalChange<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JournalChange<'a> {
    /// The log has this record.
    Record(&'a [u8]),
    /// The log ends before the record of this number.
    Cut,
}

/// Bytes before a record's payload.
pub(super) const ENTRY_HEADER: usize = 21;

const RECORD: u8 = 0;
const CUT: u8 = 1;

impl<'a> JournalEntry<'a> {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let (kind, payload) = match self.kind {
            JournalChange::Record(bytes) => (RECORD, bytes),
            JournalChange::Cut => (CUT, &[][..]),
        };
        let mut bytes = Vec::with_capacity(ENTRY_HEADER + payload.len());
        bytes.push(kind);
        bytes.extend(self.log.to_le_bytes());
        bytes.extend(self.schema.to_le_bytes());
        bytes.extend(self.index.to_le_bytes());
        bytes.extend(payload);
        bytes
    }

    /// The entry that these bytes encode, or `None` if they encode none.
    pub(super) fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let (&kind, rest) = bytes.split_first()?;
        let (log, rest) = rest.split_first_chunk()?;
        let (schema, rest) = rest.split_first_chunk()?;
        let (index, payload) = rest.split_first_chunk()?;
        let kind = match kind {
            RECORD => JournalChange::Record(payload),
            CUT if payload.is_empty() => JournalChange::Cut,
            _ => return None,
        };
        let (log, schema) = (u32::from_le_bytes(*log), u64::from_le_bytes(*schema));
        Some(Self { log, schema, index: u64::from_le_bytes(*index), kind })
    }
}

/// Appends an entry to the payload of the journal's snapshot: its length, then its bytes.
pub(super) fn pack(out: &mut Vec<u8>, entry: &[u8]) {
    let length = u32::try_from(entry.len()).expect("an entry is hardly longer than the longest record");
    out.extend(length.to_le_bytes());
    out.extend(entry);
}

/// The entries in the payload of the journal's snapshot, or `None` if it holds anything else.
pub(super) fn unpack(mut payload: &[u8]) -> Option<Vec<&[u8]>> {
    let mut entries = Vec::new();
    while !payload.is_empty() {
        let (length, rest) = payload.split_first_chunk()?;
        let (entry, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        entries.push(entry);
        payload = rest;
    }
    Some(entries)
}
