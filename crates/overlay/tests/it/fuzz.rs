//! Fuzz targets: whatever a peer sends is read or refused, never a panic, and what is read is written the same.
//!
//! Under `cargo test` they take a few thousand random inputs each. `cargo bolero test fuzz::peer_bytes` runs the same
//! target under libFuzzer.

use crate::messages::all;
use bolero::check;
use overlay::Msg;
use wire::Message as _;

/// Keeps `cargo test` quick; a fuzzer ignores it.
const ITERATIONS: usize = 5_000;

/// What is read is written, and read again as the same.
fn read(bytes: &[u8]) {
    if let Ok(msg) = Msg::decode(bytes) {
        let mut again = Vec::new();
        msg.encode(&mut again);
        assert_eq!(Msg::decode(&again), Ok(msg));
    }
}

#[test]
fn peer_bytes() {
    check!().with_iterations(ITERATIONS).with_max_len(600).for_each(read);
}

/// What chance alone would hardly write: messages that are good but for a few changed bytes.
#[test]
fn damaged_peer_messages() {
    let whole: Vec<Vec<u8>> = all()
        .iter()
        .map(|msg| {
            let mut bytes = Vec::new();
            msg.encode(&mut bytes);
            bytes
        })
        .collect();
    check!().with_iterations(ITERATIONS).with_type::<(u8, Vec<(u16, u8)>, u16)>().for_each(
        |(which, changes, cut)| {
            let mut bytes = whole[usize::from(*which) % whole.len()].clone();
            for &(place, mask) in changes {
                let place = usize::from(place) % bytes.len();
                bytes[place] ^= mask;
            }
            bytes.truncate(usize::from(*cut) % (2 * bytes.len()) + 1);
            read(&bytes);
        },
    );
}
