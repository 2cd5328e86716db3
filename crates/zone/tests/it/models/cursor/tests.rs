//! What holds, and which rule each property needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

const SMALL: Bounds = Bounds { wishes: 2, crashes: 1, cuts: 1, returns: 0, recruits: 0 };

fn check(name: &str, network: Network, small: Bounds, full: Bounds) {
    let bounds = match Depth::wanted() {
        Depth::Small => small,
        Depth::Full => full,
    };
    let rules = Rules { network, broken: None, flaw: None };
    let count = check_holds(&format!("cursor, {name}, {network:?}"), Cursor { rules, bounds });
    assert!(Depth::wanted() == Depth::Small || 1_000_000 <= count, "{name}: only {count} states");
}

#[test]
fn actions_are_done_once_in_order_and_answered() {
    let full = Bounds { crashes: 2, recruits: 1, ..SMALL };
    for network in [Network::Ordered, Network::Wild] {
        check("broken links", network, SMALL, full);
    }
}

/// The same player, in a new process that remembers nothing.
#[test]
fn a_player_who_comes_back_counts_on() {
    let small = Bounds { wishes: 2, cuts: 0, returns: 1, ..SMALL };
    let full = Bounds { wishes: 3, ..small };
    check("come back", Network::Ordered, small, full);
}

fn breaking(rule: Rule, bounds: Bounds) -> Cursor {
    Cursor { rules: Rules { network: Network::Ordered, broken: Some(rule), flaw: None }, bounds }
}

fn flawed(flaw: Flaw, network: Network, bounds: Bounds) -> Cursor {
    Cursor { rules: Rules { network, broken: None, flaw: Some(flaw) }, bounds }
}

#[test]
fn every_rule_is_needed() {
    check_fails("no cursor", breaking(Rule::ActionsInOrder, SMALL), ONCE);
    check_fails("results forgotten", breaking(Rule::KeepResults, SMALL), ANSWERED);
    check_fails("the paper: announced early", breaking(Rule::AnnounceAfterAck, SMALL), HEARD_IS_TRUE);
    check_fails(
        "alone, unsynced",
        breaking(Rule::SoloWaitsForDisk, Bounds { crashes: 2, ..SMALL }),
        HEARD_IS_TRUE,
    );
    check_fails("sent once", flawed(Flaw::SendOnce, Network::Ordered, SMALL), ANSWERED);
    check_fails("the paper: run ahead", flawed(Flaw::RunAhead, Network::Wild, SMALL), IN_ORDER);
    let returns = Bounds { returns: 1, ..SMALL };
    check_fails("numbered anew", flawed(Flaw::NumberAnew, Network::Ordered, returns), RIGHT_ANSWER);
}
