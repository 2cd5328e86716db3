//! The clients of a zone: their addresses, players and avatars, the results they acknowledged, the actions that wait.

use crate::config::{AHEAD_MAX, BUSY_AFTER};
use crate::core::Core;
use crate::record::Index;
use game::{PlayerId, Viewer};
use machine::{Address, LinkNumber, Time};
use serde_bytes::ByteBuf;
use space::{Epoch, ObjectId, ZoneId};
use std::collections::BTreeMap;

/// A client whose player is in the world, or about to be.
#[derive(Debug)]
struct ClientSession {
    player: PlayerId,
    /// The link over which the client entered.
    link: Option<LinkNumber>,
    avatar: ObjectId,
    /// The class of the avatar, by which the game decides what its player may see.
    class: u8,
    /// While the client is not told yet that its player is in.
    entering: Option<PendingAdmission>,
    /// The client has the results of all actions up to this number.
    acked: u64,
    /// Actions that wait for an earlier one, or for room, by number, and since when.
    ahead: BTreeMap<u64, (ByteBuf, Time)>,
}

/// A client that waits to be told that its player is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingAdmission {
    /// The last record that must be announced first.
    pub(super) after: Index,
    pub(super) resume: ResumePoint,
}

/// The place in this zone's log up to which a client that comes back has seen announcements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::primary) struct ResumePoint {
    /// The last record that the client has seen; 0 if none.
    pub(super) index: Index,
    /// True if that record is not in our log: the zone has lost its last moments in a full stop.
    pub(super) lost: bool,
}

impl ResumePoint {
    /// The resume point of a client that has seen a record of an epoch of a zone.
    pub(in crate::primary) fn of(core: &Core, seen: Option<(ZoneId, Epoch, Index)>) -> Self {
        let Some((_, epoch, index)) = seen.filter(|it| it.0 == core.config.zone) else {
            return Self::default();
        };
        // The number alone does not tell: after a loss another record has it, of a later epoch.
        let lost = core.log.head() < index || core.log.get(index).is_some_and(|it| epoch < it.epoch);
        Self { index, lost }
    }
}

/// All clients of a zone, by address, player and avatar.
#[derive(Debug, Default)]
pub(in crate::primary) struct Sessions {
    by_address: BTreeMap<Address, ClientSession>,
    by_player: BTreeMap<PlayerId, Address>,
    by_avatar: BTreeMap<ObjectId, Address>,
    /// Players without a client, and since when.
    missing: BTreeMap<PlayerId, Time>,
    /// True if a client waits to be told that its player is in: spares a look at every client per announcement.
    is_awaited: bool,
    /// True if actions wait because too many bytes are not safe yet.
    waits_for_room: bool,
    /// True if actions wait for their player's bucket.
    waits_for_pace: bool,
    /// Number of entries that were served in full although the player was in over the same link.
    repeated_entries: u64,
}

impl Sessions {
    // Looking.

    pub(in crate::primary) fn len(&self) -> usize {
        self.by_address.len()
    }

    /// The addresses of all clients.
    pub(in crate::primary) fn addresses(&self) -> impl Iterator<Item = Address> {
        self.by_address.keys().copied()
    }

    pub(in crate::primary) fn of_player(&self, player: PlayerId) -> Option<Address> {
        self.by_player.get(&player).copied()
    }

    /// The client of the player with this avatar, if the player is in.
    pub(in crate::primary) fn of_avatar(&self, avatar: ObjectId) -> Option<Address> {
        let address = self.with_avatar(avatar)?;
        self.by_address.get(&address).filter(|it| it.entering.is_none()).map(|_| address)
    }

    /// The client of the player with this avatar, even if it is not told yet that the player is in.
    pub(super) fn with_avatar(&self, avatar: ObjectId) -> Option<Address> {
        self.by_avatar.get(&avatar).copied()
    }

    /// The avatar of a client whose player is in.
    pub(super) fn avatar(&self, address: Address) -> Option<ObjectId> {
        self.by_address.get(&address).filter(|it| it.entering.is_none()).map(|it| it.avatar)
    }

