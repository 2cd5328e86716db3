//! Talk, heard by those near.

use crate::action::{Notice, Refusal};
use crate::config::{EARSHOT, TEXT_MAX};
use crate::{Tx, living};
use space::ObjectId;

/// Says something to everybody in earshot.
pub(crate) fn say(tx: &mut Tx<'_, '_>, actor: ObjectId, text: String) -> Result<(), Refusal> {
    living(tx, actor)?;
    if TEXT_MAX < text.len() {
        return Err(Refusal::TooLong);
    }
    let place = tx.position(actor).ok_or(Refusal::Gone)?;
    tx.notify_near(place, EARSHOT, &Notice::Said { who: actor, text });
    Ok(())
}
