//! What holds, and which rule each property needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

/// The zone that decides crashes, with one that takes part.
const ONE: Bounds =
    Bounds { parts: 1, wishes: 1, crashes: 1, part_crashes: 0, losses: 0, repeats: 0, asks: 1, give_ups: 0 };
const BOTH: Bounds = Bounds { part_crashes: 1, ..ONE };

fn check(name: &str, small: Bounds, full: Bounds) {
    let bounds = if Depth::wanted() == Depth::Full { full } else { small };
    check_holds(&format!("commit, {name}"), Commit { bounds, flaw: None });
}

#[test]
fn an_event_happens_in_both_zones_or_in_none() {
    check("crashes", BOTH, Bounds { crashes: 2, ..BOTH });
    check("losses", Bounds { losses: 1, ..ONE }, Bounds { losses: 1, ..BOTH });
    check("repeats", Bounds { repeats: 1, ..ONE }, Bounds { repeats: 1, ..BOTH });
    check("given up", Bounds { give_ups: 1, ..ONE }, Bounds { give_ups: 1, ..BOTH });
}

/// The second decision is posted while the first may still be under way.
#[test]
fn decisions_arrive_once_and_in_order() {
    let small = Bounds { wishes: 2, asks: 0, ..ONE };
    check("two wishes", small, Bounds { part_crashes: 1, ..small });
    check("two wishes, repeats", Bounds { repeats: 1, ..small }, Bounds { repeats: 1, losses: 1, ..small });
}

#[test]
fn an_event_happens_in_all_zones_or_in_none() {
    let small = Bounds { parts: 2, asks: 0, ..ONE };
    check("two take part", small, Bounds { asks: 1, ..small });
}

#[test]
fn every_rule_is_needed() {
    let flawed = |flaw, bounds| Commit { bounds, flaw: Some(flaw) };
    check_fails("posted early", flawed(Flaw::PostEarly, ONE), ALL_OR_NOTHING);
    check_fails("granted early", flawed(Flaw::GrantEarly, BOTH), KEPT);
    check_fails("taken back", flawed(Flaw::ReleaseAlone, ONE), KEPT);
    check_fails("jobs only", flawed(Flaw::JobsOnly, ONE), KEPT);
    check_fails("an old reign answers", flawed(Flaw::OldAnswers, BOTH), KEPT);
    check_fails("granted twice", flawed(Flaw::GrantUnwanted, Bounds { repeats: 1, ..ONE }), KEPT);
    check_fails("nobody asks", flawed(Flaw::NobodyAsks, ONE), ENDS);
    let two = Bounds { parts: 2, crashes: 0, ..ONE };
    check_fails("one is forgotten", flawed(Flaw::OneIsForgotten, two), ENDS);
}
