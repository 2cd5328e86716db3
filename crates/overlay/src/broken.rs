//! What a peer does instead of following a rule that its configuration breaks. Only tests of the checkers get here.

use crate::config::Config;
use crate::msg::Msg;
use crate::neighbours::Neighbours;
use crate::rule::Rule;
use machine::Address;

/// With [`Rule::SearchNearest`] broken, a search looks at so many neighbours only.
pub(crate) const SEARCHED: usize = 1;

/// With [`Rule::CountGreetings`] broken, so many of these copies are counted as sent.
pub(crate) const fn counted(msg: &Msg, copies: usize) -> usize {
    if matches!(msg, Msg::Hello { .. }) { 0 } else { copies }
}

/// With [`Rule::KeepTouching`] or [`Rule::KeepVisible`] broken, whether a neighbour that matters is taken for one that does not.
pub(crate) fn overlooks(config: &Config, neighbours: &Neighbours, address: Address) -> bool {
    let (me, diagram) = (neighbours.local().info(), neighbours.diagram());
    let Some(place) = diagram.place(address) else { return false };
    match config.broken {
        // One in four is enough to be noticed, and the overlay still hangs together.
        Some(Rule::KeepTouching) => {
            address.0.is_multiple_of(4) && !me.position.is_within(config.reach(me.aoi), place)
        }
        Some(Rule::KeepVisible) => !diagram.are_enclosing(me.address, address),
        _ => false,
    }
}
