//! Carriers through their contract: updates in, poses out.

use super::*;
use interest::policies::Circle;
use space::{Epoch, Heading, Millis, Motion, Position, Velocity, ZoneId};
use std::collections::BTreeMap;

fn id(counter: u32) -> ObjectId {
    ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter }
}

fn at(x: i32, generation: u32, sequence: u32) -> Motion {
    let (position, velocity) = (Position::new(x, 0).unwrap(), Velocity::ZERO);
    Motion { position, velocity, heading: Heading::EAST, start: Millis(0), generation, sequence }
}

fn direct_within(budget: Option<Budget>) -> DirectCarrier {
    let policy = Box::new(Circle::new(Distance::of_metres(100)));
    DirectCarrier::new(CarrierSettings { policy, budget, ..CarrierSettings::default() })
}

fn direct() -> DirectCarrier {
    direct_within(None)
}

fn sent_poses(direct: &mut DirectCarrier, millis: u64) -> Vec<(Address, u32, i32)> {
    let (now, mut datagrams) = (Time::from_millis(millis), Vec::new());
    direct.send_poses(now, now, None, &mut |to, datagram| datagrams.push((to, datagram.to_vec())));
    let mut sent_poses = Vec::new();
    for (to, datagram) in datagrams {
        sent_poses.extend(poses(&datagram).map(|it| (to, it.object.counter, it.motion.position.x())));
    }
    sent_poses.sort();
    sent_poses
}

#[test]
fn a_subscriber_gets_poses_of_near_objects_only() {
    let mut direct = direct();
    for (object, x) in [(1, 0), (2, 50_000), (3, 90_000_000)] {
        direct.update(CarrierUpdate::Carry(id(object), at(x, 0, 0)));
    }
    direct.update(CarrierUpdate::Subscribe(Address(9), id(1)));
    assert_eq!(sent_poses(&mut direct, 0), [(Address(9), 2, 50_000)]);
    direct.update(CarrierUpdate::Remove(id(2)));
    assert_eq!(sent_poses(&mut direct, 1_000), []);
    direct.update(CarrierUpdate::Unsubscribe(Address(9)));
    direct.update(CarrierUpdate::Carry(id(4), at(5, 0, 0)));
    assert_eq!(sent_poses(&mut direct, 2_000), []);
    assert_eq!(direct.deadline(), None);
}

#[test]
fn an_older_motion_changes_nothing_and_a_paused_carrier_sends_nothing() {
    let mut direct = direct();
    direct.update(CarrierUpdate::Subscribe(Address(9), id(1)));
    direct.update(CarrierUpdate::Carry(id(1), at(0, 0, 0)));
    direct.update(CarrierUpdate::Carry(id(2), at(7, 2, 0)));
    direct.update(CarrierUpdate::Carry(id(2), at(1_000, 1, 99)));
    assert_eq!(sent_poses(&mut direct, 0), [(Address(9), 2, 7)]);
    direct.update(CarrierUpdate::SetPaused(true));
    assert_eq!(sent_poses(&mut direct, 1_000), []);
    direct.update(CarrierUpdate::SetPaused(false));
    assert_eq!(sent_poses(&mut direct, 2_000), [(Address(9), 2, 7)]);
}

