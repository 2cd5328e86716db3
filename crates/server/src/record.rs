//! What a server writes down about itself, for `ecumene check`.

use history::{Entry, Header, What, file_name};
use machine::Address;
use net::chronicle::Chronicle;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A server's history, shared by its threads.
#[derive(Clone, Default)]
pub struct Book(Arc<Mutex<Chronicle>>);

impl Book {
    /// Begins the next life of a process in a folder; without a folder nothing is written.
    pub fn begin(folder: Option<&Path>, header: &Header) -> anyhow::Result<Self> {
        let Some(folder) = folder else { return Ok(Self::default()) };
        let name = |life| file_name(&header.process, life);
        let chronicle = Chronicle::begin(folder, name, &history::header(header))?;
        Ok(Self(Arc::new(Mutex::new(chronicle))))
    }

    fn chronicle(&self) -> MutexGuard<'_, Chronicle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether anything is written.
    pub fn is_on(&self) -> bool {
        self.chronicle().is_on()
    }

    /// Something happened just now. It is written with the next [`Book::flush`].
    pub fn note(&self, by: Address, what: What) {
        // The time is taken while the book is held: its entries are in order.
        self.chronicle().note(|out| history::encode(&Entry { time: net::clock::now(), by, what }, out));
    }

    /// Something happened, and is written at once.
    pub fn write(&self, by: Address, what: What) {
        self.note(by, what);
        self.flush();
    }

    /// Writes what was noted.
    pub fn flush(&self) {
        self.chronicle().flush();
    }
}
