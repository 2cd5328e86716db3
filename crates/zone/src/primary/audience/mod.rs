//! Everything that hears of a zone: the clients, the neighbouring zones, the carrier.
//!
//! What is committed waits here until it is safe and is then announced, all of one record at once (`announce`). Moves are
//! told without a record (`motions`). Nothing here is part of the zone's state: it is lost with the reign, and built up
//! again by clients that enter and neighbours that watch.

mod announce;
mod borders;
mod entering;
mod ghosts;
mod motions;
mod moves;
mod neighbours;
mod past;
mod sessions;
mod unannounced;
mod views;

use crate::core::Core;
use crate::record::{Index, Record};
use crate::table::Table;
use borders::Borders;
use game::PlayerId;
use machine::Address;
use motions::Motions;
pub(super) use sessions::{Seen, Sessions};
use space::{ObjectId, Position, ZoneId};
use std::collections::BTreeMap;
use unannounced::Unannounced;
use views::Views;

/// All that hears of a zone.
pub(super) struct Audience {
    pub(super) unannounced: Unannounced,
    pub(super) sessions: Sessions,
    views: Views,
    pub(super) borders: Borders,
    pub(super) motions: Motions,
    /// Players who come with an avatar from another zone, and the addresses of their clients.
    arrivals: BTreeMap<PlayerId, Address>,
}

impl Audience {
    /// The audience of a reign that begins. Everything the log holds counts as announced: the replicas that had a part in
    /// it may have told clients.
    pub(super) fn new(core: &Core) -> Self {
        Self {
            unannounced: Unannounced::after(core.log.head()),
            sessions: Sessions::default(),
            views: Views::default(),
            borders: Borders::new(&core.config),
            motions: Motions::default(),
            arrivals: BTreeMap::new(),
        }
    }

    /// Everything up to this record is announced.
    pub(super) const fn announced(&self) -> Index {
        self.unannounced.announced()
    }

    /// Whether so much waits to be acknowledged that nothing more should be taken on.
    pub(super) const fn is_choked(&self) -> bool {
        self.unannounced.is_choked()
    }

    /// A record was committed. It is announced as soon as it is safe.
    pub(super) fn expect(&mut self, record: Record, bytes: usize) {
        self.motions.take_logged(&record);
        self.unannounced.push(record, bytes);
    }

    /// A player comes from another zone, with a client at this address.
    pub(super) fn expect_arrival(&mut self, player: PlayerId, client: Option<Address>) {
        self.arrivals.extend(client.map(|it| (player, it)));
    }

    /// The neighbours' objects, as far as they are known here.
    pub(super) const fn ghosts(&self) -> &Table {
        self.borders.ghosts()
    }

    /// Whose an object is, as far as is known here.
    pub(super) fn owner(&self, core: &Core, object: ObjectId) -> Option<ZoneId> {
        if core.state.objects.get(object).is_some() {
            return Some(core.config.zone);
        }
        if object == game::WORLD {
            return core.config.map.locate(Position::ORIGIN);
        }
        self.borders.owner(object)
    }
}
