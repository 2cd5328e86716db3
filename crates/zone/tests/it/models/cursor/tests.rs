//! What holds, and which rule each property needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

const SMALL: Bounds = Bounds { wishes: 2, crashes: 1, cuts: 1, returns: 0, recruits: 0 };
const LARGE: Bounds = Bounds { wishes: 3, crashes: 2, cuts: 1, returns: 0, recruits: 1 };

fn cursor(network: Network, bounds: Bounds) -> Cursor {
    Cursor { rules: Rules { network, plant: None, flaw: None }, bounds }
}

fn planted(plant: Plant, bounds: Bounds) -> Cursor {
    Cursor { rules: Rules { network: Network::Ordered, plant: Some(plant), flaw: None }, bounds }
}

fn flawed(flaw: Flaw, network: Network, bounds: Bounds) -> Cursor {
    Cursor { rules: Rules { network, plant: None, flaw: Some(flaw) }, bounds }
}

#[test]
fn actions_are_done_once_in_order_and_answered() {
    let depth = Depth::wanted();
    let bounds = if depth == Depth::Full { LARGE } else { SMALL };
    for network in [Network::Ordered, Network::Wild] {
        check_holds(&format!("cursor, {network:?}"), cursor(network, bounds), depth.states());
    }
}

#[test]
fn every_rule_is_needed() {
    check_fails("no cursor", planted(Plant::NoCursor, SMALL), ONCE);
    check_fails("results forgotten", planted(Plant::ForgetResults, SMALL), ANSWERED);
    check_fails("the paper: announced early", planted(Plant::AnnounceEarly, SMALL), HEARD_IS_TRUE);
    check_fails(
        "alone, unsynced",
        planted(Plant::SoloUnsynced, Bounds { crashes: 2, ..SMALL }),
        HEARD_IS_TRUE,
    );
    check_fails("sent once", flawed(Flaw::SendOnce, Network::Ordered, SMALL), ANSWERED);
    check_fails("the paper: run ahead", flawed(Flaw::RunAhead, Network::Wild, SMALL), IN_ORDER);
    let returns = Bounds { returns: 1, ..SMALL };
    check_fails("numbered anew", flawed(Flaw::NumberAnew, Network::Ordered, returns), RIGHT_ANSWER);
}
