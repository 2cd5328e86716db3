//! Writes histories of a simulated world as its processes would if they were real: one file per life.

use crate::layout::HOSTS;
use crate::simulated_world::DIRECTORY;
use history::{Entry, EntryKind, Header, MemoryFile, MemoryFolder, NamedBytes, WorldHeader};
use machine::Address;
use std::collections::BTreeMap;

/// Histories of a simulated world's processes.
pub struct HistoryRecorder {
    world: WorldHeader,
    folder: MemoryFolder,
    /// The file of each address's present life.
    lives: BTreeMap<Address, MemoryFile>,
}

impl HistoryRecorder {
    /// A recorder for hosts that describe their world like this.
    pub fn new(world: WorldHeader) -> Self {
        Self { world, folder: MemoryFolder::default(), lives: BTreeMap::new() }
    }

    /// Writes an entry. A process that is killed writes nothing about it: its next life shows it, if there is one.
    pub fn take(&mut self, entry: &Entry) {
        match entry.what {
            EntryKind::Crashed => return,
            EntryKind::Started => self.begin(entry.by),
            _ => (),
        }
        if let Some(&file) = self.lives.get(&entry.by) {
            self.folder.write(file, entry);
        }
    }

    fn begin(&mut self, by: Address) {
        let (process, world) = match by {
            DIRECTORY => ("directory".to_owned(), None),
            // A recorded world has one zone, so the addresses of its replicas are the numbers of hosts.
            by if by.0 < HOSTS as u64 => (format!("host-{}", by.0), Some(self.world.clone())),
            by => (format!("player-{}", by.0), None),
        };
        self.lives.insert(by, self.folder.begin(&Header { process, world }));
    }

    pub fn into_files(self) -> Vec<NamedBytes> {
        self.folder.into_files()
    }
}
