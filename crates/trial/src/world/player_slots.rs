//! The players of a world: which machine is whose, and in which session.

use game::PlayerId;
use machine::Address;

/// A player, as the world knows them.
pub struct PlayerSlot {
    pub address: Address,
    pub player: PlayerId,
    /// Counts the lives of the player's program.
    pub session: u64,
    /// The place among all players, from 0.
    pub number: u32,
    /// Whether the player sends nonsense.
    pub hostile: bool,
}

/// All players, by number.
#[derive(Default)]
pub struct PlayerSlots(Vec<PlayerSlot>);

impl PlayerSlots {
    pub fn add(&mut self, slot: PlayerSlot) {
        self.0.push(slot);
    }

    pub fn addresses(&self) -> Vec<Address> {
        self.0.iter().map(|it| it.address).collect()
    }

    /// Begins a player's next session.
    pub fn renew(&mut self, number: usize) -> &PlayerSlot {
        self.0[number].session += 1;
        &self.0[number]
    }
}
