//! A temporary folder for the world of a benchmark.

use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A new folder, removed when this is dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes a new folder in the system's temporary folder.
    pub fn new() -> Result<Self> {
        // Several worlds may exist at once in one process, as in tests.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ecumene-bench-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a configuration file into the folder and returns its path.
    pub fn configure(&self, text: &str) -> Result<PathBuf> {
        let path = self.0.join("bench.toml");
        std::fs::write(&path, text)?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
