//! What a connection is for, and what its frames mean: a player at a host, another host, or a host at a player.

use super::framed::{FramedConnection, Framing};
use super::web_transport::WebSession;
use super::workers::Workers;
use crate::close::Close;
use crate::dial::TrafficCounters;
use crate::endpoint::{ALPN_PLAYERS, ALPN_WEB};
use crate::frame::{self, Control, HOST_FRAME_MAX, PLAYER_FRAME_MAX, VERSION};
use crate::host_context::{
    AuthenticatedClient, HELLO_MAX, HELLO_TIMEOUT, HostContext, PlayerAllowance, on_player_control,
};
use crate::link_router::RemoteEnd;
use crate::mesh::{self, HostHello};
use crate::pipe::TransportKind;
use crate::worker::{FrameAddressing, Inbound, MachineLink, WorkerHandle};
use crate::{address, metric, tls};
use bytes::Bytes;
use machine::{Machine, Span, Time};
use quinn_proto::ConnectionStats;
use quinn_proto::crypto::rustls::HandshakeData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;
use wire::Message;

/// Interval at which a player's end counts packets.
const COUNT_EVERY: Span = Span::from_secs(1);

/// Interval at which a player's end measures the round trip. QUIC's own estimate contains the time for which acknowledgements
/// are held back.
const PING_EVERY: Span = Span::from_secs(5);

/// Least time that a probed host has to answer; four round trips if that is more.
const PROBE_TIMEOUT: Duration = Duration::from_millis(250);

/// Age from which on a connection may be probed. When a host is slow because it is overloaded, connecting again and again
/// would only add to the load.
const PROBE_FROM_AGE: Span = Span::from_secs(3);

fn span(duration: Duration) -> Span {
    Span::from_micros(duration.as_micros() as u64)
}

/// What a connection is for.
pub(super) enum ConnectionRole<M: Machine> {
    /// A client at a host that has not shown a valid token.
    Unauthenticated(Arc<HostContext<M>>, Time),
    /// A player at a host.
    Player(Box<PlayerAtHost<M>>),
    /// Another host that has not said which one it is; the host that was dialled, if we connect.
    UnknownHost(Arc<HostContext<M>>, Option<u32>, Time),
    /// Another host.
    Host(Arc<HostContext<M>>, u32),
    /// A host at a player, before it has accepted the token.
    Dialing(Box<DialRequest<M>>, Time),
    /// A host at a player.
    Dialed(Box<HostAtPlayer<M>>),
    /// Nothing any more: the connection is ending.
    Ended,
}

/// Whether the sender of a frame wants to know soon that it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Urgency {
    /// It does.
    Urgent,
    /// It does not: the message could wait at its sender, too.
    CanWait,
}

impl Urgency {
    fn of(msg: &impl Message) -> Self {
        if msg.can_wait() { Self::CanWait } else { Self::Urgent }
    }
}

/// A player at a host.
pub(super) struct PlayerAtHost<M: Machine> {
    context: Arc<HostContext<M>>,
    client: AuthenticatedClient,
    transport: TransportKind,
    allowance: PlayerAllowance,
    /// Above its rate, a player's stream is not read until this time.
    paused_until: Option<Time>,
}

/// A connection that a player wants.
pub(crate) struct DialRequest<M: Machine> {
    pub token: String,
    pub player: WorkerHandle<M>,
    pub traffic: Arc<TrafficCounters>,
    /// Told when the host has accepted the token, or why not.
    pub reply: oneshot::Sender<Result<(), Close>>,
    /// Told when the connection is over.
    pub ended: oneshot::Sender<Close>,
}

/// A host at a player.
pub(super) struct HostAtPlayer<M: Machine> {
    player: WorkerHandle<M>,
    host: u32,
    zones: Vec<u32>,
    traffic: Arc<TrafficCounters>,
    ended: oneshot::Sender<Close>,
    since: Time,
    stats: ConnectionStats,
    next_count: Time,
    next_ping: Time,
    arrivals: u64,
    /// The host must have said something by this time, beyond these arrivals.
    probe: Option<(Time, u64)>,
}

