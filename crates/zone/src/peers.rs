//! The primaries of other zones, as far as this replica has heard of them.
//!
//! No directory tells a zone who decides in another: a primary asks all replicas of that zone, and the one that decides
//! there answers. Every message between zones names its zone and epoch, so each one brings this table up to date.

use machine::{Address, Span, Time};
use space::{Epoch, ZoneId};
use std::collections::BTreeMap;

/// Between two questions who decides in a zone.
const SEEK_EVERY: Span = Span::from_millis(100);

/// A zone that was silent for this long may have another primary.
const SILENT: Span = Span::from_millis(1_000);

/// The primary of another zone.
#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    epoch: Option<Epoch>,
    address: Option<Address>,
    heard: Time,
    sought: Option<Time>,
}

/// The primaries of other zones.
#[derive(Debug, Default)]
pub(crate) struct Peers(BTreeMap<ZoneId, Peer>);

impl Peers {
    /// The address of a zone's primary.
    pub(crate) fn address(&self, zone: ZoneId) -> Option<Address> {
        self.0.get(&zone)?.address
    }

    /// Whether a zone's primary was heard a short while ago.
    pub(crate) fn is_there(&self, zone: ZoneId, now: Time) -> bool {
        self.0.get(&zone).is_some_and(|it| it.address.is_some() && now.since(it.heard) < SILENT)
    }

    /// Whether it is time to ask who decides in a zone. If so, the question counts as asked.
    pub(crate) fn seeks(&mut self, zone: ZoneId, now: Time) -> bool {
        let peer = self.0.entry(zone).or_default();
        if peer.sought.is_some_and(|it| now.since(it) < SEEK_EVERY) {
            return false;
        }
        peer.sought = Some(now);
        true
    }

    /// The highest epoch that was heard of a zone.
    pub(crate) fn epoch(&self, zone: ZoneId) -> Option<Epoch> {
        self.0.get(&zone)?.epoch
    }

    /// Takes in that a zone's primary speaks. Whether this is a new primary, or the same replica in a new epoch: it has
    /// forgotten what it knew beyond its log.
    pub(crate) fn hear(&mut self, zone: ZoneId, epoch: Epoch, from: Address, now: Time) -> bool {
        let peer = self.0.entry(zone).or_default();
        let is_new = (peer.epoch, peer.address) != (Some(epoch), Some(from));
        (peer.epoch, peer.address, peer.heard) = (Some(epoch), Some(from), now);
        is_new
    }

    /// The link to an address is gone. Says which zones had their primary there.
    pub(crate) fn lose(&mut self, address: Address) -> Vec<ZoneId> {
        let lost = self.0.iter_mut().filter(|it| it.1.address == Some(address));
        lost.map(|(&zone, peer)| {
            peer.address = None;
            zone
        })
        .collect()
    }
}
