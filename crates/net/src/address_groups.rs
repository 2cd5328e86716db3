//! Groups of IP addresses that one subscriber can use: limits count per group, not per address.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The group of an address. An IPv6 subscriber chooses the lower 64 bits freely, so only the upper half counts.
pub fn address_group(address: IpAddr) -> IpAddr {
    // An IPv4 address in IPv6 notation is the same client.
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 => v4,
    }
}

/// Slots, of which every address group may hold only so many.
///
/// Only groups that hold a slot are stored, so a limit on all slots together also limits this memory. The map is a tree
/// because clients choose the keys: a hash map could be slowed down by keys with colliding hashes.
#[derive(Debug)]
pub struct AddressGroups {
    each: usize,
    taken: Mutex<BTreeMap<IpAddr, usize>>,
}

impl AddressGroups {
    /// No slot is taken. A group may hold `each` of them at once.
    pub fn new(each: usize) -> Arc<Self> {
        Arc::new(Self { each, taken: Mutex::default() })
    }

    /// Takes a slot for a connection from this address; `None` if its group holds the most it may.
    pub fn reserve(self: &Arc<Self>, address: IpAddr) -> Option<GroupSlot> {
        let address_group = address_group(address);
        let mut taken = self.taken();
        if self.each <= taken.get(&address_group).copied().unwrap_or_default() {
            return None;
        }
        *taken.entry(address_group).or_default() += 1;
        Some(GroupSlot { address_groups: self.clone(), address_group })
    }

    fn give_back(&self, address_group: IpAddr) {
        let mut taken = self.taken();
        // Entries of 0 are removed, which bounds the map by the number of slots.
        let left = taken.get(&address_group).map_or(0, |it| it - 1);
        match left {
            0 => _ = taken.remove(&address_group),
            left => _ = taken.insert(address_group, left),
        }
    }

    fn taken(&self) -> MutexGuard<'_, BTreeMap<IpAddr, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A slot of an address group. Dropping it makes the slot free again.
#[derive(Debug)]
pub struct GroupSlot {
    address_groups: Arc<AddressGroups>,
    address_group: IpAddr,
}

impl Drop for GroupSlot {
    fn drop(&mut self) {
        self.address_groups.give_back(self.address_group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str) -> String {
        address_group(address.parse().unwrap()).to_string()
    }

    #[test]
    fn the_lower_half_of_an_ipv6_address_does_not_count() {
        assert_eq!(check("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(check("2001:db8:1:3:3:4:5:6"), "2001:db8:1:3::");
        assert_eq!(check("192.0.2.7"), "192.0.2.7");
        assert_eq!(check("::ffff:192.0.2.7"), "192.0.2.7");
    }

    #[test]
    fn a_group_has_so_many_slots_and_is_forgotten_after_the_last() {
        let address_groups = AddressGroups::new(2);
        let reserve = |address: &str| address_groups.reserve(address.parse().unwrap());
        let mut held = vec![reserve("2001:db8::1").unwrap(), reserve("2001:db8::2").unwrap()];
        assert!(reserve("2001:db8::3").is_none());
        assert!(reserve("192.0.2.7").is_some(), "another address group has its own");
        held.pop();
        held.push(reserve("2001:db8::3").unwrap());
        assert!(reserve("2001:db8::4").is_none());
        held.clear();
        assert!(address_groups.taken().is_empty());
    }
}
