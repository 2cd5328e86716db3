//! The log's view of a disk: named files in one place, and the two kinds of sync.
//!
//! Two implementations: [`Files`](crate::Files), a folder, and [`MemoryDisk`](crate::MemoryDisk), which
//! crashes on command.
//! Nothing is durable until synced: bytes by [`Media::sync`], names by [`Media::sync_names`]. Name changes
//! become durable in the order they were made.

use thiserror::Error;

/// A medium: named files in one place.
///
/// A `&mut` of a medium is a medium, too: a log opened on one leaves the disk behind when it is dropped.
pub trait Media {
    /// The names of all files, sorted.
    fn list(&self) -> Result<Vec<String>, MediaError>;

    /// The whole contents of a file as last written, durable or not.
    fn read(&self, name: &str) -> Result<Vec<u8>, MediaError>;

    /// Creates an empty file. [`MediaError::Exists`] if there is one with that name.
    fn create(&mut self, name: &str) -> Result<(), MediaError>;

    /// Appends `bytes` to a file. After an error any part of `bytes` may be there.
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), MediaError>;

    /// Deletes the bytes of a file from `length` on.
    fn truncate(&mut self, name: &str, length: u64) -> Result<(), MediaError>;

    /// Makes the contents of a file durable, not its name. After an error the durable contents are unknown, and a
    /// second sync proves nothing: the operating system may have dropped the unwritten bytes and still show them.
    fn sync(&mut self, name: &str) -> Result<(), MediaError>;

    /// Gives a file another name, replacing a file that had it. At every instant one of the two names exists.
    fn rename(&mut self, from: &str, to: &str) -> Result<(), MediaError>;

    /// Removes a file by its name.
    fn remove(&mut self, name: &str) -> Result<(), MediaError>;

    /// Makes every name change durable.
    fn sync_names(&mut self) -> Result<(), MediaError>;
}

/// The reason why a disk did not carry out an operation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MediaError {
    /// No space is left on the disk.
    #[error("the disk is full: free some space on it, then start again")]
    Full,
    /// There is no file of this name.
    #[error("the file {0} is missing: was it removed by hand?")]
    Missing(String),
    /// There is a file of this name already.
    #[error("the file {0} is there already: does another program write to this folder?")]
    Exists(String),
    /// Another process has the folder open.
    #[error("the folder {0} is in use by another process: stop that one first, or choose another folder")]
    Locked(String),
    /// Any other failure: worn, torn away, forbidden.
    #[error("the disk failed at {file}: {reason}; check the disk, then start again")]
    Failed {
        /// The file or folder concerned.
        file: String,
        /// The reason of the operating system.
        reason: String,
    },
}

impl<M: Media + ?Sized> Media for &mut M {
    fn list(&self) -> Result<Vec<String>, MediaError> {
        (**self).list()
    }
    fn read(&self, name: &str) -> Result<Vec<u8>, MediaError> {
        (**self).read(name)
    }
    fn create(&mut self, name: &str) -> Result<(), MediaError> {
        (**self).create(name)
    }
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), MediaError> {
        (**self).append(name, bytes)
    }
    fn truncate(&mut self, name: &str, length: u64) -> Result<(), MediaError> {
        (**self).truncate(name, length)
    }
    fn sync(&mut self, name: &str) -> Result<(), MediaError> {
        (**self).sync(name)
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), MediaError> {
        (**self).rename(from, to)
    }
    fn remove(&mut self, name: &str) -> Result<(), MediaError> {
        (**self).remove(name)
    }
    fn sync_names(&mut self) -> Result<(), MediaError> {
        (**self).sync_names()
    }
}
