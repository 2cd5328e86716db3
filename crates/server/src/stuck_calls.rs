//! The note of a host about calls of the game that did not come back: a small file in its folder, which outlives the process.

use crate::quarantine::FORGOTTEN_AFTER;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use zone::{Suspect, Suspects};

/// The most calls that the file names; older ones are dropped.
const CALLS_MAX: usize = 64;

/// A call of the game that did not come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuckCall {
    /// The zone whose primary called the game.
    pub zone: u32,
    /// Seconds since 1970.
    pub at: u64,
    /// The piece of work; `None` if nothing was executed.
    pub work: Option<Suspect>,
}

/// The file with the calls that did not come back on this host.
#[derive(Clone, Debug)]
pub struct StuckCalls {
    path: PathBuf,
    calls: Vec<StuckCall>,
}

impl StuckCalls {
    /// Reads the file in a host's folder. What does not decode is forgotten: the directory names the suspects, too.
    pub fn read(folder: &Path) -> Self {
        let path = folder.join("stuck-calls");
        let calls = fs::read(&path).map_or_else(
            |_| Vec::new(),
            |bytes| {
                postcard::from_bytes(&bytes).unwrap_or_else(|error| {
                    tracing::warn!(%error, path = %path.display(), "the note of calls that did not come back is unreadable");
                    Vec::new()
                })
            },
        );
        Self { path, calls }
    }

    /// Adds a call, and writes the file to disk.
    pub fn add(&mut self, zone: u32, work: Option<Suspect>) -> anyhow::Result<()> {
        self.calls.push(StuckCall { zone, at: now(), work });
        self.calls.drain(..self.calls.len().saturating_sub(CALLS_MAX));
        self.write().with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn write(&self) -> anyhow::Result<()> {
        // Beside it and then in its place, so that a crash leaves the old file or the new one.
        let beside = self.path.with_extension("new");
        let mut file = File::create(&beside)?;
        file.write_all(&postcard::to_stdvec(&self.calls)?)?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)?;
        Ok(())
    }

    /// The calls of a zone that its primary must not execute.
    pub fn suspects(&self, zone: u32) -> Suspects {
        self.calls.iter().filter(|it| it.zone == zone).filter_map(|it| it.work).collect()
    }

    /// How often a zone's calls did not come back lately.
    pub fn failures(&self, zone: u32) -> u32 {
        let since = now().saturating_sub(FORGOTTEN_AFTER.as_secs());
        self.calls.iter().filter(|it| it.zone == zone && since <= it.at).count() as u32
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_directory::TestFolder;
    use game::PlayerId;

    #[test]
    fn a_host_that_starts_again_knows_what_it_must_not_execute() {
        let folder = TestFolder::new("stuck-calls");
        let suspect = Suspect::Act { player: PlayerId(3), session: 8, number: 5 };
        let mut calls = StuckCalls::read(&folder.0);
        assert!(calls.suspects(1).is_empty());
        calls.add(1, Some(suspect)).unwrap();
        calls.add(1, None).unwrap();
        let again = StuckCalls::read(&folder.0);
        assert!(again.suspects(1).has(&suspect) && again.suspects(2).is_empty());
        assert_eq!((again.failures(1), again.failures(2)), (2, 0));
    }

    #[test]
    fn an_unreadable_note_is_no_reason_not_to_start() {
        let folder = TestFolder::new("stuck-calls-damaged");
        fs::write(folder.0.join("stuck-calls"), [0xff; 9]).unwrap();
        assert!(StuckCalls::read(&folder.0).suspects(1).is_empty());
    }

    #[test]
    fn the_note_stays_small() {
        let folder = TestFolder::new("stuck-calls-many");
        let mut calls = StuckCalls::read(&folder.0);
        for _ in 0..CALLS_MAX + 5 {
            calls.add(1, None).unwrap();
        }
        assert_eq!(StuckCalls::read(&folder.0).calls.len(), CALLS_MAX);
    }
}
