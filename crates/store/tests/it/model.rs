//! The dullest correct store: a snapshot and a list of records. And what an interrupted change may leave.

use machine::disk::Recalled;
use store::{Log, Media, StoreError};

/// What a log should hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    pub snapshot: Option<(u64, Vec<u8>)>,
    /// The records after the snapshot.
    pub records: Vec<Vec<u8>>,
}

/// A change of a log.
#[derive(Clone, Debug)]
pub enum Change {
    Append(Vec<Vec<u8>>),
    /// Forget this many of the newest records.
    Cut(u64),
    /// Keep a snapshot, this many records behind the end of the log or ahead of it.
    Keep(i64, Vec<u8>),
}

impl Model {
    pub fn base(&self) -> u64 {
        self.snapshot.as_ref().map_or(0, |(index, _)| *index)
    }

    pub fn next(&self) -> u64 {
        self.base() + 1 + self.records.len() as u64
    }

    /// Everything that `change` may leave if it is interrupted; the last is what it leaves if it is not.
    pub fn outcomes(&self, change: &Change) -> Vec<Self> {
        match change {
            Change::Append(records) => (0..=records.len()).map(|kept| self.with(&records[..kept])).collect(),
            Change::Cut(_) => {
                let from = (self.cut_from(change) - self.base() - 1) as usize;
                (from..=self.records.len()).rev().map(|kept| self.cut_to(kept)).collect()
            }
            Change::Keep(_, snapshot) => vec![self.clone(), self.kept(self.keep_at(change), snapshot)],
        }
    }

    /// Asks a log for the change.
    pub fn ask<M: Media>(&self, change: &Change, log: &mut Log<M>) -> Result<(), StoreError> {
        match change {
            Change::Append(records) => log.append(self.next(), records),
            Change::Cut(_) => log.cut(self.cut_from(change)),
            Change::Keep(_, snapshot) => log.keep(self.keep_at(change), snapshot),
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

    fn cut_from(&self, change: &Change) -> u64 {
        let Change::Cut(count) = change else { panic!("not a cut") };
        self.next().saturating_sub(*count).max(self.base() + 1)
    }

    fn keep_at(&self, change: &Change) -> u64 {
        let Change::Keep(ahead, _) = change else { panic!("not a keep") };
        (self.next() - 1).saturating_add_signed(*ahead).max(self.base())
    }
}

impl From<Recalled> for Model {
    fn from(recalled: Recalled) -> Self {
        let model = Self { snapshot: recalled.snapshot, records: recalled.records };
        assert_eq!(recalled.first, model.base() + 1);
        model
    }
}
