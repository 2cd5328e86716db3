//! The properties that hold, and the rule that each of them needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

/// The coordinator crashes, with one participant.
const ONE: CommitBounds = CommitBounds {
    parts: 1,
    wishes: 1,
    crashes: 1,
    part_crashes: 0,
    losses: 0,
    repeats: 0,
    asks: 1,
    give_ups: 0,
};
const BOTH: CommitBounds = CommitBounds { part_crashes: 1, ..ONE };

fn check(name: &str, small: CommitBounds, full: CommitBounds) {
    let bounds = if Depth::wanted() == Depth::Full { full } else { small };
    check_holds(&format!("commit, {name}"), CommitModel { bounds, flaw: None });
}

#[test]
fn an_event_happens_in_both_zones_or_in_none() {
    check("crashes", BOTH, CommitBounds { crashes: 2, ..BOTH });
    check("losses", CommitBounds { losses: 1, ..ONE }, CommitBounds { losses: 1, ..BOTH });
    check("repeats", CommitBounds { repeats: 1, ..ONE }, CommitBounds { repeats: 1, ..BOTH });
    check("given up", CommitBounds { give_ups: 1, ..ONE }, CommitBounds { give_ups: 1, ..BOTH });
}

/// The second decision is posted while the first may still be under way.
#[test]
fn decisions_arrive_once_and_in_order() {
    let small = CommitBounds { wishes: 2, asks: 0, ..ONE };
    check("two wishes", small, CommitBounds { part_crashes: 1, ..small });
    check(
        "two wishes, repeats",
        CommitBounds { repeats: 1, ..small },
        CommitBounds { repeats: 1, losses: 1, ..small },
    );
}

#[test]
fn an_event_happens_in_all_zones_or_in_none() {
    let small = CommitBounds { parts: 2, asks: 0, ..ONE };
    check("two take part", small, CommitBounds { asks: 1, ..small });
}

#[test]
fn every_rule_is_needed() {
    let flawed = |flaw, bounds| CommitModel { bounds, flaw: Some(flaw) };
    check_fails("posted early", flawed(CommitFlaw::PostEarly, ONE), ALL_OR_NOTHING);
    check_fails("granted early", flawed(CommitFlaw::GrantEarly, BOTH), GRANTS_KEPT);
    check_fails("taken back", flawed(CommitFlaw::ReleaseAlone, ONE), GRANTS_KEPT);
    check_fails("jobs only", flawed(CommitFlaw::JobsOnly, ONE), GRANTS_KEPT);
    check_fails("a deposed primary answers", flawed(CommitFlaw::OldAnswers, BOTH), GRANTS_KEPT);
    check_fails(
        "granted twice",
        flawed(CommitFlaw::GrantUnwanted, CommitBounds { repeats: 1, ..ONE }),
        GRANTS_KEPT,
    );
    check_fails("no questions", flawed(CommitFlaw::NoQuestions, ONE), ENDS);
    let two = CommitBounds { parts: 2, crashes: 0, ..ONE };
    check_fails("one is forgotten", flawed(CommitFlaw::SkipParticipant, two), ENDS);
}
