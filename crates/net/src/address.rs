//! Where machines live on a real network, as the addresses that machines know.

use machine::Address;

const PLAYER: u64 = 1 << 63;

/// A replica: its host and its zone.
pub const fn replica(host: u32, zone: u32) -> Address {
    Address((host as u64) << 32 | zone as u64)
}

/// A player. Their number is below 2^62.
pub const fn player(number: u64) -> Address {
    Address(PLAYER | number)
}

/// The host of a replica; `None` for a player.
pub const fn host_of(address: Address) -> Option<u32> {
    if address.0 & PLAYER == 0 { Some((address.0 >> 32) as u32) } else { None }
}
