//! The clients of a zone: who plays over which connection, what they have acknowledged, and which actions wait.

use crate::config::AHEAD_MAX;
use crate::core::Core;
use crate::record::Index;
use game::{PlayerId, Viewer};
use machine::{Address, Time};
use serde_bytes::ByteBuf;
use space::{Epoch, ObjectId, ZoneId};
use std::collections::BTreeMap;

/// A connection that plays, or wants to.
#[derive(Debug)]
struct Client {
    player: PlayerId,
    avatar: ObjectId,
    class: u8,
    /// Until this is announced, the client is not told that it is in.
    entering: Option<Entering>,
    /// Results up to this number have arrived.
    acked: u64,
    /// Actions that wait for an earlier one, or for room, and since when.
    ahead: BTreeMap<u64, (ByteBuf, Time)>,
}

/// What a client waits for that wants to enter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entering {
    /// The last record that must be announced first.
    pub(super) after: Index,
    pub(super) seen: Seen,
}

/// What a client has heard of this zone before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::primary) struct Seen {
    /// The last record.
    pub(super) index: Index,
    /// Whether that record is not in our log: the world has lost its last moments.
    pub(super) lost: bool,
}

impl Seen {
    /// What a client says that it has heard: a record of an epoch of a zone.
    pub(in crate::primary) fn of(core: &Core, seen: Option<(ZoneId, Epoch, Index)>) -> Self {
        let Some((_, epoch, index)) = seen.filter(|it| it.0 == core.config.zone) else {
            return Self::default();
        };
        let lost = core.log.head() < index || core.log.get(index).is_some_and(|it| epoch < it.epoch);
        Self { index, lost }
    }
}

/// All clients of a zone.
#[derive(Debug, Default)]
pub(in crate::primary) struct Sessions {
    by_address: BTreeMap<Address, Client>,
    by_player: BTreeMap<PlayerId, Address>,
    by_avatar: BTreeMap<ObjectId, Address>,
    /// Players whose connection is gone, and since when.
    missing: BTreeMap<PlayerId, Time>,
    /// Whether a client waits to be let in.
    is_awaited: bool,
    /// Whether actions wait because too much is unacknowledged.
    starved: bool,
}

impl Sessions {
    // Looking.

    pub(in crate::primary) fn len(&self) -> usize {
        self.by_address.len()
    }

    /// Every connection.
    pub(in crate::primary) fn addresses(&self) -> impl Iterator<Item = Address> {
        self.by_address.keys().copied()
    }

    pub(in crate::primary) fn of_player(&self, player: PlayerId) -> Option<Address> {
        self.by_player.get(&player).copied()
    }

    /// The connection of the player with this avatar, if the player is in.
    pub(in crate::primary) fn of_avatar(&self, avatar: ObjectId) -> Option<Address> {
        let address = self.with_avatar(avatar)?;
        self.by_address.get(&address).filter(|it| it.entering.is_none()).map(|_| address)
    }

    /// The connection of the player with this avatar, whether the player is in or not yet.
    pub(super) fn with_avatar(&self, avatar: ObjectId) -> Option<Address> {
        self.by_avatar.get(&avatar).copied()
    }

    /// The avatar of a connection whose player is in.
    pub(super) fn avatar(&self, address: Address) -> Option<ObjectId> {
        self.by_address.get(&address).filter(|it| it.entering.is_none()).map(|it| it.avatar)
    }

    /// As which viewer this connection looks at an object.
    pub(super) fn viewer(&self, address: Address, object: ObjectId) -> Option<Viewer> {
        self.by_address.get(&address).map(|it| Viewer { owns: it.avatar == object, class: it.class })
    }

    /// All connections whose players are in, with their avatars.
    pub(super) fn entered(&self) -> Vec<(Address, ObjectId)> {
        let inside = self.by_address.iter().filter(|(_, it)| it.entering.is_none());
        inside.map(|(&address, it)| (address, it.avatar)).collect()
    }

    /// Whether a connection already waits to be let in as this player.
    pub(in crate::primary) fn is_entering(&self, from: Address, player: PlayerId) -> bool {
        self.by_address.get(&from).is_some_and(|it| it.player == player && it.entering.is_some())
    }

    // Coming and going.

    /// Binds a connection to a player, who is let in later.
    pub(super) fn insert(
        &mut self,
        from: Address,
        player: PlayerId,
        avatar: (ObjectId, u8),
        entering: Entering,
    ) {
        let (avatar, class) = avatar;
        let entering = Some(entering);
        let client = Client { player, avatar, class, entering, acked: 0, ahead: BTreeMap::new() };
        self.is_awaited = true;
        self.by_address.insert(from, client);
        self.by_player.insert(player, from);
        self.by_avatar.insert(avatar, from);
        self.missing.remove(&player);
    }

