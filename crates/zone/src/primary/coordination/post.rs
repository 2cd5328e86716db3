//! The post: items that go from one zone's log to another's, exactly once and in order, whatever fails at either end.
//!
//! An item is in the sender's state from the record that posts it until the receiver confirms that its own log has it.
//! It is sent when its record is settled, and again whenever it may have been lost. The receiver takes it in one record,
//! which also holds its number, so that it is taken once.

use super::{Coordination, last_settled};
use crate::config::POST_BYTES_MAX;
use crate::core::Core;
use crate::locks::LockHolder;
use crate::mesh::{BetweenZones, EntityId, PostItem};
use crate::primary::context::PrimaryContext;
use crate::primary::execution::entrance_zone;
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Index};
use machine::{Lane, Span, Time};
use space::ZoneId;
use std::collections::BTreeMap;

/// Items that are not confirmed for this long are sent again.
const AGAIN: Span = Span::from_millis(500);

/// The interval between two records that say which items were delivered.
const DELIVERED_EVERY: Span = Span::from_millis(200);

/// The time for which a zone remembers the location of an object that was not born in it.
const REMEMBERED: Span = Span::from_millis(60_000);

/// The progress of the post with one other zone, in both directions.
#[derive(Clone, Copy, Debug, Default)]
struct PostProgress {
    /// The last item that was sent, and when.
    sent: u64,
    sent_at: Time,
    /// The last item that the other zone confirmed.
    delivered: u64,
    /// The last item that we have taken from the other zone, to be confirmed once this record of ours is settled.
    owed: Option<(u64, Index)>,
}

/// The delivery of post to and from all other zones. The items themselves are in the state.
#[derive(Debug, Default)]
pub(in crate::primary) struct PostDelivery {
    by_zone: BTreeMap<ZoneId, PostProgress>,
    /// When a record last said which items were delivered.
    written: Time,
}

impl PostDelivery {
    /// Sends the items, and confirmations of items, whose records have become settled.
    pub(super) fn send(&mut self, cx: &mut PrimaryContext<'_>, settled: Index) {
        if cx.core.state.mesh.post.is_empty() && self.by_zone.is_empty() {
            return;
        }
        for zone in cx.core.state.mesh.post.keys().copied().collect::<Vec<_>>() {
            self.send_to(cx, zone, settled);
        }
        for (&zone, progress) in &mut self.by_zone {
            if let Some((upto, _)) = progress.owed.take_if(|it| it.1 <= settled) {
                cx.send_zone(zone, Lane::Sure, BetweenZones::Posted { upto });
            }
        }
    }

    fn send_to(&mut self, cx: &mut PrimaryContext<'_>, zone: ZoneId, settled: Index) {
        let Some(outgoing) = cx.core.state.mesh.post.get(&zone) else { return };
        let progress = self.by_zone.entry(zone).or_default();
        if outgoing.items.is_empty() || outgoing.last <= progress.sent {
            return;
        }
        if cx.core.remote_primaries.address(zone).is_none() {
            return cx.seek(zone);
        }
        // A new primary does not know what was delivered. What an earlier one recorded as delivered is not in the
        // state.
        let here = outgoing.items.keys().next().copied().unwrap_or(0);
        let first = (progress.sent.max(progress.delivered) + 1).max(here);
        let (mut items, mut weight) = (Vec::new(), 0);
        for (index, item) in outgoing.items.range(first..).map(|it| it.1) {
            weight += item.weight();
            // One item may exceed the limit, or it would never leave.
            if settled < *index || !items.is_empty() && POST_BYTES_MAX < weight {
                break;
            }
            items.push(item.clone());
        }
        if items.is_empty() {
            return;
        }
        (progress.sent, progress.sent_at) = (first + items.len() as u64 - 1, cx.core.now);
        cx.send_zone(zone, Lane::Sure, BetweenZones::Post { first, items });
    }

    /// Sends the unconfirmed items to a zone again: they may be lost.
    pub(super) fn send_again(&mut self, cx: &mut PrimaryContext<'_>, zone: ZoneId, settled: Index) {
        let progress = self.by_zone.entry(zone).or_default();
        progress.sent = progress.delivered;
        self.send_to(cx, zone, settled);
    }

    /// Another zone confirms our items up to this number.
    pub(in crate::primary) fn on_posted(&mut self, core: &Core, zone: ZoneId, upto: u64) {
        let last = core.state.mesh.post.get(&zone).map_or(0, |it| it.last);
        let progress = self.by_zone.entry(zone).or_default();
        // Never beyond what was posted, whatever the message claims.
        progress.delivered = progress.delivered.max(upto.min(last));
        progress.sent = progress.sent.max(progress.delivered);
        progress.sent_at = core.now;
    }

    /// The zones that have not confirmed items for a while.
    fn unconfirmed(&self, now: Time) -> Vec<ZoneId> {
        let lost = |progress: &PostProgress| {
            progress.delivered < progress.sent && AGAIN < now.since(progress.sent_at)
        };
        self.by_zone.iter().filter(|it| lost(it.1)).map(|it| *it.0).collect()
    }

