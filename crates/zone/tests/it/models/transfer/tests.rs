//! The properties that hold, and the rule that each of them needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

/// One transfer, with a crash at both ends.
const THERE: TransferBounds =
    TransferBounds { trips: 1, wishes: 2, crashes: 2, declines: 0, losses: 0, repeats: 0 };
/// A transfer there and one back.
const BACK: TransferBounds = TransferBounds { trips: 2, wishes: 1, crashes: 1, ..THERE };

fn check(name: &str, small: TransferBounds, full: TransferBounds) {
    let bounds = if Depth::wanted() == Depth::Full { full } else { small };
    check_holds(&format!("transfer, {name}"), TransferModel { bounds, flaw: None });
}

#[test]
fn an_avatar_that_changes_zones_has_one_owner_though_both_crash() {
    check("there", TransferBounds { wishes: 1, ..THERE }, THERE);
    check("back", TransferBounds { wishes: 0, ..BACK }, BACK);
}

#[test]
fn actions_are_done_once_and_in_order_on_the_way() {
    let small = TransferBounds { wishes: 3, crashes: 0, ..THERE };
    check("acts there", small, TransferBounds { crashes: 1, ..small });
    let small = TransferBounds { wishes: 2, crashes: 0, ..BACK };
    check("acts back", small, TransferBounds { wishes: 3, ..small });
}

#[test]
fn a_declined_avatar_is_offered_again() {
    let small = TransferBounds { wishes: 0, crashes: 1, declines: 1, ..THERE };
    check("declined", small, TransferBounds { wishes: 1, ..small });
}

#[test]
fn messages_are_lost_and_repeated() {
    let small = TransferBounds { wishes: 1, crashes: 1, ..THERE };
    check("losses", TransferBounds { losses: 1, ..small }, TransferBounds { losses: 2, ..small });
    check("repeats", TransferBounds { repeats: 1, ..small }, TransferBounds { repeats: 2, ..small });
}

#[test]
fn every_rule_is_needed() {
    let flawed = |flaw, bounds| TransferModel { bounds, flaw: Some(flaw) };
    check_fails("acts while offered", flawed(TransferFlaw::OfferUnfrozen, THERE), ONE_ACTS);
    check_fails("acts while offered", flawed(TransferFlaw::OfferUnfrozen, THERE), HEARD_IS_TRUE);
    check_fails("told early", flawed(TransferFlaw::TellEarly, THERE), OWNED);
    check_fails("offered early", flawed(TransferFlaw::OfferEarly, THERE), ONE_ACTS);
    let declined = TransferBounds { wishes: 1, crashes: 0, declines: 1, ..THERE };
    check_fails("forgotten early", flawed(TransferFlaw::ForgetEarly, declined), ENDS);
    let repeated = TransferBounds { repeats: 1, wishes: 1, crashes: 0, ..BACK };
    check_fails("taken twice", flawed(TransferFlaw::TakeTwice, repeated), ONE_ACTS);
    check_fails("the cursor stays", flawed(TransferFlaw::CursorStays, THERE), HEARD_IS_TRUE);
}
