//! What holds, and which rule each property needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};
use Durability::{Batched, Synced};

/// Two replicas, and as few faults as most mistakes need.
const SMALL: Bounds =
    Bounds { replicas: 2, writes: 1, crashes: 1, alarms: 1, unknowns: 0, breaks: 0, epochs: 3, link: 3 };

fn check(name: &str, durability: Durability, small: Bounds, full: Bounds) {
    let bounds = match Depth::wanted() {
        Depth::Small => small,
        Depth::Full => full,
    };
    let rules = Rules { durability, broken: None, flaw: None };
    let count = check_holds(&format!("failover, {name}"), Failover { rules, bounds });
    assert!(Depth::wanted() == Depth::Small || 1_000_000 <= count, "{name}: only {count} states");
}

/// The promise of `batched`: one crash, and any number of misunderstandings.
#[test]
fn one_crash_loses_nothing_that_was_announced() {
    let full = Bounds { unknowns: 1, epochs: 4, link: 4, ..SMALL };
    check("one crash", Batched, SMALL, full);
}

/// The promise of `synced`.
#[test]
fn with_synced_disks_no_crash_loses_anything() {
    let small = Bounds { crashes: 2, alarms: 0, writes: 0, ..SMALL };
    let full = Bounds { crashes: 2, ..SMALL };
    check("synced", Synced, small, full);
}

#[test]
fn broken_links_and_lost_answers_are_mended() {
    let small = Bounds { crashes: 0, breaks: 1, unknowns: 1, ..SMALL };
    let full = Bounds { alarms: 2, link: 4, ..small };
    check("broken links and lost answers", Batched, small, full);
}

/// Two candidates for one office.
#[test]
fn a_third_replica_does_no_harm() {
    let small = Bounds { replicas: 3, crashes: 0, writes: 0, epochs: 2, link: 2, ..SMALL };
    let full = Bounds { epochs: 3, ..small };
    check("three replicas", Batched, small, full);
}

fn check_broken(rule: Rule, durability: Durability, bounds: Bounds, property: &'static str) {
    let rules = Rules { durability, broken: Some(rule), flaw: None };
    check_fails(&format!("{rule:?}"), Failover { rules, bounds }, property);
}

/// What the paper would have us do, and what the simulator plants.
#[test]
fn planted_mistakes_are_rejected() {
    let calm = Bounds { alarms: 0, ..SMALL };
    let alive = Bounds { crashes: 0, ..SMALL };
    check_broken(Rule::AnnounceAfterAck, Batched, alive, NOTHING_LOST);
    check_broken(Rule::PromoteBySwap, Batched, alive, DEPOSED_SILENT);
    check_broken(Rule::SoloBySwap, Batched, alive, ONE_HISTORY);
    check_broken(Rule::StopAckBeforeSwap, Batched, SMALL, NOTHING_LOST);
    check_broken(Rule::UnknownSwapMayHappen, Batched, Bounds { unknowns: 1, ..SMALL }, NOTHING_LOST);
    check_broken(Rule::SoloWaitsForDisk, Batched, calm, NOTHING_LOST);
    check_broken(Rule::NamedBackupCounts, Batched, alive, NOTHING_LOST);
    check_broken(
        Rule::DropUnacknowledgedSuffix,
        Batched,
        Bounds { alarms: 2, epochs: 4, ..alive },
        NOTHING_LOST,
    );
    check_broken(Rule::RestartLosesRole, Batched, calm, ONE_REIGN);
    check_broken(Rule::LongerLogWins, Synced, Bounds { crashes: 2, ..calm }, NOTHING_LOST);
    check_broken(Rule::RestartedBackupRejoins, Batched, SMALL, NOTHING_LOST);
}

fn check_flaw(flaw: Flaw, durability: Durability, bounds: Bounds, property: &'static str) {
    let rules = Rules { durability, broken: None, flaw: Some(flaw) };
    check_fails(&format!("{flaw:?}"), Failover { rules, bounds }, property);
}

/// Without them one crash and one false alarm (or, with synced disks, two crashes) lose what was announced.
#[test]
fn rules_against_loss_are_needed() {
    let unknown = Bounds { unknowns: 1, ..SMALL };
    check_flaw(Flaw::PromoteUnsynced, Batched, SMALL, NOTHING_LOST);
    check_flaw(Flaw::LeaveUnsynced, Batched, SMALL, NOTHING_LOST);
    check_flaw(Flaw::LeaveForgotten, Batched, unknown, NOTHING_LOST);
    check_flaw(Flaw::ClaimUnsynced, Synced, Bounds { crashes: 2, writes: 0, ..SMALL }, RESTS_WHOLE);
}

/// Without them the zone stands still, or stays without a backup, though nothing fails any more.
#[test]
fn rules_against_standstill_are_needed() {
    let alive = Bounds { crashes: 0, ..SMALL };
    check_flaw(Flaw::LeaveForgotten, Batched, Bounds { unknowns: 1, ..alive }, RESTS_WHOLE);
    check_flaw(Flaw::FollowMidway, Batched, alive, RESTS_WHOLE);
    check_flaw(Flaw::NamingDeaf, Batched, alive, RESTS_WHOLE);
    check_flaw(Flaw::InvitedOnce, Batched, Bounds { breaks: 1, ..alive }, RESTS_WHOLE);
    check_flaw(Flaw::InvitedOnce, Batched, SMALL, RESTS_WHOLE);
    check_flaw(Flaw::RefusedUntold, Batched, alive, RESTS_WHOLE);
}
