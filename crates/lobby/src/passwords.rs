//! Argon2id: the hashes stored in place of passwords.
//!
//! Hashing and verifying take tens of milliseconds and 19 MiB each. They are pure functions, so that the caller can run
//! them on other threads and limit how many run at once.

use crate::Password;
use crate::config::{HASH_KIB, HASH_KIB_MAX, HASH_LANES, HASH_PASSES, HASH_PASSES_MAX, HASH_TEXT_MAX};
use argon2::password_hash::phc;
use argon2::{Algorithm, Argon2, Block, Params, Version};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::fmt;
use thiserror::Error;

/// A hash that fits no known password, at the cost of a real one: unknown names are verified against it.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A salted hash in the form of the Password Hashing Competition: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PasswordHash(String);

/// The error of a text that is no hash of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("this is no Argon2id hash at a price that can be paid")]
pub struct HashError;

/// Hashes a password. The salt is random, and a new one for every password.
pub fn hash_password(password: &Password, salt: [u8; 16]) -> PasswordHash {
    let params = Params::new(HASH_KIB, HASH_PASSES, HASH_LANES, None).expect("the constants are legal");
    let legal = "the lengths of password and salt are legal";
    let hash = phc::PasswordHash {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: (&params).try_into().expect("the constants are legal"),
        salt: Some(phc::Salt::new(&salt).expect(legal)),
        hash: Some(output(params, password, &salt, Params::DEFAULT_OUTPUT_LEN).expect(legal)),
    };
    PasswordHash(hash.to_string())
}

thread_local! {
    /// Memory that hashing works in. Each hashing thread keeps its own: allocated anew each time, an allocator that
    /// splits freed blocks would end up with many times as much.
    static MEMORY: RefCell<Vec<Block>> = const { RefCell::new(Vec::new()) };
}

fn output(params: Params, password: &Password, salt: &[u8], length: usize) -> Option<phc::Output> {
    let blocks = params.block_count();
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let mut out = [0; phc::Output::MAX_LENGTH];
    let out = out.get_mut(..length)?;
    MEMORY.with_borrow_mut(|memory| {
        memory.resize(blocks.max(memory.len()), Block::new()); // Never shrinks, for the same reason.
        argon.hash_password_into_with_memory(password.as_bytes(), salt, out, &mut memory[..blocks]).ok()
    })?;
    phc::Output::new(out).ok()
}

/// Returns whether a password is the one that was hashed. Costs as much as hashing.
pub fn verify(password: &Password, hash: &PasswordHash) -> bool {
    let Ok(hash) = phc::PasswordHash::new(&hash.0) else { return false };
    let (Some(salt), Some(expected), Ok(params)) = (hash.salt, hash.hash, Params::try_from(&hash)) else {
        return false;
    };
    // Outputs are compared in constant time.
    output(params, password, &salt, expected.len()).is_some_and(|it| it == expected)
}

impl PasswordHash {
    /// A hash that fits no known password, and takes as long as any to verify.
    pub fn dummy() -> Self {
        Self(DUMMY_HASH.to_owned())
    }

    /// Parses the text of [`as_str`](Self::as_str), and refuses costs above the limits.
    pub fn parse(text: &str) -> Result<Self, HashError> {
        let hash = phc::PasswordHash::new(text).map_err(|_| HashError)?;
        let params = Params::try_from(&hash).map_err(|_| HashError)?;
        let is_ours =
            hash.algorithm == Algorithm::Argon2id.ident() && hash.salt.is_some() && hash.hash.is_some();
        let is_affordable = params.m_cost() <= HASH_KIB_MAX
            && params.t_cost() <= HASH_PASSES_MAX
            && params.p_cost() <= HASH_LANES;
        // The size of an account on the disk is bounded by this.
        let is_short = text.len() <= HASH_TEXT_MAX;
        if is_ours && is_affordable && is_short { Ok(Self(text.to_owned())) } else { Err(HashError) }
    }

    /// The hash as text, parameters and salt included.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Debug output without the hash: it must not get into a log.
impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

impl TryFrom<String> for PasswordHash {
    type Error = HashError;
    fn try_from(text: String) -> Result<Self, HashError> {
        Self::parse(&text)
    }
}

impl From<PasswordHash> for String {
    fn from(hash: PasswordHash) -> Self {
        hash.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(hash: &PasswordHash) -> Params {
        Params::try_from(&phc::PasswordHash::new(hash.as_str()).unwrap()).unwrap()
    }

    #[test]
    fn the_dummy_hash_costs_as_much_as_a_real_one() {
        let real = hash_password(&Password::parse("correct horse").unwrap(), [7; 16]);
        let (real, dummy) = (params(&real), params(&PasswordHash::parse(DUMMY_HASH).unwrap()));
        assert_eq!(
            (dummy.m_cost(), dummy.t_cost(), dummy.p_cost(), dummy.output_len()),
            (HASH_KIB, HASH_PASSES, HASH_LANES, Some(32))
        );
        assert_eq!(real, dummy);
        assert!(!verify(&Password::parse("correct horse").unwrap(), &PasswordHash::dummy()));
    }

    #[test]
    fn only_the_same_password_fits() {
        let password = |text| Password::parse(text).unwrap();
        let hash = hash_password(&password("correct horse"), [7; 16]);
        assert!(hash.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.as_str());
        assert!(verify(&password("correct horse"), &hash));
        assert!(!verify(&password("correct horsf"), &hash));
        assert!(!verify(&password("correct horse "), &hash));
        assert_ne!(hash.as_str(), hash_password(&password("correct horse"), [8; 16]).as_str());
        assert!(PasswordHash::parse(hash.as_str()).is_ok() && hash.as_str().len() <= HASH_TEXT_MAX);
    }

    #[test]
    fn hashes_that_cost_too_much_are_refused() {
        for (from, to) in [("19456", "4294967295"), ("t=2", "t=4294967295"), ("p=1", "p=2"), ("2id", "2i")] {
            assert_eq!(PasswordHash::parse(&DUMMY_HASH.replace(from, to)), Err(HashError));
        }
        assert_eq!(PasswordHash::parse("$argon2id$v=19$m=19456,t=2,p=1"), Err(HashError));
        assert_eq!(PasswordHash::parse(""), Err(HashError));
    }
}
