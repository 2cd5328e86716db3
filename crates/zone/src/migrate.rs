//! Saved worlds outlive the shape of their states.

use crate::record::Index;
use crate::state::{Snapshot, State};
use crate::{Misfit, Record};
use game::{MigrateError, Rules};
use machine::disk::Recalled;
use serde_bytes::ByteBuf;
use space::ZoneId;
use thiserror::Error;

/// Why a saved world could not be brought up to date.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WorldError {
    /// The snapshot is no snapshot.
    #[error("the saved snapshot does not decode; start with --fresh, or from a copy")]
    Snapshot,
    /// A record is no record.
    #[error("record {0} does not decode; start with --fresh, or from a copy")]
    Record(Index),
    /// A record does not follow.
    #[error("the saved log does not fit together: {0}")]
    Misfit(#[from] Misfit),
    /// The game cannot read a state of that time.
    #[error(transparent)]
    Game(#[from] MigrateError),
}

/// Brings a saved world up to date with a game whose types have changed since: a snapshot that stands for everything
/// that was saved, with every object's state as today's game writes it. Letters and timers stay as they are; what
/// today's game cannot read of them is dropped when it is due, and told to the operator.
pub fn migrate(
    zone: ZoneId,
    saved: &Recalled,
    schema: u64,
    rules: &dyn Rules,
) -> Result<(Index, Vec<u8>), WorldError> {
    let mut snapshot = restored(zone, saved)?.snapshot();
    for object in &mut snapshot.objects {
        object.state = ByteBuf::from(rules.migrate(schema, &object.state)?);
    }
    let bytes = postcard::to_stdvec(&snapshot).expect("plain data encodes");
    Ok((snapshot.head, bytes))
}

fn restored(zone: ZoneId, saved: &Recalled) -> Result<State, WorldError> {
    let mut records = (saved.first..).zip(&saved.records);
    let mut state = match &saved.snapshot {
        Some((_, bytes)) => {
            let snapshot: Snapshot = postcard::from_bytes(bytes).map_err(|_| WorldError::Snapshot)?;
            State::from_snapshot(snapshot)
        }
        None => State::new(zone),
    };
    records.try_for_each(|(index, bytes)| {
        let record = Record::from_bytes(bytes).ok_or(WorldError::Record(index))?;
        Ok::<(), WorldError>(state.apply(&record)?)
    })?;
    Ok(state)
}
