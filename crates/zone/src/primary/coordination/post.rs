//! What goes from log to log: exactly once and in order, whatever fails at either end.
//!
//! An item is in the sender's state from the record that posts it until the receiver has said that it is in its own.
//! It leaves when its record is safe, and again whenever it may have been lost. The receiver deals with it in one
//! record, which also says its number, so that it is dealt with once.

use super::{Coordination, safe_to_post};
use crate::config::POST_BYTES_MAX;
use crate::core::Core;
use crate::locks::Holder;
use crate::mesh::{Being, Item, Mesh};
use crate::primary::context::Ctx;
use crate::primary::execution::entrance_zone;
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Index};
use machine::{Lane, Span, Time};
use space::ZoneId;
use std::collections::BTreeMap;

/// What was posted and not confirmed for this long is posted again.
const AGAIN: Span = Span::from_millis(500);

/// Between two records that say what was delivered.
const DELIVERED_EVERY: Span = Span::from_millis(200);

/// How long a zone knows where an object went that was not born here.
const REMEMBERED: Span = Span::from_millis(60_000);

/// How far the post with another zone is.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    /// Items up to this were sent, at this moment.
    sent: u64,
    sent_at: Time,
    /// Items up to this arrived there.
    delivered: u64,
    /// That zone is to hear that we have items up to this, once this record is safe.
    owed: Option<(u64, Index)>,
}

/// The post with all other zones.
#[derive(Debug, Default)]
pub(in crate::primary) struct Post {
    ways: BTreeMap<ZoneId, Way>,
    /// When it was last written what was delivered.
    written: Time,
}

impl Post {
    /// Sends what has become safe: items, and confirmations of items.
    pub(super) fn send(&mut self, cx: &mut Ctx<'_>, safe: Index) {
        if cx.core.state.abroad.post.is_empty() && self.ways.is_empty() {
            return;
        }
        for zone in cx.core.state.abroad.post.keys().copied().collect::<Vec<_>>() {
            self.send_to(cx, zone, safe);
        }
        for (&zone, way) in &mut self.ways {
            if let Some((upto, _)) = way.owed.take_if(|it| it.1 <= safe) {
                cx.tell_zone(zone, Lane::Sure, Mesh::Posted { upto });
            }
        }
    }

    fn send_to(&mut self, cx: &mut Ctx<'_>, zone: ZoneId, safe: Index) {
        let Some(outgoing) = cx.core.state.abroad.post.get(&zone) else { return };
        let way = self.ways.entry(zone).or_default();
        if outgoing.items.is_empty() || outgoing.last <= way.sent {
            return;
        }
        if cx.core.peers.address(zone).is_none() {
            return cx.seek(zone);
        }
        // A new reign does not know what was delivered before it; that is no longer here.
        let here = outgoing.items.keys().next().copied().unwrap_or(0);
        let first = (way.sent.max(way.delivered) + 1).max(here);
        let (mut items, mut weight) = (Vec::new(), 0);
        for (index, item) in outgoing.items.range(first..).map(|it| it.1) {
            weight += item.weight();
            if safe < *index || !items.is_empty() && POST_BYTES_MAX < weight {
                break;
            }
            items.push(item.clone());
        }
        if items.is_empty() {
            return;
        }
        (way.sent, way.sent_at) = (first + items.len() as u64 - 1, cx.core.now);
        cx.tell_zone(zone, Lane::Sure, Mesh::Post { first, items });
    }

    /// Whatever was under way to a zone may be lost.
    pub(super) fn send_again(&mut self, cx: &mut Ctx<'_>, zone: ZoneId, safe: Index) {
        let way = self.ways.entry(zone).or_default();
        way.sent = way.delivered;
        self.send_to(cx, zone, safe);
    }

    /// Another zone has our items up to this number.
    pub(in crate::primary) fn on_posted(&mut self, core: &Core, zone: ZoneId, upto: u64) {
        let last = core.state.abroad.post.get(&zone).map_or(0, |it| it.last);
        let way = self.ways.entry(zone).or_default();
        way.delivered = way.delivered.max(upto.min(last));
        way.sent = way.sent.max(way.delivered);
        way.sent_at = core.now;
    }

    /// Zones to which items were sent that they have not confirmed for a while.
    fn unconfirmed(&self, now: Time) -> Vec<ZoneId> {
        let lost = |way: &Way| way.delivered < way.sent && AGAIN < now.since(way.sent_at);
        self.ways.iter().filter(|it| lost(it.1)).map(|it| *it.0).collect()
    }

