//! A folder of real files: the only I/O of this crate.
//!
//! One process at a time: the folder is locked while a [`Files`] lives, and the operating system releases the lock
//! when the process dies, however it dies.

use crate::{Media, MediaError};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The file that carries the lock. It stays empty, and is not one of the files listed.
const LOCK: &str = "lock";

/// A medium on real files: one locked folder.
#[derive(Debug)]
pub struct Files {
    folder: PathBuf,
    /// The file written last. Writes and syncs go through one handle, because an operating system
    /// that fails to write reports it only to handles that were open then.
    open: Option<(String, File)>,
    /// Holds the lock until dropped.
    _lock: File,
}

impl Files {
    /// Opens a folder, creates it if it is missing, and locks it.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, MediaError> {
        let folder = folder.into();
        make_folder(&folder).map_err(|error| explain(&folder, &error))?;
        let path = folder.join(LOCK);
        let options = OpenOptions::new().append(true).create(true).open(&path);
        let lock = options.map_err(|error| explain(&path, &error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { folder, open: None, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(MediaError::Locked(folder.display().to_string())),
            Err(TryLockError::Error(error)) => Err(explain(&path, &error)),
        }
    }

    /// The folder that holds the files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn handle(&mut self, name: &str) -> Result<&mut File, MediaError> {
        let kept = self.open.take().filter(|(open, _)| open == name);
        let (open, file) = match kept {
            Some(kept) => kept,
            None => {
                let path = self.folder.join(name);
                let opened = OpenOptions::new().append(true).open(&path);
                (name.to_owned(), opened.map_err(|error| explain(&path, &error))?)
            }
        };
        Ok(&mut self.open.insert((open, file)).1)
    }

    fn explained<T>(&self, name: &str, result: io::Result<T>) -> Result<T, MediaError> {
        result.map_err(|error| explain(&self.folder.join(name), &error))
    }
}

impl Media for Files {
    fn list(&self) -> Result<Vec<String>, MediaError> {
        let mut names = self.explained("", names_in(&self.folder))?;
        names.retain(|name| name != LOCK);
        names.sort_unstable();
        Ok(names)
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, MediaError> {
        self.explained(name, fs::read(self.folder.join(name)))
    }

    fn create(&mut self, name: &str) -> Result<(), MediaError> {
        let file = OpenOptions::new().append(true).create_new(true).open(self.folder.join(name));
        let file = self.explained(name, file)?;
        self.open = Some((name.to_owned(), file));
        Ok(())
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), MediaError> {
        let written = self.handle(name)?.write_all(bytes);
        self.explained(name, written)
    }

    fn truncate(&mut self, name: &str, length: u64) -> Result<(), MediaError> {
        let cut = self.handle(name)?.set_len(length);
        self.explained(name, cut)
    }

    fn sync(&mut self, name: &str) -> Result<(), MediaError> {
        // The length of a file is data: `fdatasync` writes it too.
        let synced = self.handle(name)?.sync_data();
        self.explained(name, synced)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), MediaError> {
        // The handle would follow the file to its new name, and `open` goes by name.
        self.open = None;
        let renamed = fs::rename(self.folder.join(from), self.folder.join(to));
        self.explained(from, renamed)
    }

    fn remove(&mut self, name: &str) -> Result<(), MediaError> {
        self.open = None;
        let removed = fs::remove_file(self.folder.join(name));
        self.explained(name, removed)
    }

    fn sync_names(&mut self) -> Result<(), MediaError> {
        self.explained("", sync_folder(&self.folder))
    }
}

/// The files in a folder. Sub-folders and names that are not Unicode are not ours.
fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            names.extend(entry.file_name().into_string());
        }
    }
    Ok(names)
}

/// Creates a folder and its parents. Each name is synced in its parent: a log in a folder that a
/// crash removes is no log.
fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    make_folder(above)?;
    match fs::create_dir(folder) {
        // `AlreadyExists`: another process may have created it since the check above.
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => sync_folder(above),
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn explain(path: &Path, error: &io::Error) -> MediaError {
    let file = path.display().to_string();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => MediaError::Full,
        ErrorKind::NotFound => MediaError::Missing(file),
        ErrorKind::AlreadyExists => MediaError::Exists(file),
        _ => MediaError::Failed { file, reason: error.to_string() },
    }
}
