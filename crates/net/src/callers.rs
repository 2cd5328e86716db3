//! Who calls, whatever carries them: places for strangers, and how often a household may come.

use crate::bucket::Bucket;
use crate::household::{Households, Place, household};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections at once that have not shown a good token: half of a full host's players may come back in the same moment.
pub const STRANGERS_MAX: usize = 1_024;

/// Strangers of one household at once: nobody takes all places alone.
pub const STRANGERS_PER_HOUSEHOLD: usize = STRANGERS_MAX / 4;

/// With more strangers than this, addresses must first prove that they are real.
const STRANGERS_TRUSTED: usize = 64;

/// Connections per second and household, and at once. A school may share an address.
const PER_HOUSEHOLD: (f64, f64) = (50.0, 1_000.0);

/// A household with less than this left must first prove that its address is real: nobody can use up another's
/// connections by writing their address on packets.
const PROVEN_BELOW: f64 = 500.0;

/// Households remembered; when there are more, all are forgotten, which is generous to everybody alike. Their strangers
/// are counted all the same.
const HOUSEHOLDS_MAX: usize = 65_536;

/// The callers of a host.
pub struct Callers {
    strangers: Arc<Semaphore>,
    households: Arc<Households>,
    buckets: Mutex<BTreeMap<IpAddr, Bucket>>,
}

/// A place for somebody who has not shown a good token yet. It is free again when this is dropped.
#[derive(Debug)]
pub struct Stranger {
    _household: Place,
    _host: OwnedSemaphorePermit,
}

impl Default for Callers {
    fn default() -> Self {
        Self {
            strangers: Arc::new(Semaphore::new(STRANGERS_MAX)),
            households: Households::new(STRANGERS_PER_HOUSEHOLD),
            buckets: Mutex::default(),
        }
    }
}

impl Callers {
    /// A place for somebody who calls from here; `None` if there are too many, or their household comes too often.
    pub fn stranger(&self, from: IpAddr) -> Option<Stranger> {
        if !self.come(from) {
            return None;
        }
        let household = self.households.place(from)?;
        let host = self.strangers.clone().try_acquire_owned().ok()?;
        Some(Stranger { _household: household, _host: host })
    }

    /// How many strangers there are.
    pub fn strangers(&self) -> usize {
        STRANGERS_MAX - self.strangers.available_permits()
    }

    /// Whether an address must first prove that it is real, where it can be forged.
    pub fn doubts(&self, from: IpAddr) -> bool {
        let mut buckets = self.buckets();
        let level = buckets.get_mut(&household(from)).map_or(PER_HOUSEHOLD.1, Bucket::level);
        STRANGERS_TRUSTED < self.strangers() || level < PROVEN_BELOW
    }

    /// Counts a connection; whether it is not one too many.
    fn come(&self, from: IpAddr) -> bool {
        let mut buckets = self.buckets();
        let household = household(from);
        if HOUSEHOLDS_MAX <= buckets.len() && !buckets.contains_key(&household) {
            buckets.clear();
        }
        let full = || Bucket::new(PER_HOUSEHOLD.0, PER_HOUSEHOLD.1);
        buckets.entry(household).or_insert_with(full).try_take(1.0)
    }

    fn buckets(&self) -> MutexGuard<'_, BTreeMap<IpAddr, Bucket>> {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};
    use std::time::Duration;

    /// An address of a household, of which there are many.
    fn at(household: u32) -> IpAddr {
        Ipv4Addr::from_bits(0x0a00_0000 | household).into()
    }

    fn fill(callers: &Callers, from: impl Fn(u32) -> IpAddr) -> Vec<Stranger> {
        (0..).map_while(|it| callers.stranger(from(it))).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn there_are_only_so_many_places_for_strangers() {
        let callers = Callers::default();
        let mut held = fill(&callers, at);
        assert_eq!((held.len(), callers.strangers()), (STRANGERS_MAX, STRANGERS_MAX));
        held.pop();
        assert!(callers.stranger(at(0)).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn no_household_takes_all_of_them() {
        let callers = Callers::default();
        let lower_half = |it: u32| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, it as u16));
        let held = fill(&callers, lower_half);
        assert_eq!(held.len(), STRANGERS_PER_HOUSEHOLD);
        assert!(callers.doubts(at(1)), "with so many strangers everybody must prove their address");
        assert!(callers.stranger(at(1)).is_some());
        drop(held);
        assert_eq!(callers.strangers(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_comes_too_often_is_doubted_and_then_refused_for_a_while() {
        let callers = Callers::default();
        let came = || (0..).take_while(|_| callers.stranger(at(1)).is_some()).count();
        assert!(!callers.doubts(at(1)));
        assert_eq!(came(), PER_HOUSEHOLD.1 as usize);
        assert_eq!((callers.doubts(at(1)), callers.doubts(at(2))), (true, false));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(came(), PER_HOUSEHOLD.0 as usize);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_remembered_of_households_is_bounded_and_their_strangers_are_not_forgotten() {
        let callers = Callers::default();
        let held: Vec<Stranger> =
            (0..STRANGERS_PER_HOUSEHOLD).map_while(|_| callers.stranger(at(0))).collect();
        for household in 1..=HOUSEHOLDS_MAX as u32 {
            drop(callers.stranger(at(household)));
        }
        assert_eq!(callers.buckets().len(), 1);
        assert_eq!(held.len(), STRANGERS_PER_HOUSEHOLD);
        assert!(callers.stranger(at(0)).is_none());
    }
}
