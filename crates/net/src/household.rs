//! Callers by household: what one of them can have many addresses of counts as one.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where an address belongs: the lower half of an IPv6 address is its household's to choose.
pub fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 => v4,
    }
}

/// Places, of which every household may have only so many.
///
/// Only those who have one are remembered, so whoever limits all places together limits this memory, too. It is a tree
/// because callers choose the keys: there is no hash for which they could choose unlucky ones.
#[derive(Debug)]
pub struct Households {
    each: usize,
    taken: Mutex<BTreeMap<IpAddr, usize>>,
}

impl Households {
    /// All places are free. A household may have `each` of them.
    pub fn new(each: usize) -> Arc<Self> {
        Arc::new(Self { each, taken: Mutex::default() })
    }

    /// A place for whoever calls from this address; `None` if their household has enough.
    pub fn place(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let household = household(address);
        let mut taken = self.taken();
        if self.each <= taken.get(&household).copied().unwrap_or_default() {
            return None;
        }
        *taken.entry(household).or_default() += 1;
        Some(Place { households: self.clone(), household })
    }

    fn give_back(&self, household: IpAddr) {
        let mut taken = self.taken();
        let left = taken.get(&household).map_or(0, |it| it - 1);
        match left {
            0 => _ = taken.remove(&household),
            left => _ = taken.insert(household, left),
        }
    }

    fn taken(&self) -> MutexGuard<'_, BTreeMap<IpAddr, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A household's place. It is free again when this is dropped.
#[derive(Debug)]
pub struct Place {
    households: Arc<Households>,
    household: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.households.give_back(self.household);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str) -> String {
        household(address.parse().unwrap()).to_string()
    }

    #[test]
    fn a_household_chooses_the_lower_half_of_its_addresses() {
        assert_eq!(check("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(check("2001:db8:1:3:3:4:5:6"), "2001:db8:1:3::");
        assert_eq!(check("192.0.2.7"), "192.0.2.7");
        assert_eq!(check("::ffff:192.0.2.7"), "192.0.2.7");
    }

    #[test]
    fn a_household_has_so_many_places_and_is_forgotten_after_the_last() {
        let households = Households::new(2);
        let place = |address: &str| households.place(address.parse().unwrap());
        let mut held = vec![place("2001:db8::1").unwrap(), place("2001:db8::2").unwrap()];
        assert!(place("2001:db8::3").is_none());
        assert!(place("192.0.2.7").is_some(), "another household has its own");
        held.pop();
        held.push(place("2001:db8::3").unwrap());
        assert!(place("2001:db8::4").is_none());
        held.clear();
        assert!(households.taken().is_empty());
    }
}
