//! Passes and tokens: who somebody is, signed by the lobby.
//!
//! Both are PASETO v4.public, that is Ed25519 over a JSON text that anyone may read. What they are for and the
//! world's name are signed along without being sent (PASETO's implicit assertion), so a pass never serves as a
//! token, and nothing of one world serves in another, even if both worlds had the same key.

use crate::Name;
use crate::config::{PASS_SECONDS, SKEW_SECONDS, TEXT_MAX, TOKEN_SECONDS, WORLD_MAX};
use crate::keys::{Keys, PublicKey};
use game::PlayerId;
use pasetors::Public;
use pasetors::token::UntrustedToken;
use pasetors::version4::{PublicToken, V4};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// Wall-clock time: whole seconds since 1970, as Unix counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnixSeconds(pub u64);

impl UnixSeconds {
    /// So many seconds later.
    pub const fn plus(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(seconds))
    }
}

/// Says who somebody is, to the lobby.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pass {
    /// Who.
    pub player: PlayerId,
    /// What they are called.
    pub name: Name,
    /// The last second it is good in.
    pub expires: UnixSeconds,
}

/// Opens one host, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// Who.
    pub player: PlayerId,
    /// In which session; a higher one replaces a lower.
    pub session: u64,
    /// What they are called.
    pub name: Name,
    /// The host that it opens.
    pub host: u32,
    /// What makes it different from every other token.
    #[serde(with = "hex")]
    pub nonce: u128,
    /// The last second it is good in.
    pub expires: UnixSeconds,
}

/// Why a pass or a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TokenError {
    /// Longer than any that is minted.
    #[error("this is too long to be a pass or a token: send it as the lobby gave it")]
    TooLong,
    /// Not signed for this use by the lobby of this world.
    #[error("the lobby of this world has not signed this for this use: ask it for a new one")]
    Forged,
    /// Good once, no longer.
    #[error("this has expired: ask the lobby for a new one")]
    Expired,
    /// Minted in the future. It would live longer than the host remembers which tokens were used.
    #[error("this token is from the future: set the clocks of the lobby and of this host right")]
    Early,
    /// For another host.
    #[error("this token opens host {0}, not this one: show each host its own")]
    OtherHost(u32),
    /// Minted before the host started, which does not know whether it was used.
    #[error("this token is older than this host's last start: ask the lobby for a new one")]
    BeforeStart,
    /// Used before.
    #[error("this token was used before: ask the lobby for a new one")]
    Used,
    /// More tokens were used lately than the host remembers.
    #[error("too many connect to this host at once: try again in a minute")]
    Crowded,
}

/// A world's name is too long to be signed along, or empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a world's name has 1 to {WORLD_MAX} bytes: choose another one")]
pub struct WorldError;

/// The lobby's side: mints passes and tokens.
#[derive(Debug)]
pub struct Issuer {
    keys: Keys,
    uses: Uses,
}

/// A host's side: knows whether a token is good, and could not mint one.
#[derive(Clone, Debug)]
pub struct Verifier {
    key: PublicKey,
    uses: Uses,
    host: u32,
}

impl Issuer {
    /// The lobby of a world.
    pub fn new(keys: Keys, world: &str) -> Result<Self, WorldError> {
        Ok(Self { keys, uses: Uses::of(world)? })
    }

    /// What the hosts need to know.
    pub fn public(&self) -> PublicKey {
        self.keys.public()
    }

    /// A pass for 30 days.
    pub fn pass(&self, player: PlayerId, name: Name, now: UnixSeconds) -> String {
        self.sign(&Pass { player, name, expires: now.plus(PASS_SECONDS) }, &self.uses.pass)
    }

    /// Reads a pass.
    pub fn check_pass(&self, text: &str, now: UnixSeconds) -> Result<Pass, TokenError> {
        let pass: Pass = read(text, &self.keys.public(), &self.uses.pass)?;
        if pass.expires < now { Err(TokenError::Expired) } else { Ok(pass) }
    }

    /// A token as described; see [`Token::expiry`].
    pub fn token(&self, token: &Token) -> String {
        self.sign(token, &self.uses.token)
    }

    fn sign(&self, content: &impl Serialize, used_for: &str) -> String {
        let json = serde_json::to_vec(content).expect("numbers and texts are always JSON");
        PublicToken::sign(self.keys.secret(), &json, None, Some(used_for.as_bytes()))
            .expect("there is something to sign, and a key to sign it with")
    }
}

impl Token {
    /// When a token expires that is minted at this time.
    pub const fn expiry(minted: UnixSeconds) -> UnixSeconds {
        minted.plus(TOKEN_SECONDS)
    }
}

impl Verifier {
    /// A host of a world.
    pub fn new(key: PublicKey, world: &str, host: u32) -> Result<Self, WorldError> {
        Ok(Self { key, uses: Uses::of(world)?, host })
    }

    /// Reads a token. Whether it was used before is for a [`Gate`](crate::Gate) to know.
    pub fn check(&self, text: &str, now: UnixSeconds) -> Result<Token, TokenError> {
        let token: Token = read(text, &self.key, &self.uses.token)?;
        if token.expires.plus(SKEW_SECONDS) < now {
            return Err(TokenError::Expired);
        }
        if now.plus(TOKEN_SECONDS + SKEW_SECONDS) < token.expires {
            return Err(TokenError::Early);
        }
        if token.host != self.host { Err(TokenError::OtherHost(token.host)) } else { Ok(token) }
    }
}

/// The length first: nothing is spent on a text that cannot be good.
fn read<T: DeserializeOwned>(text: &str, key: &PublicKey, used_for: &str) -> Result<T, TokenError> {
    if TEXT_MAX < text.len() {
        return Err(TokenError::TooLong);
    }
    // Ours have no footer, and an empty one would make a second text for the same token.
    if text.matches('.').count() != 2 {
        return Err(TokenError::Forged);
    }
    let unread = UntrustedToken::<Public, V4>::try_from(text).map_err(|_| TokenError::Forged)?;
    let signed = PublicToken::verify(key.inner(), &unread, None, Some(used_for.as_bytes()));
    let signed = signed.map_err(|_| TokenError::Forged)?;
    serde_json::from_str(signed.payload()).map_err(|_| TokenError::Forged)
}

/// What is signed along without being sent.
#[derive(Clone, Debug)]
struct Uses {
    pass: String,
    token: String,
}

impl Uses {
    fn of(world: &str) -> Result<Self, WorldError> {
        if !(1..=WORLD_MAX).contains(&world.len()) {
            return Err(WorldError);
        }
        // The use has no spaces, so no world's name can be taken for a part of it.
        Ok(Self { pass: format!("ecumene/1 pass {world}"), token: format!("ecumene/1 token {world}") })
    }
}

impl fmt::Display for UnixSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s after 1970", self.0)
    }
}

/// A number too large for JSON, as 32 hex digits.
mod hex {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub fn serialize<S: Serializer>(nonce: &u128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{nonce:032x}"))
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<u128, D::Error> {
        let text = String::deserialize(from)?;
        u128::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}
