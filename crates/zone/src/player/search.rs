//! The search for a replica that lets the player in: whether it is on, and which replicas it asks next.

use machine::{Rng, Span, Time};
use std::hash::{Hash, Hasher};

/// Time after which an unanswered question is asked again, at first.
const ASK_EVERY: Span = Span::from_millis(100);

/// Number of questions that go to the home's zone only: mostly nothing is wrong but a lost datagram, and a world may
/// have hundreds of zones.
const NARROW_ROUNDS: u32 = 4;

/// Number of questions after which the pauses grow: nothing answers, or a zone is too busy to.
const PATIENT_ROUNDS: u32 = NARROW_ROUNDS + 4;

/// The longest pause between two questions, without its random part.
const ASK_EVERY_MAX: Span = Span::from_millis(1_600);

/// Number of questions after which the player wants to reach hosts that are no contacts.
const LONG_ROUNDS: u32 = NARROW_ROUNDS + 2;

/// Why a player looks for a replica that lets it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchReason {
    /// The home was silent, or its connection was lost.
    HomeSilent,
    /// The home has told that another zone has the avatar, and that zone has not let the player in yet.
    AvatarElsewhere,
}

/// A simulator hashes what happens in the world. Why a player searches follows from that.
impl Hash for SearchReason {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

pub(super) struct HomeSearch {
    is_on: bool,
    reason: SearchReason,
    /// Own time of the last question.
    asked: Time,
    /// Number of questions that this search has asked.
    rounds: u32,
    /// Whether the client has heard of the search.
    is_told: bool,
    /// For the pause between two questions: players that lost the same home must not all ask at once.
    rng: Rng,
}

impl HomeSearch {
    /// A search that is on: a player that starts has no home.
    pub const fn new(rng: Rng) -> Self {
        let reason = SearchReason::HomeSilent;
        Self { is_on: true, reason, asked: Time::ZERO, rounds: 0, is_told: false, rng }
    }

    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Why the search began.
    pub const fn reason(&self) -> SearchReason {
        self.reason
    }

    pub const fn asked(&self) -> Time {
        self.asked
    }

    /// Begins a search because the home may be gone: its zone is asked first.
    pub const fn begin(&mut self) {
        // A search that is on goes on: to start over would never get beyond the home's zone.
        if !self.is_on {
            (self.is_on, self.reason, self.rounds) = (true, SearchReason::HomeSilent, 0);
        }
    }

    /// Begins a search because the home does not have the avatar any more: all zones are asked at once. Returns false if all
    /// zones are being asked already.
    pub const fn begin_wide(&mut self) -> bool {
        // To start over at each answer of the home would never become a long search.
        let begins = !self.is_on || self.is_narrow();
        if begins {
            (self.is_on, self.reason) = (true, SearchReason::AvatarElsewhere);
            self.rounds = NARROW_ROUNDS;
        }
        begins
    }

    /// Whether the client must hear of the search now: once per search.
    pub const fn tell(&mut self) -> bool {
        !std::mem::replace(&mut self.is_told, true)
    }

    /// Whether only the home's zone is asked next.
    pub const fn is_narrow(&self) -> bool {
        self.rounds < NARROW_ROUNDS
    }

    /// Whether so many questions were asked that a host which is no contact may have the avatar.
    pub const fn is_long(&self) -> bool {
        LONG_ROUNDS <= self.rounds
    }

    /// A question is asked now. Returns when the next one is due.
    pub fn ask(&mut self, now: Time) -> Time {
        self.asked = now;
        self.rounds = self.rounds.saturating_add(1);
        let pause = self.pause();
        now + pause + Span::from_micros(self.rng.below(pause.as_micros() / 2))
    }

    /// The shortest pause after the question that was asked last: it doubles when many were asked in vain.
    pub fn pause(&self) -> Span {
        let doublings = self.rounds.saturating_sub(PATIENT_ROUNDS).min(8);
        ASK_EVERY.times(1 << doublings).min(ASK_EVERY_MAX)
    }

    pub const fn end(&mut self) {
        (self.is_on, self.is_told) = (false, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_what_was_known_last() {
        let mut search = HomeSearch::new(Rng::seeded(1));
        search.end();
        assert!(search.begin_wide());
        search.begin(); // The home's connection is lost while the avatar is elsewhere: nothing new.
        assert_eq!(search.reason(), SearchReason::AvatarElsewhere);
        search.end();
        search.begin();
        assert_eq!(search.reason(), SearchReason::HomeSilent);
        assert!(search.begin_wide(), "the home answers: it does not have the avatar");
        assert_eq!(search.reason(), SearchReason::AvatarElsewhere);
    }
}
