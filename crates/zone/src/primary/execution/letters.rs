//! The way of a letter between zones: each zone takes it as its own, delivers it, or posts it on.

use crate::config::HOPS_MAX;
use crate::core::Core;
use crate::mesh::{Being, Item};
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Stamp};
use game::{Addressee, PlayerId};
use space::{ObjectId, Position, ZoneId};

/// Where a letter is to go.
enum Route {
    /// Its addressee is here.
    Here,
    /// That zone knows more.
    There(ZoneId),
    /// No zone knows the addressee: it is gone.
    Nowhere,
}

/// The change that posts an item. `before` counts those to the same zone in the same record.
pub(in crate::primary) fn posted(core: &Core, to: ZoneId, before: u64, item: Item) -> Change {
    let last = core.state.abroad.post.get(&to).map_or(0, |it| it.last);
    Change::Posted { to, number: last + 1 + before, item }
}

/// The zone in which a player came in for the first time, or will.
pub(in crate::primary) fn entrance_zone(core: &Core, player: PlayerId) -> ZoneId {
    core.config.map.locate(core.config.rules.entrance(player)).unwrap_or(core.config.zone)
}

impl Turn<'_> {
    /// A letter came by post.
    pub(in crate::primary) fn take_letter(&mut self, from: ZoneId, taken: Change, letter: Item) {
        let Item::Letter { to, letter, hops } = letter else { return };
        let stamp = Stamp { epoch: self.cx.epoch(), index: self.cx.core.log.head() + 1, place: 1 };
        let change = match route(self.cx.core, to) {
            Route::There(zone) if hops < HOPS_MAX => {
                Some(posted(self.cx.core, zone, 0, Item::Letter { to, letter, hops: hops + 1 }))
            }
            // A letter that is passed on too often rests here, and is sent on later.
            Route::There(_) | Route::Here => Some(Change::LetterSent { stamp, to, letter }),
            Route::Nowhere => None,
        };
        self.write(Cause::Post(from), [taken].into_iter().chain(change).collect());
    }

    /// Sends a letter on whose addressee is elsewhere, or drops it if the addressee is gone; whether it did.
    pub(in crate::primary) fn forward_letter(&mut self, stamp: Stamp) -> bool {
        let core = &*self.cx.core;
        if !core.config.is_meshed() {
            return false;
        }
        let Some(letter) = core.state.letters.get(&stamp) else { return false };
        let (to, letter) = (letter.to, letter.letter.clone());
        let mut changes = vec![Change::LetterDone { stamp }];
        match route(core, to) {
            Route::Here => return false,
            Route::There(zone) => changes.push(posted(core, zone, 0, Item::Letter { to, letter, hops: 0 })),
            Route::Nowhere => (),
        }
        self.write(Cause::Letter(stamp), changes);
        true
    }
}

fn route(core: &Core, to: Addressee) -> Route {
    let place = |place: Position| match core.config.map.locate(place) {
        Some(zone) if zone != core.config.zone => Route::There(zone),
        _ => Route::Here,
    };
    match to {
        Addressee::Place(at) => place(at),
        Addressee::World | Addressee::Object(game::WORLD) => place(Position::ORIGIN),
        Addressee::Object(object) => route_to(core, object),
    }
}

fn route_to(core: &Core, object: ObjectId) -> Route {
    if core.state.objects.get(object).is_some() {
        return Route::Here;
    }
    if let Some(lives) = core.state.abroad.lives.get(&Being::Object(object)) {
        return lives.zone.map_or(Route::Nowhere, Route::There);
    }
    match core.config.map.polygon(object.zone) {
        Some(_) if object.zone != core.config.zone => Route::There(object.zone),
        _ => Route::Nowhere,
    }
}
