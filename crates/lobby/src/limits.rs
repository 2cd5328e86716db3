//! Rate limits: passwords cannot be guessed by the thousand, nor the lobby kept busy hashing.
//!
//! Each key has an allowance (a token bucket) that holds a burst and refills steadily. It is stored as one number, the
//! time when it is full again (the "theoretical arrival time" of the generic cell rate algorithm, ITU-T I.371): a full
//! one needs no memory.

use crate::NameKey;
use crate::config::{ACCOUNT_RATE, ADDRESS_RATE, RATE_LIMIT_KEYS_MAX, Rate, SESSIONS_PER_LOGIN};
use machine::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr};
use thiserror::Error;

/// The error of an exceeded rate, with the time to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too many attempts: try again in {} s", .0.as_micros().div_ceil(1_000_000))]
pub struct TooOften(pub Span);

/// Rate limits by key, for at most [`RATE_LIMIT_KEYS_MAX`] keys.
///
/// At the limit the key that is nearest to full is forgotten: that gives the least away, while refusing new keys would
/// let a client with many addresses lock all others out. To have its own key forgotten, it would have to use up the
/// allowance of all others further.
#[derive(Clone, Debug)]
pub struct RateLimits<K> {
    rate: Rate,
    full_at: BTreeMap<K, Time>,
    by_time: BTreeSet<(Time, K)>,
}

impl<K: Ord + Clone> RateLimits<K> {
    /// No keys yet, that is: all have their full burst.
    pub fn new(rate: Rate) -> Self {
        Self { rate, full_at: BTreeMap::new(), by_time: BTreeSet::new() }
    }

    /// Takes one from a key's allowance; an error, and nothing taken, if it is used up.
    pub fn take(&mut self, now: Time, key: &K) -> Result<(), TooOften> {
        self.forget_full(now);
        let known = self.full_at.get(key).copied();
        // A key that is not stored has its full allowance.
        let full_at = known.unwrap_or(now).max(now) + self.rate.every;
        let (missing, room) = (full_at.since(now), self.rate.every.times(u64::from(self.rate.burst)));
        if room < missing {
            return Err(TooOften(Span::from_micros(missing.as_micros() - room.as_micros())));
        }
        match known {
            Some(before) => _ = self.by_time.remove(&(before, key.clone())),
            // Only after the check above: a refused key takes no place of another.
            None if RATE_LIMIT_KEYS_MAX <= self.full_at.len() => self.forget_first(),
            None => (),
        }
        self.full_at.insert(key.clone(), full_at);
        self.by_time.insert((full_at, key.clone()));
        Ok(())
    }

    /// Number of keys whose allowance is not full.
    pub fn len(&self) -> usize {
        self.full_at.len()
    }

    /// Returns whether all allowances are full.
    pub fn is_empty(&self) -> bool {
        self.full_at.is_empty()
    }

    fn forget_full(&mut self, now: Time) {
        while self.by_time.first().is_some_and(|(full_at, _)| *full_at <= now) {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some((_, key)) = self.by_time.pop_first() {
            self.full_at.remove(&key);
        }
    }
}

/// The limits of log-in: by address, by the name of the account, and by address again for sessions.
#[derive(Clone, Debug)]
pub struct LoginLimits {
    addresses: RateLimits<IpAddr>,
    sessions: RateLimits<IpAddr>,
    accounts: RateLimits<NameKey>,
}

impl Default for LoginLimits {
    fn default() -> Self {
        Self::new(ADDRESS_RATE, ACCOUNT_RATE)
    }
}

impl LoginLimits {
    /// Limits with these rates for addresses and accounts.
    pub fn new(address: Rate, account: Rate) -> Self {
        Self {
            addresses: RateLimits::new(address),
            sessions: RateLimits::new(address.times(SESSIONS_PER_LOGIN)),
            accounts: RateLimits::new(account),
        }
    }

    /// Counts a log-in or a new account from this address.
    pub fn from_address(&mut self, now: Time, address: IpAddr) -> Result<(), TooOften> {
        self.addresses.take(now, &address_group(address))
    }

    /// Counts a request for a session, or for new tokens of one, from this address.
    pub fn for_session(&mut self, now: Time, address: IpAddr) -> Result<(), TooOften> {
        self.sessions.take(now, &address_group(address))
    }

    /// Counts a password attempt, whether there is such an account or not.
    pub fn for_account(&mut self, now: Time, name: &NameKey) -> Result<(), TooOften> {
        self.accounts.take(now, name)
    }
}

/// The address group that counts as one: an IPv6 subscriber usually has a prefix of 56 bits, with 256 networks.
pub(crate) fn address_group(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 72 << 72)),
        v4 => v4,
    }
}
