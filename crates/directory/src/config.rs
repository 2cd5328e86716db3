//! Every limit of the directory, with its reason.
//!
//! The directory holds the leadership of each zone and a few entries per host. It is not a database, and the limits
//! keep it from becoming one: all of it fits in memory, in one snapshot, and a swap in one record.

use machine::Span;

/// The longest key, in bytes.
pub const KEY_MAX: usize = 256;

/// The longest value, in bytes. The map of a large world is the longest entry there is.
pub const VALUE_MAX: usize = 16 << 10;

/// The most keys that a directory holds.
pub const KEYS_MAX: usize = 16 << 10;

/// The most keys that one request names. A split writes the two zones, the map and the balancer's entry.
pub const REQUEST_KEYS_MAX: usize = 64;

/// The distance by which the clock's durable mark runs ahead of the clock. A restarted clock goes on from the mark,
/// so this is its longest leap; and the clock costs one record per such span.
pub const CLOCK_RESERVE: Span = Span::from_secs(1);

/// The number of changes after which a snapshot replaces the log, unless the caller sets another.
pub const SNAPSHOT_EVERY: u64 = 1_024;

/// A number takes at most ten bytes on the disk, and an entry has at most four of them.
const NUMBERS: usize = 4 * 10;
const ENTRY_MAX: usize = KEY_MAX + VALUE_MAX + NUMBERS;

const _: () = assert!(NUMBERS + KEYS_MAX * ENTRY_MAX <= store::config::SNAPSHOT_MAX);
const _: () = assert!(NUMBERS + REQUEST_KEYS_MAX * ENTRY_MAX <= store::config::RECORD_MAX);
