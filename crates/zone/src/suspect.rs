//! Suspects: calls of the game that did not come back.
//!
//! A rule that loops for ever stops its primary, and would stop the next one, too. So the watchdog of the host notes the call
//! as a suspect in the zone's leadership, and later primaries answer it as a fault instead of executing it.

use crate::record::Stamp;
use game::PlayerId;
use serde::{Deserialize, Serialize};
use space::{Epoch, ObjectId, ZoneId};

/// The most suspects that a leadership names. A newer one replaces the oldest: that was most likely dealt with.
pub const SUSPECTS_MAX: usize = 4;

/// A call of the game, named so that every replica of the zone recognises it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Suspect {
    /// An action of a player.
    Act {
        /// The player who acts.
        player: PlayerId,
        /// The player's session: numbers may begin anew with a later one.
        session: u64,
        /// The number of the action.
        number: u64,
    },
    /// The delivery of a letter.
    Letter(Stamp),
    /// The delivery of a timer.
    Timer(Stamp),
    /// A thought of an NPC in this state: when an event changes the state, the object thinks again.
    Think {
        /// The object that thinks.
        object: ObjectId,
        /// The version of its state.
        version: u32,
    },
    /// A player enters the world.
    Join {
        /// The player who enters.
        player: PlayerId,
        /// The session with which the player enters.
        session: u64,
    },
    /// A player leaves the world.
    Leave {
        /// The player who leaves.
        player: PlayerId,
        /// The session that ends.
        session: u64,
    },
}

/// Words in which a suspect is written where threads cannot share a lock.
pub(crate) type SuspectWords = [u64; 4];

impl Suspect {
    /// The suspect as words. The first is its kind, and never 0.
    pub(crate) const fn to_words(self) -> SuspectWords {
        match self {
            Self::Act { player, session, number } => [1, player.0, session, number],
            Self::Letter(it) => [2, it.epoch.0 as u64, it.index, it.place as u64],
            Self::Timer(it) => [3, it.epoch.0 as u64, it.index, it.place as u64],
            Self::Think { object, version } => {
                let ObjectId { zone, epoch, counter } = object;
                [4, (zone.0 as u64) << 32 | epoch.0 as u64, counter as u64, version as u64]
            }
            Self::Join { player, session } => [5, player.0, session, 0],
            Self::Leave { player, session } => [6, player.0, session, 0],
        }
    }

    /// The suspect of these words; `None` for words that are none.
    pub(crate) const fn from_words(words: SuspectWords) -> Option<Self> {
        let [kind, a, b, c] = words;
        let stamp = Stamp { epoch: Epoch(a as u32), index: b, place: c as u16 };
        Some(match kind {
            1 => Self::Act { player: PlayerId(a), session: b, number: c },
            2 => Self::Letter(stamp),
            3 => Self::Timer(stamp),
            4 => {
                let (zone, epoch) = (ZoneId((a >> 32) as u32), Epoch(a as u32));
                Self::Think { object: ObjectId { zone, epoch, counter: b as u32 }, version: c as u32 }
            }
            5 => Self::Join { player: PlayerId(a), session: b },
            6 => Self::Leave { player: PlayerId(a), session: b },
            _ => return None,
        })
    }
}

impl std::fmt::Display for Suspect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Act { player, session, number } => {
                write!(f, "action {number} of {player} in session {session}")
            }
            Self::Letter(it) => write!(f, "letter {}:{}:{}", it.epoch.0, it.index, it.place),
            Self::Timer(it) => write!(f, "timer {}:{}:{}", it.epoch.0, it.index, it.place),
            Self::Think { object, version } => write!(f, "a thought of object {object}, version {version}"),
            Self::Join { player, session } => write!(f, "the entry of {player} in session {session}"),
            Self::Leave { player, session } => write!(f, "the leave of {player} in session {session}"),
        }
    }
}

/// A few suspects, the oldest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Suspects([Option<Suspect>; SUSPECTS_MAX]);

impl Suspects {
    /// No suspects.
    pub const NONE: Self = Self([None; SUSPECTS_MAX]);

    /// Adds a suspect, unless it is there. If there is no room, the oldest goes.
    pub fn add(&mut self, suspect: Suspect) {
        if self.has(&suspect) {
            return;
        }
        match self.0.iter_mut().find(|it| it.is_none()) {
            Some(free) => *free = Some(suspect),
            None => {
                self.0.rotate_left(1);
                self.0[SUSPECTS_MAX - 1] = Some(suspect);
            }
        }
    }

    /// Whether a call is a suspect.
    pub fn has(&self, suspect: &Suspect) -> bool {
        self.iter().any(|it| it == *suspect)
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }

    /// The suspects, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Suspect> {
        self.0.iter().copied().flatten()
    }
}

impl FromIterator<Suspect> for Suspects {
    fn from_iter<I: IntoIterator<Item = Suspect>>(suspects: I) -> Self {
        let mut it = Self::NONE;
        suspects.into_iter().for_each(|suspect| it.add(suspect));
        it
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { epoch: Epoch(3), index: 70_000_000_000, place: 5 };

    #[test]
    fn words_give_back_the_suspect() {
        let (player, session) = (PlayerId(u64::MAX), 9);
        let object = ObjectId { zone: ZoneId(u32::MAX), epoch: Epoch(7), counter: u32::MAX };
        for suspect in [
            Suspect::Act { player, session, number: 12 },
            Suspect::Letter(STAMP),
            Suspect::Timer(STAMP),
            Suspect::Think { object, version: 4 },
            Suspect::Join { player, session },
            Suspect::Leave { player, session },
        ] {
            assert_eq!(Suspect::from_words(suspect.to_words()), Some(suspect));
        }
        assert_eq!(Suspect::from_words([0; 4]), None);
    }

    #[test]
    fn the_oldest_suspect_goes_first() {
        let act = |number| Suspect::Act { player: PlayerId(1), session: 1, number };
        let mut it: Suspects = (0..SUSPECTS_MAX as u64).map(act).collect();
        it.add(act(3)); // There already.
        assert!(it.has(&act(0)));
        it.add(act(100));
        assert!(!it.has(&act(0)) && it.has(&act(1)) && it.has(&act(100)));
        assert_eq!(it.iter().count(), SUSPECTS_MAX);
    }
}
