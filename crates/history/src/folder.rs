//! A folder of histories: the names of its files, and reading them.
//!
//! The folder holds one file per life of a process. Reading gives the lives in the order of the files'
//! names, and the damage of a file. It compares no two lives with each other: that is for the checkers.

use crate::format::{self, HistoryDamage, ProcessLife};
use std::io;
use std::path::{Path, PathBuf};

/// The extension of a history's file name.
pub const EXTENSION: &str = "history";

/// The name of the file for one life of a process. A life never continues the file of another: a process that finds
/// the name taken uses the next number.
pub fn file_name(process: &str, life: u32) -> String {
    format!("{process}.{life}.{EXTENSION}")
}

/// The reason why the histories of a folder cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The operating system refuses to read the folder or a file.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The folder or file that is refused.
        path: PathBuf,
        /// The reason of the operating system.
        error: io::Error,
    },
    /// The folder holds no history.
    #[error("there are no files *.{EXTENSION} in {}", .0.display())]
    Empty(PathBuf),
    /// The bytes of a file are not what a process writes.
    #[error("{file} is {damage}")]
    Damaged {
        /// The name of the damaged file.
        file: String,
        /// The place and kind of the damage.
        damage: HistoryDamage,
    },
}

/// A file's name and its bytes.
pub type NamedBytes = (String, Vec<u8>);

/// A file's name and the life that it records.
pub type NamedLife = (String, ProcessLife);

/// Reads all histories of a folder, in the order of their names.
pub fn read_folder(folder: &Path) -> Result<Vec<NamedLife>, FolderError> {
    let mut files = Vec::new();
    for found in std::fs::read_dir(folder).map_err(unreadable(folder))? {
        let path = found.map_err(unreadable(folder))?.path();
        // Other files may lie in the folder, too.
        if path.extension().is_some_and(|it| it == EXTENSION) {
            let bytes = std::fs::read(&path).map_err(unreadable(&path))?;
            files.push((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), bytes));
        }
    }
    if files.is_empty() {
        return Err(FolderError::Empty(folder.to_owned()));
    }
    read_files(files)
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    let path = path.to_owned();
    |error| FolderError::Unreadable { path, error }
}

/// Reads files with these names, in the order of their names.
pub fn read_files(mut files: Vec<NamedBytes>) -> Result<Vec<NamedLife>, FolderError> {
    // Why sorted: an operating system lists a folder in any order, and checkers need one.
    files.sort();
    let lives = files.into_iter().map(|(file, bytes)| match format::read(&bytes) {
        Ok(life) => Ok((file, life)),
        Err(damage) => Err(FolderError::Damaged { file, damage }),
    });
    lives.collect()
}
