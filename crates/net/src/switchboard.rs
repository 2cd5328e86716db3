//! Who can reach whom from this host: the zones that live here, and the connections that are open.
//!
//! Connections come and go, and so do zones (one that panicked comes back). Whoever is new is linked to whoever is
//! there, so neither needs to know the other's comings and goings. A zone is linked to the players of this host, to
//! every zone of every host that is connected, and to the other zones of this one.

use crate::address;
use crate::callers::Callers;
use crate::cell::{Handle, Inbound, Link, Naming};
use crate::close::Close;
use crate::mailbox::{Mailbox, fresh_id};
use crate::mesh;
use machine::{Address, Machine};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Zones and connections.
pub struct Switchboard<M: Machine> {
    host: u32,
    inner: Mutex<Inner<M>>,
    callers: Callers,
}

struct Inner<M: Machine> {
    zones: BTreeMap<u32, Handle<M>>,
    /// Every zone that has lived here: one that is away comes back.
    homes: BTreeSet<u32>,
    connections: BTreeMap<Peer, Connection>,
    /// The links between two zones of this host, the lower one first.
    near: BTreeMap<(u32, u32), u64>,
}

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Peer {
    /// A player.
    Player(u64),
    /// Another host.
    Host(u32),
}

#[derive(Clone)]
struct Connection {
    /// A player's session: higher ones replace lower ones.
    session: u64,
    mailbox: Mailbox,
    /// The zones at the other end; none at a player's.
    zones: Vec<u32>,
}