    /// The changes that say what was delivered.
    fn delivered(&self, core: &Core) -> Vec<Change> {
        let mut changes = Vec::new();
        for (&to, outgoing) in &core.state.abroad.post {
            let upto = self.ways.get(&to).map_or(0, |it| it.delivered);
            if outgoing.items.keys().next().is_some_and(|&first| first <= upto) {
                changes.push(Change::Delivered { to, upto });
            }
        }
        changes
    }
}

impl Coordination {
    pub(in crate::primary) fn look_after_post(&mut self, turn: &mut Turn<'_>) {
        let (now, announced) = (turn.cx.now(), turn.audience.announced());
        for zone in self.post.unconfirmed(now) {
            turn.cx.seek(zone); // Another replica may decide there.
            let safe = safe_to_post(turn.cx.core, announced);
            self.post.send_again(&mut turn.cx, zone, safe);
        }
        self.send_safe(&mut turn.cx, announced);
        if DELIVERED_EVERY <= now.since(self.post.written) && !turn.audience.is_choked() {
            self.post.written = now;
            let mut changes = self.post.delivered(turn.cx.core);
            let world_now = turn.cx.world_now();
            changes.extend(long_gone(turn.cx.core, world_now));
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
        items: Vec<Item>,
    ) {
        for (number, item) in (first..).zip(items) {
            let taken = last_taken(turn.cx.core, from);
            // What does not follow comes again, in order.
            if taken + 1 < number || turn.audience.is_choked() {
                break;
            }
            if taken < number {
                self.take_item(turn, from, number, item);
                assert_eq!(last_taken(turn.cx.core, from), number, "an item is taken in one record");
            }
        }
        let owed = (last_taken(turn.cx.core, from), turn.cx.core.log.head());
        self.post.ways.entry(from).or_default().owed = Some(owed);
    }

    fn take_item(&mut self, turn: &mut Turn<'_>, from: ZoneId, number: u64, item: Item) {
        let taken = Change::Taken { from, number };
        match item {
            Item::Decided(whole) => {
                turn.write_joint(taken, &whole);
                self.unlock(turn, Holder::Event(whole.event));
            }
            Item::Offer(passage) => self.take_offer(turn, from, taken, *passage),
            Item::Answer { object, incarnation, taken: is_taken } => {
                self.take_answer(turn, taken, (object, incarnation), is_taken);
            }
            Item::Letter { .. } => turn.take_letter(from, taken, item),
            Item::Lives { being, zone, incarnation } => {
                let is_news = is_news(turn.cx.core, being, incarnation);
                let change = is_news.then_some(Change::Lives { being, zone, incarnation });
                turn.write(Cause::Post(from), [taken].into_iter().chain(change).collect());
            }
        }
    }
}

fn last_taken(core: &Core, from: ZoneId) -> u64 {
    core.state.abroad.taken.get(&from).copied().unwrap_or(0)
}

/// The changes that forget objects and players that left long ago and did not begin here.
fn long_gone(core: &Core, now: Time) -> Vec<Change> {
    let mut changes = Vec::new();
    for (&being, lives) in &core.state.abroad.lives {
        let home = match being {
            Being::Object(object) => object.zone,
            Being::Player(player) => entrance_zone(core, player),
        };
        if home != core.config.zone && REMEMBERED < now.since(lives.since) {
            changes.push(Change::Lives { being, zone: None, incarnation: lives.incarnation });
        }
    }
    changes
}

/// Whether it is new that an object or player lives or died elsewhere, as this incarnation. Such words come from every
/// owner over a way of its own, and so not always in order.
fn is_news(core: &Core, being: Being, incarnation: u32) -> bool {
    let known = core.state.abroad.lives.get(&being).map(|it| it.incarnation);
    match being {
        Being::Player(player) => {
            known.is_none_or(|it| it <= incarnation) && !core.state.players.contains_key(&player)
        }
        Being::Object(object) => match (core.state.objects.get(object), known) {
            // It was offered and has gone on, and the zone that took it has not been heard yet.
            (Some(here), _) => here.incarnation < incarnation && known.is_none_or(|it| it <= incarnation),
            (None, Some(known)) => known <= incarnation,
            // An object that was born here and is neither here nor elsewhere is gone: this word is older than that one.
            (None, None) => false,
        },
    }
}
