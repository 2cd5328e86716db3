//! A port of a reactor: a socket, its QUIC endpoint and its connections.

use super::connection_role::{ConnectionRole, DialRequest, RoleContext, Urgency};
use super::deadlines::Deadlines;
use super::framed::{FramedConnection, Framing};
use super::socket::{Packet, PacketSocket, reactor_of};
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
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, Incoming, ServerConfig, Transmit,
};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use wire::Message;

/// Batches of packets received in one turn, at most: more wait in the socket.
const BATCHES_PER_TURN: usize = 32;

/// Handshakes begun in one turn, at most; each costs about 0.2 ms, and players who are already in must not wait for them.
const ACCEPTS_PER_TURN: usize = 8;

/// Packets of one connection sent in one turn, at most, so that a snapshot on its way delays no other connection.
const TRANSMITS_PER_TURN: usize = 32;

/// The time a handshake may take.
const HANDSHAKE_TIMEOUT: Span = Span::from_secs(3);

/// The time a host may take to accept a player.
const DIAL_TIMEOUT: Span = Span::from_secs(5);

/// Pause before a lost host is tried again.
const RETRY_PAUSE: Span = Span::from_millis(200);

/// The time that a browser has to read why its session ended.
const LINGER: Span = Span::from_millis(200);

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
    slot: Option<usize>,
    retry_at: Time,
}

