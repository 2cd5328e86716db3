//! A disk with a planted bug, to prove that the tests of durability can fail.

use store::{Media, MediaError, MemoryDisk};

/// A disk that may leave out every sync.
#[derive(Debug)]
pub struct UnsyncedDisk {
    pub memory: MemoryDisk,
    pub forgets_syncs: bool,
}

impl Media for UnsyncedDisk {
    fn list(&self) -> Result<Vec<String>, MediaError> {
        self.memory.list()
    }
    fn read(&self, name: &str) -> Result<Vec<u8>, MediaError> {
        self.memory.read(name)
    }
    fn create(&mut self, name: &str) -> Result<(), MediaError> {
        self.memory.create(name)
    }
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), MediaError> {
        self.memory.append(name, bytes)
    }
    fn truncate(&mut self, name: &str, length: u64) -> Result<(), MediaError> {
        self.memory.truncate(name, length)
    }
    fn sync(&mut self, name: &str) -> Result<(), MediaError> {
        if self.forgets_syncs { Ok(()) } else { self.memory.sync(name) }
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), MediaError> {
        self.memory.rename(from, to)
    }
    fn remove(&mut self, name: &str) -> Result<(), MediaError> {
        self.memory.remove(name)
    }
    fn sync_names(&mut self) -> Result<(), MediaError> {
        self.memory.sync_names()
    }
}