impl<M: Machine> Switchboard<M> {
    /// The switchboard of this host.
    pub fn new(host: u32) -> Self {
        let inner = Inner {
            zones: BTreeMap::new(),
            homes: BTreeSet::new(),
            connections: BTreeMap::new(),
            near: BTreeMap::new(),
        };
        Self { host, inner: Mutex::new(inner), callers: Callers::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner<M>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever calls, before it is known who they are.
    pub const fn callers(&self) -> &Callers {
        &self.callers
    }

    /// A zone lives here from now on; everybody connected is linked to it, and so is every other zone.
    pub fn add_zone(&self, zone: u32, handle: Handle<M>) {
        let mut inner = self.inner();
        inner.part(self.host, zone);
        for (peer, connection) in &inner.connections {
            link(zone, &handle, *peer, connection, &connection.zones);
        }
        inner.join(self.host, zone, &handle);
        inner.zones.insert(zone, handle);
        inner.homes.insert(zone);
        inner.tell_hosts(self.host);
    }

    /// A zone no longer lives here.
    pub fn remove_zone(&self, zone: u32) {
        let mut inner = self.inner();
        inner.zones.remove(&zone);
        inner.part(self.host, zone);
        inner.tell_hosts(self.host);
    }

    /// Other zones live at the other end of this connection now.
    pub fn moved(&self, peer: Peer, mailbox: &Mailbox, zones: Vec<u32>) {
        let mut inner = self.inner();
        let Inner { zones: here, connections, .. } = &mut *inner;
        let Some(connection) = connections.get_mut(&peer).filter(|it| it.mailbox.id() == mailbox.id()) else {
            return;
        };
        let before = std::mem::replace(&mut connection.zones, zones);
        let gone: Vec<u32> = before.iter().copied().filter(|it| !connection.zones.contains(it)).collect();
        let come: Vec<u32> = connection.zones.iter().copied().filter(|it| !before.contains(it)).collect();
        for (&zone, handle) in here {
            for address in addresses(peer, &gone) {
                handle.say(Inbound::Down(address, mailbox.id()));
            }
            link(zone, handle, peer, connection, &come);
        }
    }

    /// The zones that live here.
    pub fn zones(&self) -> Vec<u32> {
        self.inner().zones.keys().copied().collect()
    }

    /// The zones that belong here, also those that are away for a moment. Players hear of all of them: a line lasts
    /// longer than that.
    pub fn homes(&self) -> Vec<u32> {
        self.inner().homes.iter().copied().collect()
    }

    /// The way to a zone.
    pub fn zone(&self, zone: u32) -> Option<Handle<M>> {
        self.inner().zones.get(&zone).cloned()
    }

    /// How many players and hosts are connected.
    pub fn count(&self) -> (usize, usize) {
        let inner = self.inner();
        let players = inner.connections.keys().filter(|it| matches!(it, Peer::Player(_))).count();
        (players, inner.connections.len() - players)
    }

    /// Somebody is connected. A newer session of theirs replaces an older one; an older one is refused.
    pub fn connect(&self, peer: Peer, session: u64, mailbox: &Mailbox, zones: Vec<u32>) -> Result<(), Close> {
        let mut inner = self.inner();
        if let Some(old) = inner.connections.get(&peer) {
            if session < old.session {
                return Err(Close::Superseded);
            }
            let why = if old.session < session { Close::Superseded } else { Close::Gone };
            old.mailbox.close(why);
        }
        let connection = Connection { session, mailbox: mailbox.clone(), zones };
        for (zone, handle) in &inner.zones {
            link(*zone, handle, peer, &connection, &connection.zones);
        }
        inner.connections.insert(peer, connection);
        if matches!(peer, Peer::Host(_)) {
            inner.tell_hosts(self.host); // A zone may have moved since the greeting was written.
        }
        Ok(())
    }

    /// A connection is over.
    pub fn disconnect(&self, peer: Peer, mailbox: &Mailbox) {
        let mut inner = self.inner();
        let zones = match inner.connections.get(&peer) {
            Some(it) if it.mailbox.id() == mailbox.id() => inner.connections.remove(&peer).map(|it| it.zones),
            _ => None, // A newer one has taken its place and its links.
        };
        let Some(zones) = zones else { return };
        for handle in inner.zones.values() {
            for address in addresses(peer, &zones) {
                handle.say(Inbound::Down(address, mailbox.id()));
            }
        }
    }

    /// Ends the connection to somebody, if there is one.
    pub fn hang_up(&self, peer: Peer) {
        if let Some(connection) = self.inner().connections.get(&peer) {
            connection.mailbox.close(Close::Gone);
        }
    }

    /// Whether a host is connected.
    pub fn is_connected(&self, peer: Peer) -> bool {
        self.inner().connections.contains_key(&peer)
    }

    /// Ends all connections of players.
    pub fn dismiss(&self, why: Close) {
        for (peer, connection) in &self.inner().connections {
            if matches!(peer, Peer::Player(_)) {
                connection.mailbox.close(why);
            }
        }
    }
}

impl<M: Machine> Inner<M> {
    /// Links a zone with all others that live here.
    fn join(&mut self, host: u32, zone: u32, handle: &Handle<M>) {
        for (&other, its) in self.zones.iter().filter(|it| *it.0 != zone) {
            let id = fresh_id();
            let (here, there) = (address::replica(host, zone), address::replica(host, other));
            handle.say(Inbound::Up(there, Link::Near { id, from: here, to: its.clone() }));
            its.say(Inbound::Up(here, Link::Near { id, from: there, to: handle.clone() }));
            self.near.insert((zone.min(other), zone.max(other)), id);
        }
    }

    /// Tells the other zones that live here that one of them is gone.
    fn part(&mut self, host: u32, zone: u32) {
        let gone = address::replica(host, zone);
        for ((low, high), id) in self.near.extract_if(.., |it, _| it.0 == zone || it.1 == zone) {
            let other = if low == zone { high } else { low };
            if let Some(handle) = self.zones.get(&other) {
                handle.say(Inbound::Down(gone, id));
            }
        }
    }

    fn tell_hosts(&self, host: u32) {
        let greeting = mesh::greeting(host, self.zones.keys().copied().collect());
        for (_, it) in self.connections.iter().filter(|it| matches!(it.0, Peer::Host(_))) {
            it.mailbox.sure(greeting.clone());
            it.mailbox.ring();
        }
    }
}

/// Links a zone with whoever is at the other end of a connection: a player, or some of its zones.
fn link<M: Machine>(zone: u32, handle: &Handle<M>, peer: Peer, connection: &Connection, zones: &[u32]) {
    match peer {
        Peer::Player(player) => {
            let link = Link::Far { mailbox: connection.mailbox.clone(), naming: Naming::Zone(zone) };
            handle.say(Inbound::Up(address::player(player), link));
        }
        Peer::Host(host) => {
            for &there in zones {
                let naming = Naming::Zones { from: zone, to: there };
                let link = Link::Far { mailbox: connection.mailbox.clone(), naming };
                handle.say(Inbound::Up(address::replica(host, there), link));
            }
        }
    }
}

fn addresses(peer: Peer, zones: &[u32]) -> Vec<Address> {
    match peer {
        Peer::Player(player) => vec![address::player(player)],
        Peer::Host(host) => zones.iter().map(|&zone| address::replica(host, zone)).collect(),
    }
}
