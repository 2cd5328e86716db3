//! Writing: the file of a process's life, and a folder in memory for simulated processes.

use crate::entry::{Entry, EntryKind};
use crate::folder::{NamedBytes, file_name};
use crate::format::{self, Header};
use machine::{Address, Time};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A clock: gives the present time. All processes of one computer must use the same one.
pub type HistoryClock = fn() -> Time;

/// Writes the history of one life of a process. Clones write to the same file; the default writes nothing.
///
/// An entry is buffered by [`HistoryWriter::note`] and reaches the operating system with the next
/// [`HistoryWriter::flush`]. The owner of a machine flushes before a consequence of an entry leaves the process, so a
/// process that is killed has written everything that another process can know of it. Nothing is synced: the
/// computer on which the processes run is not expected to fail.
#[derive(Clone, Debug, Default)]
pub struct HistoryWriter(Option<Arc<SharedFile>>);

#[derive(Debug)]
struct SharedFile {
    clock: HistoryClock,
    output: Mutex<HistoryFile>,
}

#[derive(Debug)]
struct HistoryFile {
    /// `None` after the operating system refused to write: the history ends there.
    file: Option<File>,
    buffer: Vec<u8>,
}

impl HistoryWriter {
    /// Begins the next life of the header's process in a folder; without a folder nothing is written.
    pub fn begin(folder: Option<&Path>, header: &Header, clock: HistoryClock) -> io::Result<Self> {
        let Some(folder) = folder else { return Ok(Self::default()) };
        std::fs::create_dir_all(folder)?;
        let mut file = create_next(folder, &header.process)?;
        // Not buffered: also a process that never flushes leaves a readable file.
        file.write_all(&format::header(header))?;
        let output = Mutex::new(HistoryFile { file: Some(file), buffer: Vec::new() });
        Ok(Self(Some(Arc::new(SharedFile { clock, output }))))
    }

    /// True if entries are written.
    pub fn is_on(&self) -> bool {
        self.0.as_ref().is_some_and(|it| it.lock().file.is_some())
    }

    /// Adds an entry that happens now. It is written with the next [`HistoryWriter::flush`].
    pub fn note(&self, by: Address, what: EntryKind) {
        let Some(shared) = &self.0 else { return };
        let mut output = shared.lock();
        if output.file.is_some() {
            // The time is taken while the output is locked: times in a file never fall.
            let entry = Entry { time: (shared.clock)(), by, what };
            format::encode(&entry, &mut output.buffer);
        }
    }

    /// Hands all noted entries to the operating system.
    pub fn flush(&self) {
        if let Some(shared) = &self.0 {
            shared.lock().flush();
        }
    }

    /// Adds an entry that happens now, and hands it to the operating system.
    pub fn write(&self, by: Address, what: EntryKind) {
        self.note(by, what);
        self.flush();
    }
}

impl SharedFile {
    fn lock(&self) -> MutexGuard<'_, HistoryFile> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HistoryFile {
    fn flush(&mut self) {
        if let Some(file) = &mut self.file
            && !self.buffer.is_empty()
        {
            if let Err(error) = file.write_all(&self.buffer) {
                // Why not retried: a part may be written already, and a repeated entry would be damage.
                tracing::error!(%error, "the history cannot be written, and ends here");
                self.file = None;
            }
            self.buffer.clear();
        }
    }
}

/// Creates the file of a process's next life: the first whose name is free.
fn create_next(folder: &Path, process: &str) -> io::Result<File> {
    let mut life = 1;
    loop {
        let path = folder.join(file_name(process, life));
        // Why `create_new`: two processes that start at once must not share a file.
        match OpenOptions::new().create_new(true).append(true).open(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => life += 1,
            opened => return opened,
        }
    }
}

/// A folder in memory, for simulated processes: the same names and bytes that real ones would write.
#[derive(Debug, Default)]
pub struct MemoryFolder {
    files: Vec<NamedBytes>,
    /// The number of the last life of every process.
    lives: BTreeMap<String, u32>,
}

