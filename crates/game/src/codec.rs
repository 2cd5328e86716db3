//! The game's types as bytes, and back: postcard, all of the bytes and nothing else.

use crate::Data;

/// All of `bytes` as a `T`. What follows after one is a lie or a mistake.
pub(crate) fn decode<T: Data>(what: &str, bytes: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("{} bytes follow after {what}", rest.len())),
        Err(error) => Err(format!("{what} does not decode: {error}")),
    }
}

/// `data` in at most `max` bytes.
pub(crate) fn encode(what: &str, data: &impl Data, max: usize) -> Result<Vec<u8>, String> {
    match postcard::to_stdvec(data) {
        Ok(bytes) if bytes.len() <= max => Ok(bytes),
        Ok(bytes) => Err(format!("{what} of {} bytes: the most is {max}", bytes.len())),
        Err(error) => Err(format!("{what} does not encode: {error}")),
    }
}
