//! The properties that hold, and the rule that each of them needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

/// Each event wants an object of the next, and the last one of the first.
const RING: LockScenario = &[(0, &[0, 1]), (1, &[1, 2]), (2, &[2, 0])];
/// All events want the same object, and one of them the mover, too.
const MEETING: LockScenario = &[(1, &[1, MOVER]), (2, &[2, 1]), (0, &[0, 1])];
/// An event wants the mover, which leaves the event's own zone.
const LEAVING: LockScenario = &[(0, &[0, 2, MOVER]), (2, &[2, 1])];

const FAULT_FREE: LockModel = LockModel { scenario: RING, route: &[0], crashes: 0, flaw: None };

fn check(name: &str, small: LockModel, full: LockModel) {
    let model = if Depth::wanted() == Depth::Full { full } else { small };
    check_holds(&format!("locks, {name}"), model);
}

#[test]
fn no_events_wait_in_a_circle() {
    check("ring", FAULT_FREE, LockModel { crashes: 1, ..FAULT_FREE });
}

#[test]
fn no_lock_is_left_for_a_dead_event() {
    let small = LockModel { scenario: MEETING, crashes: 1, ..FAULT_FREE };
    check("crash", small, LockModel { crashes: 2, route: &[0, 2], ..small });
}

#[test]
fn an_object_that_moves_is_found_and_locked() {
    let small = LockModel { scenario: MEETING, route: &[0, 2, 1], ..FAULT_FREE };
    check("away", small, LockModel { crashes: 1, ..small });
    check(
        "back",
        LockModel { route: &[0, 1, 0], ..small },
        LockModel { route: &[0, 2, 0, 1], crashes: 1, ..small },
    );
}

/// Also out of a zone that takes part for another object: that of the actor, or another.
#[test]
fn an_object_that_leaves_a_participant_is_found() {
    let small = LockModel { scenario: LEAVING, route: &[0, 1], ..FAULT_FREE };
    check("home", small, LockModel { crashes: 1, ..small });
    let small = LockModel { route: &[2, 1], ..small };
    check("other", small, LockModel { crashes: 1, route: &[2, 1, 0], ..small });
}

#[test]
fn every_rule_is_needed() {
    let flawed = |flaw, model: LockModel| LockModel { flaw: Some(flaw), ..model };
    check_fails("queue in any order", flawed(LockFlaw::AnyOrder, FAULT_FREE), ENDS);
    check_fails("refused, and keeps", flawed(LockFlaw::KeepTried, FAULT_FREE), ENDS);
    check_fails("locks ignored", flawed(LockFlaw::LocksIgnored, FAULT_FREE), EXCLUSIVE);
    let moves = LockModel { scenario: MEETING, route: &[0, 2], ..FAULT_FREE };
    check_fails("follows a forward", flawed(LockFlaw::FollowForward, moves), ENDS);
    let leaves = LockModel { scenario: LEAVING, route: &[0, 1], ..FAULT_FREE };
    check_fails("an object that left is left out", flawed(LockFlaw::LeaveOut, leaves), FOUND);
    check_fails("moves though locked", flawed(LockFlaw::MoveLocked, moves), LOCKED);
    let crash = LockModel { scenario: MEETING, crashes: 1, ..FAULT_FREE };
    check_fails("no questions", flawed(LockFlaw::NoQuestions, crash), ENDS);
}