    /// The viewer that this client is for an object: its owner or not, and of which class.
    pub(super) fn viewer(&self, address: Address, object: ObjectId) -> Option<Viewer> {
        self.by_address.get(&address).map(|it| Viewer { owns: it.avatar == object, class: it.class })
    }

    /// All clients whose players are in, with their avatars.
    pub(super) fn entered(&self) -> Vec<(Address, ObjectId)> {
        let inside = self.by_address.iter().filter(|(_, it)| it.entering.is_none());
        inside.map(|(&address, it)| (address, it.avatar)).collect()
    }

    /// Returns whether a client already waits to enter as this player.
    pub(in crate::primary) fn is_entering(&self, from: Address, player: PlayerId) -> bool {
        self.by_address.get(&from).is_some_and(|it| it.player == player && it.entering.is_some())
    }

    /// Returns whether this player is in with this session, over the link that the client has now.
    pub(in crate::primary) fn is_in_over(
        &self,
        core: &Core,
        from: Address,
        player: PlayerId,
        session: u64,
    ) -> bool {
        let is_in = |it: &&ClientSession| it.player == player && it.entering.is_none();
        let Some(client) = self.by_address.get(&from).filter(is_in) else { return false };
        let row = core.state.players.get(&player);
        client.link.is_some()
            && client.link == core.links.get(&from).copied()
            && row.is_some_and(|it| it.present && it.session == session && it.avatar == Some(client.avatar))
    }

    /// Counts an entry that is served in full, if it is a repeated one.
    pub(in crate::primary) fn count_repeated_entry(&mut self, is_repeated: bool) {
        self.repeated_entries += u64::from(is_repeated);
    }

    pub(in crate::primary) const fn repeated_entries(&self) -> u64 {
        self.repeated_entries
    }

    // Coming and going.

    /// Binds a client to a player. `admit` lets the player in later.
    pub(super) fn insert(
        &mut self,
        (from, link): (Address, Option<LinkNumber>),
        player: PlayerId,
        avatar: (ObjectId, u8),
        entering: PendingAdmission,
    ) {
        let (avatar, class) = avatar;
        let entering = Some(entering);
        let client =
            ClientSession { player, link, avatar, class, entering, acked: 0, ahead: BTreeMap::new() };
        self.is_awaited = true;
        self.by_address.insert(from, client);
        self.by_player.insert(player, from);
        self.by_avatar.insert(avatar, from);
        self.missing.remove(&player);
    }

    /// Forgets a client; returns its player.
    pub(super) fn remove(&mut self, address: Address) -> Option<PlayerId> {
        let client = self.by_address.remove(&address)?;
        // A newer client of the same player may have taken its place already.
        if self.by_player.get(&client.player) == Some(&address) {
            self.by_player.remove(&client.player);
        }
        if self.by_avatar.get(&client.avatar) == Some(&address) {
            self.by_avatar.remove(&client.avatar);
        }
        Some(client.player)
    }

    /// The waiting clients whose last record is announced, if all up to `announced` are.
    pub(super) fn admissible(&self, announced: Index) -> Vec<(Address, PendingAdmission)> {
        if !self.is_awaited {
            return Vec::new();
        }
        let ready = |it: &ClientSession| it.entering.filter(|it| it.after <= announced);
        self.by_address.iter().filter_map(|(&address, it)| Some((address, ready(it)?))).collect()
    }

    /// Lets the player of a client in; returns the player and the avatar.
    pub(super) fn admit(&mut self, address: Address) -> Option<(PlayerId, ObjectId)> {
        let client = self.by_address.get_mut(&address)?;
        client.entering = None;
        Some((client.player, client.avatar))
    }

    /// Looks again whether any client waits to be told that its player is in.
    pub(super) fn update_is_awaited(&mut self) {
        if self.is_awaited {
            self.is_awaited = self.by_address.values().any(|it| it.entering.is_some());
        }
    }

    /// Notes that a player has no client since a moment. After a while the player leaves the world.
    pub(in crate::primary) fn mark_missing(&mut self, player: PlayerId, since: Time) {
        self.missing.insert(player, since);
    }

