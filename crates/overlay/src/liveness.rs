//! Liveness of neighbours: silent ones are pinged, and those that stay silent are taken for gone.

use crate::context::PeerContext;
use crate::neighbours::Neighbours;
use crate::rule::OverlayRule;
use machine::Address;

/// Silent neighbours, by what must be done about them.
#[must_use]
#[derive(Default)]
pub(crate) struct SilentNeighbours {
    /// Neighbours that are taken for gone.
    pub gone: Vec<Address>,
    /// Neighbours that must be pinged.
    pub to_ping: Vec<Address>,
    /// Neighbours that have not answered a greeting and must be greeted again.
    pub to_greet: Vec<Address>,
}

/// Finds the silent neighbours of the local peer.
pub(crate) fn find_silent(neighbours: &mut Neighbours, ctx: &PeerContext) -> SilentNeighbours {
    let (now, config) = (ctx.now(), ctx.config());
    let mut silent = SilentNeighbours::default();
    for (address, it) in neighbours.iter_mut() {
        if it.life_signs.is_silent(now, config.silent) && ctx.enforces(OverlayRule::RemoveSilent) {
            silent.gone.push(address);
        } else if it.life_signs.take_ping(now, config.ping_after) {
            silent.to_ping.push(address);
        } else if it.link.is_unanswered(now) {
            silent.to_greet.push(address);
        }
    }
    silent
}
