//! The search for a replica that lets the player in: whether it is on, and whom it asks next.

use machine::{Rng, Span, Time};

/// How long an answer is waited for before the same is asked again.
pub(super) const ASK_EVERY: Span = Span::from_millis(100);

/// How often only the home's zone is asked which replica reigns: mostly nothing is wrong but a datagram lost, and a world
/// may have hundreds of zones.
const NARROW_ROUNDS: u32 = 4;

pub(super) struct Search {
    is_on: bool,
    /// When the last question was asked.
    asked: Time,
    /// How often this search has asked.
    rounds: u32,
    /// Whether the owner knows of it.
    is_told: bool,
    /// For the pause between two questions: players that lost the same home must not all ask at once.
    rng: Rng,
}

impl Search {
    /// A player that starts has no home.
    pub const fn new(rng: Rng) -> Self {
        Self { is_on: true, asked: Time::ZERO, rounds: 0, is_told: false, rng }
    }

    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    pub const fn asked(&self) -> Time {
        self.asked
    }

    /// The home may be gone: its zone is asked first.
    pub const fn begin(&mut self) {
        if !self.is_on {
            (self.is_on, self.rounds) = (true, 0);
        }
    }

    /// The home has handed the avatar over to another zone: all are asked at once.
    pub const fn begin_wide(&mut self) {
        (self.is_on, self.rounds) = (true, NARROW_ROUNDS);
    }

    /// Whether the owner must be told now: once per search.
    pub const fn tell(&mut self) -> bool {
        !std::mem::replace(&mut self.is_told, true)
    }

    /// Whether only the home's zone is asked next.
    pub const fn is_narrow(&self) -> bool {
        self.rounds < NARROW_ROUNDS
    }

    /// A question is asked now. Gives when the next one is due.
    pub fn ask(&mut self, now: Time) -> Time {
        self.asked = now;
        self.rounds = self.rounds.saturating_add(1);
        now + ASK_EVERY + Span::from_micros(self.rng.below(ASK_EVERY.as_micros() / 2))
    }

    pub const fn end(&mut self) {
        (self.is_on, self.is_told) = (false, false);
    }
}
