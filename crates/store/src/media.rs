//! What the log needs of a disk: named files in one place, and the two kinds of sync.
//!
//! Two implementations: [`Files`](crate::Files), a folder, and [`Memory`](crate::Memory), which
//! crashes on cue.
//! Nothing is durable until synced: bytes by [`Media::sync`], names by [`Media::sync_names`]. Name changes
//! become durable in the order they were made.

use thiserror::Error;

/// Named files in one place.
///
/// A `&mut` of a medium is one too: a log opened on that leaves the disk behind when it is dropped.
pub trait Media {
    /// The names of all files, sorted.
    fn list(&self) -> Result<Vec<String>, MediaError>;

    /// The whole of a file, as last written, durable or not.
    fn read(&self, name: &str) -> Result<Vec<u8>, MediaError>;

    /// Makes an empty file. [`MediaError::Exists`] if there is one.
    fn create(&mut self, name: &str) -> Result<(), MediaError>;

    /// Writes behind the end of a file. After an error any part of `bytes` may be there.
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), MediaError>;

    /// Forgets what a file holds from `length` on.
    fn truncate(&mut self, name: &str, length: u64) -> Result<(), MediaError>;

    /// Makes what a file holds durable, not its name. After an error nobody knows what is durable, and asking
    /// again proves nothing: the system may have thrown the unwritten bytes away, still showing them.
    fn sync(&mut self, name: &str) -> Result<(), MediaError>;

    /// Gives a file another name; a file that had it is gone. At no instant is there neither.
    fn rename(&mut self, from: &str, to: &str) -> Result<(), MediaError>;

    /// Removes a file.
    fn remove(&mut self, name: &str) -> Result<(), MediaError>;

    /// Makes every name change durable.
    fn sync_names(&mut self) -> Result<(), MediaError>;
}

/// Why a disk did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MediaError {
    /// No room is left.
    #[error("the disk is full: free some space on it, then start again")]
    Full,
    /// There is no such file.
    #[error("the file {0} is missing: was it removed by hand?")]
    Missing(String),
    /// There is such a file already.
    #[error("the file {0} is there already: does another program write to this folder?")]
    Exists(String),
    /// Another process has the folder open.
    #[error("the folder {0} is in use by another process: stop that one first, or choose another folder")]
    Locked(String),
    /// Anything else: worn, torn away, forbidden.
    #[error("the disk failed at {file}: {reason}; check the disk, then start again")]
    Failed {
        /// The file or folder.
        file: String,
        /// What the system says.
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
