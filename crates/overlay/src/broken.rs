//! The behaviour of a peer whose configuration breaks a rule. Only the tests of the checkers reach this code.

use crate::config::PeerConfig;
use crate::msg::OverlayMsg;
use crate::neighbours::Neighbours;
use crate::rule::OverlayRule;
use machine::Address;

/// Neighbours that a search considers while [`OverlayRule::SearchNearest`] is broken.
pub(crate) const SEARCHED: usize = 1;

/// Copies of a message that are counted as sent while [`OverlayRule::CountGreetings`] is broken.
pub(crate) const fn counted(msg: &OverlayMsg, copies: usize) -> usize {
    if matches!(msg, OverlayMsg::Hello { .. }) { 0 } else { copies }
}

/// Returns true for a relevant neighbour that the peer treats as irrelevant, while [`OverlayRule::KeepTouching`] or
/// [`OverlayRule::KeepVisible`] is broken.
pub(crate) fn overlooks(config: &PeerConfig, neighbours: &Neighbours, address: Address) -> bool {
    let (me, diagram) = (neighbours.local().info(), neighbours.diagram());
    let Some(place) = diagram.place(address) else { return false };
    match config.broken {
        // Why one in four: enough for the checker to notice, and few enough that the overlay stays in one piece.
        Some(OverlayRule::KeepTouching) => {
            address.0.is_multiple_of(4) && !me.position.is_within(config.reach(me.aoi), place)
        }
        Some(OverlayRule::KeepVisible) => !diagram.are_enclosing(me.address, address),
        _ => false,
    }
}
