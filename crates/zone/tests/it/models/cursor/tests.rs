//! The properties that hold, and the rule that each of them needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

const SMALL: CursorBounds = CursorBounds { wishes: 2, crashes: 1, cuts: 1, returns: 0, recruits: 0 };

fn check(name: &str, network: CursorNetwork, small: CursorBounds, full: CursorBounds) {
    let bounds = match Depth::wanted() {
        Depth::Small => small,
        Depth::Full => full,
    };
    let rules = CursorRules { network, broken: None, flaw: None };
    let count = check_holds(&format!("cursor, {name}, {network:?}"), CursorModel { rules, bounds });
    assert!(Depth::wanted() == Depth::Small || 1_000_000 <= count, "{name}: only {count} states");
}

#[test]
fn actions_are_done_once_in_order_and_answered() {
    let full = CursorBounds { crashes: 2, recruits: 1, ..SMALL };
    for network in [CursorNetwork::Ordered, CursorNetwork::Wild] {
        check("broken links", network, SMALL, full);
    }
}

/// The same player, in a new process without memory of the first.
#[test]
fn a_player_who_comes_back_counts_on() {
    let small = CursorBounds { wishes: 2, cuts: 0, returns: 1, ..SMALL };
    let full = CursorBounds { wishes: 3, ..small };
    check("come back", CursorNetwork::Ordered, small, full);
}

fn breaking(rule: Rule, bounds: CursorBounds) -> CursorModel {
    CursorModel {
        rules: CursorRules { network: CursorNetwork::Ordered, broken: Some(rule), flaw: None },
        bounds,
    }
}

fn flawed(flaw: CursorFlaw, network: CursorNetwork, bounds: CursorBounds) -> CursorModel {
    CursorModel { rules: CursorRules { network, broken: None, flaw: Some(flaw) }, bounds }
}

#[test]
fn every_rule_is_needed() {
    check_fails("no cursor", breaking(Rule::ActionsInOrder, SMALL), ONCE);
    check_fails("results forgotten", breaking(Rule::KeepResults, SMALL), ANSWERED);
    check_fails("the paper: announced early", breaking(Rule::AnnounceAfterAck, SMALL), HEARD_IS_TRUE);
    check_fails(
        "alone, unsynced",
        breaking(Rule::SoloWaitsForDisk, CursorBounds { crashes: 2, ..SMALL }),
        HEARD_IS_TRUE,
    );
    check_fails("sent once", flawed(CursorFlaw::SendOnce, CursorNetwork::Ordered, SMALL), ANSWERED);
    check_fails("the paper: run ahead", flawed(CursorFlaw::RunAhead, CursorNetwork::Wild, SMALL), IN_ORDER);
    let returns = CursorBounds { returns: 1, ..SMALL };
    check_fails(
        "numbered anew",
        flawed(CursorFlaw::NumberAnew, CursorNetwork::Ordered, returns),
        RIGHT_ANSWER,
    );
}
