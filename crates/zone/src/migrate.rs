//! Migration of a saved world to a game whose types have changed since.

use crate::record::Index;
use crate::zone_state::{StateSnapshot, ZoneState};
use crate::{ApplyError, Record};
use game::{HostedGame, MigrateError};
use machine::disk::DiskContents;
use serde_bytes::ByteBuf;
use space::ZoneId;
use thiserror::Error;

/// The reason why a saved world could not be migrated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SavedWorldError {
    /// The bytes of the snapshot do not decode.
    #[error("the saved snapshot does not decode; start with --fresh, or from a copy")]
    Snapshot,
    /// The bytes of a record do not decode.
    #[error("record {0} does not decode; start with --fresh, or from a copy")]
    Record(Index),
    /// A record does not follow from those before it.
    #[error("the saved log does not fit together: {0}")]
    Apply(#[from] ApplyError),
    /// The game cannot migrate a state of that time.
    #[error(transparent)]
    Game(#[from] MigrateError),
}

/// Migrates a saved world: returns a snapshot that stands for everything that was saved, with every object's state as
/// today's game writes it, and the number of its last record. Letters and timers stay as they are; those that today's
/// game cannot read are dropped when they are due, and reported to the operator.
pub fn migrate(
    zone: ZoneId,
    saved: &DiskContents,
    schema: u64,
    rules: &dyn HostedGame,
) -> Result<(Index, Vec<u8>), SavedWorldError> {
    let mut snapshot = restored(zone, saved)?.snapshot();
    for object in &mut snapshot.objects {
        object.state = ByteBuf::from(rules.migrate(schema, &object.state)?);
    }
    let bytes = postcard::to_stdvec(&snapshot).expect("plain data encodes");
    Ok((snapshot.head, bytes))
}

fn restored(zone: ZoneId, saved: &DiskContents) -> Result<ZoneState, SavedWorldError> {
    let mut records = (saved.first..).zip(&saved.records);
    let mut state = match &saved.snapshot {
        Some((_, bytes)) => {
            let snapshot: StateSnapshot =
                postcard::from_bytes(bytes).map_err(|_| SavedWorldError::Snapshot)?;
            ZoneState::from_snapshot(snapshot)
        }
        None => ZoneState::new(zone),
    };
    records.try_for_each(|(index, bytes)| {
        let record = Record::from_bytes(bytes).ok_or(SavedWorldError::Record(index))?;
        Ok::<(), SavedWorldError>(state.apply(&record)?)
    })?;
    Ok(state)
}
