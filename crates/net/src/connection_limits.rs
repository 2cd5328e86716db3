//! Limits on connections that have not shown a valid token, over any transport: in all, per address group, per second.

use crate::address_groups::{AddressGroups, GroupSlot, address_group};
use crate::rate_limiter::RateLimiter;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most unauthenticated connections at once: half of a full host's players may come back in the same moment.
pub const UNAUTHENTICATED_MAX: usize = 1_024;

/// The most unauthenticated connections of one address group: no group can take all slots alone. When many are taken it is
/// less (see [`AddressGroups`]): a few groups together cannot, either.
pub const UNAUTHENTICATED_PER_GROUP: usize = UNAUTHENTICATED_MAX / 4;

/// With more unauthenticated connections than this, addresses must be validated first.
const UNAUTHENTICATED_TRUSTED: usize = 64;

/// Connections of an address group per second, and in a burst. A school may share one address.
const PER_GROUP: (f64, f64) = (50.0, 1_000.0);

/// A group with less allowance than this must validate its address first: otherwise an attacker who forges source
/// addresses could use up the allowance of another group.
const VALIDATED_BELOW: f64 = 500.0;

/// Address groups stored; when there are more, all are forgotten, which only makes the rate limit generous. The slots
/// of their unauthenticated connections are counted separately and stay.
const GROUPS_MAX: usize = 65_536;

/// The limits of a host, and the connections counted against them.
pub struct ConnectionLimits {
    unauthenticated: Arc<AddressGroups>,
    limiters: Mutex<BTreeMap<IpAddr, RateLimiter>>,
}

/// The slot of a connection that has not shown a valid token yet. Dropping it makes the slot free again.
#[derive(Debug)]
pub struct UnauthenticatedSlot {
    _slot: GroupSlot,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            unauthenticated: AddressGroups::new(UNAUTHENTICATED_MAX, UNAUTHENTICATED_PER_GROUP),
            limiters: Mutex::default(),
        }
    }
}

impl ConnectionLimits {
    /// Takes a slot for a connection from this address; `None` if its group has no more or connects too often.
    pub fn reserve(&self, from: IpAddr) -> Option<UnauthenticatedSlot> {
        if !self.count_connection(from) {
            return None;
        }
        Some(UnauthenticatedSlot { _slot: self.unauthenticated.reserve(from)? })
    }

    /// Number of unauthenticated connections now.
    pub fn unauthenticated(&self) -> usize {
        self.unauthenticated.len()
    }

    /// Returns whether an address must be validated first, on transports where it can be forged.
    pub fn must_validate(&self, from: IpAddr) -> bool {
        let mut limiters = self.limiters();
        // A group that is not stored has its whole burst.
        let level = limiters.get_mut(&address_group(from)).map_or(PER_GROUP.1, RateLimiter::level);
        UNAUTHENTICATED_TRUSTED < self.unauthenticated() || level < VALIDATED_BELOW
    }

    /// Counts a connection against the rate of its group. Returns false if it is one too many.
    fn count_connection(&self, from: IpAddr) -> bool {
        let mut limiters = self.limiters();
        let address_group = address_group(from);
        if GROUPS_MAX <= limiters.len() && !limiters.contains_key(&address_group) {
            // Simpler than an order of eviction; forgetting only gives allowance back.
            limiters.clear();
        }
        let full = || RateLimiter::new(PER_GROUP.0, PER_GROUP.1);
        limiters.entry(address_group).or_insert_with(full).try_take(1.0)
    }

    fn limiters(&self) -> MutexGuard<'_, BTreeMap<IpAddr, RateLimiter>> {
        self.limiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};
    use std::time::Duration;

    /// An address of the address group with this number.
    fn at(address_group: u32) -> IpAddr {
        Ipv4Addr::from_bits(0x0a00_0000 | address_group).into()
    }

    fn fill(limits: &ConnectionLimits, from: impl Fn(u32) -> IpAddr) -> Vec<UnauthenticatedSlot> {
        (0..).map_while(|it| limits.reserve(from(it))).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn unauthenticated_connections_are_limited() {
        let limits = ConnectionLimits::default();
        let mut held = fill(&limits, at);
        assert_eq!((held.len(), limits.unauthenticated()), (UNAUTHENTICATED_MAX, UNAUTHENTICATED_MAX));
        held.pop();
        assert!(limits.reserve(at(0)).is_none(), "it is left to an address that has none");
        assert!(limits.reserve(at(UNAUTHENTICATED_MAX as u32)).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn no_address_group_takes_all_slots() {
        let limits = ConnectionLimits::default();
        // A home's prefix of 56 bits has 256 networks.
        let of_home = |it: u32| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, it as u16 % 256, 0, 0, 0, 1));
        let held = fill(&limits, of_home);
        assert_eq!(held.len(), UNAUTHENTICATED_PER_GROUP);
        assert!(
            limits.must_validate(at(1)),
            "with so many unauthenticated connections every address is validated"
        );
        assert!(limits.reserve(at(1)).is_some());
        drop(held);
        assert_eq!(limits.unauthenticated(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_few_address_groups_leave_slots_for_others() {
        let limits = ConnectionLimits::default();
        let held: Vec<_> = (0..8).flat_map(|group| fill(&limits, move |_| at(group))).collect();
        assert!(held.len() < UNAUTHENTICATED_MAX, "{}", held.len());
        assert!(limits.reserve(at(100)).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_group_that_connects_too_often_is_validated_and_then_refused_for_a_while() {
        let limits = ConnectionLimits::default();
        let accepted = || (0..).take_while(|_| limits.reserve(at(1)).is_some()).count();
        assert!(!limits.must_validate(at(1)));
        assert_eq!(accepted(), PER_GROUP.1 as usize);
        assert_eq!((limits.must_validate(at(1)), limits.must_validate(at(2))), (true, false));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(accepted(), PER_GROUP.0 as usize);
    }

    #[tokio::test(start_paused = true)]
    async fn stored_address_groups_are_bounded_and_their_slots_stay_counted() {
        let limits = ConnectionLimits::default();
        let held: Vec<UnauthenticatedSlot> =
            (0..UNAUTHENTICATED_PER_GROUP).map_while(|_| limits.reserve(at(0))).collect();
        for address_group in 1..=GROUPS_MAX as u32 {
            drop(limits.reserve(at(address_group)));
        }
        assert_eq!(limits.limiters().len(), 1);
        assert_eq!(held.len(), UNAUTHENTICATED_PER_GROUP);
        assert!(limits.reserve(at(0)).is_none());
    }
}