/// The reactor's means, for a role that handles frames.
pub(super) struct RoleContext<'a, M: Machine> {
    pub now: Time,
    pub workers: &'a mut Workers<M>,
}

impl<M: Machine> ConnectionRole<M>
where
    M::Msg: Message,
{
    /// The TLS handshake is complete.
    pub fn on_connected(&mut self, now: Time, framed: &mut FramedConnection) -> Result<(), Close> {
        let protocol = alpn(framed);
        // Only our own ends hold acknowledgements back, and both do.
        framed.holds = framed.may_hold && protocol.as_deref() == Some(ALPN_PLAYERS.as_bytes());
        match self {
            Self::Unauthenticated(_, by) => {
                *by = now + span(HELLO_TIMEOUT);
                if protocol.as_deref() == Some(ALPN_WEB.as_bytes()) {
                    let web = WebSession::default();
                    web.begin(&mut framed.quic)?;
                    framed.framing = Framing::Web(Box::new(web));
                }
            }
            Self::UnknownHost(_, Some(_), _) | Self::Dialing(..) => {
                return framed.open_stream().then_some(()).ok_or(Close::Protocol);
            }
            _ => (),
        }
        Ok(())
    }

    /// The time at which [`Self::on_deadline`] must be called.
    pub fn deadline(&self) -> Option<Time> {
        match self {
            Self::Unauthenticated(_, by) | Self::UnknownHost(_, _, by) | Self::Dialing(_, by) => Some(*by),
            Self::Player(player) => player.paused_until,
            Self::Dialed(dialed) => {
                let next = dialed.next_count.min(dialed.next_ping);
                Some(dialed.probe.map_or(next, |it| it.0.min(next)))
            }
            Self::Host(..) | Self::Ended => None,
        }
    }

    /// Ends a connection whose other end did not do in time what it must.
    pub fn on_deadline(&mut self, now: Time, framed: &FramedConnection) -> Result<(), Close> {
        match self {
            Self::Unauthenticated(_, by) | Self::UnknownHost(_, _, by) if *by <= now => Err(Close::Refused),
            Self::Dialing(_, by) if *by <= now => Err(Close::Gone),
            Self::Player(player) => {
                player.paused_until = player.paused_until.filter(|it| now < *it);
                Ok(())
            }
            Self::Dialed(dialed) => dialed.on_deadline(now, framed),
            _ => Ok(()),
        }
    }

    /// Returns whether the stream must not be read now.
    pub const fn is_paused(&self) -> bool {
        match self {
            Self::Player(player) => player.paused_until.is_some(),
            Self::Ended => true,
            _ => false,
        }
    }

    /// Handles a frame of the stream. Returns whether its acknowledgement may wait.
    pub fn on_sure(
        &mut self,
        context: &mut RoleContext<'_, M>,
        framed: &mut FramedConnection,
        body: &Bytes,
    ) -> Result<Urgency, Close> {
        match self {
            Self::Unauthenticated(host, ..) => {
                let host = host.clone();
                self.admit(host, framed, body)?;
            }
            Self::Player(player) => return player.on_sure(context, framed, body),
            Self::UnknownHost(host, expected, _) => {
                let (host, expected) = (host.clone(), *expected);
                self.greet(context.now, host, expected, framed, body)?;
            }
            Self::Host(host, number) => on_host_frame(context, host, *number, framed, body),
            Self::Dialing(..) => self.welcome(context, framed, body)?,
            Self::Dialed(dialed) => {
                dialed.count(body.len());
                return Ok(dialed.on_frame(context, framed, body));
            }
            Self::Ended => (),
        }
        Ok(Urgency::Urgent)
    }

    /// Handles a datagram.
    pub fn on_datagram(
        &mut self,
        context: &mut RoleContext<'_, M>,
        framed: &mut FramedConnection,
        datagram: &Bytes,
    ) -> Result<(), Close> {
        let limit = match self {
            Self::Player(_) => PLAYER_FRAME_MAX,
            Self::Host(..) | Self::Dialed(_) => HOST_FRAME_MAX,
            // A datagram that overtakes token or welcome: no link exists yet for it.
            _ => return Ok(()),
        };
        let bodies = frame::bodies(datagram, limit).map_err(|_| Close::Protocol)?;
        if let Self::Dialed(dialed) = self {
            dialed.count(datagram.len());
        }
        for body in &bodies {
            if framed.holds && self.on_delivery(context, framed, body)? {
                continue;
            }
            match self {
                Self::Player(player) => player.on_latest(context, framed, body)?,
                Self::Host(host, number) => on_host_frame(context, host, *number, framed, body),
                Self::Dialed(dialed) => {
                    let _ = dialed.on_frame(context, framed, body); // No datagram is acknowledged soon.
                }
                _ => (),
            }
        }
        Ok(())
    }

    /// Handles a receipt, or copies of frames of the stream. Returns false for any other frame.
    fn on_delivery(
        &mut self,
        context: &mut RoleContext<'_, M>,
        framed: &mut FramedConnection,
        body: &Bytes,
    ) -> Result<bool, Close> {
        let Ok((frame::CONTROL, message)) = frame::open(body) else { return Ok(false) };
        let control = frame::open_control(message);
        if !matches!(control, Ok(Control::Received { .. } | Control::Again { .. })) {
            return Ok(false);
        }
        let mut limit = HOST_FRAME_MAX;
        if let Self::Player(player) = self {
            if !player.allowance.try_pay(body.len()) {
                metric::datagram_ignored();
                return Ok(true);
            }
            limit = PLAYER_FRAME_MAX;
        }
        match control {
            Ok(Control::Received { frames }) => framed.delivery.on_receipt(context.now, frames),
            Ok(Control::Again { first, frames }) => {
                framed.owe_receipt(context.now);
                let copies = frame::bodies(&frames.into(), limit).map_err(|_| Close::Protocol)?;
                for (place, copy) in copies.iter().enumerate() {
                    let number = first.wrapping_add(place as u64); // The other end may say any number.
                    // While the stream is not read because the player is too fast, its copies are not read, either.
                    if !self.is_paused() && framed.delivery.takes_copy(number) {
                        let _ = self.on_sure(context, framed, copy)?; // The receipt is owed already.
                    }
                }
            }
            _ => (),
        }
        Ok(true)
    }

    /// Handles the first frame of a client: its token.
    fn admit(
        &mut self,
        context: Arc<HostContext<M>>,
        framed: &mut FramedConnection,
        body: &Bytes,
    ) -> Result<(), Close> {
        let token = match frame::open(body).map(|(zone, message)| (zone, frame::open_control(message))) {
            Ok((frame::CONTROL, Ok(Control::Hello { version: VERSION, token }))) => token,
            _ => return Err(Close::Protocol),
        };
        let client = context.admit(&token)?;
        let zones = context.router.known_zones();
        // The welcome is queued before the links exist: no zone's message can come before it.
        framed.queue.sure(frame::control(&Control::Welcome { host: context.host, zones }));
        framed.queue.wake();
        let remote = RemoteEnd::Player(client.player);
        context.router.connect(remote, client.session, &framed.queue, Vec::new())?;
        framed.allow_frames(PLAYER_FRAME_MAX);
        let transport = match framed.framing {
            Framing::Plain => TransportKind::Quic,
            Framing::Web(_) => TransportKind::WebTransport,
        };
        metric::connected(transport, 1.0);
        tracing::debug!(
            player = client.player,
            name = client.name,
            transport = transport.name(),
            "player connected"
        );
        let allowance = PlayerAllowance::default();
        let player = PlayerAtHost { context, client, transport, allowance, paused_until: None };
        *self = Self::Player(Box::new(player));
        Ok(())
    }

    /// Handles the first frame of a host: its hello.
    fn greet(
        &mut self,
        now: Time,
        context: Arc<HostContext<M>>,
        expected: Option<u32>,
        framed: &FramedConnection,
        body: &Bytes,
    ) -> Result<(), Close> {
        let hello = mesh::open_hello(body).ok_or(Close::Protocol)?;
        // The certificate proves the identity; the hello only tells which name to look for in it.
        let identity = framed.quic.crypto_session().peer_identity();
        let is_verified = tls::is_named(identity, &tls::host_name(hello.host));
        if !is_verified || expected.is_some_and(|it| it != hello.host) {
            return Err(Close::Refused);
        }
        let HostHello { host, zones } = hello;
        // A later connection of the same host must replace an earlier one.
        context.router.connect(RemoteEnd::Host(host), now.as_micros(), &framed.queue, zones)?;
        tracing::info!(host, "connected");
        *self = Self::Host(context, host);
        Ok(())
    }

    /// Handles the first frame of a dialled host: its welcome.
    fn welcome(
        &mut self,
        context: &mut RoleContext<'_, M>,
        framed: &FramedConnection,
        body: &Bytes,
    ) -> Result<(), Close> {
        let (host, zones) = match frame::open(body).and_then(|it| frame::open_control(it.1)) {
            Ok(Control::Welcome { host, zones }) => (host, zones),
            _ => return Err(Close::Protocol),
        };
        let Self::Dialing(request, _) = std::mem::replace(self, Self::Ended) else { return Ok(()) };
        let DialRequest { player, traffic, reply, ended, .. } = *request;
        for &zone in &zones {
            let addressing = FrameAddressing::Zone(zone);
            let link = MachineLink::Remote { queue: framed.queue.clone(), addressing };
            context.workers.deliver(context.now, &player, Inbound::Up(address::replica(host, zone), link));
        }
        let dialed = HostAtPlayer {
            player,
            host,
            zones,
            traffic,
            ended,
            since: context.now,
            stats: ConnectionStats::default(),
            next_count: context.now + COUNT_EVERY,
            // Spread out: hosts that start again are dialled by all their players at once.
            next_ping: context.now + Span::from_micros(framed.queue.id() % PING_EVERY.as_micros()),
            arrivals: 0,
            probe: None,
        };
        if reply.send(Ok(())).is_err() {
            dialed.end(context, framed, Close::Gone); // The session is over meanwhile.
            return Err(Close::Gone);
        }
        *self = Self::Dialed(Box::new(dialed));
        Ok(())
    }

    /// The connection is over: takes its links down and tells the program.
    pub fn end(&mut self, context: &mut RoleContext<'_, M>, framed: &FramedConnection, why: Close) {
        // Closed before it is disconnected, so that no zone queues frames for a connection without a reader.
        framed.queue.close(why);
        match std::mem::replace(self, Self::Ended) {
            Self::Unauthenticated(..) => metric::refused(why),
            Self::Player(player) => {
                player.context.router.disconnect(RemoteEnd::Player(player.client.player), &framed.queue);
                metric::connected(player.transport, -1.0);
                metric::ended(why);
                tracing::debug!(player = player.client.player, ?why, "player disconnected");
            }
            Self::Host(host, number) => {
                host.router.disconnect(RemoteEnd::Host(number), &framed.queue);
                tracing::info!(host = number, ?why, "connection lost");
            }
            Self::Dialing(request, _) => {
                let _ = request.reply.send(Err(why)); // The session may be over.
            }
            Self::Dialed(dialed) => dialed.end(context, framed, why),
            Self::UnknownHost(..) | Self::Ended => (),
        }
    }

    /// Probes the host at the far end. The host has a quarter of a second to answer, or four round trips if that is longer. A
    /// connection younger than `PROBE_FROM_AGE` is not probed.
    pub fn probe(&mut self, now: Time, framed: &FramedConnection) {
        let Self::Dialed(dialed) = self else { return };
        if dialed.probe.is_some() || now < dialed.since + PROBE_FROM_AGE {
            return;
        }
        framed.queue.sure(frame::control(&Control::Ping(now.as_micros())));
        framed.queue.wake();
        let patience = PROBE_TIMEOUT.max(4 * framed.quic.rtt());
        dialed.probe = Some((now + span(patience), dialed.arrivals));
    }

    /// Returns whether the other end has proved itself: a client by its token, a host by its certificate and its hello.
    pub const fn is_admitted(&self) -> bool {
        matches!(self, Self::Player(_) | Self::Host(..) | Self::Dialed(_))
    }

    /// Returns whether the other end may send only a few bytes: it has not proved itself, or its connection is over.
    pub fn has_few_bytes(&self, framed: &FramedConnection) -> bool {
        match self {
            Self::Unauthenticated(..) | Self::Ended => true,
            // Behind the handshake a host is trusted: a snapshot may arrive while its hello is lost and sent again.
            Self::UnknownHost(_, None, _) => framed.quic.is_handshaking(),
            _ => false,
        }
    }

    /// Returns whether an unfinished first frame is longer than a token can be.
    pub fn is_overlong(&self, framed: &FramedConnection) -> bool {
        matches!(self, Self::Unauthenticated(..)) && HELLO_MAX < framed.half_frame()
    }
}