    pub(in crate::primary) fn forget_missing(&mut self, player: PlayerId) {
        self.missing.remove(&player);
    }

    /// Players without a client for too long, also those that never came back after a failover.
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

    /// Notes that a client has the results up to this number; returns its player.
    pub(in crate::primary) fn acknowledge(&mut self, from: Address, acked: u64) -> Option<PlayerId> {
        let client = self.by_address.get_mut(&from)?;
        client.acked = client.acked.max(acked);
        Some(client.player)
    }

    /// The number of the last action whose result a player's client has; 0 if it has none.
    pub(in crate::primary) fn acked(&self, player: PlayerId) -> u64 {
        let address = self.by_player.get(&player);
        address.and_then(|it| self.by_address.get(it)).map_or(0, |it| it.acked)
    }

    pub(in crate::primary) fn player(&self, from: Address) -> Option<PlayerId> {
        self.by_address.get(&from).map(|it| it.player)
    }

    /// Keeps an action that must wait. At the limit the newest is dropped. A player that keeps to `UNANSWERED_MAX` never
    /// reaches it.
    pub(in crate::primary) fn queue_action(
        &mut self,
        from: Address,
        number: u64,
        action: ByteBuf,
        now: Time,
    ) {
        if let Some(client) = self.by_address.get_mut(&from)
            && client.ahead.len() < AHEAD_MAX
        {
            client.ahead.entry(number).or_insert((action, now));
        }
    }

    /// Takes the action that follows the cursor, if it waits, with the time since when it does.
    pub(in crate::primary) fn take_next_action(
        &mut self,
        from: Address,
        cursor: u64,
    ) -> Option<(ByteBuf, Time)> {
        let client = self.by_address.get_mut(&from)?;
        client.ahead.retain(|&number, _| cursor < number);
        client.ahead.remove(&(cursor + 1))
    }

    /// The number of waiting actions of the player with the most.
    pub(in crate::primary) fn ahead(&self) -> usize {
        self.by_address.values().map(|it| it.ahead.len()).max().unwrap_or(0)
    }

    /// Notes that actions wait because too many bytes are not safe yet.
    pub(in crate::primary) const fn wait_for_room(&mut self) {
        self.waits_for_room = true;
    }

    /// Takes the clients whose actions wait, if any waited for room.
    pub(in crate::primary) fn take_waiting_for_room(&mut self) -> Vec<Address> {
        if std::mem::take(&mut self.waits_for_room) { self.with_actions() } else { Vec::new() }
    }

    /// Notes that actions wait for their player's bucket.
    pub(in crate::primary) const fn wait_for_pace(&mut self) {
        self.waits_for_pace = true;
    }

    /// Returns whether actions wait for their player's bucket.
    pub(in crate::primary) const fn has_paced(&self) -> bool {
        self.waits_for_pace
    }

    /// Takes the clients with waiting actions, if any waits for its player's bucket.
    pub(in crate::primary) fn take_paced(&mut self) -> Vec<Address> {
        if std::mem::take(&mut self.waits_for_pace) { self.with_actions() } else { Vec::new() }
    }

    /// The clients with waiting actions.
    pub(in crate::primary) fn with_actions(&self) -> Vec<Address> {
        let waits = self.by_address.iter().filter(|(_, it)| !it.ahead.is_empty());
        waits.map(|(&address, _)| address).collect()
    }

    /// Takes the actions that follow the cursor without a gap and have waited for too long, in their order.
    pub(in crate::primary) fn take_old_actions(
        &mut self,
        from: Address,
        cursor: u64,
        now: Time,
    ) -> Vec<(ByteBuf, Time)> {
        let Some(client) = self.by_address.get_mut(&from) else { return Vec::new() };
        client.ahead.retain(|&number, _| cursor < number);
        let mut old = Vec::new();
        while let Some(next) = client.ahead.first_entry()
            && *next.key() == cursor + 1 + old.len() as u64
            && BUSY_AFTER < now.since(next.get().1)
        {
            old.push(next.remove());
        }
        old
    }
}