/// A file of a [`MemoryFolder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryFile(usize);

impl MemoryFolder {
    /// Begins the next life of the header's process.
    pub fn begin(&mut self, header: &Header) -> MemoryFile {
        let life = self.lives.entry(header.process.clone()).or_default();
        *life += 1;
        self.files.push((file_name(&header.process, *life), format::header(header)));
        MemoryFile(self.files.len() - 1)
    }

    /// Adds an entry to a file of this folder.
    pub fn write(&mut self, file: MemoryFile, entry: &Entry) {
        format::encode(entry, &mut self.files[file.0].1);
    }

    /// All files, in the order in which they were begun.
    pub fn into_files(self) -> Vec<NamedBytes> {
        self.files
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::{FolderError, read_files, read_folder};
    use std::path::PathBuf;

    const BY: Address = Address(7);

    fn clock() -> Time {
        Time::from_millis(5)
    }

    /// A folder for one test only, not created yet.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("ecumene-history-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    fn entry(what: EntryKind) -> Entry {
        Entry { time: clock(), by: BY, what }
    }

    #[test]
    fn every_life_has_a_file_and_clones_share_it() {
        let folder = folder("lives");
        let begin = || HistoryWriter::begin(Some(&folder), &Header::of("bots"), clock).unwrap();
        begin().write(BY, EntryKind::Started);
        let second = begin();
        second.note(BY, EntryKind::Started);
        second.clone().write(BY, EntryKind::Stopped);
        let lives = read_folder(&folder).unwrap();
        let names: Vec<_> = lives.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(names, ["bots.1.history", "bots.2.history"]);
        assert_eq!(lives[0].1.entries, [entry(EntryKind::Started)]);
        assert_eq!(lives[1].1.entries, [entry(EntryKind::Started), entry(EntryKind::Stopped)]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn entries_are_in_the_file_once_they_are_flushed() {
        let folder = folder("flushed");
        let writer = HistoryWriter::begin(Some(&folder), &Header::of("bots"), clock).unwrap();
        let count = || read_folder(&folder).unwrap()[0].1.entries.len();
        writer.note(BY, EntryKind::Started);
        assert_eq!(count(), 0);
        writer.flush();
        writer.flush();
        assert_eq!(count(), 1);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn without_a_folder_nothing_is_written() {
        let off = HistoryWriter::begin(None, &Header::of("bots"), || panic!("no time is needed")).unwrap();
        off.write(BY, EntryKind::Started);
        assert!(!off.is_on() && !HistoryWriter::default().is_on());
    }

    #[test]
    fn a_folder_in_memory_holds_the_bytes_of_a_real_one() {
        let real = folder("memory");
        let mut memory = MemoryFolder::default();
        for _ in 0..2 {
            let header = Header::of("bots");
            HistoryWriter::begin(Some(&real), &header, clock).unwrap().write(BY, EntryKind::Started);
            let file = memory.begin(&header);
            memory.write(file, &entry(EntryKind::Started));
        }
        let files = memory.into_files();
        assert!(files.iter().all(|(name, bytes)| std::fs::read(real.join(name)).unwrap() == *bytes));
        assert_eq!(read_files(files).unwrap(), read_folder(&real).unwrap());
        std::fs::remove_dir_all(real).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_read_says_why() {
        let folder = folder("errors");
        let error = || read_folder(&folder).unwrap_err().to_string();
        assert!(error().starts_with("cannot read "), "{}", error());
        std::fs::create_dir_all(&folder).unwrap();
        assert!(error().starts_with("there are no files *.history in "), "{}", error());
        std::fs::write(folder.join("a.1.history"), "a letter").unwrap();
        assert_eq!(error(), "a.1.history is damaged at byte 0: this is no history");
        assert!(matches!(read_folder(&folder), Err(FolderError::Damaged { .. })));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
