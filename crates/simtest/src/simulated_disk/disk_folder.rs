//! A folder on a disk in memory that several folders share.

use std::cell::RefCell;
use std::rc::Rc;
use store::{Media, MediaError, MemoryDisk};

/// A folder: its files have its name before theirs on the disk.
#[derive(Debug)]
pub(super) struct DiskFolder {
    disk: Rc<RefCell<MemoryDisk>>,
    name: &'static str,
}

impl DiskFolder {
    pub(super) fn new(disk: Rc<RefCell<MemoryDisk>>, name: &'static str) -> Self {
        Self { disk, name }
    }

    fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.name)
    }
}

impl Media for DiskFolder {
    fn list(&self) -> Result<Vec<String>, MediaError> {
        let names = self.disk.borrow().list()?;
        let own = names.iter().filter_map(|it| it.strip_prefix(self.name)?.strip_prefix('/'));
        Ok(own.map(str::to_owned).collect())
    }
    fn read(&self, name: &str) -> Result<Vec<u8>, MediaError> {
        self.disk.borrow().read(&self.path(name))
    }
    fn create(&mut self, name: &str) -> Result<(), MediaError> {
        self.disk.borrow_mut().create(&self.path(name))
    }
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), MediaError> {
        self.disk.borrow_mut().append(&self.path(name), bytes)
    }
    fn truncate(&mut self, name: &str, length: u64) -> Result<(), MediaError> {
        self.disk.borrow_mut().truncate(&self.path(name), length)
    }
    fn sync(&mut self, name: &str) -> Result<(), MediaError> {
        self.disk.borrow_mut().sync(&self.path(name))
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), MediaError> {
        self.disk.borrow_mut().rename(&self.path(from), &self.path(to))
    }
    fn remove(&mut self, name: &str) -> Result<(), MediaError> {
        self.disk.borrow_mut().remove(&self.path(name))
    }
    fn sync_names(&mut self) -> Result<(), MediaError> {
        self.disk.borrow_mut().sync_names()
    }
}
