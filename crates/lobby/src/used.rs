//! Which tokens were used: each opens its host once.

use crate::config::{SKEW_SECONDS, TOKEN_SECONDS, USED_MAX};
use crate::{Token, TokenError, UnixSeconds, Verifier};
use std::collections::BTreeSet;

/// The exact set of used tokens, each until it would be refused anyway.
///
/// When it is full, whoever comes is refused until the oldest have expired. Forgetting the oldest instead would let
/// an attacker with many tokens of their own use somebody else's a second time.
///
/// A wall clock that is set back by more than [`SKEW_SECONDS`] could bring a token back to life that is forgotten.
#[derive(Clone, Debug, Default)]
pub struct Used {
    /// By the second that they expire in. Expiry and nonce are signed together, so together they name a token.
    tokens: BTreeSet<(UnixSeconds, u128)>,
}

impl Used {
    /// Takes note that a token is used now, unless it was before.
    pub fn spend(&mut self, token: &Token, now: UnixSeconds) -> Result<(), TokenError> {
        self.forget(now);
        let name = (token.expires, token.nonce);
        if self.tokens.contains(&name) {
            return Err(TokenError::Used);
        }
        if USED_MAX <= self.tokens.len() {
            return Err(TokenError::Crowded);
        }
        self.tokens.insert(name);
        Ok(())
    }

    /// How many tokens are remembered.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Twice the allowance of [`Verifier::check`]: the clock may be set back a little.
    fn forget(&mut self, now: UnixSeconds) {
        let is_over = |(expires, _): &(UnixSeconds, u128)| expires.plus(2 * SKEW_SECONDS) < now;
        while self.tokens.first().is_some_and(is_over) {
            self.tokens.pop_first();
        }
    }
}

/// What stands before a host: a token is good, and not used yet.
///
/// A host that starts anew does not know which tokens it has let in before. So it takes none that was minted
/// earlier: whoever holds one asks for another, as after every refusal.
#[derive(Clone, Debug)]
pub struct Gate {
    verifier: Verifier,
    used: Used,
    opened: UnixSeconds,
}

impl Gate {
    /// Opens at a host's start.
    pub fn new(verifier: Verifier, now: UnixSeconds) -> Self {
        Self { verifier, used: Used::default(), opened: now }
    }

    /// Lets the bearer of a token in, once.
    pub fn admit(&mut self, text: &str, now: UnixSeconds) -> Result<Token, TokenError> {
        let token = self.verifier.check(text, now)?;
        if token.expires < self.opened.plus(TOKEN_SECONDS) {
            return Err(TokenError::BeforeStart);
        }
        self.used.spend(&token, now)?;
        Ok(token)
    }
}
