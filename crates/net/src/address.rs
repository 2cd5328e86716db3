//! Addresses of machines on a real network: host and zone of a replica, or the number of a player.

use machine::Address;

const PLAYER: u64 = 1 << 63;

/// Address of the replica of a zone on a host.
pub const fn replica(host: u32, zone: u32) -> Address {
    Address((host as u64) << 32 | zone as u64)
}

/// Address of a player, whose number is below 2^62.
pub const fn player(number: u64) -> Address {
    Address(PLAYER | number)
}

/// The zone of a replica; `None` for a player and for services. Zones are numbered from 1.
pub const fn zone_of(address: Address) -> Option<u32> {
    let zone = address.0 as u32;
    if address.0 & PLAYER == 0 && zone != 0 { Some(zone) } else { None }
}

/// The host of a replica; `None` for a player.
pub const fn host_of(address: Address) -> Option<u32> {
    if address.0 & PLAYER == 0 { Some((address.0 >> 32) as u32) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_host_and_zone_or_player() {
        let (replica, player) = (replica(7, 256), player(256));
        assert_eq!((host_of(replica), zone_of(replica)), (Some(7), Some(256)));
        assert_eq!((host_of(player), zone_of(player)), (None, None));
        assert_eq!(zone_of(Address(0)), None, "the directory is no replica");
    }
}