/// The protocol that both ends agreed on.
fn alpn(framed: &FramedConnection) -> Option<Vec<u8>> {
    framed.quic.crypto_session().handshake_data()?.downcast::<HandshakeData>().ok()?.protocol
}

impl<M: Machine> PlayerAtHost<M>
where
    M::Msg: Message,
{
    /// Handles a frame that must be handled. Above the rate, the player's stream is not read for a while, which slows the
    /// player down.
    fn on_sure(
        &mut self,
        context: &mut RoleContext<'_, M>,
        framed: &FramedConnection,
        body: &Bytes,
    ) -> Result<Urgency, Close> {
        if let Some(wait) = self.allowance.pay(body.len()) {
            self.paused_until = Some(context.now + span(wait));
        }
        self.take(context, framed, body)
    }

    /// Handles a frame that may be lost. Above the rate it is.
    fn on_latest(
        &mut self,
        context: &mut RoleContext<'_, M>,
        framed: &FramedConnection,
        body: &Bytes,
    ) -> Result<(), Close> {
        if !self.allowance.try_pay(body.len()) {
            metric::datagram_ignored();
            return Ok(());
        }
        self.take(context, framed, body).map(|_| ())
    }

    fn take(
        &mut self,
        context: &mut RoleContext<'_, M>,
        framed: &FramedConnection,
        body: &Bytes,
    ) -> Result<Urgency, Close> {
        let (zone, message) = frame::open(body).map_err(|_| Close::Protocol)?;
        if zone == frame::CONTROL {
            return on_player_control(&framed.queue, message).map(|()| Urgency::Urgent);
        }
        let msg = M::Msg::decode(message).map_err(|_| Close::Protocol)?;
        if !self.context.authenticator.permits(&self.client, &msg) {
            return Err(Close::Protocol);
        }
        let urgency = Urgency::of(&msg);
        let Some(handle) = self.context.router.zone(zone) else { return Ok(urgency) }; // The zone is being started again.
        let from = address::player(self.client.player);
        context.workers.deliver(context.now, &handle, Inbound::Recv(from, framed.queue.id(), msg, None));
        Ok(urgency)
    }
}

