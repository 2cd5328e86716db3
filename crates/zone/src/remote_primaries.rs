//! The primaries of other zones, as far as this replica has heard of them.
//!
//! A zone does not read the leadership of others in the directory: a primary asks all replicas of another zone, and the
//! primary among them answers. Every message between zones names its zone and epoch, so each one brings this table up
//! to date.

use machine::{Address, Span, Time};
use space::{Epoch, ZoneId};
use std::collections::BTreeMap;

/// Interval between two questions for the primary of a zone.
const SEEK_EVERY: Span = Span::from_millis(100);

/// A zone that was silent for this long may have another primary.
const SILENT: Span = Span::from_millis(1_000);

/// The primary of another zone.
#[derive(Clone, Copy, Debug, Default)]
struct RemotePrimary {
    epoch: Option<Epoch>,
    address: Option<Address>,
    heard: Time,
    /// Own time at which its zone was last asked for its primary.
    sought: Option<Time>,
}

/// The primaries of other zones.
#[derive(Debug, Default)]
pub(crate) struct RemotePrimaries(BTreeMap<ZoneId, RemotePrimary>);

impl RemotePrimaries {
    /// The address of a zone's primary.
    pub(crate) fn address(&self, zone: ZoneId) -> Option<Address> {
        self.0.get(&zone)?.address
    }

    /// Whether a zone's primary was heard a short while ago.
    pub(crate) fn heard_recently(&self, zone: ZoneId, now: Time) -> bool {
        self.0.get(&zone).is_some_and(|it| it.address.is_some() && now.since(it.heard) < SILENT)
    }

    /// Whether it is time to ask for the primary of a zone. If so, the question counts as asked.
    pub(crate) fn should_seek(&mut self, zone: ZoneId, now: Time) -> bool {
        let primary = self.0.entry(zone).or_default();
        if primary.sought.is_some_and(|it| now.since(it) < SEEK_EVERY) {
            return false;
        }
        primary.sought = Some(now);
        true
    }

    /// The highest epoch that was heard of a zone.
    pub(crate) fn epoch(&self, zone: ZoneId) -> Option<Epoch> {
        self.0.get(&zone)?.epoch
    }

    /// Takes in that a zone's primary spoke. Returns whether the primary, its epoch or its link is new:
    /// then it may have forgotten what it knew beyond its log.
    pub(crate) fn hear(&mut self, zone: ZoneId, epoch: Epoch, from: Address, now: Time) -> bool {
        let primary = self.0.entry(zone).or_default();
        let is_new = (primary.epoch, primary.address) != (Some(epoch), Some(from));
        (primary.epoch, primary.address, primary.heard) = (Some(epoch), Some(from), now);
        is_new
    }

    /// The link to an address is gone. Returns the zones that had their primary there.
    pub(crate) fn on_link_down(&mut self, address: Address) -> Vec<ZoneId> {
        let lost = self.0.iter_mut().filter(|it| it.1.address == Some(address));
        lost.map(|(&zone, primary)| {
            primary.address = None;
            zone
        })
        .collect()
    }
}
