//! Mending: bringing a disk into the state that the scan found on it, before anything is appended.
//!
//! A crash at any point of this leaves a disk on which the scan finds the same again. Damaged files are set aside,
//! never removed: an operator may still get something out of them.

use crate::format::{self, ASIDE, TEMPORARY};
use crate::scan::{Scan, ScannedSegment};
use crate::{Media, MediaError};

/// Mends a disk. Afterwards all that the scan found is durable. Returns the names of all files set aside.
pub(crate) fn mend<M: Media>(media: &mut M, scan: &Scan) -> Result<Vec<String>, MediaError> {
    // The names that the scan saw must be durable before other files are removed because of them.
    media.sync_names()?;
    if scan.has_temporary {
        media.remove(TEMPORARY)?;
    }
    for name in &scan.damaged {
        media.rename(name, &aside(name))?;
    }
    if let Some(tail) = scan.segments.last() {
        mend_tail(media, tail, scan.is_tail_damaged)?;
    }
    for name in &scan.stale {
        media.remove(name)?;
    }
    media.sync_names()?;
    if let Some(snapshot) = scan.snapshot.as_ref().filter(|_| scan.is_replacement) {
        finish_replacement(media, snapshot.index)?;
    }
    // From here on files set aside cannot be back under their old names after a crash.
    let mut names = media.list()?;
    names.retain(|name| name.starts_with(ASIDE));
    Ok(names)
}

/// Gives a replacement its usual name. All that it replaces must be gone durably: under its usual name it is a snapshot
/// like any other, and a newer one would win.
pub(crate) fn finish_replacement<M: Media>(media: &mut M, index: u64) -> Result<(), MediaError> {
    media.rename(&format::replacement_name(index), &format::snapshot_name(index))?;
    media.sync_names()
}

/// Writes the undamaged part of the last segment anew.
///
/// Truncating and syncing it would not do: the bytes that were read may be ones that an earlier process, or an earlier
/// life of this one, failed to sync. The operating system shows them until the power fails and says that there is
/// nothing left to write. Bytes written to another file are on the disk when the sync says so.
fn mend_tail<M: Media>(media: &mut M, tail: &ScannedSegment, is_damaged: bool) -> Result<(), MediaError> {
    let name = format::segment_name(tail.first);
    let file = media.read(&name)?;
    if is_damaged {
        write_whole(media, &aside(&name), &[&file])?;
    }
    let whole = usize::try_from(tail.length).ok().and_then(|length| file.get(..length));
    let whole = whole.ok_or_else(|| MediaError::Missing(name.clone()))?;
    write_whole(media, &name, &[whole])
}

/// Writes a file that appears as a whole or not at all. The name is not yet durable.
pub(crate) fn write_whole<M: Media>(media: &mut M, name: &str, parts: &[&[u8]]) -> Result<(), MediaError> {
    media.create(TEMPORARY)?;
    for part in parts {
        media.append(TEMPORARY, part)?;
    }
    // Why before the rename: a durable name must never lead to missing bytes.
    media.sync(TEMPORARY)?;
    media.rename(TEMPORARY, name)
}

fn aside(name: &str) -> String {
    format!("{ASIDE}{name}")
}
