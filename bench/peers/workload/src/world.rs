//! The world as a server knows it.

use crate::interest::Interest;
use crate::{Move, Update, half};

/// Times per second that a server looks who sees whom: an avatar walks 1.5 m in between.
const LOOKS_PER_SECOND: u32 = 4;

/// All avatars, and who sees them.
pub struct World {
    moves: Vec<Option<Move>>,
    /// True for each avatar that moved since the last tick.
    moved: Vec<bool>,
    positions: Vec<Option<(f32, f32)>>,
    interest: Interest,
    ticks: u32,
    /// Number of ticks from one look to the next.
    look_every: u32,
}

impl World {
    /// A world in which no client has moved yet.
    pub fn new(clients: u16, ticks_per_second: u32) -> Self {
        let count = usize::from(clients);
        Self {
            moves: vec![None; count],
            moved: vec![false; count],
            positions: vec![None; count],
            interest: Interest::new(clients, half(clients)),
            ticks: 0,
            look_every: (ticks_per_second / LOOKS_PER_SECOND).max(1),
        }
    }

    /// An avatar moves; the first move brings it into the world. A number that no client has is ignored.
    pub fn accept(&mut self, client: u16, to: Move) {
        let number = usize::from(client);
        if let Some(it) = self.moves.get_mut(number) {
            *it = Some(to);
            self.positions[number] = Some((to.x, to.y));
            self.moved[number] = true;
        }
    }

    /// A tick begins. `changed` is called with a client, an avatar, and whether the client sees it from now on.
    pub fn look(&mut self, changed: impl FnMut(u16, u16, bool)) {
        if self.ticks.is_multiple_of(self.look_every) {
            self.interest.update(&self.positions, changed);
        }
        self.ticks += 1;
    }

    /// Moves since the last tick that a client sees.
    pub fn updates(&self, client: u16) -> impl Iterator<Item = Update> {
        let visible = self.interest.visible(client).iter();
        visible
            .filter(|&&it| self.moved[usize::from(it)])
            .filter_map(|&avatar| Some(Update { avatar, to: self.moves[usize::from(avatar)]? }))
    }

    /// A tick ends: all clients were told.
    pub fn end_tick(&mut self) {
        self.moved.fill(false);
    }
}
