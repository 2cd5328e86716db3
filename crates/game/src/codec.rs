//! Encodes and decodes a game's types with postcard. A value is all of its bytes; trailing bytes are an error.

use crate::{Data, Game};

/// Decodes all of `bytes` as a `T`. `what` names the value in an error.
pub(crate) fn decode<T: Data>(what: &str, bytes: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("{} bytes follow after {what}", rest.len())),
        Err(error) => Err(format!("{what} does not decode: {error}")),
    }
}

/// Decodes an encoded state of a game. An error says what is wrong with the bytes.
pub fn decode_state<G: Game>(bytes: &[u8]) -> Result<G::State, String> {
    decode("a state", bytes)
}

/// Encodes `data` in at most `max` bytes. `what` names the value in an error.
pub(crate) fn encode(what: &str, data: &impl Data, max: usize) -> Result<Vec<u8>, String> {
    match postcard::to_stdvec(data) {
        Ok(bytes) if bytes.len() <= max => Ok(bytes),
        Ok(bytes) => Err(format!("{what} of {} bytes: the most is {max}", bytes.len())),
        Err(error) => Err(format!("{what} does not encode: {error}")),
    }
}
