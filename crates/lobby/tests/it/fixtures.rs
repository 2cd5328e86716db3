//! Fixtures: a lobby and a host of one world, at a fixed time.

use game::PlayerId;
use lobby::{
    AccountLog, AccountSettings, Issuer, Keys, Lobby, LobbySettings, PasswordHash, PlayerName, PublicKey,
    RequestSource, Token, UnixSeconds, Verifier,
};
use machine::Time;
use store::config::CHECKPOINT_BYTES;
use store::{LogLimits, MemoryDisk};

pub const NOW: UnixSeconds = UnixSeconds(1_800_000_000);
pub const WORLD: &str = "kosmos";
pub const HOST: u32 = 3;

/// So small that snapshots and segments change all the time.
pub const SMALL: AccountSettings = AccountSettings {
    snapshot_every: 3,
    accounts_max: 1_000,
    limits: LogLimits { segment_bytes: 400, checkpoint_bytes: CHECKPOINT_BYTES },
};

pub fn name(text: &str) -> PlayerName {
    PlayerName::parse(text).unwrap()
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

pub fn lobby() -> Lobby {
    lobby_with_log().0
}

/// A lobby, and the log of its accounts.
pub fn lobby_with_log() -> (Lobby, AccountLog<MemoryDisk>) {
    Lobby::open(MemoryDisk::new(), issuer(), LobbySettings::default()).unwrap()
}

pub fn source() -> RequestSource {
    RequestSource { address: [127, 0, 0, 1].into(), at: Time::ZERO, now: NOW }
}

pub fn token(nonce: u128) -> Token {
    let expires = Token::expiry(NOW);
    Token { player: PlayerId(17), session: 81, name: name("Ada"), host: HOST, nonce, expires }
}

/// A hash as stored on the disk, without the cost of hashing.
pub fn hash() -> PasswordHash {
    PasswordHash::dummy()
}
