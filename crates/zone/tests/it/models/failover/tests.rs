//! The properties that hold, and the rule that each of them needs.

use super::*;
use crate::models::{Depth, check_fails, check_holds};
use Durability::{Batched, Synced};

/// Two replicas, and as few faults as most mistakes need.
const SMALL: FailoverBounds = FailoverBounds {
    replicas: 2,
    writes: 1,
    crashes: 1,
    alarms: 1,
    unknowns: 0,
    breaks: 0,
    epochs: 3,
    link: 3,
};

fn check(name: &str, durability: Durability, small: FailoverBounds, full: FailoverBounds) {
    let bounds = match Depth::wanted() {
        Depth::Small => small,
        Depth::Full => full,
    };
    let rules = FailoverRules { durability, broken: None, flaw: None };
    let count = check_holds(&format!("failover, {name}"), FailoverModel { rules, bounds });
    assert!(Depth::wanted() == Depth::Small || 1_000_000 <= count, "{name}: only {count} states");
}

/// The promise of `batched`: one crash, and any number of false suspicions.
#[test]
fn one_crash_loses_nothing_that_was_announced() {
    let full = FailoverBounds { unknowns: 1, epochs: 4, link: 4, ..SMALL };
    check("one crash", Batched, SMALL, full);
}

/// The promise of `synced`: any number of crashes.
#[test]
fn with_synced_disks_no_crash_loses_anything() {
    let small = FailoverBounds { crashes: 2, alarms: 0, writes: 0, ..SMALL };
    let full = FailoverBounds { crashes: 2, ..SMALL };
    check("synced", Synced, small, full);
}

#[test]
fn broken_links_and_lost_answers_are_mended() {
    let small = FailoverBounds { crashes: 0, breaks: 1, unknowns: 1, ..SMALL };
    let full = FailoverBounds { alarms: 2, link: 4, ..small };
    check("broken links and lost answers", Batched, small, full);
}

/// Two candidates for one role.
#[test]
fn a_third_replica_does_no_harm() {
    let small = FailoverBounds { replicas: 3, crashes: 0, writes: 0, epochs: 2, link: 2, ..SMALL };
    let full = FailoverBounds { epochs: 3, ..small };
    check("three replicas", Batched, small, full);
}

fn check_broken(rule: Rule, durability: Durability, bounds: FailoverBounds, property: &'static str) {
    let rules = FailoverRules { durability, broken: Some(rule), flaw: None };
    check_fails(&format!("{rule:?}"), FailoverModel { rules, bounds }, property);
}

/// The rules that the paper breaks, and those that the simulator breaks.
#[test]
fn planted_mistakes_are_rejected() {
    let no_alarms = FailoverBounds { alarms: 0, ..SMALL };
    let no_crashes = FailoverBounds { crashes: 0, ..SMALL };
    check_broken(Rule::AnnounceAfterAck, Batched, no_crashes, NOTHING_LOST);
    check_broken(Rule::PromoteBySwap, Batched, no_crashes, DEPOSED_SILENT);
    check_broken(Rule::SoloBySwap, Batched, no_crashes, ONE_HISTORY);
    check_broken(Rule::StopAckBeforeSwap, Batched, SMALL, NOTHING_LOST);
    check_broken(Rule::UnknownSwapMayHappen, Batched, FailoverBounds { unknowns: 1, ..SMALL }, NOTHING_LOST);
    check_broken(Rule::SoloWaitsForDisk, Batched, no_alarms, NOTHING_LOST);
    check_broken(Rule::NamedBackupCounts, Batched, no_crashes, NOTHING_LOST);
    check_broken(
        Rule::DropUnacknowledgedSuffix,
        Batched,
        FailoverBounds { alarms: 2, epochs: 4, ..no_crashes },
        NOTHING_LOST,
    );
    check_broken(Rule::RestartLosesRole, Batched, no_alarms, ONE_PRIMARY);
    check_broken(Rule::LongerLogWins, Synced, FailoverBounds { crashes: 2, ..no_alarms }, NOTHING_LOST);
    check_broken(Rule::RestartedBackupRejoins, Batched, SMALL, NOTHING_LOST);
}

fn check_flaw(flaw: FailoverFlaw, durability: Durability, bounds: FailoverBounds, property: &'static str) {
    let rules = FailoverRules { durability, broken: None, flaw: Some(flaw) };
    check_fails(&format!("{flaw:?}"), FailoverModel { rules, bounds }, property);
}

/// Without these rules one crash and one false alarm (or, with synced disks, two crashes) lose announced records.
#[test]
fn rules_against_loss_are_needed() {
    let unknown = FailoverBounds { unknowns: 1, ..SMALL };
    check_flaw(FailoverFlaw::PromoteUnsynced, Batched, SMALL, NOTHING_LOST);
    check_flaw(FailoverFlaw::LeaveUnsynced, Batched, SMALL, NOTHING_LOST);
    check_flaw(FailoverFlaw::LeaveOnce, Batched, unknown, NOTHING_LOST);
    check_flaw(
        FailoverFlaw::ClaimUnsynced,
        Synced,
        FailoverBounds { crashes: 2, writes: 0, ..SMALL },
        RECOVERS,
    );
}

/// Without these rules the zone stands still, or stays without a backup, though nothing fails any more.
#[test]
fn rules_against_standstill_are_needed() {
    let no_crashes = FailoverBounds { crashes: 0, ..SMALL };
    check_flaw(FailoverFlaw::LeaveOnce, Batched, FailoverBounds { unknowns: 1, ..no_crashes }, RECOVERS);
    check_flaw(FailoverFlaw::FollowMidway, Batched, no_crashes, RECOVERS);
    check_flaw(FailoverFlaw::IgnoreLostRole, Batched, no_crashes, RECOVERS);
    check_flaw(FailoverFlaw::InviteOnce, Batched, FailoverBounds { breaks: 1, ..no_crashes }, RECOVERS);
    check_flaw(FailoverFlaw::InviteOnce, Batched, SMALL, RECOVERS);
    check_flaw(FailoverFlaw::HideGap, Batched, no_crashes, RECOVERS);
}
