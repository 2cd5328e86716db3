//! The players who were let in lately: they pass when their connection breaks, or when their page is loaded again.

use game::PlayerId;
use machine::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Time after its last request at which a player is forgotten. A client that plays asks every four minutes.
const FORGOTTEN_AFTER: Span = Span::from_secs(600);

/// The most players stored; some ten megabytes.
const PLAYERS_MAX: usize = 1 << 17;

/// The last request of each player who was let in.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentPlayers {
    asked: BTreeMap<PlayerId, Time>,
    by_time: BTreeSet<(Time, PlayerId)>,
}

impl RecentPlayers {
    /// Returns whether a player was let in lately.
    pub(super) fn contains(&mut self, now: Time, player: PlayerId) -> bool {
        while self.by_time.first().is_some_and(|it| FORGOTTEN_AFTER <= now.since(it.0)) {
            self.forget_first();
        }
        self.asked.contains_key(&player)
    }

    /// A player who is in asks for a session or for tokens.
    pub(super) fn on_request(&mut self, now: Time, player: PlayerId) {
        match self.asked.insert(player, now) {
            Some(before) => _ = self.by_time.remove(&(before, player)),
            // The one that has been silent for longest is the least likely to play.
            None if PLAYERS_MAX < self.asked.len() => self.forget_first(),
            None => (),
        }
        self.by_time.insert((now, player));
    }

    fn forget_first(&mut self) {
        if let Some((_, player)) = self.by_time.pop_first() {
            self.asked.remove(&player);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_players_is_bounded_and_the_oldest_goes() {
        let mut recent = RecentPlayers::default();
        for player in 0..=PLAYERS_MAX as u64 {
            recent.on_request(Time::from_micros(player), PlayerId(player));
        }
        let now = Time::from_millis(1_000);
        assert!(!recent.contains(now, PlayerId(0)) && recent.contains(now, PlayerId(1)));
        assert_eq!((recent.asked.len(), recent.by_time.len()), (PLAYERS_MAX, PLAYERS_MAX));
    }
}
