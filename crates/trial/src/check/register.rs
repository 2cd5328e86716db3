//! Who was born in a zone and lives, as far as its records say: the zone of birth hears of every new owner, and of the end.

use game::Addressee;
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{Being, Change};

/// The last word of somebody: of which incarnation, and whether they live. Words come from several zones, so a later
/// one may be older.
#[derive(Clone, Copy)]
struct Word {
    incarnation: u32,
    lives: bool,
}

/// The births of a zone.
pub(super) struct Register {
    zone: ZoneId,
    words: BTreeMap<ObjectId, Word>,
}

impl Register {
    pub(super) const fn of(zone: ZoneId) -> Self {
        Self { zone, words: BTreeMap::new() }
    }

    /// Takes in a change that the zone wrote.
    pub(super) fn hear(&mut self, change: &Change) {
        let (object, incarnation, lives) = match *change {
            Change::Put { object, incarnation, .. } | Change::Departed { object, incarnation, .. } => {
                (object, incarnation, true)
            }
            Change::Lives { being: Being::Object(object), zone, incarnation } => {
                (object, incarnation, zone.is_some())
            }
            Change::Removed { object, .. } => {
                (object, self.words.get(&object).map_or(0, |it| it.incarnation), false)
            }
            _ => return,
        };
        let word = Word { incarnation, lives };
        let known = self.words.entry(object).or_insert(word);
        if known.incarnation <= incarnation {
            *known = word;
        }
    }

    /// Whether the zone knows for sure that an addressee is nobody. Only somebody's zone of birth can: of others it has
    /// only heard.
    pub(super) fn is_nobody(&self, to: &Addressee) -> bool {
        let Addressee::Object(object) = to else { return false };
        *object != game::WORLD
            && object.zone == self.zone
            && self.words.get(object).is_none_or(|it| !it.lives)
    }
}
