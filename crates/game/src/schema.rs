//! What a game's types look like, for other languages and for saved worlds.

use crate::Game;
use postcard_schema::Schema;
use postcard_schema::schema::NamedType;

/// The types of a game that leave the server or the process, with what they are for.
pub fn schemas<G: Game>() -> [(&'static str, &'static NamedType); 6] {
    [
        ("State", G::State::SCHEMA),
        ("Shown", G::Shown::SCHEMA),
        ("Action", G::Action::SCHEMA),
        ("Notice", G::Notice::SCHEMA),
        ("Refusal", G::Refusal::SCHEMA),
        ("Letter", G::Letter::SCHEMA),
    ]
}

/// A number that changes whenever the shape of any of the game's types does. Saved worlds carry it.
pub fn schema_hash<G: Game>() -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for (name, schema) in schemas::<G>() {
        hash.text(name);
        hash.text(&format!("{schema:?}"));
    }
    hash.0
}

/// FNV-1a: written out, because the number is kept in files and must never change by itself.
struct Fnv(u64);

impl Fnv {
    fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
