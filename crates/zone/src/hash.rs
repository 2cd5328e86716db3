//! The hash by which replicas compare states. XXH3, because its definition is fixed: a checkpoint written today
//! must mean the same to a replica of tomorrow.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Hashes parts in order, each with the hash of those before it as its seed.
pub(crate) fn of(parts: &[&[u8]]) -> u64 {
    parts.iter().fold(0, |seed, part| xxh3_64_with_seed(part, seed))
}

/// Hashes the encoding of a value.
pub(crate) fn of_value(value: &impl serde::Serialize) -> u64 {
    of(&[&postcard::to_stdvec(value).expect("plain data encodes")])
}

/// Hashes the bytes of a record, as notes and checkers do.
pub fn of_bytes(bytes: &[u8]) -> u64 {
    of(&[bytes])
}
