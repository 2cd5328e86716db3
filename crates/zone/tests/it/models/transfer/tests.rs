//! What holds, and which rule each property needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

/// There, with a crash at both ends.
const THERE: Bounds = Bounds { trips: 1, wishes: 2, crashes: 2, declines: 0, losses: 0, repeats: 0 };
/// There and back.
const BACK: Bounds = Bounds { trips: 2, wishes: 1, crashes: 1, ..THERE };

fn check(name: &str, small: Bounds, full: Bounds) {
    let bounds = if Depth::wanted() == Depth::Full { full } else { small };
    check_holds(&format!("transfer, {name}"), Transfer { bounds, flaw: None });
}

#[test]
fn who_changes_zones_has_one_owner_though_both_crash() {
    check("there", Bounds { wishes: 1, ..THERE }, THERE);
    check("back", Bounds { wishes: 0, ..BACK }, BACK);
}

#[test]
fn actions_are_done_once_and_in_order_on_the_way() {
    let small = Bounds { wishes: 3, crashes: 0, ..THERE };
    check("acts there", small, Bounds { crashes: 1, ..small });
    let small = Bounds { wishes: 2, crashes: 0, ..BACK };
    check("acts back", small, Bounds { wishes: 3, ..small });
}

#[test]
fn who_is_declined_is_offered_again() {
    let small = Bounds { wishes: 0, crashes: 1, declines: 1, ..THERE };
    check("declined", small, Bounds { wishes: 1, ..small });
}

#[test]
fn messages_are_lost_and_repeated() {
    let small = Bounds { wishes: 1, crashes: 1, ..THERE };
    check("losses", Bounds { losses: 1, ..small }, Bounds { losses: 2, ..small });
    check("repeats", Bounds { repeats: 1, ..small }, Bounds { repeats: 2, ..small });
}

#[test]
fn every_rule_is_needed() {
    let flawed = |flaw, bounds| Transfer { bounds, flaw: Some(flaw) };
    check_fails("acts while offered", flawed(Flaw::OfferUnfrozen, THERE), ONE_ACTS);
    check_fails("acts while offered", flawed(Flaw::OfferUnfrozen, THERE), HEARD_IS_TRUE);
    check_fails("told early", flawed(Flaw::TellEarly, THERE), OWNED);
    check_fails("offered early", flawed(Flaw::OfferEarly, THERE), ONE_ACTS);
    let declined = Bounds { wishes: 1, crashes: 0, declines: 1, ..THERE };
    check_fails("forgotten early", flawed(Flaw::ForgetEarly, declined), ENDS);
    let repeated = Bounds { repeats: 1, wishes: 1, crashes: 0, ..BACK };
    check_fails("taken twice", flawed(Flaw::TakeTwice, repeated), ONE_ACTS);
    check_fails("the cursor stays", flawed(Flaw::CursorStays, THERE), HEARD_IS_TRUE);
}