/// Hands a frame of another host to its zone. An unknown one is dropped: the other host may run another version.
fn on_host_frame<M: Machine>(
    context: &mut RoleContext<'_, M>,
    host: &HostContext<M>,
    number: u32,
    framed: &FramedConnection,
    body: &Bytes,
) where
    M::Msg: Message,
{
    let Ok((from, rest)) = frame::open(body) else { return };
    if from == frame::CONTROL {
        let Some(hello) = mesh::open_hello(body) else { return };
        return host.router.update_zones(RemoteEnd::Host(number), &framed.queue, hello.zones);
    }
    let Ok((to, message)) = frame::open(rest) else { return };
    let (Some(handle), Ok(msg)) = (host.router.zone(to), M::Msg::decode(message)) else {
        // The sender sends again what matters; the zone may just be starting.
        return metrics::counter!("ecumene_mesh_dropped_total").increment(1);
    };
    let from = address::replica(number, from);
    context.workers.deliver(context.now, &handle, Inbound::Recv(from, framed.queue.id(), msg, None));
}

impl<M: Machine> HostAtPlayer<M>
where
    M::Msg: Message,
{
    fn count(&mut self, bytes: usize) {
        self.arrivals += 1;
        self.traffic.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn on_frame(&self, context: &mut RoleContext<'_, M>, framed: &FramedConnection, body: &Bytes) -> Urgency {
        let Ok((zone, message)) = frame::open(body) else { return Urgency::Urgent };
        if zone != frame::CONTROL {
            let Ok(msg) = M::Msg::decode(message) else { return Urgency::Urgent };
            let (from, urgency) = (address::replica(self.host, zone), Urgency::of(&msg));
            let inbound = Inbound::Recv(from, framed.queue.id(), msg, None);
            context.workers.deliver(context.now, &self.player, inbound);
            return urgency;
        }
        match frame::open_control(message) {
            Ok(Control::Ping(number)) => {
                framed.queue.sure(frame::control(&Control::Pong(number)));
                framed.queue.wake();
            }
            Ok(Control::Pong(sent)) => {
                let trip = context.now.as_micros().saturating_sub(sent);
                self.traffic.ping.store(trip, Ordering::Relaxed);
            }
            Ok(Control::Lagging { lost }) => self.traffic.lost.store(lost, Ordering::Relaxed),
            _ => (),
        }
        Urgency::Urgent
    }

    fn on_deadline(&mut self, now: Time, framed: &FramedConnection) -> Result<(), Close> {
        if let Some((_, before)) = self.probe.filter(|it| it.0 <= now) {
            self.probe = None;
            if self.arrivals == before {
                return Err(Close::Gone);
            }
        }
        if self.next_ping <= now {
            self.next_ping = now + PING_EVERY;
            framed.queue.latest(0, 0, frame::control(&Control::Ping(now.as_micros())));
            framed.queue.wake();
        }
        if self.next_count <= now {
            self.next_count = now + COUNT_EVERY;
            self.count_packets(framed);
        }
        Ok(())
    }

    fn count_packets(&mut self, framed: &FramedConnection) {
        let now = framed.quic.stats();
        let before = std::mem::replace(&mut self.stats, now);
        let add = |total: &AtomicU64, now: u64, before: u64| total.fetch_add(now - before, Ordering::Relaxed);
        add(&self.traffic.packets_in, now.udp_rx.datagrams, before.udp_rx.datagrams);
        add(&self.traffic.udp_bytes_in, now.udp_rx.bytes, before.udp_rx.bytes);
        add(&self.traffic.packets_out, now.udp_tx.datagrams, before.udp_tx.datagrams);
        add(&self.traffic.udp_bytes_out, now.udp_tx.bytes, before.udp_tx.bytes);
    }

    fn end(mut self, context: &mut RoleContext<'_, M>, framed: &FramedConnection, why: Close) {
        self.count_packets(framed);
        for &zone in &self.zones {
            let down = Inbound::Down(address::replica(self.host, zone), framed.queue.id());
            context.workers.deliver(context.now, &self.player, down);
        }
        let _ = self.ended.send(why); // The session may be over.
    }
}
