//! Limits on handshakes at the ports between servers: a host's port for other hosts, and the directory's port.
//!
//! Certificates are verified within a handshake, so what comes before is limited by address. Servers are few, and their
//! addresses are known: from the directory, or because a server has proved itself from there. Each known address has slots of its
//! own. All other addresses together have a few, at a low rate, so a flood from elsewhere costs little work and keeps no known
//! server out. A server behind a translated address is unknown until its first handshake is complete.

use crate::rate_limiter::RateLimiter;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The time that a server's handshake may take.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(3);

/// Handshakes of one known address at once. Several hosts may share an address, and all of them connect when another one starts.
const PER_KNOWN: usize = 32;

/// Handshakes of all unknown addresses at once, and of one of them.
const UNKNOWN: (usize, usize) = (16, 8);

/// Handshakes of all unknown addresses per second, and in a burst: when a world starts, no host is known to any other.
const UNKNOWN_RATE: (f64, f64) = (10.0, 64.0);

/// Known addresses stored; when there are more, all are forgotten, and known again after their next handshake.
const KNOWN_MAX: usize = 1_024;

/// The limits of one port, and the handshakes counted against them. Cheap to clone; all clones share one count.
#[derive(Clone, Debug)]
pub struct ServerPortLimits(Arc<Mutex<LimitState>>);

#[derive(Debug)]
struct LimitState {
    known: BTreeSet<IpAddr>,
    /// Handshakes under way, by address. Addresses without any are not stored.
    under_way: BTreeMap<IpAddr, usize>,
    /// Those of them that began while their address was unknown.
    unknown: usize,
    unknown_rate: RateLimiter,
}

/// The slot of a handshake. Dropping it makes the slot free again.
#[derive(Debug)]
pub struct HandshakeSlot {
    limits: ServerPortLimits,
    from: IpAddr,
    is_known: bool,
}

impl Default for ServerPortLimits {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(LimitState {
            known: BTreeSet::new(),
            under_way: BTreeMap::new(),
            unknown: 0,
            unknown_rate: RateLimiter::new(UNKNOWN_RATE.0, UNKNOWN_RATE.1),
        })))
    }
}

impl ServerPortLimits {
    /// Servers come from these addresses.
    pub fn know(&self, addresses: impl IntoIterator<Item = IpAddr>) {
        let mut state = self.state();
        for address in addresses {
            if KNOWN_MAX <= state.known.len() {
                state.known.clear();
            }
            state.known.insert(address.to_canonical());
        }
    }

    /// Returns whether servers come from this address.
    pub fn is_known(&self, address: IpAddr) -> bool {
        self.state().known.contains(&address.to_canonical())
    }

    /// Takes a slot for a handshake with this address; `None` if it has too many.
    pub fn reserve(&self, from: IpAddr) -> Option<HandshakeSlot> {
        let from = from.to_canonical();
        let mut state = self.state();
        let (is_known, held) =
            (state.known.contains(&from), state.under_way.get(&from).copied().unwrap_or(0));
        if is_known {
            if PER_KNOWN <= held {
                return None;
            }
        } else {
            // The rate last: an attempt that finds no slot must not use it up.
            if UNKNOWN.0 <= state.unknown || UNKNOWN.1 <= held || !state.unknown_rate.try_take(1.0) {
                return None;
            }
            state.unknown += 1;
        }
        *state.under_way.entry(from).or_default() += 1;
        Some(HandshakeSlot { limits: self.clone(), from, is_known })
    }

    /// Number of handshakes under way.
    pub fn under_way(&self) -> usize {
        self.state().under_way.values().sum()
    }

    fn state(&self) -> MutexGuard<'_, LimitState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HandshakeSlot {
    /// Returns whether servers came from its address when the handshake began.
    pub const fn is_known(&self) -> bool {
        self.is_known
    }

    /// A server has proved itself: from now on its address is known. The slot is free again.
    pub fn prove(self) {
        self.limits.know([self.from]);
    }
}

impl Drop for HandshakeSlot {
    fn drop(&mut self) {
        let mut state = self.limits.state();
        if !self.is_known {
            state.unknown -= 1;
        }
        match state.under_way.get(&self.from).map_or(0, |it| it - 1) {
            0 => _ = state.under_way.remove(&self.from),
            left => _ = state.under_way.insert(self.from, left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u32) -> IpAddr {
        std::net::Ipv4Addr::from_bits(0x0a00_0000 | number).into()
    }

    fn fill(limits: &ServerPortLimits, from: impl Fn(u32) -> IpAddr) -> Vec<HandshakeSlot> {
        (0..).map_while(|it| limits.reserve(from(it))).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_addresses_share_a_few_slots_and_leave_those_of_known_ones() {
        let limits = ServerPortLimits::default();
        limits.know([at(1_000)]);
        let one = fill(&limits, |_| at(0));
        assert_eq!(one.len(), UNKNOWN.1);
        let others = fill(&limits, |it| at(1 + it));
        assert_eq!(one.len() + others.len(), UNKNOWN.0);
        let known = fill(&limits, |_| at(1_000));
        assert_eq!(known.len(), PER_KNOWN);
        assert_eq!(limits.under_way(), UNKNOWN.0 + PER_KNOWN);
        drop((one, others, known));
        assert_eq!(limits.under_way(), 0);
        assert!(limits.state().under_way.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_addresses_share_a_rate_also_if_each_handshake_is_short() {
        let limits = ServerPortLimits::default();
        let begun = || (0..).take_while(|it| limits.reserve(at(*it)).is_some()).count();
        assert_eq!(begun(), UNKNOWN_RATE.1 as usize);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(begun(), UNKNOWN_RATE.0 as usize);
        limits.know([at(7)]);
        assert!(limits.reserve(at(7)).is_some(), "a known address has no rate");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_proves_itself_makes_its_address_known() {
        let limits = ServerPortLimits::default();
        let mapped: IpAddr = "::ffff:10.0.0.7".parse().unwrap();
        let slot = limits.reserve(mapped).unwrap();
        assert!(!slot.is_known());
        slot.prove();
        assert_eq!((limits.under_way(), limits.is_known(at(7)), limits.is_known(at(8))), (0, true, false));
        assert!(limits.reserve(at(7)).unwrap().is_known());
    }

    #[tokio::test(start_paused = true)]
    async fn known_addresses_are_bounded() {
        let limits = ServerPortLimits::default();
        limits.know((0..=KNOWN_MAX as u32).map(at));
        assert_eq!(limits.state().known.len(), 1);
    }
}
