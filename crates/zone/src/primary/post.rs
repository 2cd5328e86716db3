//! What goes from log to log: exactly once and in order, whatever fails at either end.
//!
//! An item is in the sender's state from the record that posts it until the receiver has said that it is in its own.
//! It leaves when its record is safe, and again whenever it may have been lost. The receiver deals with it in one
//! record, which also says its number, so that it is dealt with once.

use super::Primary;
use crate::config::{HOPS_MAX, POST_BYTES_MAX};
use crate::core::{Core, Out};
use crate::mesh::{Being, Item, Mesh, Whole};
use crate::plant::Plant;
use crate::record::{Cause, Change, Index, Stamp};
use game::{Addressee, PlayerId};
use machine::{Lane, Span, Time};
use serde_bytes::ByteBuf;
use space::{ObjectId, Position, ZoneId};
use std::collections::BTreeMap;

/// What was posted and not confirmed for this long is posted again.
const AGAIN: Span = Span::from_millis(500);

/// Between two records that say what was delivered.
const DELIVERED_EVERY: Span = Span::from_millis(200);

/// How long a zone knows where somebody went who was not born here.
const REMEMBERED: Span = Span::from_millis(60_000);

/// How far the post with another zone is.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    /// Items up to this were sent, at this moment.
    sent: u64,
    sent_at: Time,
    /// Items up to this arrived there.
    delivered: u64,
    /// They are to hear that we have items up to this, once this record is safe.
    owed: Option<(u64, Index)>,
}

/// The post with all other zones.
#[derive(Debug, Default)]
pub(super) struct Post {
    ways: BTreeMap<ZoneId, Way>,
    told: Time,
}

/// Where a letter is to go.
enum Route {
    /// It is for somebody here.
    Here,
    /// That zone knows more.
    There(ZoneId),
    /// Nobody knows the addressee: it is gone.
    Nowhere,
}

impl Primary {
    /// The change that posts an item. `before` counts those to the same zone in the same record.
    pub(super) fn posted(core: &Core, to: ZoneId, before: u64, item: Item) -> Change {
        let last = core.state.abroad.post.get(&to).map_or(0, |it| it.last);
        Change::Posted { to, number: last + 1 + before, item }
    }

    // Sending.

    /// Records up to this may be told to other zones: safe like everything that is announced, and on the own disk.
    /// After a full stop a zone may have lost its last moments, but nothing that another zone relies on.
    pub(super) fn safe_abroad(&self, core: &Core) -> Index {
        if core.config.plants.has(Plant::AbroadUnsynced) {
            return self.announced;
        }
        self.announced.min(core.disk.persisted)
    }

    /// Tells other zones what has become safe to tell them.
    pub(super) fn send_abroad(&mut self, core: &Core, out: &mut Out) {
        if core.config.is_meshed() {
            self.send_granted(core, out);
            self.send_post(core, out);
        }
    }

    fn send_post(&mut self, core: &Core, out: &mut Out) {
        if core.state.abroad.post.is_empty() && self.post.ways.is_empty() {
            return;
        }
        for &zone in core.state.abroad.post.keys() {
            self.send_post_to(core, zone, out);
        }
        let safe = self.safe_abroad(core);
        let ready = |way: &mut Way| way.owed.take_if(|it| it.1 <= safe).map(|it| it.0);
        let owed: Vec<_> =
            self.post.ways.iter_mut().filter_map(|(&zone, way)| Some((zone, ready(way)?))).collect();
        for (zone, upto) in owed {
            self.tell_zone(core, zone, Lane::Sure, Mesh::Posted { upto }, out);
        }
    }

