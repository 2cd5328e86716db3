//! Handshakes that a port has not begun: which may begin, which addresses must be validated first, and how many begin in a turn.
//!
//! An address that must be validated gets QUIC's retry, which costs no memory and no signature. What is beyond the limits is
//! dropped before a key is derived for it.

use super::port::Purpose;
use crate::close::Close;
use crate::connection_limits::UnauthenticatedSlot;
use crate::host_context::HostContext;
use crate::metric;
use crate::open_connections::OpenConnection;
use crate::rate_limiter::RateLimiter;
use crate::server_port_limits::HandshakeSlot;
use machine::Machine;
use quinn_proto::Incoming;
use std::collections::VecDeque;

/// Handshakes of players begun in one turn, at most; each costs about 0.2 ms, and players who are already in must not wait for
/// them.
const PLAYERS_PER_TURN: usize = 8;

/// Handshakes of other hosts begun in one turn, at most: hosts connect rarely, and the certificates of both ends are verified.
const HOSTS_PER_TURN: usize = 1;

/// First packets of players per second, and in a burst. Each costs some 15 µs for keys and a retry. A handshake takes two
/// to five of them, and 2,000 players of another host may come at once.
const PLAYERS_PACKETS: (f64, f64) = (5_000.0, 10_000.0);

/// The same of addresses from which hosts come. Such an address may be forged, so they are limited, too.
const HOSTS_PACKETS: (f64, f64) = (2_000.0, 2_000.0);

/// The same of all other addresses at the port for hosts.
const UNKNOWN_PACKETS: (f64, f64) = (500.0, 500.0);

/// What a connection takes from the limits until it has proved itself.
pub(super) enum ConnectionSlot {
    /// A client without a token.
    Client(#[expect(dead_code, reason = "held for its drop")] UnauthenticatedSlot),
    /// A host that has not proved itself.
    Server(HandshakeSlot),
}

/// What a connection takes from the limits.
pub(super) struct ConnectionSlots {
    /// Held until the other end has proved itself.
    pub slot: ConnectionSlot,
    /// Counts a client's connection for as long as it exists.
    pub open: Option<OpenConnection>,
}

/// What becomes of a first packet.
pub(super) enum Verdict {
    /// The handshake begins as soon as a turn has room for it.
    Begin(ConnectionSlots),
    /// The other end must show that it receives at its address.
    Validate,
    /// The other end is told that there is no room.
    Refuse,
    /// Nothing is answered.
    Ignore,
}

impl Verdict {
    /// The verdict on a first packet at a port.
    pub fn on<M: Machine>(purpose: &Purpose<M>, incoming: &Incoming) -> Self {
        match purpose {
            Purpose::Players(context) => Self::on_client(context, incoming),
            Purpose::Hosts(hosts) => Self::on_host(&hosts.context, incoming),
            Purpose::Dialer => Self::Refuse,
        }
    }

    fn on_client<M: Machine>(context: &HostContext<M>, incoming: &Incoming) -> Self {
        let (from, limits) = (incoming.remote_address().ip(), context.router.connection_limits());
        if limits.must_validate(from) && !incoming.remote_address_validated() {
            return Self::Validate;
        }
        // What is open first: an attempt that finds no room there must not use up the allowance of its address.
        let open = context.router.open_connections().add(context.players_max);
        match open.and_then(|open| Some((limits.reserve(from)?, open))) {
            Some((slot, open)) => {
                Self::Begin(ConnectionSlots { slot: ConnectionSlot::Client(slot), open: Some(open) })
            }
            None => {
                metric::refused(Close::Full);
                Self::Refuse
            }
        }
    }

    fn on_host<M: Machine>(context: &HostContext<M>, incoming: &Incoming) -> Self {
        // Always: hosts lose a round trip now and then, and a forged address never costs a signature.
        if !incoming.remote_address_validated() {
            return Self::Validate;
        }
        match context.router.host_port_limits().reserve(incoming.remote_address().ip()) {
            Some(slot) => Self::Begin(ConnectionSlots { slot: ConnectionSlot::Server(slot), open: None }),
            None => {
                metric::handshake_dropped(metric::HOSTS_PORT);
                Self::Ignore
            }
        }
    }
}

/// The handshakes of a port that have not begun.
pub(super) struct Handshakes {
    /// From addresses of known hosts: these go first.
    known: VecDeque<(Incoming, ConnectionSlots)>,
    others: VecDeque<(Incoming, ConnectionSlots)>,
    per_turn: usize,
    known_packets: RateLimiter,
    other_packets: RateLimiter,
}

impl Handshakes {
    /// Of a port for players.
    pub fn of_players() -> Self {
        Self::new(PLAYERS_PER_TURN, PLAYERS_PACKETS)
    }

    /// Of a port for hosts.
    pub fn of_hosts() -> Self {
        Self::new(HOSTS_PER_TURN, UNKNOWN_PACKETS)
    }

    fn new(per_turn: usize, other_packets: (f64, f64)) -> Self {
        Self {
            known: VecDeque::new(),
            others: VecDeque::new(),
            per_turn,
            known_packets: RateLimiter::new(HOSTS_PACKETS.0, HOSTS_PACKETS.1),
            other_packets: RateLimiter::new(other_packets.0, other_packets.1),
        }
    }

    /// Counts a first packet. Returns false if it is one too many, and is to be dropped unread.
    pub fn takes_first_packet(&mut self, is_known: bool) -> bool {
        let packets = if is_known { &mut self.known_packets } else { &mut self.other_packets };
        packets.try_take(1.0)
    }

    /// Queues a handshake. The slots bound the queue.
    pub fn push(&mut self, incoming: Incoming, slots: ConnectionSlots) {
        let is_known = matches!(&slots.slot, ConnectionSlot::Server(slot) if slot.is_known());
        let queue = if is_known { &mut self.known } else { &mut self.others };
        queue.push_back((incoming, slots));
    }

    /// The handshakes that begin in this turn.
    pub fn of_turn(&mut self) -> Vec<(Incoming, ConnectionSlots)> {
        let known = self.known.len().min(self.per_turn);
        let others = self.others.len().min(self.per_turn - known);
        self.known.drain(..known).chain(self.others.drain(..others)).collect()
    }

    /// Returns whether none waits.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.others.is_empty()
    }
}
