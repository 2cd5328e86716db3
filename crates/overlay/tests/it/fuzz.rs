//! Fuzz targets: any bytes decode or are refused, without a panic, and a decoded message survives another round of
//! encoding. Its bytes may differ then: numbers may come with more bytes than they need.
//!
//! Under `cargo test` they take a few thousand random inputs each. `cargo bolero test fuzz::peer_bytes` runs the same
//! target under libFuzzer.

use crate::messages::all;
use bolero::check;
use overlay::config::{LIST_MAX, MESSAGE_MAX};
use overlay::{Info, OverlayMsg};
use wire::Message as _;

/// Keeps `cargo test` quick; a fuzzer ignores it.
const ITERATIONS: usize = 5_000;

/// Decodes, encodes and decodes again. Decoding takes no more memory than two full lists, whatever lengths are
/// promised.
fn read(bytes: &[u8]) {
    let mut decoded = None;
    let counted = allocation_counter::measure(|| decoded = Some(OverlayMsg::decode(bytes)));
    assert!(counted.bytes_max <= (2 * LIST_MAX * size_of::<Info>()) as u64, "{counted:?}");
    if let Some(Ok(msg)) = decoded {
        let mut again = Vec::new();
        msg.encode(&mut again);
        assert_eq!(OverlayMsg::decode(&again), Ok(msg));
    }
}

#[test]
fn peer_bytes() {
    check!().with_iterations(ITERATIONS).with_max_len(600).for_each(read);
}

/// Valid messages with a few changed bytes, which random bytes alone would hardly form.
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

/// Every kind of message, and after it nothing but promises of long lists.
#[test]
fn a_promised_list_takes_no_room_before_it_comes() {
    for kind in 0..10 {
        for length in [200, 600, 4_000, 16_000, 30_000] {
            for filling in [0, 1] {
                for start in 0..16 {
                    let mut bytes = vec![kind];
                    bytes.resize(1 + start, filling);
                    put_varint(&mut bytes, length);
                    bytes.resize(MESSAGE_MAX, filling);
                    read(&bytes);
                    read(&bytes[..100]);
                }
            }
        }
    }
}

fn put_varint(bytes: &mut Vec<u8>, mut number: u32) {
    while 0x7f < number {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
