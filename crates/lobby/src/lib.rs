//! The lobby: who somebody is, and what proves it to a host.
//!
//! A [`Lobby`] lets guests and accounts in and gives them a *pass*; for a pass it gives a *session*, and for each
//! host a *token* that opens it once. A host has a [`Gate`], which knows the lobby's public key and nothing else.
//! What goes over HTTP is drawn in `docs/net.md`.
//!
//! ```
//! use lobby::{Caller, Gate, Issuer, Keys, Lobby, Settings, TokenError, UnixSeconds, Verifier};
//! use machine::Time;
//! use store::Memory;
//!
//! let now = UnixSeconds(1_800_000_000);
//! let caller = Caller { address: [127, 0, 0, 1].into(), at: Time::ZERO, now };
//! let keys = Keys::generate([7; 32])?; // Random bytes, in earnest.
//! let mut lobby = Lobby::open(Memory::new(), Issuer::new(keys, "my-world")?, Settings::default())?;
//!
//! // A new account. Hashing the password is slow, and runs elsewhere.
//! let creation = lobby.begin_account(caller, "Ada", "correct horse")?;
//! let ada = lobby.finish_account(creation.hash([1; 16]), now)?;
//!
//! // A session, and the way through the gate of host 3.
//! let holder = lobby.begin_session(caller, &ada.pass)?;
//! let session = lobby.finish_session(holder, None, 5_000_000)?; // The world's clock.
//! let token = lobby.token(&session, 3, 42, now);
//! let mut gate = Gate::new(Verifier::new(lobby.public(), "my-world", 3)?, now);
//! assert_eq!(gate.admit(&token, now)?.player, ada.player);
//! assert_eq!(gate.admit(&token, now), Err(TokenError::Used));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read `lobby` first, then `tokens` and `used` (the host's side), then `accounts`.
//!
//! Player ids: accounts get 1, 2, 3 and so on, below 2^40, from what is on the disk. Guests get random ones from 2^61
//! to 2^62. So they never meet.
//!
//! This crate never keeps or shows a password, never acknowledges an account that a crash could undo, and never lets
//! a token open a host twice. It has no clock, no chance and no network: all come from the caller.

// A fuzzer instruments every test binary of this crate, so each must link the fuzzer's runtime.
#[cfg(test)]
use bolero as _;

mod lobby;

mod keys;
mod tokens;
mod used;

mod accounts;
mod limits;
mod names;
mod passwords;

pub mod config;

pub use accounts::{Account, AccountSettings, Accounts, CreateError, OpenError};
pub use config::Rate;
pub use keys::{KeyError, Keys, PublicKey};
pub use limits::{Attempts, Buckets, TooOften};
pub use lobby::{
    Admission, Caller, CheckedLogin, Creation, HashedCreation, Holder, Lobby, LobbyError, Login, Session,
    Settings,
};
pub use names::{Name, NameError, NameKey, Password, PasswordError};
pub use passwords::{HashError, PasswordHash, hash_password, verify};
pub use tokens::{Issuer, Pass, Token, TokenError, UnixSeconds, Verifier, WorldError};
pub use used::{Gate, Used};
