//! The host's check of tokens: each is valid once.

use crate::config::{SKEW_SECONDS, TOKEN_SECONDS, USED_MAX};
use crate::{Token, TokenError, UnixSeconds, Verifier};
use std::collections::BTreeSet;

/// The set of used tokens, each stored until it would be refused as expired anyway.
///
/// When the set is full, all tokens are refused until the oldest have expired. Forgetting the oldest instead would let
/// an attacker with many tokens of their own use another player's token a second time.
///
/// A wall clock that is set back by more than [`SKEW_SECONDS`] could make a forgotten token valid again.
#[derive(Clone, Debug, Default)]
pub struct UsedTokens {
    /// Ordered by expiry. Expiry and nonce are signed together, so together they identify a token.
    tokens: BTreeSet<(UnixSeconds, u128)>,
}

impl UsedTokens {
    /// Marks a token as used now; an error if it was used before.
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

    /// Number of tokens stored now.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Returns whether no token is stored.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Removes expired tokens, after twice the tolerance of [`Verifier::check`]: the clock may be set back a little.
    fn forget(&mut self, now: UnixSeconds) {
        let is_over = |(expires, _): &(UnixSeconds, u128)| expires.plus(2 * SKEW_SECONDS) < now;
        while self.tokens.first().is_some_and(is_over) {
            self.tokens.pop_first();
        }
    }
}

/// Admits players to a host: their token must be valid and not used yet.
///
/// A host that restarts does not know which tokens it has admitted before. So it refuses all that were issued earlier:
/// their players ask for new ones, as after every refusal.
#[derive(Clone, Debug)]
pub struct TokenGate {
    verifier: Verifier,
    used: UsedTokens,
    opened: UnixSeconds,
}

impl TokenGate {
    /// The gate of a host that starts now.
    pub fn new(verifier: Verifier, now: UnixSeconds) -> Self {
        Self { verifier, used: UsedTokens::default(), opened: now }
    }

    /// Admits the bearer of a token, once.
    pub fn admit(&mut self, text: &str, now: UnixSeconds) -> Result<Token, TokenError> {
        let token = self.verifier.check(text, now)?;
        // All tokens are valid for equally long, so the expiry tells when it was issued.
        if token.expires < self.opened.plus(TOKEN_SECONDS) {
            return Err(TokenError::BeforeStart);
            // Last of all checks: a token that is refused for another reason is not used up.
        }
        self.used.spend(&token, now)?;
        Ok(token)
    }
}
