//! The audience of a zone: its clients, the neighbouring zones, the carrier.
//!
//! Committed records wait here until they are safe and are then announced, each as a whole (`announce`). Moves are told
//! without a record (`moves`, `motions`). Nothing here is part of the zone's state: a new primary begins with an empty
//! audience, and clients that enter and neighbours that watch build it up again.

mod announce;
mod borders;
mod client_views;
mod contacts;
mod entering;
mod ghosts;
mod motions;
mod moves;
mod neighbours;
mod past_motions;
mod sessions;
mod unannounced;

use crate::core::Core;
use crate::load_level::LoadLevel;
use crate::object_table::ObjectTable;
use crate::record::{Index, Record};
use borders::Borders;
use client_views::ClientViews;
use contacts::ClientContacts;
use game::PlayerId;
use machine::Address;
use motions::Motions;
pub(super) use sessions::{ResumePoint, Sessions};
use space::{ObjectId, Position, ZoneId};
use std::collections::BTreeMap;
use unannounced::UnannouncedRecords;

/// The clients, neighbours and carrier of a zone, and the records that they do not know yet.
pub(super) struct Audience {
    pub(super) unannounced: UnannouncedRecords,
    pub(super) sessions: Sessions,
    views: ClientViews,
    contacts: ClientContacts,
    pub(super) borders: Borders,
    pub(super) motions: Motions,
    /// The clients of players whose avatars come from another zone, until the record that takes the avatar is safe.
    arrivals: BTreeMap<PlayerId, Address>,
    /// The primary's load level, which clients are told when they are let in.
    pub(super) load: LoadLevel,
}

impl Audience {
    /// The audience of a new primary. All records in the log count as announced: an earlier primary may have announced
    /// them, so this one must never take them back.
    pub(super) fn new(core: &Core) -> Self {
        Self {
            unannounced: UnannouncedRecords::after(core.log.head()),
            sessions: Sessions::default(),
            views: ClientViews::default(),
            contacts: ClientContacts::default(),
            borders: Borders::new(&core.config),
            motions: Motions::default(),
            arrivals: BTreeMap::new(),
            load: LoadLevel::Calm,
        }
    }

    /// The last record that is announced.
    pub(super) const fn announced(&self) -> Index {
        self.unannounced.announced()
    }

    /// Returns whether so many bytes wait to become safe that no new work should begin.
    pub(super) const fn is_backlogged(&self) -> bool {
        self.unannounced.is_backlogged()
    }

    /// Takes in a committed record. It is announced as soon as it is safe.
    pub(super) fn add_unannounced(&mut self, record: Record, bytes: usize) {
        self.motions.take_logged(&record);
        self.unannounced.push(record, bytes);
    }

    /// Remembers the client of a player whose avatar comes from another zone.
    pub(super) fn expect_arrival(&mut self, player: PlayerId, client: Option<Address>) {
        self.arrivals.extend(client.map(|it| (player, it)));
    }

    /// The ghosts of the neighbours' objects.
    pub(super) const fn ghosts(&self) -> &ObjectTable {
        self.borders.ghosts()
    }

    /// The zone that owns an object, as far as this zone knows.
    pub(super) fn owner(&self, core: &Core, object: ObjectId) -> Option<ZoneId> {
        if core.state.objects.get(object).is_some() {
            return Some(core.config.zone);
        }
        // The world's own object is no ghost: it belongs to the zone at the origin.
        if object == game::WORLD {
            return core.config.map.locate(Position::ORIGIN);
        }
        self.borders.owner(object)
    }
}
