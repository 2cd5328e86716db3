//! Passes and tokens: statements about a player, signed by the lobby.
//!
//! Both are PASETO v4.public, that is Ed25519 over a JSON text that is not encrypted. The purpose and the world's name
//! are signed along without being sent (PASETO's implicit assertion), so a pass is never valid as a token, and neither
//! is valid in another world, even if both worlds had the same key.

use crate::PlayerName;
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
    /// The time this many seconds later.
    pub const fn plus(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(seconds))
    }
}

/// The content of a pass, which identifies a player to the lobby.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassClaims {
    /// Number of the player, below 2^62.
    pub player: PlayerId,
    /// Name of the player, for display.
    pub name: PlayerName,
    /// The last second in which it is valid.
    pub expires: UnixSeconds,
}

/// The content of a token, which admits a session to one host, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// Number of the player, below 2^62.
    pub player: PlayerId,
    /// Number of the session; a higher one replaces a lower one.
    pub session: u64,
    /// Name of the player, for display.
    pub name: PlayerName,
    /// Number of the host that accepts it.
    pub host: u32,
    /// Random number that makes it different from every other token.
    #[serde(with = "hex")]
    pub nonce: u128,
    /// The last second in which it is valid.
    pub expires: UnixSeconds,
}

/// The reason why a pass or a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TokenError {
    /// Longer than any that is issued.
    #[error("this is too long to be a pass or a token: send it as the lobby gave it")]
    TooLong,
    /// Not signed for this use by the lobby of this world.
    #[error("the lobby of this world has not signed this for this use: ask it for a new one")]
    Forged,
    /// It was valid, but has expired.
    #[error("this has expired: ask the lobby for a new one")]
    Expired,
    /// Issued in the future. It would be valid for longer than the host stores used tokens.
    #[error("this token is from the future: set the clocks of the lobby and of this host right")]
    Early,
    /// For the host of this number, not this one.
    #[error("this token opens host {0}, not this one: show each host its own")]
    OtherHost(u32),
    /// Issued before the host started, which does not know whether it was used.
    #[error("this token is older than this host's last start: ask the lobby for a new one")]
    BeforeStart,
    /// Used before at this host.
    #[error("this token was used before: ask the lobby for a new one")]
    Used,
    /// More tokens were used lately than the host stores.
    #[error("too many connect to this host at once: try again in a minute")]
    Crowded,
}

/// The error of a world's name that is empty or too long to be signed along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a world's name has 1 to {WORLD_MAX} bytes: choose another one")]
pub struct WorldNameError;

/// The lobby's side: issues passes and tokens.
#[derive(Debug)]
pub struct Issuer {
    keys: Keys,
    assertions: ImplicitAssertions,
}

/// A host's side: verifies tokens, and could not issue one.
#[derive(Clone, Debug)]
pub struct Verifier {
    key: PublicKey,
    assertions: ImplicitAssertions,
    host: u32,
}

impl Issuer {
    /// For the lobby of a world.
    pub fn new(keys: Keys, world: &str) -> Result<Self, WorldNameError> {
        Ok(Self { keys, assertions: ImplicitAssertions::of(world)? })
    }

    /// The public key with which hosts verify tokens.
    pub fn public(&self) -> PublicKey {
        self.keys.public()
    }

    /// A pass as text, valid for 30 days.
    pub fn pass(&self, player: PlayerId, name: PlayerName, now: UnixSeconds) -> String {
        self.sign(&PassClaims { player, name, expires: now.plus(PASS_SECONDS) }, &self.assertions.pass)
    }

    /// Verifies a pass and returns its content.
    pub fn check_pass(&self, text: &str, now: UnixSeconds) -> Result<PassClaims, TokenError> {
        let pass: PassClaims = read(text, &self.keys.public(), &self.assertions.pass)?;
        if pass.expires < now { Err(TokenError::Expired) } else { Ok(pass) }
    }

    /// A token with this content as text; see [`Token::expiry`].
    pub fn token(&self, token: &Token) -> String {
        self.sign(token, &self.assertions.token)
    }

    fn sign(&self, content: &impl Serialize, assertion: &str) -> String {
        let json = serde_json::to_vec(content).expect("numbers and texts are always JSON");
        PublicToken::sign(self.keys.secret(), &json, None, Some(assertion.as_bytes()))
            .expect("there is something to sign, and a key to sign it with")
    }
}

impl Token {
    /// The time at which a token expires that is issued at `minted`.
    pub const fn expiry(minted: UnixSeconds) -> UnixSeconds {
        minted.plus(TOKEN_SECONDS)
    }
}

impl Verifier {
    /// For a host of a world.
    pub fn new(key: PublicKey, world: &str, host: u32) -> Result<Self, WorldNameError> {
        Ok(Self { key, assertions: ImplicitAssertions::of(world)?, host })
    }

    /// Verifies a token and returns its content. A [`TokenGate`](crate::TokenGate) knows whether it was used before.
    pub fn check(&self, text: &str, now: UnixSeconds) -> Result<Token, TokenError> {
        let token: Token = read(text, &self.key, &self.assertions.token)?;
        // The host's clock may be ahead of the lobby's.
        if token.expires.plus(SKEW_SECONDS) < now {
            return Err(TokenError::Expired);
        }
        // The lobby's clock may be ahead by the tolerance, not by more.
        if now.plus(TOKEN_SECONDS + SKEW_SECONDS) < token.expires {
            return Err(TokenError::Early);
        }
        if token.host != self.host { Err(TokenError::OtherHost(token.host)) } else { Ok(token) }
    }
}

/// Verifies a text and decodes its content. The length comes first: a text that cannot be valid costs nothing.
fn read<T: DeserializeOwned>(text: &str, key: &PublicKey, assertion: &str) -> Result<T, TokenError> {
    if TEXT_MAX < text.len() {
        return Err(TokenError::TooLong);
    }
    // Ours have no footer, and an empty one would make a second text for the same token.
    if text.matches('.').count() != 2 {
        return Err(TokenError::Forged);
    }
    let unread = UntrustedToken::<Public, V4>::try_from(text).map_err(|_| TokenError::Forged)?;
    let signed = PublicToken::verify(key.inner(), &unread, None, Some(assertion.as_bytes()));
    let signed = signed.map_err(|_| TokenError::Forged)?;
    serde_json::from_str(signed.payload()).map_err(|_| TokenError::Forged)
}

/// The texts signed along without being sent (PASETO's implicit assertions).
#[derive(Clone, Debug)]
struct ImplicitAssertions {
    pass: String,
    token: String,
}

impl ImplicitAssertions {
    fn of(world: &str) -> Result<Self, WorldNameError> {
        if !(1..=WORLD_MAX).contains(&world.len()) {
            return Err(WorldNameError);
        }
        // The purpose has no spaces, so no world's name can be taken for a part of it.
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
