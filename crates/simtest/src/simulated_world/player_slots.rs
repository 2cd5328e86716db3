//! The players of a world: the address and the session of each.

use game::PlayerId;
use machine::Address;

/// A player with the address and session of their program.
pub struct PlayerSlot {
    pub address: Address,
    pub player: PlayerId,
    /// Number of starts of the player's program so far, from 1.
    pub session: u64,
    /// The player's position among all players, from 0.
    pub number: u32,
    /// True if the player sends nonsense.
    pub hostile: bool,
}

/// All players of a world, by number.
#[derive(Default)]
pub struct PlayerSlots(Vec<PlayerSlot>);

impl PlayerSlots {
    pub fn add(&mut self, slot: PlayerSlot) {
        self.0.push(slot);
    }

    pub fn addresses(&self) -> Vec<Address> {
        self.0.iter().map(|it| it.address).collect()
    }

    /// Begins the next session of a player.
    pub fn renew(&mut self, number: usize) -> &PlayerSlot {
        self.0[number].session += 1;
        &self.0[number]
    }
}
