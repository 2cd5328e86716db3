//! A port of a reactor: a socket, its QUIC endpoint and its connections.

use super::connection_role::{ConnectionRole, DialRequest};
use super::deadlines::Deadlines;
use super::framed::{FramedConnection, Framing};
use super::handshakes::{ConnectionSlots, Handshakes, Verdict};
use super::port_connection::PortConnection;
use super::socket::{Packet, PacketSocket, is_first_packet, reactor_of};
use super::workers::Workers;
use super::{ConnectionKey, ReadyConnections, Sibling, TimeBase};
use crate::close::Close;
use crate::frame::HOST_FRAME_MAX;
use crate::host_context::{HELLO_MAX, HostContext};
use crate::link_router::RemoteEnd;
use crate::mesh::{self, HostAddresses};
use crate::metric;
use crate::send_queue::{SendLimits, SendQueue};
use crate::tls;
use machine::stage::{Stage, within};
use machine::{Machine, Span, Time};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointEvent, Incoming,
    ServerConfig, Transmit,
};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use wire::Message;

/// Batches of packets received in one turn, at most: more wait in the socket.
const BATCHES_PER_TURN: usize = 32;

/// Packets of one connection sent in one turn, at most, so that a snapshot on its way delays no other connection.
const TRANSMITS_PER_TURN: usize = 32;

/// The time a handshake may take.
const HANDSHAKE_TIMEOUT: Span = Span::from_secs(3);

/// The time a host may take to accept a player.
const DIAL_TIMEOUT: Span = Span::from_secs(5);

/// Pause before a lost host is tried again.
const RETRY_PAUSE: Span = Span::from_millis(200);

/// The connections that a port has.
pub(super) enum Purpose<M: Machine> {
    /// Players connect to it.
    Players(Arc<HostContext<M>>),
    /// Other hosts connect to it, and it connects to others.
    Hosts(Box<HostsPort<M>>),
    /// Players connect from it.
    Dialer,
}

/// What a port needs to connect to other hosts.
pub(super) struct HostsPort<M: Machine> {
    pub context: Arc<HostContext<M>>,
    pub config: ClientConfig,
    /// Addresses of the hosts with lower numbers, to which this one connects, and the time of the next attempt.
    pub dialled: BTreeMap<u32, DialledHost>,
}

/// A host that this one connects to.
pub(super) struct DialledHost {
    address: SocketAddr,
    /// The connection, or the attempt.
    connection: Option<ConnectionKey>,
    retry_at: Time,
}

/// A socket, its QUIC endpoint and its connections.
pub(super) struct Port<M: Machine> {
    index: usize,
    socket: Box<dyn PacketSocket>,
    endpoint: Endpoint,
    purpose: Purpose<M>,
    connections: Vec<Option<Box<PortConnection<M>>>>,
    /// Connections that need attention in this turn.
    active: Vec<usize>,
    deadlines: Deadlines,
    handshakes: Handshakes,
    /// The reactors that share this port's address, by number, and the number of this one.
    siblings: Vec<Sibling<M>>,
    number: u8,
    time: TimeBase,
    ready: Arc<ReadyConnections>,
    buffer: Vec<u8>,
    is_closed: bool,
    /// False if no connection holds acknowledgements back.
    pub may_hold: bool,
}

