//! What a full stop may undo, and what it may not.

use game::Hosted;
use history::{Entry, What};
use kosmos::Kosmos;
use machine::{Address, Time};
use space::{Epoch, ZoneId};
use std::sync::Arc;
use trial::{About, Judge};
use zone::{Cause, Durability, Note, Record, Reign, cut_at};

const ZONE: ZoneId = ZoneId(1);

/// A world of a primary (0) and a backup (1) that holds records 1 and 2 in memory and record 1 on both disks; record 2
/// is announced, and 50 ms later both are killed. Then the backup comes back from its disk and reigns.
#[derive(Clone)]
struct Story {
    durability: Durability,
    /// Record 2 was announced by a primary that thought itself alone.
    alone: bool,
    /// When everything ends, in milliseconds after the announcement.
    stops: u64,
    /// The backup goes on living.
    lives: bool,
    /// The primary comes back first, and still knows record 2.
    returns: bool,
    /// Both end by themselves.
    leave: bool,
}

const FULL_STOP: Story = Story {
    durability: Durability::Batched,
    alone: false,
    stops: 50,
    lives: false,
    returns: false,
    leave: false,
};

fn record(index: u64) -> Vec<u8> {
    let time = Time::from_millis(index);
    let (epoch, cut, cause) = (Epoch(1), cut_at(time), Cause::Reign);
    let (changes, notices, motions) = (Vec::new(), Vec::new(), Vec::new());
    Record { index, epoch, cut, time, cause, changes, notices, motions }.to_bytes()
}

fn told(story: &Story) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut tell = |millis, by, what| {
        entries.push(Entry { time: Time::from_millis(millis), by: Address(by), what });
    };
    let reign = |epoch, primary| {
        What::Reign(ZONE, Reign { epoch: Epoch(epoch), primary: Address(primary), backup: Some(Address(1)) })
    };
    let reigns = |epoch, head| {
        What::Said(Note::Reigns { epoch: Epoch(epoch), head, hash: u64::from(epoch), alone: false })
    };
    for host in [0, 1] {
        tell(0, host, What::Started);
    }
    tell(1, 9, reign(1, 0));
    tell(2, 0, reigns(1, 0));
    for index in [1, 2] {
        let (record, epoch) = (record(index), Epoch(1));
        let hash = zone::hash_of(&record);
        tell(3, 0, What::Said(Note::Wrote { record, ran: None }));
        tell(4, 1, What::Said(Note::Stored { epoch, index, hash }));
    }
    let kept = if story.alone { 2 } else { 1 };
    tell(5, 0, What::Kept((Epoch(1), kept)));
    tell(5, 1, What::Kept((Epoch(1), 1)));
    tell(1_000, 0, What::Said(Note::Announces { epoch: Epoch(1), index: 2, alone: story.alone }));
    let (end, ends) = (1_000 + story.stops, if story.leave { What::Stopped } else { What::Crashed });
    tell(end, 0, ends.clone());
    if !story.lives {
        tell(end, 1, ends);
        tell(end + 500, 1, What::Started);
        tell(end + 500, 1, What::Holds(Some((Epoch(1), 1))));
    }
    tell(end + 501, 1, What::Said(Note::Replaced { epoch: Epoch(1), index: 1 }));
    if story.returns {
        tell(end + 501, 0, What::Started);
        tell(end + 501, 0, What::Said(Note::Replaced { epoch: Epoch(1), index: 2 }));
    }
    tell(end + 502, 9, reign(2, 1));
    tell(end + 503, 1, reigns(2, 1));
    entries
}

/// Whether the loss of record 2 is forgiven.
fn is_forgiven(story: &Story) -> bool {
    let region = crate::process::region();
    let rules = Arc::new(Hosted(Kosmos::new(region.clone())));
    let (hosts, durability) = (vec![Address(0), Address(1)], story.durability);
    let mut judge = Judge::new(1, [About { zone: ZONE, region, rules, count: None, hosts, durability }]);
    for entry in told(story) {
        judge.see(&entry);
    }
    let found: Vec<_> = judge.violations.all().iter().map(|it| it.invariant).collect();
    let forgiven = found.is_empty();
    assert!(forgiven || found == ["nothing_lost"], "{found:?}");
    assert_eq!(judge.tally.rolled_back, u64::from(forgiven));
    forgiven
}

#[test]
fn the_last_moments_may_be_lost_with_everybody() {
    assert!(is_forgiven(&FULL_STOP));
    assert!(is_forgiven(&Story { stops: 100, ..FULL_STOP }));
    assert!(is_forgiven(&Story { stops: 1_000, durability: Durability::Lazy, ..FULL_STOP }));
}

#[test]
fn nothing_else_may() {
    assert!(!is_forgiven(&Story { stops: 101, ..FULL_STOP }), "the disks had time");
    assert!(!is_forgiven(&Story { durability: Durability::Synced, ..FULL_STOP }), "it was on both disks");
    assert!(!is_forgiven(&Story { alone: true, ..FULL_STOP }), "it was on the disk of who was alone");
    assert!(!is_forgiven(&Story { lives: true, ..FULL_STOP }), "somebody lived who knew it");
    assert!(!is_forgiven(&Story { returns: true, ..FULL_STOP }), "somebody who knows it is back");
    assert!(!is_forgiven(&Story { leave: true, ..FULL_STOP }), "whoever leaves takes the time to write");
}
