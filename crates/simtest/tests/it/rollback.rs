//! Rollbacks after a full stop: which announcements may be lost, and which may not.

use game::Hosted;
use history::{Entry, EntryKind};
use kosmos::Kosmos;
use machine::{Address, Time};
use simtest::{HistoryChecker, ZoneSpec};
use space::{Epoch, ZoneId};
use std::sync::Arc;
use zone::{Cause, Durability, Leadership, Note, Record, cut_at};

const ZONE: ZoneId = ZoneId(1);

/// A world of a primary (0) and a backup (1) that holds records 1 and 2 in memory and record 1 on both disks; record 2
/// is announced, and 50 ms later both are killed. Then the backup comes back from its disk and becomes primary.
#[derive(Clone)]
struct StopCase {
    durability: Durability,
    /// True if the primary that announced record 2 thought itself alone.
    alone: bool,
    /// Time of the full stop, in milliseconds after the announcement.
    stops: u64,
    /// True if the backup stays up.
    lives: bool,
    /// True if the primary comes back first, and still has record 2.
    returns: bool,
    /// True if both stop by themselves.
    leave: bool,
}

const FULL_STOP: StopCase = StopCase {
    durability: Durability::Batched,
    alone: false,
    stops: 50,
    lives: false,
    returns: false,
    leave: false,
};

fn record(index: u64) -> Vec<u8> {
    let time = Time::from_millis(index);
    let (epoch, cut, cause) = (Epoch(1), cut_at(time), Cause::Leadership);
    let (changes, notices, motions) = (Vec::new(), Vec::new(), Vec::new());
    Record { index, epoch, cut, time, cause, changes, notices, motions }.to_bytes()
}

fn entries_of(case: &StopCase) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut add = |millis, by, what| {
        entries.push(Entry { time: Time::from_millis(millis), by: Address(by), what });
    };
    let leadership = |epoch, primary| {
        EntryKind::Leadership(
            ZONE,
            Leadership {
                epoch: Epoch(epoch),
                primary: Address(primary),
                backup: Some(Address(1)),
                suspects: zone::Suspects::NONE,
            },
        )
    };
    let becomes_primary = |epoch, head| {
        EntryKind::Said(Note::Leads { epoch: Epoch(epoch), head, hash: u64::from(epoch), alone: false })
    };
    for host in [0, 1] {
        add(0, host, EntryKind::Started);
    }
    add(1, 9, leadership(1, 0));
    add(2, 0, becomes_primary(1, 0));
    for index in [1, 2] {
        let (record, epoch) = (record(index), Epoch(1));
        let hash = zone::hash_of(&record);
        add(3, 0, EntryKind::Said(Note::Wrote { record, execution: None }));
        add(4, 1, EntryKind::Said(Note::Stored { epoch, index, hash }));
    }
    let kept = if case.alone { 2 } else { 1 };
    add(5, 0, EntryKind::Kept((Epoch(1), kept)));
    add(5, 1, EntryKind::Kept((Epoch(1), 1)));
    add(1_000, 0, EntryKind::Said(Note::Announces { epoch: Epoch(1), index: 2, alone: case.alone }));
    let (end, ends) = (1_000 + case.stops, if case.leave { EntryKind::Stopped } else { EntryKind::Crashed });
    add(end, 0, ends.clone());
    if !case.lives {
        add(end, 1, ends);
        add(end + 500, 1, EntryKind::Started);
        add(end + 500, 1, EntryKind::Holds(Some((Epoch(1), 1))));
    }
    add(end + 501, 1, EntryKind::Said(Note::Replaced { epoch: Epoch(1), index: 1 }));
    if case.returns {
        add(end + 501, 0, EntryKind::Started);
        add(end + 501, 0, EntryKind::Said(Note::Replaced { epoch: Epoch(1), index: 2 }));
    }
    add(end + 502, 9, leadership(2, 1));
    add(end + 503, 1, becomes_primary(2, 1));
    entries
}

/// Returns whether the loss of record 2 is allowed.
fn is_rollback_allowed(case: &StopCase) -> bool {
    let region = crate::process::region();
    let rules = Arc::new(Hosted(Kosmos::new(region.clone())));
    let (hosts, durability) = (vec![Address(0), Address(1)], case.durability);
    let mut checker =
        HistoryChecker::new(1, [ZoneSpec { zone: ZONE, region, rules, count: None, hosts, durability }]);
    for entry in entries_of(case) {
        checker.see(&entry);
    }
    let found: Vec<_> = checker.violations.all().iter().map(|it| it.invariant).collect();
    let allowed = found.is_empty();
    assert!(allowed || found == ["nothing_lost"], "{found:?}");
    assert_eq!(checker.counts.rolled_back, u64::from(allowed));
    allowed
}

#[test]
fn the_last_moments_may_be_lost_with_all_replicas() {
    assert!(is_rollback_allowed(&FULL_STOP));
    assert!(is_rollback_allowed(&StopCase { stops: 100, ..FULL_STOP }));
    assert!(is_rollback_allowed(&StopCase { stops: 1_000, durability: Durability::Lazy, ..FULL_STOP }));
}

#[test]
fn nothing_else_may() {
    assert!(!is_rollback_allowed(&StopCase { stops: 101, ..FULL_STOP }), "the disks had time");
    assert!(
        !is_rollback_allowed(&StopCase { durability: Durability::Synced, ..FULL_STOP }),
        "it was on both disks"
    );
    assert!(
        !is_rollback_allowed(&StopCase { alone: true, ..FULL_STOP }),
        "it was on the disk of the primary that was alone"
    );
    assert!(!is_rollback_allowed(&StopCase { lives: true, ..FULL_STOP }), "the backup was up and had it");
    assert!(
        !is_rollback_allowed(&StopCase { returns: true, ..FULL_STOP }),
        "the old primary is back and has it"
    );
    assert!(
        !is_rollback_allowed(&StopCase { leave: true, ..FULL_STOP }),
        "a host that stops takes the time to write"
    );
}
