//! Links the replicas of this host, one per zone, with its connections and with each other.
//!
//! Connections come and go, and so do replicas (one that panicked is started again). A new connection is linked to all
//! replicas that are here and a new replica to all connections, so the order does not matter. A replica is linked to the
//! players of this host, to every replica of every connected host, and to the other replicas of this host.

use crate::address;
use crate::close::Close;
use crate::connection_limits::ConnectionLimits;
use crate::mesh;
use crate::open_connections::OpenConnections;
use crate::send_queue::{SendQueue, fresh_id};
use crate::server_port_limits::ServerPortLimits;
use crate::worker::{FrameAddressing, Inbound, MachineLink, WorkerHandle};
use machine::{Address, Machine};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The replicas and connections of a host, and the links between them.
pub struct LinkRouter<M: Machine> {
    host: u32,
    inner: Mutex<RouterState<M>>,
    /// Number of connected players, readable without the lock.
    players: AtomicUsize,
    connection_limits: ConnectionLimits,
    host_port_limits: ServerPortLimits,
    open_connections: OpenConnections,
}

struct RouterState<M: Machine> {
    /// The workers of the replicas that run here, by zone.
    zones: BTreeMap<u32, WorkerHandle<M>>,
    /// The zone of every replica that has run here, also of one that is being started again.
    known_zones: BTreeSet<u32>,
    connections: BTreeMap<RemoteEnd, Connection>,
    /// Numbers of the links between two replicas of this host, by their zones, the lower one first.
    local_links: BTreeMap<(u32, u32), u64>,
}

/// The far end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemoteEnd {
    /// A player, by their number.
    Player(u64),
    /// Another host, by its number.
    Host(u32),
}

#[derive(Clone)]
struct Connection {
    /// Session of a player: a higher number replaces a lower one.
    session: u64,
    queue: SendQueue,
    /// Zones of the replicas at the far end; empty for a player.
    zones: Vec<u32>,
}

