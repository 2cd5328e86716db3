//! The lobby: logs players in, and issues the tokens that prove to a host which player connects.
//!
//! A [`Lobby`] logs guests and accounts in and gives each a *pass*; for a pass it gives a *session*, and for each host
//! a *token* that admits the session once. A host has a [`TokenGate`], which knows the lobby's public key and nothing
//! else. The HTTP requests are described in `docs/net.md`.
//!
//! ```
//! use lobby::{RequestSource, TokenGate, Issuer, Keys, Lobby, LobbySettings, TokenError, UnixSeconds, Verifier};
//! use machine::Time;
//! use store::MemoryDisk;
//!
//! let now = UnixSeconds(1_800_000_000);
//! let source = RequestSource { address: [127, 0, 0, 1].into(), at: Time::ZERO, now };
//! let keys = Keys::generate([7; 32])?; // Take random bytes.
//! let issuer = Issuer::new(keys, "my-world")?;
//! let (mut lobby, mut accounts) = Lobby::open(MemoryDisk::new(), issuer, LobbySettings::default())?;
//!
//! // A new account. Hashing the password and storing the account are slow, and can run on other threads.
//! let creation = lobby.begin_account(source, "Ada", "correct horse")?;
//! let reservation = lobby.reserve_account(creation.hash([1; 16]))?;
//! let ada = lobby.finish_account(accounts.store(reservation), now)?;
//!
//! // A session, and a token that host 3 accepts once.
//! let holder = lobby.begin_session(source, &ada.pass)?.verify(&lobby.issuer())?;
//! let session = lobby.finish_session(holder, None, 5_000_000)?; // The world's clock.
//! let token = lobby.issuer().session_token(&session, 3, 42, now);
//! let mut gate = TokenGate::new(Verifier::new(lobby.public(), "my-world", 3)?, now);
//! assert_eq!(gate.admit(&token, now)?.player, ada.player);
//! assert_eq!(gate.admit(&token, now), Err(TokenError::Used));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read `lobby` first, then `tokens` and `token_gate` (the host's side), then `accounts`. [`Admission`] stands for itself: it says
//! which players with a pass get a session now, and which wait in a queue because the hosts are busy.
//!
//! Player ids: accounts get 1, 2, 3 and so on, below 2^40, continued from the disk. Guests get random ones from 2^61 to
//! 2^62. So the two never collide.
//!
//! This crate never stores or shows a password, never acknowledges an account that a crash could undo, and never lets a
//! token admit twice to one host. It has no clock, no randomness and no network: all come from its caller.

// A fuzzer instruments every test binary of this crate, so each must link the fuzzer's runtime.
#[cfg(test)]
use bolero as _;

mod lobby;

mod admission;
mod keys;
mod token_gate;
mod tokens;

mod accounts;
mod limits;
mod names;
mod passwords;

pub mod config;

pub use accounts::{
    Account, AccountLog, AccountReservation, AccountSettings, Accounts, AccountsOpenError, CreateError,
    StoredAccount,
};
pub use admission::{
    Admission, AdmissionAnswer, AdmissionRequest, AdmissionSettings, AdmissionState, AdmissionStatus,
    ClosedReason, HostReport, PaceSettings, QueuePlace,
};
pub use config::Rate;
pub use keys::{KeyError, Keys, PublicKey};
pub use limits::{LoginLimits, RateLimits, TooOften};
pub use lobby::{
    CheckedLogin, Creation, HashedCreation, Lobby, LobbyError, LobbySettings, LoginAttempt, PassGrant,
    PassHolder, RequestSource, SessionGrant, UncheckedPass,
};
pub use names::{NameError, NameKey, Password, PasswordError, PlayerName};
pub use passwords::{HashError, PasswordHash, hash_password, verify};
pub use token_gate::{TokenGate, UsedTokens};
pub use tokens::{Issuer, PassClaims, Token, TokenError, UnixSeconds, Verifier, WorldNameError};
