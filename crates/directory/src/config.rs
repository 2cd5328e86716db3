//! Every limit of the directory, with its reason.
//!
//! The directory holds who serves what: a few entries per zone and host. It is not a database, and the limits
//! keep it from becoming one: all of it fits in memory, in one snapshot, and a swap in one record.

use machine::Span;

/// The longest key, in bytes.
pub const KEY_MAX: usize = 256;

/// The longest value, in bytes. The map of a large world is the longest entry there is.
pub const VALUE_MAX: usize = 16 << 10;

/// How many keys there may be.
pub const KEYS_MAX: usize = 16 << 10;

/// How many keys one request may name. A split writes the two zones, the map and the balancer's entry.
pub const REQUEST_KEYS_MAX: usize = 64;

/// How far ahead of itself the clock is made durable. After a restart it goes on from there, so this is
/// how far it may leap; and one record in so long is what it costs.
pub const CLOCK_RESERVE: Span = Span::from_secs(1);

/// After so many changes a snapshot takes the place of the log, unless the caller says otherwise.
pub const SNAPSHOT_EVERY: u64 = 1_024;

/// A number takes at most ten bytes on the disk, and an entry has at most four of them.
const NUMBERS: usize = 4 * 10;
const ENTRY_MAX: usize = KEY_MAX + VALUE_MAX + NUMBERS;

const _: () = assert!(NUMBERS + KEYS_MAX * ENTRY_MAX <= store::config::SNAPSHOT_MAX);
const _: () = assert!(NUMBERS + REQUEST_KEYS_MAX * ENTRY_MAX <= store::config::RECORD_MAX);