/// A connection and what it is for.
struct PortConnection<M: Machine> {
    framed: FramedConnection,
    role: ConnectionRole<M>,
    armed: Option<Time>,
    is_active: bool,
    /// The connection ends with this reason; a browser gets a moment to read it.
    closing: Option<(Close, Time)>,
    /// Time at which queued frames may be sent.
    send_at: Option<Time>,
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
    incoming: VecDeque<Incoming>,
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
        Self {
            index,
            socket,
            endpoint,
            purpose,
            connections: Vec::new(),
            active: Vec::new(),
            deadlines: Deadlines::default(),
            incoming: VecDeque::new(),
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
            Purpose::Players(context) => !context.router.has_players() && self.incoming.is_empty(),
            Purpose::Hosts(hosts) => !hosts.context.router.has_players(),
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
        self.buffer.clear();
        let instant = self.time.instant(now);
        let Packet { from, local, ecn, bytes } = packet;
        within(Stage::Decrypt, || {
            match self.endpoint.handle(instant, from, local, ecn, bytes, &mut self.buffer) {
                Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                    if let Some(connection) = self.connections.get_mut(handle.0).and_then(Option::as_mut) {
                        connection.framed.quic.handle_event(event);
                        connection.framed.on_packet();
                        self.activate(handle.0);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => self.on_incoming(incoming),
                Some(DatagramEvent::Response(transmit)) => self.respond(&transmit),
                None => (),
            }
        });
    }

    fn respond(&mut self, transmit: &Transmit) {
        let _ = self.socket.send(transmit, &self.buffer[..transmit.size]); // Lost like any packet.
    }

    fn on_incoming(&mut self, incoming: Incoming) {
        self.buffer.clear();
        if self.is_closed || matches!(self.purpose, Purpose::Dialer) {
            let transmit = self.endpoint.refuse(incoming, &mut self.buffer);
            return self.respond(&transmit);
        }
        self.incoming.push_back(incoming);
    }

    /// Begins handshakes, as many as one turn allows.
    pub fn accept(&mut self, now: Time) {
        for _ in 0..ACCEPTS_PER_TURN {
            let Some(incoming) = self.incoming.pop_front() else { return };
            let from = incoming.remote_address();
            self.buffer.clear();
            let role = match &self.purpose {
                Purpose::Players(context) => {
                    let limits = context.router.connection_limits();
                    // A retry costs us no memory and shows whether the client receives at its address.
                    if limits.must_validate(from.ip()) && !incoming.remote_address_validated() {
                        if let Ok(transmit) = self.endpoint.retry(incoming, &mut self.buffer) {
                            self.respond(&transmit);
                        }
                        continue;
                    }
                    let Some(slot) = limits.reserve(from.ip()) else {
                        metric::refused(Close::Full);
                        let transmit = self.endpoint.refuse(incoming, &mut self.buffer);
                        self.respond(&transmit);
                        continue;
                    };
                    ConnectionRole::Unauthenticated(context.clone(), slot, now + HANDSHAKE_TIMEOUT)
                }
                Purpose::Hosts(hosts) => {
                    ConnectionRole::UnknownHost(hosts.context.clone(), None, now + HANDSHAKE_TIMEOUT)
                }
                Purpose::Dialer => continue,
            };
            match self.endpoint.accept(incoming, self.time.instant(now), &mut self.buffer, None) {
                Ok((handle, quic)) => self.add(now, handle, quic, role),
                Err(error) => {
                    if let Some(transmit) = error.response {
                        self.respond(&transmit);
                    }
                }
            }
        }
    }

    fn add(&mut self, now: Time, handle: ConnectionHandle, quic: Connection, role: ConnectionRole<M>) {
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
        let connection =
            PortConnection { framed, role, armed: None, is_active: false, closing: None, send_at: None };
        self.connections[slot] = Some(Box::new(connection));
        self.activate(slot);
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
                self.add(now, handle, quic, ConnectionRole::Dialing(Box::new(request), now + DIAL_TIMEOUT));
                let connection = self.connections[handle.0].as_ref()?;
                connection.framed.queue.sure(crate::frame::control(&hello));
                let queue = connection.framed.queue.id();
                Some(ConnectionKey { port: self.index, slot: handle.0, queue })
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
        let own = hosts.context.host;
        for (&host, &address) in addresses.range(..own) {
            let known =
                hosts.dialled.entry(host).or_insert(DialledHost { address, slot: None, retry_at: now });
            if known.address != address {
                // The host has restarted at another address: the old process is not there any more.
                *known = DialledHost { address, slot: None, retry_at: now };
                hosts.context.router.close_connection(RemoteEnd::Host(host));
            }
        }
    }

    /// Connects to hosts that are not connected.
    fn dial_hosts(&mut self, now: Time) {
        let Purpose::Hosts(hosts) = &mut self.purpose else { return };
        let mut begun = Vec::new();
        for (&host, it) in &mut hosts.dialled {
            let is_gone = it.slot.is_none_or(|slot| self.connections.get(slot).is_none_or(Option::is_none));
            if is_gone && it.slot.take().is_some() {
                it.retry_at = now + RETRY_PAUSE;
            }
            if it.slot.is_some() || now < it.retry_at {
                continue;
            }
            let (config, name) = (hosts.config.clone(), tls::host_name(host));
            match self.endpoint.connect(self.time.instant(now), config, it.address, &name) {
                Ok((handle, quic)) => {
                    it.slot = Some(handle.0);
                    begun.push((
                        handle,
                        quic,
                        ConnectionRole::UnknownHost(
                            hosts.context.clone(),
                            Some(host),
                            now + HANDSHAKE_TIMEOUT,
                        ),
                    ));
                }
                Err(_) => it.retry_at = now + RETRY_PAUSE,
            }
        }
        for (handle, quic, role) in begun {
            self.add(now, handle, quic, role);
        }
    }

    fn next_dial(&self) -> Option<Time> {
        let Purpose::Hosts(hosts) = &self.purpose else { return None };
        hosts.dialled.values().filter(|it| it.slot.is_none()).map(|it| it.retry_at).min()
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
        let connection = self.connections.get_mut(key.slot)?.as_mut()?;
        (connection.framed.queue.id() == key.queue).then_some(&mut **connection)
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
        let accepts = (!self.incoming.is_empty()).then_some(now);
        [self.deadlines.next(), accepts, self.next_dial()].into_iter().flatten().min()
    }
}

impl<M: Machine> PortConnection<M>
where
    M::Msg: Message,
{
    fn read(&mut self, now: Time, time: TimeBase, workers: &mut Workers<M>) {
        let mut context = RoleContext { now, workers };
        if let Err(why) = self.take_frames(&mut context) {
            self.end(&mut context, time, why);
        }
    }

    fn take_frames(&mut self, context: &mut RoleContext<'_, M>) -> Result<(), Close> {
        let Self { framed, role, .. } = self;
        let progress = framed.progress(context.now)?;
        let mut taken = Ok(());
        if progress.connected {
            taken = role.on_connected(context.now, framed);
        }
        if taken.is_ok() {
            taken = role.on_deadline(context.now, framed).and_then(|()| take_frames(framed, role, context));
        }
        // The reason that the other end gave is the true one.
        progress.lost.map_or(taken, Err)
    }

    /// Writes queued frames, or ends the connection.
    fn write(&mut self, now: Time, time: TimeBase, workers: &mut Workers<M>) {
        let mut context = RoleContext { now, workers };
        if let Some((why, _)) = self.closing.take_if(|it| it.1 <= now) {
            self.framed.close(time.instant(now), why);
        }
        if matches!(self.role, ConnectionRole::Ended) {
            return;
        }
        match self.framed.write(now) {
            Ok(send_at) => self.send_at = send_at,
            Err(why) => self.end(&mut context, time, why),
        }
    }

    fn end(&mut self, context: &mut RoleContext<'_, M>, time: TimeBase, why: Close) {
        if matches!(self.role, ConnectionRole::Ended) {
            return;
        }
        self.role.end(context, &self.framed, why);
        if !self.framed.quic.is_closed() && !self.framed.close(time.instant(context.now), why) {
            self.closing = Some((why, context.now + LINGER));
        }
    }

    fn next_deadline(&mut self, time: TimeBase) -> Option<Time> {
        let quic = self.framed.quic.poll_timeout().map(|it| self.framed.timer_at(time.time(it)));
        let closing = self.closing.map(|it| it.1);
        let delivery = self.framed.holds.then(|| self.framed.delivery.deadline()).flatten();
        [quic, self.role.deadline(), self.send_at, closing, self.framed.held_until(), delivery]
            .into_iter()
            .flatten()
            .min()
    }
}

fn take_frames<M: Machine>(
    framed: &mut FramedConnection,
    role: &mut ConnectionRole<M>,
    context: &mut RoleContext<'_, M>,
) -> Result<(), Close>
where
    M::Msg: Message,
{
    while !role.is_paused() {
        let Some(body) = framed.next_of_stream()? else { break };
        if role.on_sure(context, framed, &body)? == Urgency::Urgent {
            framed.owe_receipt(context.now);
        }
    }
    if 0 < framed.half_frame() {
        framed.hold_nothing(context.now); // The rest of the frame is on its way, and it may be long.
    }
    if role.is_overlong(framed) {
        return Err(Close::Protocol);
    }
    while let Some(datagram) = framed.next_datagram() {
        role.on_datagram(context, framed, &datagram)?;
    }
    Ok(())
}
