//! A lobby and a host in a world of their own, at a moment of our choice.

use game::PlayerId;
use lobby::{
    AccountSettings, Caller, Issuer, Keys, Lobby, Name, PasswordHash, PublicKey, Settings, Token,
    UnixSeconds, Verifier,
};
use machine::Time;
use store::{Limits, Memory};

pub const NOW: UnixSeconds = UnixSeconds(1_800_000_000);
pub const WORLD: &str = "kosmos";
pub const HOST: u32 = 3;

/// Snapshots and segments change hands all the time.
pub const SMALL: AccountSettings =
    AccountSettings { snapshot_every: 3, accounts_max: 1_000, limits: Limits { segment_bytes: 400 } };

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub fn keys(seed: u8) -> Keys {
    Keys::generate([seed; 32]).unwrap()
}

pub fn issuer() -> Issuer {
    Issuer::new(keys(1), WORLD).unwrap()
}

pub fn key() -> PublicKey {
    keys(1).public()
}

pub fn verifier() -> Verifier {
    Verifier::new(key(), WORLD, HOST).unwrap()
}

pub fn lobby() -> Lobby<Memory> {
    Lobby::open(Memory::new(), issuer(), Settings::default()).unwrap()
}

pub fn caller() -> Caller {
    Caller { address: [127, 0, 0, 1].into(), at: Time::ZERO, now: NOW }
}

pub fn token(nonce: u128) -> Token {
    let expires = Token::expiry(NOW);
    Token { player: PlayerId(17), session: 81, name: name("Ada"), host: HOST, nonce, expires }
}

/// A hash as kept on the disk, without the price of hashing.
pub fn hash() -> PasswordHash {
    PasswordHash::nobodys()
}
