//! A zone's entry in the directory: which replica leads the zone. Changed by compare-and-swap only, each change a new
//! epoch.

use crate::suspect::{SUSPECTS_MAX, Suspect, Suspects};
use machine::Address;
use machine::directory::Key;
use serde::{Deserialize, Serialize};
use space::{Epoch, ZoneId};

/// The directory's entry for a zone: epoch, primary and backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Leadership {
    /// Term of leadership, 1 for the first. Rises by one with every change of primary or backup.
    pub epoch: Epoch,
    /// The replica that decides in this epoch.
    pub primary: Address,
    /// The replica that must acknowledge each record. `None` while the primary is alone.
    pub backup: Option<Address>,
    /// Calls of the game that did not come back: a primary answers them as faults.
    #[serde(skip)] // Written behind the rest, see `to_bytes`.
    pub suspects: Suspects,
}

impl Leadership {
    /// The first leadership of a new world: epoch 1, without a backup.
    pub const fn first(primary: Address) -> Self {
        Self { epoch: Epoch(1), primary, backup: None, suspects: Suspects::NONE }
    }

    /// The leadership that a swap puts in place of this one.
    pub const fn next(self, primary: Address, backup: Option<Address>) -> Self {
        Self { epoch: Epoch(self.epoch.0 + 1), primary, backup, suspects: self.suspects }
    }

    /// The same leadership with one more suspect: no new epoch, for primary and backup stay.
    pub fn accusing(mut self, suspect: Suspect) -> Self {
        self.suspects.add(suspect);
        self
    }

    /// Encodes the leadership for the directory. The suspects follow the rest, if there are any: an entry without them is as
    /// it was before there were suspects.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = postcard::to_stdvec(&self).expect("plain data encodes");
        if !self.suspects.is_empty() {
            let suspects: Vec<_> = self.suspects.iter().collect();
            bytes.extend(postcard::to_stdvec(&suspects).expect("plain data encodes"));
        }
        bytes
    }

    /// Decodes the leadership from the directory. `None` if the entry is empty or something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (mut leadership, rest) = postcard::take_from_bytes::<Self>(bytes).ok()?;
        if !rest.is_empty() {
            let suspects: Vec<Suspect> = postcard::from_bytes(rest).ok()?;
            leadership.suspects = suspects.into_iter().take(SUSPECTS_MAX).collect();
        }
        Some(leadership)
    }
}

/// The directory's key for the leadership of a zone.
pub fn leadership_key(zone: ZoneId) -> Key {
    Key(format!("zone/{}", zone.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::PlayerId;

    #[test]
    fn an_entry_without_suspects_is_as_it_was() {
        // Written by the version before suspects: epoch 300, primary 9, backup 7.
        let old = [0xac, 0x02, 9, 1, 7];
        let read = Leadership::from_bytes(&old).unwrap();
        assert_eq!((read.epoch, read.primary, read.backup), (Epoch(300), Address(9), Some(Address(7))));
        assert!(read.suspects.is_empty());
        assert_eq!(read.to_bytes(), old);
    }

    #[test]
    fn suspects_stay_through_swaps() {
        let suspect = Suspect::Act { player: PlayerId(5), session: 77, number: 12 };
        let entry = Leadership::first(Address(1)).accusing(suspect);
        assert_eq!(entry.epoch, Epoch(1));
        let next = Leadership::from_bytes(&entry.to_bytes()).unwrap().next(Address(2), None);
        assert_eq!(next, Leadership::from_bytes(&next.to_bytes()).unwrap());
        assert!(next.suspects.has(&suspect));
        assert_eq!(Leadership::from_bytes(&[1, 1, 0, 3]), None, "a list that is cut off");
    }
}