/// Two of 200 in a crowd subscribe for a minute, each with a budget for a fifth of what is due.
#[test]
fn in_a_crowd_a_budget_is_kept_and_no_object_starves() {
    const SECONDS: u64 = 60;
    let budget = Budget { bytes_per_second: 2_000, burst: 500 };
    let mut direct = direct_within(Some(budget));
    (1..=200).for_each(|it| direct.update(CarrierUpdate::Carry(id(it), at(it as i32 * 100, 0, 0))));
    (1..=2).for_each(|it| direct.update(CarrierUpdate::Subscribe(Address(u64::from(it)), id(it))));
    let (mut bytes, mut silences, mut heard) = (BTreeMap::new(), BTreeMap::new(), 0);
    for tick in 0..SECONDS * 10 {
        let now = Time::from_millis(tick * 100);
        let mut datagrams = Vec::new();
        direct.send_poses(now, now, None, &mut |to, datagram| datagrams.push((to, datagram.to_vec())));
        for (to, datagram) in datagrams {
            *bytes.entry((to, tick / 10)).or_insert(0) += datagram.len() - wire::DATAGRAM_HEADER;
            for pose in poses(&datagram) {
                heard += 1;
                let (last, longest) = silences.entry((to, pose.object)).or_insert((now, Span::ZERO));
                (*last, *longest) = (now, (*longest).max(now.since(*last)));
            }
        }
    }
    let all: usize = bytes.values().sum();
    assert!(2 * 2_000 * (SECONDS as usize - 1) < all, "{all} bytes do not fill two budgets");
    for ((to, second), bytes) in bytes {
        assert!(bytes <= 2_000 + 500 + wire::POSE_MAX, "{to:?} got {bytes} bytes in second {second}");
    }
    assert_eq!(silences.len(), 2 * 199, "every object was heard of");
    for ((to, object), (last, longest)) in silences {
        let longest = longest.max(Time::from_millis(SECONDS * 1_000).since(last));
        assert!(longest < Span::from_secs(4), "{to:?} heard nothing of {object:?} for {longest}");
    }
    let PoseCounts { sent, deferred } = direct.counts();
    assert!(sent == heard && sent < deferred, "{sent} sent, {heard} heard, {deferred} deferred");
}

#[test]
fn an_avatar_has_one_subscriber_the_newest() {
    let mut direct = direct();
    direct.update(CarrierUpdate::Carry(id(2), at(7, 0, 0)));
    // Before the avatar is there, and while it is.
    direct.update(CarrierUpdate::Subscribe(Address(8), id(1)));
    direct.update(CarrierUpdate::Subscribe(Address(9), id(1)));
    direct.update(CarrierUpdate::Carry(id(1), at(0, 0, 0)));
    assert_eq!(sent_poses(&mut direct, 0), [(Address(9), 2, 7)]);
    direct.update(CarrierUpdate::Subscribe(Address(8), id(1)));
    assert_eq!(sent_poses(&mut direct, 100), [(Address(8), 2, 7)], "a new subscriber knows nothing yet");
    direct.update(CarrierUpdate::Unsubscribe(Address(9)));
    assert_eq!(sent_poses(&mut direct, 1_000), [(Address(8), 2, 7)], "the old one goes, the new one stays");
    direct.update(CarrierUpdate::Unsubscribe(Address(8)));
    assert_eq!((sent_poses(&mut direct, 2_000), direct.deadline()), (vec![], None));
}

#[test]
fn a_subscription_to_another_avatar_replaces_the_first() {
    let mut direct = direct();
    for object in 1..=3 {
        direct.update(CarrierUpdate::Carry(id(object), at(object as i32, 0, 0)));
    }
    direct.update(CarrierUpdate::Subscribe(Address(9), id(1)));
    direct.update(CarrierUpdate::Subscribe(Address(9), id(2)));
    assert_eq!(sent_poses(&mut direct, 0), [(Address(9), 1, 1), (Address(9), 3, 3)]);
    // An avatar that goes and comes back still has its subscriber, one that was cleared has none.
    direct.update(CarrierUpdate::Remove(id(2)));
    direct.update(CarrierUpdate::Carry(id(2), at(2, 1, 0)));
    assert_eq!(sent_poses(&mut direct, 100), [(Address(9), 1, 1), (Address(9), 3, 3)]);
    direct.update(CarrierUpdate::Clear);
    direct.update(CarrierUpdate::Carry(id(2), at(2, 2, 0)));
    direct.update(CarrierUpdate::Carry(id(3), at(3, 2, 0)));
    assert_eq!((sent_poses(&mut direct, 200), direct.deadline()), (vec![], None));
}

#[test]
fn a_game_may_hide_an_object() {
    let mut direct = direct();
    direct.update(CarrierUpdate::Subscribe(Address(9), id(1)));
    for object in 1..=3 {
        direct.update(CarrierUpdate::Carry(id(object), at(0, 0, 0)));
    }
    let mut heard = Vec::new();
    let hide = |_, subject, graded| if subject == id(2) { 0.0 } else { graded };
    let mut datagrams = Vec::new();
    direct.send_poses(Time::ZERO, Time::ZERO, Some(&hide), &mut |_, datagram| {
        datagrams.push(datagram.to_vec())
    });
    for datagram in datagrams {
        heard.extend(poses(&datagram).map(|it| it.object.counter));
    }
    assert_eq!(heard, [3]);
}
