//! The key with which a world's lobby signs, and its public half.

use ed25519_compact::{KeyPair, Seed};
use pasetors::keys::{AsymmetricPublicKey, AsymmetricSecretKey};
use pasetors::version4::V4;
use std::fmt;
use thiserror::Error;

/// The lobby's key pair, Ed25519. Its owner can log in as any player: it never leaves the lobby.
#[derive(Clone)]
pub struct Keys {
    secret: AsymmetricSecretKey<V4>,
    public: PublicKey,
}

/// The public half, with which hosts verify tokens.
#[derive(Clone, PartialEq)]
pub struct PublicKey(AsymmetricPublicKey<V4>);

/// The reason why bytes are no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum KeyError {
    /// Only zeros, which no random source gives.
    #[error("32 zeros are no secret: draw random bytes from the system")]
    Zeros,
    /// Damaged since it was saved: the two halves do not fit.
    #[error(
        "this is no key of a lobby: restore the file from a copy, or remove it to make every pass invalid"
    )]
    Damaged,
}

impl Keys {
    /// Makes a pair from 32 random bytes, which must come from the system's own source of secrets.
    pub fn generate(random: [u8; 32]) -> Result<Self, KeyError> {
        if random == [0; 32] {
            return Err(KeyError::Zeros);
        }
        Self::from_pair(&KeyPair::from_seed(Seed::new(random))[..])
    }

    /// The pair from the bytes of [`to_bytes`](Self::to_bytes). Damage is found, because both halves are there.
    pub fn from_bytes(bytes: &[u8; 64]) -> Result<Self, KeyError> {
        // The library panics on a secret of zeros.
        if bytes[..32] == [0; 32] {
            return Err(KeyError::Zeros);
        }
        Self::from_pair(bytes)
    }

    fn from_pair(bytes: &[u8]) -> Result<Self, KeyError> {
        let secret = AsymmetricSecretKey::<V4>::from(bytes).map_err(|_| KeyError::Damaged)?;
        let public = AsymmetricPublicKey::try_from(&secret).map_err(|_| KeyError::Damaged)?;
        Ok(Self { secret, public: PublicKey(public) })
    }

    /// The pair as bytes, to be saved where only the lobby can read: the secret, then the public half.
    pub fn to_bytes(&self) -> [u8; 64] {
        self.secret.as_bytes().try_into().expect("a secret key of version 4 has 64 bytes")
    }

    /// The public half of the pair.
    pub fn public(&self) -> PublicKey {
        self.public.clone()
    }

    pub(crate) fn secret(&self) -> &AsymmetricSecretKey<V4> {
        &self.secret
    }
}

/// Debug output without the secret.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("public", &self.public).finish_non_exhaustive()
    }
}

impl PublicKey {
    /// The key from the bytes of [`to_bytes`](Self::to_bytes). With bytes that are no key, every token is refused.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(AsymmetricPublicKey::from(bytes).expect("a public key of version 4 is any 32 bytes"))
    }

    /// The key as 32 bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.as_bytes().try_into().expect("a public key of version 4 has 32 bytes")
    }

    pub(crate) fn inner(&self) -> &AsymmetricPublicKey<V4> {
        &self.0
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey(")?;
        self.to_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, ")")
    }
}
