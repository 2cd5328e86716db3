//! The route of a letter between zones: a zone delivers it, or posts it to the next zone.

use crate::config::HOPS_MAX;
use crate::core::Core;
use crate::mesh::{EntityId, PostItem};
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Stamp};
use game::{Addressee, PlayerId};
use space::{ObjectId, Position, ZoneId};

/// The next step of a letter.
enum LetterRoute {
    /// The addressee is in this zone.
    Here,
    /// That zone has the addressee, or knows more about it.
    There(ZoneId),
    /// No zone knows the addressee: it was removed.
    Nowhere,
}

/// The change that posts an item. `before` counts the items to the same zone earlier in the same record.
pub(in crate::primary) fn posted(core: &Core, to: ZoneId, before: u64, item: PostItem) -> Change {
    let last = core.state.mesh.post.get(&to).map_or(0, |it| it.last);
    Change::Posted { to, number: last + 1 + before, item }
}

/// The zone in which a player enters the world for the first time.
pub(in crate::primary) fn entrance_zone(core: &Core, player: PlayerId) -> ZoneId {
    core.config.map.locate(core.config.rules.entrance(player)).unwrap_or(core.config.zone)
}

impl Turn<'_> {
    /// Takes a letter that came by post: keeps it for delivery here, posts it on, or drops it.
    pub(in crate::primary) fn take_letter(&mut self, from: ZoneId, taken: Change, letter: PostItem) {
        let PostItem::Letter { to, letter, hops } = letter else { return };
        let stamp = Stamp { epoch: self.cx.epoch(), index: self.cx.core.log.head() + 1, place: 1 };
        let change = match route(self.cx.core, to) {
            LetterRoute::There(zone) if hops < HOPS_MAX => {
                Some(posted(self.cx.core, zone, 0, PostItem::Letter { to, letter, hops: hops + 1 }))
            }
            // A letter that was posted on too often stays here as a letter of this zone, which forwards it later: two
            // zones with old locations must not send it to and fro for ever.
            LetterRoute::There(_) | LetterRoute::Here => Some(Change::LetterSent { stamp, to, letter }),
            LetterRoute::Nowhere => None,
        };
        self.write(Cause::Post(from), [taken].into_iter().chain(change).collect());
    }

    /// Posts a letter whose addressee is in another zone, or drops it if the addressee was removed. Returns whether it
    /// did.
    pub(in crate::primary) fn forward_letter(&mut self, stamp: Stamp) -> bool {
        let core = &*self.cx.core;
        if !core.config.is_meshed() {
            return false;
        }
        let Some(letter) = core.state.letters.get(&stamp) else { return false };
        let (to, letter) = (letter.to, letter.letter.clone());
        let mut changes = vec![Change::LetterDone { stamp }];
        match route(core, to) {
            LetterRoute::Here => return false,
            LetterRoute::There(zone) => {
                changes.push(posted(core, zone, 0, PostItem::Letter { to, letter, hops: 0 }))
            }
            LetterRoute::Nowhere => (),
        }
        self.write(Cause::Letter(stamp), changes);
        true
    }
}

fn route(core: &Core, to: Addressee) -> LetterRoute {
    let place = |place: Position| match core.config.map.locate(place) {
        Some(zone) if zone != core.config.zone => LetterRoute::There(zone),
        _ => LetterRoute::Here,
    };
    match to {
        Addressee::Place(at) => place(at),
        Addressee::World | Addressee::Object(game::WORLD) => place(Position::ORIGIN),
        Addressee::Object(object) => route_to(core, object),
    }
}

fn route_to(core: &Core, object: ObjectId) -> LetterRoute {
    if core.state.objects.get(object).is_some() {
        return LetterRoute::Here;
    }
    if let Some(location) = core.state.mesh.locations.get(&EntityId::Object(object)) {
        return location.zone.map_or(LetterRoute::Nowhere, LetterRoute::There);
    }
    match core.config.map.polygon(object.zone) {
        Some(_) if object.zone != core.config.zone => LetterRoute::There(object.zone),
        _ => LetterRoute::Nowhere,
    }
}