    /// The changes that remove delivered items from the state.
    fn delivered(&self, core: &Core) -> Vec<Change> {
        let mut changes = Vec::new();
        for (&to, outgoing) in &core.state.mesh.post {
            let upto = self.by_zone.get(&to).map_or(0, |it| it.delivered);
            if outgoing.items.keys().next().is_some_and(|&first| first <= upto) {
                changes.push(Change::Delivered { to, upto });
            }
        }
        changes
    }
}

impl Coordination {
    pub(in crate::primary) fn maintain_post(&mut self, turn: &mut Turn<'_>) {
        let (now, announced) = (turn.cx.now(), turn.audience.announced());
        for zone in self.post.unconfirmed(now) {
            turn.cx.seek(zone); // Another replica may be primary there now.
            let settled = last_settled(turn.cx.core, announced);
            self.post.send_again(&mut turn.cx, zone, settled);
        }
        self.send_settled(&mut turn.cx, announced);
        if DELIVERED_EVERY <= now.since(self.post.written) && !turn.audience.is_backlogged() {
            self.post.written = now;
            let mut changes = self.post.delivered(turn.cx.core);
            let world_now = turn.cx.world_now();
            changes.extend(expired_locations(turn.cx.core, world_now));
            if !changes.is_empty() {
                turn.write(Cause::Post(turn.cx.zone()), changes);
            }
        }
    }

    /// Another zone posts items, in order from this number on.
    pub(in crate::primary) fn on_post(
        &mut self,
        turn: &mut Turn<'_>,
        from: ZoneId,
        first: u64,
        items: Vec<PostItem>,
    ) {
        for (number, item) in (first..).zip(items) {
            let taken = last_taken(turn.cx.core, from);
            // Items after a gap, or while there is no room, are not taken. The sender repeats them in order.
            if taken + 1 < number || turn.audience.is_backlogged() {
                break;
            }
            if taken < number {
                self.take_item(turn, from, number, item);
                assert_eq!(last_taken(turn.cx.core, from), number, "an item is taken in one record");
            }
        }
        // Also if nothing was taken: the sender may repeat because our confirmation was lost.
        let owed = (last_taken(turn.cx.core, from), turn.cx.core.log.head());
        self.post.by_zone.entry(from).or_default().owed = Some(owed);
    }

    fn take_item(&mut self, turn: &mut Turn<'_>, from: ZoneId, number: u64, item: PostItem) {
        let taken = Change::Taken { from, number };
        match item {
            PostItem::Decided(decided) => {
                turn.write_joint(taken, &decided);
                self.unlock(turn, LockHolder::Event(decided.event));
            }
            PostItem::Offer(transfer) => self.take_offer(turn, from, taken, *transfer),
            PostItem::Answer { object, incarnation, taken: is_taken } => {
                self.take_answer(turn, taken, (object, incarnation), is_taken);
            }
            PostItem::Letter { .. } => turn.take_letter(from, taken, item),
            PostItem::Location { entity, zone, incarnation } => {
                let is_newer_location = is_newer_location(turn.cx.core, entity, incarnation);
                let change = is_newer_location.then_some(Change::Location { entity, zone, incarnation });
                turn.write(Cause::Post(from), [taken].into_iter().chain(change).collect());
            }
        }
    }
}

fn last_taken(core: &Core, from: ZoneId) -> u64 {
    core.state.mesh.taken.get(&from).copied().unwrap_or(0)
}

/// The changes that forget the locations of objects and players that left long ago and were not born in this zone.
fn expired_locations(core: &Core, now: Time) -> Vec<Change> {
    let mut changes = Vec::new();
    for (&entity, location) in &core.state.mesh.locations {
        let first_zone = match entity {
            EntityId::Object(object) => object.zone,
            EntityId::Player(player) => entrance_zone(core, player),
        };
        if first_zone != core.config.zone && REMEMBERED < now.since(location.since) {
            changes.push(Change::Location { entity, zone: None, incarnation: location.incarnation });
        }
    }
    changes
}

/// Returns whether a location is newer than what this zone knows of an object or player. Every owner sends its own by
/// its own post, so they do not always arrive in order.
fn is_newer_location(core: &Core, entity: EntityId, incarnation: u32) -> bool {
    let known = core.state.mesh.locations.get(&entity).map(|it| it.incarnation);
    match entity {
        EntityId::Player(player) => {
            known.is_none_or(|it| it <= incarnation) && !core.state.players.contains_key(&player)
        }
        EntityId::Object(object) => match (core.state.objects.get(object), known) {
            // We offered the object, it has moved on since, and the answer to our offer has not come yet.
            (Some(here), _) => here.incarnation < incarnation && known.is_none_or(|it| it <= incarnation),
            (None, Some(known)) => known <= incarnation,
            // An object of this birth zone without a location was removed: this location is older than its removal.
            (None, None) => false,
        },
    }
}
