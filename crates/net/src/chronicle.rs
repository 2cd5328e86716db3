//! A process's history: encoded entries in a file that nobody writes twice.
//!
//! Entries are handed to the operating system before anything they caused leaves the process (see
//! [`crate::cell::Owner::flush`]), so a process that is killed has told everything that anybody could know of it.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

/// A history that is being written, or nothing.
#[derive(Debug, Default)]
pub struct Chronicle {
    file: Option<File>,
    buffer: Vec<u8>,
}

impl Chronicle {
    /// Writes nothing.
    pub const fn off() -> Self {
        Self { file: None, buffer: Vec::new() }
    }

    /// Begins the next life of a process in a folder: `name` says what the file of a life is called.
    pub fn begin(folder: &Path, name: impl Fn(u32) -> String, header: &[u8]) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let mut life = 1;
        let mut file = loop {
            match OpenOptions::new().create_new(true).append(true).open(folder.join(name(life))) {
                Ok(file) => break file,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => life += 1,
                Err(error) => return Err(error),
            }
        };
        file.write_all(header)?;
        Ok(Self { file: Some(file), buffer: Vec::new() })
    }

    /// Whether anything is written.
    pub const fn is_on(&self) -> bool {
        self.file.is_some()
    }

    /// Adds an entry.
    pub fn note(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        if self.file.is_some() {
            encode(&mut self.buffer);
        }
    }

    /// Hands everything to the operating system.
    pub fn flush(&mut self) {
        if let Some(file) = &mut self.file
            && !self.buffer.is_empty()
        {
            if let Err(error) = file.write_all(&self.buffer) {
                tracing::error!(%error, "the history cannot be written, and ends here");
                self.file = None;
            }
            self.buffer.clear();
        }
    }
}