impl<M: Machine> Port<M>
where
    M::Msg: Message,
{
    pub fn new(
        index: usize,
        socket: Box<dyn PacketSocket>,
        endpoint: Endpoint,
        purpose: Purpose<M>,
        ready: Arc<ReadyConnections>,
        time: TimeBase,
    ) -> Self {
        let handshakes = match purpose {
            Purpose::Hosts(_) => Handshakes::of_hosts(),
            Purpose::Players(_) | Purpose::Dialer => Handshakes::of_players(),
        };
        Self {
            index,
            socket,
            endpoint,
            purpose,
            connections: Vec::new(),
            active: Vec::new(),
            deadlines: Deadlines::default(),
            handshakes,
            siblings: Vec::new(),
            number: 0,
            time,
            ready,
            buffer: Vec::new(),
            is_closed: false,
            may_hold: true,
        }
    }

    /// Shares the address with other reactors: packets that belong to another one are passed on.
    pub fn share(&mut self, siblings: Vec<Sibling<M>>, number: u8) {
        (self.siblings, self.number) = (siblings, number);
    }

    pub fn socket(&self) -> &dyn PacketSocket {
        &*self.socket
    }

    pub fn set_server_config(&mut self, config: Arc<ServerConfig>) {
        self.endpoint.set_server_config(Some(config));
    }

    /// Number of connections, those that are ending included.
    pub fn count(&self) -> usize {
        self.endpoint.open_connections()
    }

    /// Returns whether the port is a host's that has no players.
    pub fn is_quiet(&self) -> bool {
        match &self.purpose {
            Purpose::Players(context) => !context.router.has_players() && self.handshakes.is_empty(),
            Purpose::Hosts(hosts) => !hosts.context.router.has_players() && self.handshakes.is_empty(),
            Purpose::Dialer => false,
        }
    }

    // Receiving.

    /// Takes packets from the socket. Returns whether more may wait there.
    pub fn receive(&mut self, now: Time) -> bool {
        for _ in 0..BATCHES_PER_TURN {
            let mut packets = Vec::new();
            match self.socket.receive(&mut |packet| packets.push(packet)) {
                Ok(true) => self.take_packets(now, packets),
                Ok(false) => return false,
                Err(error) => {
                    tracing::error!(%error, "the UDP socket failed");
                    return false;
                }
            }
        }
        true
    }

    fn take_packets(&mut self, now: Time, packets: Vec<Packet>) {
        let mut strays: BTreeMap<u8, Vec<Packet>> = BTreeMap::new();
        for packet in packets {
            // A client that changed its port reaches any of the reactors; its connection lives at one.
            match reactor_of(&packet.bytes, self.siblings.len() as u8).filter(|it| *it != self.number) {
                Some(other) => strays.entry(other).or_default().push(packet),
                None => self.take_packet(now, packet),
            }
        }
        for (other, packets) in strays {
            self.siblings[usize::from(other)].forward(self.index, packets);
        }
    }

    /// Hands a packet to its connection.
    pub fn take_packet(&mut self, now: Time, packet: Packet) {
        let Packet { from, local, ecn, bytes } = packet;
        if is_first_packet(&bytes) && !self.takes_first_packet(from.ip()) {
            return;
        }
        self.buffer.clear();
        let (instant, length) = (self.time.instant(now), bytes.len());
        within(Stage::Decrypt, || {
            match self.endpoint.handle(instant, from, local, ecn, bytes, &mut self.buffer) {
                Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                    if let Some(connection) = self.connections.get_mut(handle.0).and_then(Option::as_mut) {
                        if connection.takes_packet(length) {
                            connection.framed.quic.handle_event(event);
                            connection.framed.on_packet();
                        }
                        self.activate(handle.0);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => self.on_incoming(incoming),
                Some(DatagramEvent::Response(transmit)) => self.respond(&transmit),
                None => (),
            }
        });
    }

    /// Counts a first packet. Returns false if it is to be dropped unread.
    fn takes_first_packet(&mut self, from: IpAddr) -> bool {
        let (is_known, port) = match &self.purpose {
            Purpose::Players(_) => (false, metric::PLAYERS_PORT),
            Purpose::Hosts(hosts) => {
                (hosts.context.router.host_port_limits().is_known(from), metric::HOSTS_PORT)
            }
            Purpose::Dialer => return true, // Answers of the hosts that it connects to.
        };
        let takes = self.handshakes.takes_first_packet(is_known);
        if !takes {
            metric::handshake_dropped(port);
        }
        takes
    }

    fn respond(&mut self, transmit: &Transmit) {
        let _ = self.socket.send(transmit, &self.buffer[..transmit.size]); // Lost like any packet.
    }

    fn on_incoming(&mut self, incoming: Incoming) {
        self.buffer.clear();
        let verdict = if self.is_closed { Verdict::Refuse } else { Verdict::on(&self.purpose, &incoming) };
        match verdict {
            Verdict::Begin(slots) => self.handshakes.push(incoming, slots),
            Verdict::Validate => match self.endpoint.retry(incoming, &mut self.buffer) {
                Ok(transmit) => self.respond(&transmit),
                Err(error) => self.endpoint.ignore(error.into_incoming()),
            },
            Verdict::Refuse => {
                let transmit = self.endpoint.refuse(incoming, &mut self.buffer);
                self.respond(&transmit);
            }
            Verdict::Ignore => self.endpoint.ignore(incoming),
        }
    }

    /// Begins handshakes, as many as one turn allows.
    pub fn accept(&mut self, now: Time) {
        for (incoming, slots) in self.handshakes.of_turn() {
            let by = now + HANDSHAKE_TIMEOUT;
            let role = match &self.purpose {
                Purpose::Players(context) => ConnectionRole::Unauthenticated(context.clone(), by),
                Purpose::Hosts(hosts) => ConnectionRole::UnknownHost(hosts.context.clone(), None, by),
                Purpose::Dialer => continue,
            };
            self.buffer.clear();
            match self.endpoint.accept(incoming, self.time.instant(now), &mut self.buffer, None) {
                Ok((handle, quic)) => _ = self.add(now, handle, quic, role, Some(slots)),
                Err(error) => {
                    if let Some(transmit) = error.response {
                        self.respond(&transmit);
                    }
                }
            }
        }
    }

    /// Adds a connection; one to which this end connects holds no slots.
    fn add(
        &mut self,
        now: Time,
        handle: ConnectionHandle,
        quic: Connection,
        role: ConnectionRole<M>,
        slots: Option<ConnectionSlots>,
    ) -> ConnectionKey {
        let slot = handle.0;
        if self.connections.len() <= slot {
            self.connections.resize_with(slot + 1, || None);
        }
        let (limits, frame_max) = match &role {
            ConnectionRole::UnknownHost(..) => (SendLimits::SERVERS, HOST_FRAME_MAX),
            ConnectionRole::Dialing(..) => (SendLimits::FROM_PLAYER, HOST_FRAME_MAX),
            _ => (SendLimits::PLAYERS, HELLO_MAX),
        };
        let queue = SendQueue::on_reactor(limits, self.ready.clone(), self.index, slot);
        if let ConnectionRole::UnknownHost(context, ..) = &role {
            queue.sure(mesh::hello_frame(context.host, context.router.zones()));
        }
        let mut framed = FramedConnection::new(quic, queue, Framing::Plain, frame_max, now);
        framed.may_hold = self.may_hold;
        let key = ConnectionKey { port: self.index, slot, queue: framed.queue.id() };
        self.connections[slot] = Some(Box::new(PortConnection::new(framed, role, slots)));
        self.activate(slot);
        key
    }

    // Connecting.

    /// Connects a player to a host.
    pub fn dial(
        &mut self,
        now: Time,
        address: SocketAddr,
        config: ClientConfig,
        request: DialRequest<M>,
    ) -> Option<ConnectionKey> {
        // The name is not verified, because the certificate is pinned by its hash.
        match self.endpoint.connect(self.time.instant(now), config, address, "localhost") {
            Ok((handle, quic)) => {
                let hello = crate::frame::Control::Hello {
                    version: crate::frame::VERSION,
                    token: request.token.clone(),
                };
                let role = ConnectionRole::Dialing(Box::new(request), now + DIAL_TIMEOUT);
                let key = self.add(now, handle, quic, role, None);
                self.find(key)?.framed.queue.sure(crate::frame::control(&hello));
                Some(key)
            }
            Err(_) => {
                let _ = request.reply.send(Err(Close::Gone)); // The session may be over.
                None
            }
        }
    }

    /// Takes the addresses of the other hosts: connects to those with lower numbers.
    pub fn set_hosts(&mut self, now: Time, addresses: &HostAddresses) {
        let Purpose::Hosts(hosts) = &mut self.purpose else { return };
        hosts.context.router.host_port_limits().know(addresses.values().map(SocketAddr::ip));
        let own = hosts.context.host;
        for (&host, &address) in addresses.range(..own) {
            let known =
                hosts.dialled.entry(host).or_insert(DialledHost { address, connection: None, retry_at: now });
            if known.address != address {
                // The host has restarted at another address: the old process is not there any more.
                *known = DialledHost { address, connection: None, retry_at: now };
                hosts.context.router.close_connection(RemoteEnd::Host(host));
            }
        }
    }

    /// Connects to hosts that are not connected.
    fn dial_hosts(&mut self, now: Time) {
        let Purpose::Hosts(hosts) = &mut self.purpose else { return };
        let mut begun = Vec::new();
        for (&host, it) in &mut hosts.dialled {
            // The slot may be another connection's by now: a client's, or that of an attacker who only wants to hold it.
            let is_gone = it.connection.is_none_or(|key| find(&mut self.connections, key).is_none());
            if is_gone && it.connection.take().is_some() {
                it.retry_at = now + RETRY_PAUSE;
            }
            if it.connection.is_some() || now < it.retry_at {
                continue;
            }
            let (config, name) = (hosts.config.clone(), tls::host_name(host));
            match self.endpoint.connect(self.time.instant(now), config, it.address, &name) {
                Ok((handle, quic)) => {
                    let by = now + HANDSHAKE_TIMEOUT;
                    let role = ConnectionRole::UnknownHost(hosts.context.clone(), Some(host), by);
                    begun.push((host, handle, quic, role));
                }
                Err(_) => it.retry_at = now + RETRY_PAUSE,
            }
        }
        for (host, handle, quic, role) in begun {
            let key = self.add(now, handle, quic, role, None);
            let Purpose::Hosts(hosts) = &mut self.purpose else { return };
            hosts.dialled.entry(host).and_modify(|it| it.connection = Some(key));
        }
    }

    fn next_dial(&self) -> Option<Time> {
        let Purpose::Hosts(hosts) = &self.purpose else { return None };
        hosts.dialled.values().filter(|it| it.connection.is_none()).map(|it| it.retry_at).min()
    }

    // Serving.

    /// Marks a connection as one that needs attention in this turn.
    fn activate(&mut self, slot: usize) {
        if let Some(connection) = self.connections.get_mut(slot).and_then(Option::as_mut)
            && !connection.is_active
        {
            connection.is_active = true;
            self.active.push(slot);
        }
    }

    fn find(&mut self, key: ConnectionKey) -> Option<&mut PortConnection<M>> {
        find(&mut self.connections, key)
    }

    /// A connection has frames to send, or is to be closed.
    pub fn on_ready(&mut self, key: ConnectionKey) {
        if self.find(key).is_some() {
            self.activate(key.slot);
        }
    }

    /// Asks the host at the other end for a sign of life.
    pub fn probe(&mut self, now: Time, key: ConnectionKey) {
        if let Some(connection) = self.find(key) {
            connection.role.probe(now, &connection.framed);
            self.activate(key.slot);
        }
    }

    /// Ends a connection.
    pub fn end(&mut self, key: ConnectionKey) {
        if let Some(connection) = self.find(key) {
            connection.framed.queue.close(Close::Gone);
        }
    }

    /// Ends all connections.
    pub fn close_all(&mut self, why: Close) {
        self.is_closed = true;
        for connection in self.connections.iter().flatten() {
            connection.framed.queue.close(why);
        }
    }

    /// Fires the timers of connections that are due.
    pub fn wake_due(&mut self, now: Time) {
        self.dial_hosts(now);
        while let Some((slot, armed)) = self.deadlines.pop_due(now) {
            let Some(connection) = self.connections.get_mut(slot).and_then(Option::as_mut) else { continue };
            if connection.armed != Some(armed) {
                continue;
            }
            connection.armed = None;
            connection.framed.fire_timers(now, self.time);
            self.activate(slot);
        }
    }

    /// Reads the frames that have arrived and hands them to workers.
    pub fn read(&mut self, now: Time, workers: &mut Workers<M>) {
        let time = self.time;
        for at in 0..self.active.len() {
            let Some(connection) = self.connections[self.active[at]].as_mut() else { continue };
            connection.read(now, time, workers);
        }
    }

    /// Writes queued frames, sends packets, and notes when each connection needs attention again.
    pub fn write(&mut self, now: Time, workers: &mut Workers<M>) {
        let time = self.time;
        for slot in std::mem::take(&mut self.active) {
            let Some(mut connection) = self.connections[slot].take() else { continue };
            connection.is_active = false;
            connection.write(now, time, workers);
            let has_more = self.transmit(now, &mut connection.framed);
            if self.is_drained(slot, &mut connection) {
                continue;
            }
            if connection.is_forgotten(now) {
                self.endpoint.handle_event(ConnectionHandle(slot), EndpointEvent::drained());
                continue;
            }
            let next = if has_more { Some(now) } else { connection.next_deadline(time) };
            if let Some(next) = next {
                self.deadlines.arm(slot, next, &mut connection.armed);
            }
            self.connections[slot] = Some(connection);
        }
    }

    /// Sends the packets of a connection. Returns whether there are more.
    fn transmit(&mut self, now: Time, framed: &mut FramedConnection) -> bool {
        if !framed.may_transmit(now) {
            return false;
        }
        let (instant, segments) = (self.time.instant(now), self.socket.segments_max().min(10));
        for _ in 0..TRANSMITS_PER_TURN {
            self.buffer.clear();
            self.buffer.reserve(usize::from(framed.quic.current_mtu()));
            let quic = &mut framed.quic;
            let packet = within(Stage::Encrypt, || quic.poll_transmit(instant, segments, &mut self.buffer));
            let Some(transmit) = packet else { return false };
            // Without room in the socket it is lost, like any packet.
            let _ = within(Stage::Send, || self.socket.send(&transmit, &self.buffer[..transmit.size]));
        }
        true
    }

    /// Passes events on to the endpoint. Returns whether the connection is over and forgotten.
    fn is_drained(&mut self, slot: usize, connection: &mut PortConnection<M>) -> bool {
        let quic = &mut connection.framed.quic;
        while let Some(event) = quic.poll_endpoint_events() {
            let is_drained = event.is_drained();
            if let Some(event) = self.endpoint.handle_event(ConnectionHandle(slot), event) {
                quic.handle_event(event);
            }
            if is_drained {
                return true;
            }
        }
        false
    }

    /// The next time at which the port needs a turn.
    pub fn next_deadline(&self, now: Time) -> Option<Time> {
        let accepts = (!self.handshakes.is_empty()).then_some(now);
        [self.deadlines.next(), accepts, self.next_dial()].into_iter().flatten().min()
    }
}

/// The connection with this key; its slot may have become another one's.
fn find<M: Machine>(
    connections: &mut [Option<Box<PortConnection<M>>>],
    key: ConnectionKey,
) -> Option<&mut PortConnection<M>> {
    let connection = connections.get_mut(key.slot)?.as_mut()?;
    (connection.framed.queue.id() == key.queue).then_some(&mut **connection)
}
