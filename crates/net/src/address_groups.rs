//! Groups of IP addresses that one subscriber can use: limits count per group, not per address.
//!
//! An IPv6 subscriber has many networks of 64 bits: a home usually gets a prefix of 56 bits, an enterprise one of 48
//! (RFC 6177). So what one network of 64 bits may hold is what its home may hold, and two homes' worth is what a whole
//! prefix of 48 bits may hold.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The group of an address: an IPv4 address, or an IPv6 prefix of 56 bits.
pub fn address_group(address: IpAddr) -> IpAddr {
    prefix(address, 56)
}

/// The site of an address: an IPv4 address, or an IPv6 prefix of 48 bits.
pub fn address_site(address: IpAddr) -> IpAddr {
    prefix(address, 48)
}

fn prefix(address: IpAddr, bits: u32) -> IpAddr {
    // An IPv4 address in IPv6 notation is the same client.
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> (128 - bits) << (128 - bits))),
        v4 => v4,
    }
}

/// Slots, of which every address group may hold only so many, and never more than are free: then a few groups that take
/// what they can leave slots for others. A site may hold as many as two groups.
///
/// Only groups that hold a slot are stored, so the number of slots also limits this memory. The maps are trees because
/// clients choose the keys: a hash map could be slowed down by keys with colliding hashes.
#[derive(Debug)]
pub struct AddressGroups {
    slots: usize,
    each: usize,
    taken: Mutex<TakenSlots>,
}

#[derive(Debug, Default)]
struct TakenSlots {
    all: usize,
    groups: BTreeMap<IpAddr, usize>,
    sites: BTreeMap<IpAddr, usize>,
}

impl AddressGroups {
    /// No slot is taken. A group may hold `each` of them at once.
    pub fn new(slots: usize, each: usize) -> Arc<Self> {
        Arc::new(Self { slots, each, taken: Mutex::default() })
    }

    /// Takes a slot for a connection from this address; `None` if its group or site holds the most it may.
    pub fn reserve(self: &Arc<Self>, address: IpAddr) -> Option<GroupSlot> {
        let (address_group, site) = (address_group(address), address_site(address));
        let mut taken = self.taken();
        let free = self.slots - taken.all;
        let of_group = taken.groups.get(&address_group).copied().unwrap_or_default();
        let of_site = taken.sites.get(&site).copied().unwrap_or_default();
        if self.each.min(free) <= of_group || (2 * self.each).min(free) <= of_site {
            return None;
        }
        taken.all += 1;
        taken.groups.insert(address_group, of_group + 1);
        taken.sites.insert(site, of_site + 1);
        Some(GroupSlot { address_groups: self.clone(), address_group, site })
    }

    /// Number of slots that are taken.
    pub fn len(&self) -> usize {
        self.taken().all
    }

    /// Returns whether no slot is taken.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn give_back(&self, slot: &GroupSlot) {
        let mut taken = self.taken();
        taken.all -= 1;
        subtract(&mut taken.groups, slot.address_group);
        subtract(&mut taken.sites, slot.site);
    }

    fn taken(&self) -> MutexGuard<'_, TakenSlots> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Subtracts one from a count. Entries of 0 are removed, which bounds the map by the number of slots.
fn subtract(counts: &mut BTreeMap<IpAddr, usize>, key: IpAddr) {
    match counts.get(&key).map_or(0, |it| it - 1) {
        0 => _ = counts.remove(&key),
        left => _ = counts.insert(key, left),
    }
}

/// A slot of an address group. Dropping it makes the slot free again.
#[derive(Debug)]
pub struct GroupSlot {
    address_groups: Arc<AddressGroups>,
    address_group: IpAddr,
    site: IpAddr,
}

impl Drop for GroupSlot {
    fn drop(&mut self) {
        self.address_groups.give_back(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str) -> (String, String) {
        let address = address.parse().unwrap();
        (address_group(address).to_string(), address_site(address).to_string())
    }

    #[test]
    fn an_ipv6_subscriber_is_one_group() {
        let of = |group: &str, site: &str| (group.to_owned(), site.to_owned());
        assert_eq!(check("2001:db8:1:2:3:4:5:6"), of("2001:db8:1::", "2001:db8:1::"));
        assert_eq!(check("2001:db8:1:ff:3:4:5:6"), of("2001:db8:1::", "2001:db8:1::"));
        assert_eq!(check("2001:db8:1:102:3:4:5:6"), of("2001:db8:1:100::", "2001:db8:1::"));
        assert_eq!(check("192.0.2.7"), of("192.0.2.7", "192.0.2.7"));
        assert_eq!(check("::ffff:192.0.2.7"), of("192.0.2.7", "192.0.2.7"));
    }

    #[test]
    fn a_group_has_so_many_slots_and_is_forgotten_after_the_last() {
        let address_groups = AddressGroups::new(100, 2);
        let reserve = |address: &str| address_groups.reserve(address.parse().unwrap());
        let mut held = vec![reserve("2001:db8::1").unwrap(), reserve("2001:db8:0:1::2").unwrap()];
        assert!(reserve("2001:db8:0:2::3").is_none(), "another network of the same home");
        assert!(reserve("192.0.2.7").is_some(), "another address group has its own");
        held.pop();
        held.push(reserve("2001:db8:0:2::3").unwrap());
        assert!(reserve("2001:db8::4").is_none());
        held.clear();
        assert!(address_groups.is_empty());
        let taken = address_groups.taken();
        assert!(taken.groups.is_empty() && taken.sites.is_empty());
    }

    #[test]
    fn a_site_holds_as_much_as_two_groups() {
        let address_groups = AddressGroups::new(100, 10);
        let from = |it: u16| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, it << 8, 0, 0, 0, 1));
        let held: Vec<_> = (0..100).filter_map(|it| address_groups.reserve(from(it))).collect();
        assert_eq!(held.len(), 20);
    }

    #[test]
    fn greedy_groups_leave_slots_for_others() {
        for greedy in [1, 4, 5, 20, 50, 99] {
            let address_groups = AddressGroups::new(100, 25);
            let from = |it: usize| IpAddr::from([10, 0, 0, it as u8]);
            let mut held = Vec::new();
            // They take turns until none gets any more.
            loop {
                let before = held.len();
                held.extend((0..greedy).filter_map(|it| address_groups.reserve(from(it))));
                if held.len() == before {
                    break;
                }
            }
            assert!(address_groups.reserve(from(200)).is_some(), "{greedy} groups took {}", held.len());
        }
    }
}
