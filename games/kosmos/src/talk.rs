//! Talk, heard by players near.

use crate::action::{Notice, Refusal};
use crate::config::{EARSHOT, TEXT_MAX};
use crate::{KosmosTx, living_avatar};
use space::ObjectId;

/// Says something to all players in earshot.
pub(crate) fn say(tx: &mut KosmosTx<'_, '_>, actor: ObjectId, text: String) -> Result<(), Refusal> {
    living_avatar(tx, actor)?;
    if TEXT_MAX < text.len() {
        return Err(Refusal::TooLong);
    }
    let place = tx.position(actor).ok_or(Refusal::Gone)?;
    tx.notify_near(place, EARSHOT, &Notice::Said { who: actor, text });
    Ok(())
}
