//! What holds, and which rule each property needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};

/// Each wants what the next has, and the last what the first has.
const RING: Plot = &[(0, &[0, 1]), (1, &[1, 2]), (2, &[2, 0])];
/// All want the same, and one of them somebody who goes away, too.
const MEETING: Plot = &[(1, &[1, MOVER]), (2, &[2, 1]), (0, &[0, 1])];
/// One who wants somebody who goes away from the very zone.
const HOME: Plot = &[(0, &[0, 2, MOVER]), (2, &[2, 1])];

const CALM: Locking = Locking { plot: RING, way: &[0], crashes: 0, flaw: None };

fn check(name: &str, small: Locking, full: Locking) {
    let model = if Depth::wanted() == Depth::Full { full } else { small };
    check_holds(&format!("locks, {name}"), model);
}

#[test]
fn nobody_waits_in_a_circle() {
    check("ring", CALM, Locking { crashes: 1, ..CALM });
}

#[test]
fn nobody_is_left_holding_for_the_dead() {
    let small = Locking { plot: MEETING, crashes: 1, ..CALM };
    check("crash", small, Locking { crashes: 2, way: &[0, 2], ..small });
}

#[test]
fn who_moves_is_found_and_locked() {
    let small = Locking { plot: MEETING, way: &[0, 2, 1], ..CALM };
    check("away", small, Locking { crashes: 1, ..small });
    check("back", Locking { way: &[0, 1, 0], ..small }, Locking { way: &[0, 2, 0, 1], crashes: 1, ..small });
}

/// Also out of a zone that takes part for somebody else: that of the actor, or another.
#[test]
fn who_leaves_a_zone_that_takes_part_is_found() {
    let small = Locking { plot: HOME, way: &[0, 1], ..CALM };
    check("home", small, Locking { crashes: 1, ..small });
    let small = Locking { way: &[2, 1], ..small };
    check("other", small, Locking { crashes: 1, way: &[2, 1, 0], ..small });
}

#[test]
fn every_rule_is_needed() {
    let flawed = |flaw, model: Locking| Locking { flaw: Some(flaw), ..model };
    check_fails("queue in any order", flawed(Flaw::AnyOrder, CALM), ENDS);
    check_fails("refused, and keeps", flawed(Flaw::KeepTried, CALM), ENDS);
    check_fails("locks ignored", flawed(Flaw::LocksIgnored, CALM), EXCLUSIVE);
    let moves = Locking { plot: MEETING, way: &[0, 2], ..CALM };
    check_fails("follows a forward", flawed(Flaw::FollowForward, moves), ENDS);
    let leaves = Locking { plot: HOME, way: &[0, 1], ..CALM };
    check_fails("who left is left out", flawed(Flaw::LeaveOut, leaves), FOUND);
    check_fails("moves though locked", flawed(Flaw::MoveLocked, moves), LOCKED);
    let crash = Locking { plot: MEETING, crashes: 1, ..CALM };
    check_fails("nobody asks", flawed(Flaw::NobodyAsks, crash), ENDS);
}