impl<M: Machine> LinkRouter<M> {
    /// A router without replicas and connections.
    pub fn new(host: u32) -> Self {
        let inner = RouterState {
            zones: BTreeMap::new(),
            known_zones: BTreeSet::new(),
            connections: BTreeMap::new(),
            local_links: BTreeMap::new(),
        };
        Self {
            host,
            inner: Mutex::new(inner),
            players: AtomicUsize::new(0),
            connection_limits: ConnectionLimits::default(),
            host_port_limits: ServerPortLimits::default(),
            open_connections: OpenConnections::default(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, RouterState<M>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Limits on connections that have not shown a valid token.
    pub const fn connection_limits(&self) -> &ConnectionLimits {
        &self.connection_limits
    }

    /// Limits on handshakes of other hosts.
    pub const fn host_port_limits(&self) -> &ServerPortLimits {
        &self.host_port_limits
    }

    /// The QUIC connections of clients, in whatever state.
    pub const fn open_connections(&self) -> &OpenConnections {
        &self.open_connections
    }

    /// Adds the replica of a zone, or replaces its worker: links it with all connections and all other replicas of this host.
    pub fn add_zone(&self, zone: u32, handle: WorkerHandle<M>) {
        let mut inner = self.inner();
        // If this replaces a worker, the other replicas must see its links go down before the new ones come up.
        inner.unlink_local(self.host, zone);
        for (remote, connection) in &inner.connections {
            link(zone, &handle, *remote, connection, &connection.zones);
        }
        inner.link_local(self.host, zone, &handle);
        inner.zones.insert(zone, handle);
        inner.known_zones.insert(zone);
        inner.send_zones_to_hosts(self.host);
    }

    /// Removes the replica of a zone: the other replicas and hosts learn that it is not here.
    pub fn remove_zone(&self, zone: u32) {
        let mut inner = self.inner();
        inner.zones.remove(&zone);
        inner.unlink_local(self.host, zone);
        inner.send_zones_to_hosts(self.host);
    }

    /// Takes the new list of zones whose replicas are at the far end of a connection: links the new ones, unlinks those that
    /// are gone.
    pub fn update_zones(&self, remote: RemoteEnd, queue: &SendQueue, zones: Vec<u32>) {
        let mut inner = self.inner();
        let RouterState { zones: here, connections, .. } = &mut *inner;
        // An older connection of the same host may still deliver its last frames.
        let Some(connection) = connections.get_mut(&remote).filter(|it| it.queue.id() == queue.id()) else {
            return;
        };
        let before = std::mem::replace(&mut connection.zones, zones);
        let gone: Vec<u32> = before.iter().copied().filter(|it| !connection.zones.contains(it)).collect();
        let added: Vec<u32> = connection.zones.iter().copied().filter(|it| !before.contains(it)).collect();
        for (&zone, handle) in here {
            for address in addresses(remote, &gone) {
                handle.send(Inbound::Down(address, queue.id()));
            }
            link(zone, handle, remote, connection, &added);
        }
    }

    /// Zones whose replicas run here now.
    pub fn zones(&self) -> Vec<u32> {
        self.inner().zones.keys().copied().collect()
    }

    /// Zones whose replicas have run here, also those that are being started again. A player is told all of them, because
    /// their connection outlasts the restart of a replica.
    pub fn known_zones(&self) -> Vec<u32> {
        self.inner().known_zones.iter().copied().collect()
    }

    /// Handle of the worker that runs the replica of a zone.
    pub fn zone(&self, zone: u32) -> Option<WorkerHandle<M>> {
        self.inner().zones.get(&zone).cloned()
    }

    /// Number of connected players, and of connected hosts.
    pub fn count(&self) -> (usize, usize) {
        let inner = self.inner();
        let players = inner.count_players();
        (players, inner.connections.len() - players)
    }

    /// Returns whether any player is connected.
    pub fn has_players(&self) -> bool {
        0 < self.players.load(Ordering::Relaxed)
    }

    /// Adds a connection. A newer session of the same player replaces an older one; an older one is refused.
    pub fn connect(
        &self,
        remote: RemoteEnd,
        session: u64,
        queue: &SendQueue,
        zones: Vec<u32>,
    ) -> Result<(), Close> {
        let mut inner = self.inner();
        if let Some(old) = inner.connections.get(&remote) {
            if session < old.session {
                return Err(Close::Superseded);
            }
            // The same session again means that the client lost its connection and came back before we noticed.
            let why = if old.session < session { Close::Superseded } else { Close::Gone };
            old.queue.close(why);
        }
        let connection = Connection { session, queue: queue.clone(), zones };
        for (zone, handle) in &inner.zones {
            link(*zone, handle, remote, &connection, &connection.zones);
        }
        inner.connections.insert(remote, connection);
        self.players.store(inner.count_players(), Ordering::Relaxed);
        if matches!(remote, RemoteEnd::Host(_)) {
            inner.send_zones_to_hosts(self.host); // The replicas may have changed since the hello was written.
        }
        Ok(())
    }

    /// Removes a connection that has ended, with its links.
    pub fn disconnect(&self, remote: RemoteEnd, queue: &SendQueue) {
        let mut inner = self.inner();
        let zones = match inner.connections.get(&remote) {
            Some(it) if it.queue.id() == queue.id() => inner.connections.remove(&remote).map(|it| it.zones),
            _ => None, // A newer connection has replaced it and has its links.
        };
        let Some(zones) = zones else { return };
        self.players.store(inner.count_players(), Ordering::Relaxed);
        for handle in inner.zones.values() {
            for address in addresses(remote, &zones) {
                handle.send(Inbound::Down(address, queue.id()));
            }
        }
    }

    /// Ends the connection to a player or host, if there is one.
    pub fn close_connection(&self, remote: RemoteEnd) {
        if let Some(connection) = self.inner().connections.get(&remote) {
            connection.queue.close(Close::Gone);
        }
    }

    /// Returns whether a player or host is connected.
    pub fn is_connected(&self, remote: RemoteEnd) -> bool {
        self.inner().connections.contains_key(&remote)
    }

    /// Ends the connections of all players.
    pub fn close_players(&self, why: Close) {
        for (remote, connection) in &self.inner().connections {
            if matches!(remote, RemoteEnd::Player(_)) {
                connection.queue.close(why);
            }
        }
    }
}

impl<M: Machine> RouterState<M> {
    fn count_players(&self) -> usize {
        // Players stand before hosts.
        self.connections.range(..RemoteEnd::Host(0)).count()
    }

    /// Links the replica of a zone with all other replicas of this host.
    fn link_local(&mut self, host: u32, zone: u32, handle: &WorkerHandle<M>) {
        for (&other, its) in self.zones.iter().filter(|it| *it.0 != zone) {
            let id = fresh_id(); // Fresh each time, so that late messages over an earlier link are recognised.
            let (here, remote_zone) = (address::replica(host, zone), address::replica(host, other));
            handle.send(Inbound::Up(remote_zone, MachineLink::Local { id, from: here, to: its.clone() }));
            its.send(Inbound::Up(here, MachineLink::Local { id, from: remote_zone, to: handle.clone() }));
            self.local_links.insert((zone.min(other), zone.max(other)), id);
        }
    }

    /// Takes down the links between the replica of a zone and the other replicas of this host.
    fn unlink_local(&mut self, host: u32, zone: u32) {
        let gone = address::replica(host, zone);
        for ((low, high), id) in self.local_links.extract_if(.., |it, _| it.0 == zone || it.1 == zone) {
            let other = if low == zone { high } else { low };
            if let Some(handle) = self.zones.get(&other) {
                handle.send(Inbound::Down(gone, id));
            }
        }
    }

    fn send_zones_to_hosts(&self, host: u32) {
        let hello = mesh::hello_frame(host, self.zones.keys().copied().collect());
        for (_, it) in self.connections.iter().filter(|it| matches!(it.0, RemoteEnd::Host(_))) {
            it.queue.sure(hello.clone());
            it.queue.wake();
        }
    }
}

/// Links the replica of a zone with the far end of a connection: a player, or a host's replicas of these zones.
fn link<M: Machine>(
    zone: u32,
    handle: &WorkerHandle<M>,
    remote: RemoteEnd,
    connection: &Connection,
    zones: &[u32],
) {
    match remote {
        RemoteEnd::Player(player) => {
            let link = MachineLink::Remote {
                queue: connection.queue.clone(),
                addressing: FrameAddressing::Zone(zone),
            };
            handle.send(Inbound::Up(address::player(player), link));
        }
        RemoteEnd::Host(host) => {
            for &remote_zone in zones {
                let addressing = FrameAddressing::Zones { from: zone, to: remote_zone };
                let link = MachineLink::Remote { queue: connection.queue.clone(), addressing };
                handle.send(Inbound::Up(address::replica(host, remote_zone), link));
            }
        }
    }
}

fn addresses(remote: RemoteEnd, zones: &[u32]) -> Vec<Address> {
    match remote {
        RemoteEnd::Player(player) => vec![address::player(player)],
        RemoteEnd::Host(host) => zones.iter().map(|&zone| address::replica(host, zone)).collect(),
    }
}
