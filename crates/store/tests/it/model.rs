//! The simplest correct store: a snapshot and a list of records. And the possible results of an interrupted change.

use machine::Ticket;
use machine::disk::{DiskContents, DiskRequest};
use store::{Log, Media, StoreError};

/// The expected contents of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogModel {
    pub snapshot: Option<(u64, Vec<u8>)>,
    /// The records after the snapshot.
    pub records: Vec<Vec<u8>>,
}

/// A change of a log.
#[derive(Clone, Debug)]
pub enum LogChange {
    Append(Vec<Vec<u8>>),
    /// Delete this many of the newest records.
    Cut(u64),
    /// Store a snapshot, this many records behind the end of the log or ahead of it.
    Keep(i64, Vec<u8>),
    /// Forget everything for a snapshot, this many records behind the end of the log or ahead of it.
    Replace(i64, Vec<u8>),
}

impl LogModel {
    pub fn base(&self) -> u64 {
        self.snapshot.as_ref().map_or(0, |(index, _)| *index)
    }

    pub fn next(&self) -> u64 {
        self.base() + 1 + self.records.len() as u64
    }

    /// Every possible result of `change` if it is interrupted; the last is the result if it is not.
    pub fn outcomes(&self, change: &LogChange) -> Vec<Self> {
        match change {
            LogChange::Append(records) => {
                (0..=records.len()).map(|kept| self.with(&records[..kept])).collect()
            }
            LogChange::Cut(_) => {
                let from = (self.cut_from(change) - self.base() - 1) as usize;
                (from..=self.records.len()).rev().map(|kept| self.cut_to(kept)).collect()
            }
            LogChange::Keep(_, snapshot) => vec![self.clone(), self.kept(self.keep_at(change), snapshot)],
            LogChange::Replace(ahead, snapshot) => {
                let snapshot = Some((self.replace_at(*ahead), snapshot.clone()));
                vec![self.clone(), Self { snapshot, records: Vec::new() }]
            }
        }
    }

    /// Makes the change on a real log.
    pub fn ask<M: Media>(&self, change: &LogChange, log: &mut Log<M>) -> Result<(), StoreError> {
        match change {
            LogChange::Append(records) => log.append(self.next(), records),
            LogChange::Cut(_) => log.cut(self.cut_from(change)),
            LogChange::Keep(_, snapshot) => log.keep(self.keep_at(change), snapshot),
            LogChange::Replace(ahead, snapshot) => log.replace(self.replace_at(*ahead), snapshot),
        }
    }

    /// The change as a request.
    pub fn request(&self, change: &LogChange, ticket: Ticket) -> DiskRequest {
        match change {
            LogChange::Append(records) => {
                DiskRequest::Append { ticket, first: self.next(), records: records.clone() }
            }
            LogChange::Cut(_) => DiskRequest::Cut { ticket, from: self.cut_from(change) },
            LogChange::Keep(_, snapshot) => {
                DiskRequest::Keep { ticket, index: self.keep_at(change), snapshot: snapshot.clone() }
            }
            LogChange::Replace(ahead, snapshot) => {
                DiskRequest::Replace { ticket, index: self.replace_at(*ahead), snapshot: snapshot.clone() }
            }
        }
    }

    fn with(&self, records: &[Vec<u8>]) -> Self {
        let mut longer = self.clone();
        longer.records.extend_from_slice(records);
        longer
    }

    fn cut_to(&self, kept: usize) -> Self {
        let mut shorter = self.clone();
        shorter.records.truncate(kept);
        shorter
    }

    fn kept(&self, index: u64, snapshot: &[u8]) -> Self {
        let covered = usize::try_from(index - self.base()).unwrap();
        let records = self.records.get(covered..).unwrap_or(&[]).to_vec();
        Self { snapshot: Some((index, snapshot.to_vec())), records }
    }

    fn cut_from(&self, change: &LogChange) -> u64 {
        let LogChange::Cut(count) = change else { panic!("not a cut") };
        self.next().saturating_sub(*count).max(self.base() + 1)
    }

    fn replace_at(&self, ahead: i64) -> u64 {
        (self.next() - 1).saturating_add_signed(ahead)
    }

    fn keep_at(&self, change: &LogChange) -> u64 {
        let LogChange::Keep(ahead, _) = change else { panic!("not a keep") };
        (self.next() - 1).saturating_add_signed(*ahead).max(self.base())
    }
}

impl From<DiskContents> for LogModel {
    fn from(recalled: DiskContents) -> Self {
        let model = Self { snapshot: recalled.snapshot, records: recalled.records };
        assert_eq!(recalled.first, model.base() + 1);
        model
    }
}