    fn send_post_to(&mut self, core: &Core, zone: ZoneId, out: &mut Out) {
        let Some(outgoing) = core.state.abroad.post.get(&zone) else { return };
        let safe = self.safe_abroad(core);
        let way = self.post.ways.entry(zone).or_default();
        if outgoing.items.is_empty() || outgoing.last <= way.sent {
            return;
        }
        if self.peers.address(zone).is_none() {
            return self.seek(core, zone, out);
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
        let sent = first + items.len() as u64 - 1;
        (way.sent, way.sent_at) = (sent, core.now);
        self.tell_zone(core, zone, Lane::Sure, Mesh::Post { first, items }, out);
    }

    /// Whatever was under way to a zone may be lost.
    pub(super) fn post_again(&mut self, core: &Core, zone: ZoneId, out: &mut Out) {
        let way = self.post.ways.entry(zone).or_default();
        way.sent = way.delivered;
        self.send_post_to(core, zone, out);
    }

    pub(super) fn on_posted(&mut self, core: &Core, zone: ZoneId, upto: u64) {
        let last = core.state.abroad.post.get(&zone).map_or(0, |it| it.last);
        let way = self.post.ways.entry(zone).or_default();
        way.delivered = way.delivered.max(upto.min(last));
        way.sent = way.sent.max(way.delivered);
        way.sent_at = core.now;
    }

    pub(super) fn look_after_post(&mut self, core: &mut Core, out: &mut Out) {
        let lost = |way: &Way| way.delivered < way.sent && AGAIN < core.now.since(way.sent_at);
        let again: Vec<_> = self.post.ways.iter().filter(|it| lost(it.1)).map(|it| *it.0).collect();
        for zone in again {
            self.seek(core, zone, out); // Somebody else may decide there.
            self.post_again(core, zone, out);
        }
        self.send_abroad(core, out);
        if DELIVERED_EVERY <= core.now.since(self.post.told) && !self.is_choked() {
            self.post.told = core.now;
            self.write_delivered(core, out);
        }
    }

    /// Writes what was delivered, and forgets who left long ago.
    fn write_delivered(&mut self, core: &mut Core, out: &mut Out) {
        let mut changes = Vec::new();
        for (&to, outgoing) in &core.state.abroad.post {
            let upto = self.post.ways.get(&to).map_or(0, |it| it.delivered);
            if outgoing.items.keys().next().is_some_and(|&first| first <= upto) {
                changes.push(Change::Delivered { to, upto });
            }
        }
        let now = core.world_now();
        for (&being, lives) in &core.state.abroad.lives {
            let is_ours = match being {
                Being::Object(object) => object.zone == self.zone,
                Being::Player(player) => self.entrance_zone(core, player) == self.zone,
            };
            if !is_ours && REMEMBERED < now.since(lives.since) {
                changes.push(Change::Lives { being, zone: None, incarnation: lives.incarnation });
            }
        }
        if !changes.is_empty() {
            self.write(core, Cause::Post(self.zone), changes, out);
        }
    }

    // Taking.

    pub(super) fn on_post(
        &mut self,
        core: &mut Core,
        from: ZoneId,
        first: u64,
        items: Vec<Item>,
        out: &mut Out,
    ) {
        for (number, item) in (first..).zip(items) {
            let taken = core.state.abroad.taken.get(&from).copied().unwrap_or(0);
            // What does not follow comes again, in order.
            if taken + 1 < number || self.is_choked() {
                break;
            }
            if taken < number {
                self.take_item(core, from, number, item, out);
            }
        }
        let taken = core.state.abroad.taken.get(&from).copied().unwrap_or(0);
        self.post.ways.entry(from).or_default().owed = Some((taken, core.log.head()));
    }

    fn take_item(&mut self, core: &mut Core, from: ZoneId, number: u64, item: Item, out: &mut Out) {
        let taken = Change::Taken { from, number };
        match item {
            Item::Decided(whole) => self.take_decided(core, taken, &whole, out),
            Item::Offer(passage) => self.take_offer(core, from, taken, *passage, out),
            Item::Answer { object, incarnation, taken: is_taken } => {
                self.take_answer(core, taken, object, incarnation, is_taken, out);
            }
            Item::Letter { to, letter, hops } => self.take_letter(core, from, taken, (to, letter, hops), out),
            Item::Lives { being, zone, incarnation } => {
                let news = is_news(core, being, incarnation);
                let changes = news.then_some(Change::Lives { being, zone, incarnation });
                self.write(core, Cause::Post(from), [taken].into_iter().chain(changes).collect(), out);
            }
        }
    }

    fn take_decided(&mut self, core: &mut Core, taken: Change, whole: &Whole, out: &mut Out) {
        self.write_joint(core, taken, whole, out);
        self.unlock(core, crate::locks::Holder::Event(whole.event), out);
    }

    /// The zone in which a player came in for the first time, or will.
    pub(super) fn entrance_zone(&self, core: &Core, player: PlayerId) -> ZoneId {
        core.config.map.locate(core.config.rules.entrance(player)).unwrap_or(self.zone)
    }

    // Letters.

    fn take_letter(
        &mut self,
        core: &mut Core,
        from: ZoneId,
        taken: Change,
        (to, letter, hops): (Addressee, ByteBuf, u8),
        out: &mut Out,
    ) {
        let stamp = Stamp { epoch: self.epoch, index: core.log.head() + 1, place: 1 };
        let change = match self.route(core, to) {
            Route::There(zone) if hops < HOPS_MAX => {
                Some(Self::posted(core, zone, 0, Item::Letter { to, letter, hops: hops + 1 }))
            }
            // Who is passed on too often rests here, and is sent on later.
            Route::There(_) | Route::Here => Some(Change::LetterSent { stamp, to, letter }),
            Route::Nowhere => None,
        };
        self.write(core, Cause::Post(from), [taken].into_iter().chain(change).collect(), out);
    }

    fn route(&self, core: &Core, to: Addressee) -> Route {
        let place = |place: Position| match core.config.map.locate(place) {
            Some(zone) if zone != self.zone => Route::There(zone),
            _ => Route::Here,
        };
        match to {
            Addressee::Place(at) => place(at),
            Addressee::World | Addressee::Object(game::WORLD) => place(Position::ORIGIN),
            Addressee::Object(object) => self.route_to(core, object),
        }
    }

    fn route_to(&self, core: &Core, object: ObjectId) -> Route {
        if core.state.objects.get(object).is_some() {
            return Route::Here;
        }
        if let Some(lives) = core.state.abroad.lives.get(&Being::Object(object)) {
            return lives.zone.map_or(Route::Nowhere, Route::There);
        }
        match core.config.map.polygon(object.zone) {
            Some(_) if object.zone != self.zone => Route::There(object.zone),
            _ => Route::Nowhere,
        }
    }

    /// Sends a letter on that is for somebody elsewhere, or drops it; whether it was.
    pub(super) fn send_on(&mut self, core: &mut Core, stamp: Stamp, out: &mut Out) -> bool {
        if !core.config.is_meshed() {
            return false;
        }
        let Some(letter) = core.state.letters.get(&stamp) else { return false };
        let (to, letter) = (letter.to, letter.letter.clone());
        let mut changes = vec![Change::LetterDone { stamp }];
        match self.route(core, to) {
            Route::Here => return false,
            Route::There(zone) => {
                changes.push(Self::posted(core, zone, 0, Item::Letter { to, letter, hops: 0 }));
            }
            Route::Nowhere => (),
        }
        self.write(core, Cause::Letter(stamp), changes, out);
        true
    }
}

/// Whether somebody who lives or died elsewhere, as this incarnation, was not known to. Such words come from whoever owned
/// them, each over a way of its own, and so not always in order.
fn is_news(core: &Core, being: Being, incarnation: u32) -> bool {
    let known = core.state.abroad.lives.get(&being).map(|it| it.incarnation);
    match being {
        Being::Player(player) => {
            known.is_none_or(|it| it <= incarnation) && !core.state.players.contains_key(&player)
        }
        Being::Object(object) => match (core.state.objects.get(object), known) {
            // It was offered and has gone on, and who took it has not been heard of yet.
            (Some(here), _) => here.incarnation < incarnation && known.is_none_or(|it| it <= incarnation),
            (None, Some(known)) => known <= incarnation,
            // Whoever was born here and is neither here nor elsewhere is gone: this word is older than that one.
            (None, None) => false,
        },
    }
}