    /// Forgets a connection; says whose it was.
    pub(super) fn remove(&mut self, address: Address) -> Option<PlayerId> {
        let client = self.by_address.remove(&address)?;
        if self.by_player.get(&client.player) == Some(&address) {
            self.by_player.remove(&client.player);
        }
        if self.by_avatar.get(&client.avatar) == Some(&address) {
            self.by_avatar.remove(&client.avatar);
        }
        Some(client.player)
    }

    /// The connections that may be let in once everything up to `announced` is announced.
    pub(super) fn admissible(&self, announced: Index) -> Vec<(Address, Entering)> {
        if !self.is_awaited {
            return Vec::new();
        }
        let ready = |it: &Client| it.entering.filter(|it| it.after <= announced);
        self.by_address.iter().filter_map(|(&address, it)| Some((address, ready(it)?))).collect()
    }

    /// A player is in; says who, with which avatar.
    pub(super) fn admit(&mut self, address: Address) -> Option<(PlayerId, ObjectId)> {
        let client = self.by_address.get_mut(&address)?;
        client.entering = None;
        Some((client.player, client.avatar))
    }

    /// Looks again whether any client waits to be let in.
    pub(super) fn await_rest(&mut self) {
        if self.is_awaited {
            self.is_awaited = self.by_address.values().any(|it| it.entering.is_some());
        }
    }

    /// A player is gone since a moment, and leaves the world after a while.
    pub(in crate::primary) fn miss(&mut self, player: PlayerId, since: Time) {
        self.missing.insert(player, since);
    }

    pub(in crate::primary) fn forget_missing(&mut self, player: PlayerId) {
        self.missing.remove(&player);
    }

    /// Players who have been away for too long, also those who never came back after a failover.
    pub(in crate::primary) fn overdue(&mut self, core: &Core) -> Vec<PlayerId> {
        let (now, patience) = (core.now, core.config.timing.leave);
        for (&player, row) in &core.state.players {
            if row.present && !self.by_player.contains_key(&player) {
                self.missing.entry(player).or_insert(now);
            }
        }
        self.missing.iter().filter(|(_, since)| patience < now.since(**since)).map(|it| *it.0).collect()
    }

    // Actions.

    /// A client has the results up to this number; says whose client it is.
    pub(in crate::primary) fn acknowledge(&mut self, from: Address, acked: u64) -> Option<PlayerId> {
        let client = self.by_address.get_mut(&from)?;
        client.acked = client.acked.max(acked);
        Some(client.player)
    }

    /// Up to which number a player has the results.
    pub(in crate::primary) fn acked(&self, player: PlayerId) -> u64 {
        let address = self.by_player.get(&player);
        address.and_then(|it| self.by_address.get(it)).map_or(0, |it| it.acked)
    }

    pub(in crate::primary) fn player(&self, from: Address) -> Option<PlayerId> {
        self.by_address.get(&from).map(|it| it.player)
    }

    /// Keeps an action that must wait. At the limit the newest is dropped: its player sends it again after the next
    /// result.
    pub(in crate::primary) fn keep_ahead(&mut self, from: Address, number: u64, action: ByteBuf, now: Time) {
        if let Some(client) = self.by_address.get_mut(&from)
            && client.ahead.len() < AHEAD_MAX
        {
            client.ahead.entry(number).or_insert((action, now));
        }
    }

    /// Takes the action that follows the cursor, if it waits, and since when it does.
    pub(in crate::primary) fn take_next(&mut self, from: Address, cursor: u64) -> Option<(ByteBuf, Time)> {
        let client = self.by_address.get_mut(&from)?;
        client.ahead.retain(|&number, _| cursor < number);
        client.ahead.remove(&(cursor + 1))
    }

    /// The most actions of one player that wait.
    pub(in crate::primary) fn ahead(&self) -> usize {
        self.by_address.values().map(|it| it.ahead.len()).max().unwrap_or(0)
    }

    /// Actions wait because too much is unacknowledged.
    pub(in crate::primary) const fn starve(&mut self) {
        self.starved = true;
    }

    /// Clients whose actions wait, if any waited for room. They do not any more.
    pub(in crate::primary) fn take_starved(&mut self) -> Vec<Address> {
        if !std::mem::take(&mut self.starved) {
            return Vec::new();
        }
        let waits = self.by_address.iter().filter(|(_, it)| !it.ahead.is_empty());
        waits.map(|(&address, _)| address).collect()
    }
}
