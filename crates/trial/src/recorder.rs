//! Writes a simulated world down as its processes would if they were real: one file per life.

use crate::layout::HOSTS;
use crate::world::DIRECTORY;
use history::{Entry, Header, MemoryFile, MemoryFolder, NamedBytes, What, World};
use machine::Address;
use std::collections::BTreeMap;

/// The histories of a simulated world's processes.
pub struct Recorder {
    world: World,
    folder: MemoryFolder,
    /// The file of the life that each address is in.
    lives: BTreeMap<Address, MemoryFile>,
}

impl Recorder {
    /// A recorder of a world that hosts describe like this.
    pub fn new(world: World) -> Self {
        Self { world, folder: MemoryFolder::default(), lives: BTreeMap::new() }
    }

    /// Something happened. A process that is killed says nothing about it: its next life does, if there is one.
    pub fn take(&mut self, entry: &Entry) {
        match entry.what {
            What::Crashed => return,
            What::Started => self.begin(entry.by),
            _ => (),
        }
        if let Some(&file) = self.lives.get(&entry.by) {
            self.folder.write(file, entry);
        }
    }

    fn begin(&mut self, by: Address) {
        let (process, world) = match by {
            DIRECTORY => ("directory".to_owned(), None),
            by if by.0 < HOSTS as u64 => (format!("host-{}", by.0), Some(self.world.clone())),
            by => (format!("player-{}", by.0), None),
        };
        self.lives.insert(by, self.folder.begin(&Header { process, world }));
    }

    pub fn into_files(self) -> Vec<NamedBytes> {
        self.folder.into_files()
    }
}
