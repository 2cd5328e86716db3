//! Fuzz targets: any bytes that a player shows as a token yield an error, never a panic, and are never accepted.
//!
//! Under `cargo test` they take a few thousand random inputs each. `cargo bolero test fuzz::token_bytes` runs the
//! same target under libFuzzer.

use crate::fixtures::{NOW, issuer, token, verifier};
use bolero::check;

/// Keeps `cargo test` quick; a fuzzer ignores it.
const ITERATIONS: usize = 2_000;

#[test]
fn token_bytes() {
    let (issuer, verifier) = (issuer(), verifier());
    check!().with_iterations(ITERATIONS).with_max_len(1_100).for_each(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        assert!(verifier.check(&text, NOW).is_err());
        assert!(verifier.check(&format!("v4.public.{text}"), NOW).is_err());
        assert!(issuer.check_pass(&text, NOW).is_err());
    });
}

/// Inputs that random bytes would hardly hit: a valid token with a few changed bytes.
#[test]
fn damaged_tokens() {
    let (verifier, whole) = (verifier(), issuer().token(&token(1)));
    check!().with_iterations(ITERATIONS).with_type::<(Vec<(u16, u8)>, u16)>().for_each(|(changes, cut)| {
        let mut bytes = whole.clone().into_bytes();
        for &(place, mask) in changes {
            let place = usize::from(place) % bytes.len();
            bytes[place] = (bytes[place] ^ mask) & 0x7F;
        }
        bytes.truncate(usize::from(*cut) % (2 * bytes.len()));
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(verifier.check(&text, NOW).is_ok(), text == whole, "{text}");
    });
}
