//! How often somebody may try: passwords cannot be guessed by the thousand, nor the lobby kept busy hashing.
//!
//! Each key has a bucket that holds a burst and fills at a steady pace. It is kept as one number, the time when it
//! is full again (the "theoretical arrival time" of the generic cell rate algorithm, ITU-T I.371): a full bucket
//! needs no memory.

use crate::NameKey;
use crate::config::{ACCOUNT_RATE, ADDRESS_RATE, BUCKETS_MAX, Rate, SESSIONS_PER_ENTRY};
use machine::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr};
use thiserror::Error;

/// Too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too many attempts: try again in {} s", .0.as_micros().div_ceil(1_000_000))]
pub struct TooOften(pub Span);

/// Buckets by key, at most [`BUCKETS_MAX`].
///
/// At the limit the one that is nearest to full gives way: forgetting it gives the least away, and refusing instead
/// would let whoever has many addresses lock everybody out. To have their own bucket forgotten, they would have to
/// empty all others further.
#[derive(Clone, Debug)]
pub struct Buckets<K> {
    rate: Rate,
    full_at: BTreeMap<K, Time>,
    by_time: BTreeSet<(Time, K)>,
}

impl<K: Ord + Clone> Buckets<K> {
    /// No buckets yet, that is: all are full.
    pub fn new(rate: Rate) -> Self {
        Self { rate, full_at: BTreeMap::new(), by_time: BTreeSet::new() }
    }

    /// Takes one from a key's bucket. From an empty one nothing is taken.
    pub fn take(&mut self, now: Time, key: &K) -> Result<(), TooOften> {
        self.forget_full(now);
        let known = self.full_at.get(key).copied();
        let full_at = known.unwrap_or(now).max(now) + self.rate.every;
        let (missing, room) = (full_at.since(now), self.rate.every.times(u64::from(self.rate.burst)));
        if room < missing {
            return Err(TooOften(Span::from_micros(missing.as_micros() - room.as_micros())));
        }
        match known {
            Some(before) => _ = self.by_time.remove(&(before, key.clone())),
            None if BUCKETS_MAX <= self.full_at.len() => self.forget_first(),
            None => (),
        }
        self.full_at.insert(key.clone(), full_at);
        self.by_time.insert((full_at, key.clone()));
        Ok(())
    }

    /// How many buckets are not full.
    pub fn len(&self) -> usize {
        self.full_at.len()
    }

    /// Whether all are full.
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

/// The limits of coming in: by address, by the name of the account, and by address again for sessions.
#[derive(Clone, Debug)]
pub struct Attempts {
    addresses: Buckets<IpAddr>,
    sessions: Buckets<IpAddr>,
    accounts: Buckets<NameKey>,
}

impl Default for Attempts {
    fn default() -> Self {
        Self::new(ADDRESS_RATE, ACCOUNT_RATE)
    }
}

impl Attempts {
    /// With rates of one's own.
    pub fn new(address: Rate, account: Rate) -> Self {
        Self {
            addresses: Buckets::new(address),
            sessions: Buckets::new(address.times(SESSIONS_PER_ENTRY)),
            accounts: Buckets::new(account),
        }
    }

    /// Somebody at this address wants something that costs.
    pub fn from_address(&mut self, now: Time, address: IpAddr) -> Result<(), TooOften> {
        self.addresses.take(now, &household(address))
    }

    /// Somebody at this address wants a session, or new tokens for one.
    pub fn for_session(&mut self, now: Time, address: IpAddr) -> Result<(), TooOften> {
        self.sessions.take(now, &household(address))
    }

    /// Somebody tries a password, whether there is such an account or not.
    pub fn for_account(&mut self, now: Time, name: &NameKey) -> Result<(), TooOften> {
        self.accounts.take(now, name)
    }
}

/// What one household can have many of counts as one: the lower half of an IPv6 address is theirs to choose.
fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 => v4,
    }
}
