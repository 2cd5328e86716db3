//! Reactors: the threads on which everything happens that must be fast. A reactor owns sockets with their QUIC connections
//! (its ports) and the workers of machines; it handles whole batches per turn.
//!
//! One turn: receive packets, decrypt and decode them, hand messages to machines, wake the machines that are due, send what they
//! pushed, encrypt, send packets. Then it sleeps until a packet, an input of another thread, or a deadline. At most one wake
//! crosses a thread per turn ([`Signal`]).
//!
//! Time and sockets are values: tests run reactors by hand, on simulated networks. This module knows no protocol of any machine.

mod connection_role;
mod deadlines;
mod delivery;
mod framed;
mod handshakes;
mod mailbox;
mod port;
mod port_connection;
mod signal;
pub mod socket;
mod stage_clock;
mod thread_time;
mod web_transport;
mod workers;

pub use mailbox::{MailMark, Mailbox};
pub use signal::Signal;
pub use thread_time::ThreadName;

use crate::clock;
use crate::close::Close;
use crate::endpoint::{self, ALPN_MESH, EndpointError};
use crate::host_context::HostContext;
use crate::mesh::HostAddresses;
use crate::tls::MeshIdentity;
use crate::worker::{EventSink, WorkerExit, WorkerHandle, WorkerInbox, panic_message};
pub(crate) use connection_role::DialRequest;
use machine::stage::{Stage, within};
use machine::{Machine, Span, Time};
use port::{HostsPort, Port, Purpose};
use quinn_proto::{
    ClientConfig, ConnectionId, ConnectionIdGenerator, Endpoint, EndpointConfig, ServerConfig,
};
use ring::rand::{SecureRandom as _, SystemRandom};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket::{Packet, PacketSocket, UdpPacketSocket};
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use wire::Message;
use workers::{NewWorker, Workers};

/// Least time from the start of one turn to the next. It is too short for any player to notice, and under load it makes one
/// batch of what would be many wakes.
const TURN: Span = Span::from_millis(5);

/// The same for a host without players, to whom nothing is urgent.
const QUIET_TURN: Span = Span::from_millis(20);

/// Rounds among the workers of one turn: zones of one reactor talk to each other.
const ROUNDS: usize = 4;

/// Time that closing connections may take.
const CLOSE_TIMEOUT: Span = Span::from_millis(500);

/// A connection of a reactor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionKey {
    pub(crate) port: usize,
    pub(crate) slot: usize,
    /// Number of its send queue: slots are used again.
    pub(crate) queue: u64,
}

/// Connections that have frames to send or are to be closed.
#[derive(Debug)]
pub struct ReadyConnections {
    keys: Mutex<Vec<ConnectionKey>>,
    signal: Arc<Signal>,
}

impl ReadyConnections {
    pub(crate) fn push(&self, key: ConnectionKey) {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).push(key);
        self.signal.wake();
    }

    fn take(&self) -> Vec<ConnectionKey> {
        std::mem::take(&mut *self.keys.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_empty(&self) -> bool {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// Relates the time of machines to the time of QUIC.
#[derive(Clone, Copy, Debug)]
struct TimeBase {
    instant: Instant,
    time: Time,
}

impl TimeBase {
    fn instant(&self, now: Time) -> Instant {
        self.instant + Duration::from_micros(now.since(self.time).as_micros())
    }

    fn time(&self, instant: Instant) -> Time {
        // Rounded up: a wake that is too early would find nothing due.
        self.time + Span::from_micros(instant.saturating_duration_since(self.instant).as_micros() as u64 + 1)
    }
}

/// An order of another thread.
enum ReactorCommand<M: Machine> {
    Run(Box<NewWorker<M>>),
    Dial(Box<Dial<M>>),
    Probe(ConnectionKey),
    End(ConnectionKey),
    Hosts(HostAddresses),
    ServerConfig(Arc<ServerConfig>),
    Forward(usize, Vec<Packet>),
    Siblings(Vec<Sibling<M>>, u8),
    AtTurnEnd(Box<dyn FnMut() + Send>),
    Close(Close, oneshot::Sender<()>),
}

/// A connection that a player of this process wants.
struct Dial<M: Machine> {
    address: SocketAddr,
    config: ClientConfig,
    request: DialRequest<M>,
    /// Told the key of the attempt, if it could begin.
    reply: oneshot::Sender<Option<ConnectionKey>>,
}

/// Gives orders to a reactor. Cheap to clone; the reactor ends when the last handle is gone.
pub struct ReactorHandle<M: Machine> {
    commands: Arc<CommandSender<M>>,
}

/// Ends the reactor when it is dropped.
struct CommandSender<M: Machine> {
    commands: Option<mpsc::Sender<ReactorCommand<M>>>,
    signal: Arc<Signal>,
    mailbox: Arc<Mailbox>,
    worked: Arc<AtomicU64>,
    thread: Arc<ThreadName>,
}

impl<M: Machine> Drop for CommandSender<M> {
    fn drop(&mut self) {
        self.commands = None; // Before the wake: the reactor must see that no sender is left.
        self.signal.wake();
    }
}

impl<M: Machine> Clone for ReactorHandle<M> {
    fn clone(&self) -> Self {
        Self { commands: self.commands.clone() }
    }
}

impl<M: Machine> std::fmt::Debug for ReactorHandle<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReactorHandle")
    }
}

impl<M: Machine> ReactorHandle<M> {
    /// Time that the reactor's thread has spent in turns so far. The rest of the time it waited.
    pub fn worked(&self) -> Span {
        Span::from_micros(self.commands.worked.load(Ordering::Relaxed))
    }

    /// The thread that the reactor runs on.
    pub fn thread(&self) -> Arc<ThreadName> {
        self.commands.thread.clone()
    }

    fn command(&self, command: ReactorCommand<M>) {
        if let Some(commands) = &self.commands.commands {
            drop(commands.send(command)); // Its thread has panicked: there is nothing left to order.
        }
        self.commands.signal.wake();
    }

    /// The handle and the inbox of a worker that is to run here.
    pub fn inbox(&self) -> (WorkerHandle<M>, WorkerInbox<M>) {
        WorkerHandle::new(self.commands.mailbox.clone())
    }

    /// Runs a machine. `ended` is called on the reactor's thread when its worker ends.
    pub fn run(
        &self,
        machine: M,
        sink: impl EventSink<M> + 'static,
        inbox: WorkerInbox<M>,
        ended: impl FnOnce(WorkerExit) + Send + 'static,
    ) {
        let new = NewWorker { machine, sink: Box::new(sink), inbox, ended: Box::new(ended) };
        self.command(ReactorCommand::Run(Box::new(new)));
    }

    /// Calls a function in each turn from now on, after the machines have had their inputs: to hand over at once what their
    /// sinks gathered. It must not wait.
    pub fn at_turn_end(&self, call: impl FnMut() + Send + 'static) {
        self.command(ReactorCommand::AtTurnEnd(Box::new(call)));
    }

    /// Connects a player to a host.
    pub(crate) async fn dial(
        &self,
        address: SocketAddr,
        config: ClientConfig,
        request: DialRequest<M>,
    ) -> Option<ConnectionKey> {
        let (reply, key) = oneshot::channel();
        self.command(ReactorCommand::Dial(Box::new(Dial { address, config, request, reply })));
        key.await.ok().flatten()
    }

    pub(crate) fn probe(&self, key: ConnectionKey) {
        self.command(ReactorCommand::Probe(key));
    }

    pub(crate) fn end(&self, key: ConnectionKey) {
        self.command(ReactorCommand::End(key));
    }

    /// Tells the addresses of the other hosts.
    pub fn set_hosts(&self, hosts: HostAddresses) {
        self.command(ReactorCommand::Hosts(hosts));
    }

    /// Changes the certificate that players are shown.
    pub fn set_players_config(&self, config: Arc<ServerConfig>) {
        self.command(ReactorCommand::ServerConfig(config));
    }

    /// Ends all connections, and returns when the other ends know, or half a second later.
    pub async fn close(&self, why: Close) {
        let (reply, done) = oneshot::channel();
        self.command(ReactorCommand::Close(why, reply));
        let _ = done.await; // An error means that the reactor is gone, and its connections with it.
    }
}

/// Another reactor at the same address. It may be gone.
struct Sibling<M: Machine>(Weak<CommandSender<M>>);

impl<M: Machine> Sibling<M> {
    fn forward(&self, port: usize, packets: Vec<Packet>) {
        if let Some(commands) = self.0.upgrade() {
            ReactorHandle { commands }.command(ReactorCommand::Forward(port, packets));
        }
    }
}

/// A reactor: run by a thread ([`Reactor::spawn`]), or turn by turn by a test.
pub struct Reactor<M: Machine> {
    commands: mpsc::Receiver<ReactorCommand<M>>,
    waiting: Option<ReactorCommand<M>>,
    is_orphaned: bool,
    signal: Arc<Signal>,
    ready: Arc<ReadyConnections>,
    time: TimeBase,
    ports: Vec<Port<M>>,
    workers: Workers<M>,
    /// Microseconds spent in turns. By the clock, not by processor time: a reactor that other processes keep from running cannot
    /// take more players either.
    worked: Arc<AtomicU64>,
    thread: Arc<ThreadName>,
    at_turn_end: Vec<Box<dyn FnMut() + Send>>,
    /// Whom to tell when all connections are closed, and when at the latest.
    closing: Option<(Time, Vec<oneshot::Sender<()>>)>,
}

impl<M: Machine> Reactor<M>
where
    M::Msg: Message,
{
    /// A reactor without ports and workers, at this time.
    pub fn new(now: Time) -> io::Result<(Self, ReactorHandle<M>)> {
        let signal = Arc::new(Signal::new()?);
        let (sender, commands) = mpsc::channel();
        let mailbox = Arc::new(Mailbox::new(signal.clone()));
        let workers = Workers::new(mailbox.clone());
        let worked = Arc::new(AtomicU64::new(0));
        let thread = Arc::new(ThreadName::default());
        let sender = CommandSender {
            commands: Some(sender),
            signal: signal.clone(),
            mailbox,
            worked: worked.clone(),
            thread: thread.clone(),
        };
        let ready = Arc::new(ReadyConnections { keys: Mutex::default(), signal: signal.clone() });
        let reactor = Self {
            commands,
            waiting: None,
            is_orphaned: false,
            signal,
            ready,
            time: TimeBase { instant: Instant::now(), time: now },
            ports: Vec::new(),
            workers,
            worked,
            thread,
            at_turn_end: Vec::new(),
            closing: None,
        };
        Ok((reactor, ReactorHandle { commands: Arc::new(sender) }))
    }

    /// Adds a port to which players connect. `number` is the reactor's among those that share the address.
    pub fn listen_to_players(
        &mut self,
        socket: Box<dyn PacketSocket>,
        config: Arc<ServerConfig>,
        context: Arc<HostContext<M>>,
        number: u8,
    ) {
        let mut ids = EndpointConfig::default();
        ids.cid_generator(move || Box::new(NumberedIds { number, random: SystemRandom::new() }));
        self.add_port(socket, ids, Some(config), Purpose::Players(context));
    }

    /// Adds a port to which other hosts connect, and from which this one connects to others.
    pub fn listen_to_hosts(
        &mut self,
        socket: Box<dyn PacketSocket>,
        identity: &MeshIdentity,
        context: Arc<HostContext<M>>,
    ) -> Result<(), EndpointError> {
        let server = endpoint::for_hosts(identity)?;
        let config = endpoint::to_server(identity, ALPN_MESH)?;
        let hosts = HostsPort { context, config, dialled: Default::default() };
        self.add_port(
            socket,
            EndpointConfig::default(),
            Some(Arc::new(server)),
            Purpose::Hosts(Box::new(hosts)),
        );
        Ok(())
    }

    /// Adds a port from which players connect.
    pub fn dial_from(&mut self, socket: Box<dyn PacketSocket>) {
        self.add_port(socket, EndpointConfig::default(), None, Purpose::Dialer);
    }

    /// Makes the ports that were added acknowledge as QUIC demands, instead of holding acknowledgements back until a packet
    /// leaves anyway. Both ends must do so; for comparisons.
    pub fn acknowledge_at_once(&mut self) {
        self.ports.iter_mut().for_each(|it| it.may_hold = false);
    }

    fn add_port(
        &mut self,
        socket: Box<dyn PacketSocket>,
        config: EndpointConfig,
        server: Option<Arc<ServerConfig>>,
        purpose: Purpose<M>,
    ) {
        let endpoint = Endpoint::new(Arc::new(config), server, !socket.may_fragment(), None);
        let (index, ready) = (self.ports.len(), self.ready.clone());
        self.ports.push(Port::new(index, socket, endpoint, purpose, ready, self.time));
    }

    /// Runs on a thread of its own from now on, until the last handle is gone. If the reactor itself panics, its
    /// connections and machines are lost, and `on_panic` is called with the message: the process cannot go on as it is.
    pub fn spawn(mut self, name: &str, on_panic: impl FnOnce(String) + Send + 'static) -> io::Result<()>
    where
        M: Send + 'static,
        M::Msg: Send,
        M::Command: Send,
        M::Event: Send,
    {
        let run = move || {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.run())) {
                on_panic(panic_message(&*panic));
            }
        };
        std::thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(())
    }

    fn run(&mut self) {
        stage_clock::start();
        self.thread.note();
        let mut began = clock::now();
        loop {
            stage_clock::begin_turn();
            let next = self.turn(began);
            stage_clock::end_turn();
            if self.is_done() {
                return;
            }
            // First the pause, then the wait: under load packets are there when the pause ends, and it does not sleep twice.
            let (now, earliest) = (clock::now(), began + self.turn_length());
            self.worked.fetch_add(now.since(began).as_micros(), Ordering::Relaxed);
            if now < earliest {
                std::thread::sleep(clock::until(now, earliest));
            }
            self.sleep(next);
            began = clock::now().max(began);
        }
    }

    fn turn_length(&self) -> Span {
        let is_quiet = !self.ports.is_empty() && self.ports.iter().all(Port::is_quiet);
        if is_quiet { QUIET_TURN } else { TURN }
    }

    /// Waits for a packet, an input, or this time.
    fn sleep(&mut self, until: Option<Time>) {
        self.signal.fall_asleep();
        if !self.has_mail() {
            let timeout = until.map(|it| clock::until(clock::now(), it));
            let timeout = timeout.and_then(|it| Timespec::try_from(it).ok());
            let mut waited: Vec<PollFd<'_>> = self
                .ports
                .iter()
                .filter_map(|it| it.socket().descriptor())
                .map(|it| PollFd::from_borrowed_fd(it, PollFlags::IN))
                .collect();
            waited.push(PollFd::from_borrowed_fd(self.signal.event(), PollFlags::IN));
            let _ = poll(&mut waited, timeout.as_ref()); // Interrupted: an early turn does no harm.
        }
        self.signal.wake_up();
    }

    /// Returns whether inputs of other threads wait.
    fn has_mail(&mut self) -> bool {
        if self.waiting.is_none() {
            match self.commands.try_recv() {
                Ok(command) => self.waiting = Some(command),
                Err(mpsc::TryRecvError::Empty) => (),
                Err(mpsc::TryRecvError::Disconnected) => self.is_orphaned = true,
            }
        }
        self.waiting.is_some() || self.is_orphaned || !self.ready.is_empty() || self.workers.has_mail()
    }

    /// True when no handle is left and all connections are closed.
    fn is_done(&mut self) -> bool {
        if self.is_orphaned && self.closing.is_none() {
            self.close_all(clock::now(), Close::Gone);
        }
        let are_closed = self.ports.iter().all(|it| it.count() == 0);
        let is_late = self.closing.as_ref().is_some_and(|it| it.0 <= clock::now());
        self.is_orphaned && (are_closed || is_late)
    }

    /// Handles everything that is there at this time. Returns the time of the next turn, if nothing happens before.
    pub fn turn(&mut self, now: Time) -> Option<Time> {
        self.take_commands(now);
        let mut has_more = false;
        for port in &mut self.ports {
            within(Stage::Receive, || has_more |= port.receive(now));
            within(Stage::Decrypt, || {
                port.accept(now);
                port.wake_due(now);
            });
            within(Stage::Decode, || port.read(now, &mut self.workers));
        }
        for _ in 0..ROUNDS {
            let any = within(Stage::Replicate, || self.workers.drain(now));
            within(Stage::Zone, || self.workers.wake_due(now));
            within(Stage::Encode, || self.workers.flush());
            if !any {
                break;
            }
        }
        self.at_turn_end.iter_mut().for_each(|call| call());
        for key in self.ready.take() {
            self.ports[key.port].on_ready(key);
        }
        for port in &mut self.ports {
            within(Stage::Pack, || port.write(now, &mut self.workers));
        }
        self.workers.flush(); // What the ends of connections caused.
        self.at_turn_end.iter_mut().for_each(|call| call());
        self.reply_when_closed(now);
        let closing = self.closing.as_ref().map(|it| it.0);
        let more = has_more.then_some(now);
        let ports = self.ports.iter().filter_map(|it| it.next_deadline(now));
        ports.chain([closing, more, self.workers.next_deadline()].into_iter().flatten()).min()
    }

    fn take_commands(&mut self, now: Time) {
        loop {
            let command = match self.waiting.take() {
                Some(command) => command,
                None => match self.commands.try_recv() {
                    Ok(command) => command,
                    Err(mpsc::TryRecvError::Empty) => return,
                    Err(mpsc::TryRecvError::Disconnected) => {
                        self.is_orphaned = true;
                        return;
                    }
                },
            };
            self.take_command(now, command);
        }
    }

    fn take_command(&mut self, now: Time, command: ReactorCommand<M>) {
        match command {
            ReactorCommand::Run(new) => self.workers.add(*new),
            ReactorCommand::Dial(dial) => {
                let Dial { address, config, request, reply } = *dial;
                let key = self.ports.first_mut().and_then(|it| it.dial(now, address, config, request));
                let _ = reply.send(key); // The session may be over.
            }
            ReactorCommand::Probe(key) => self.ports[key.port].probe(now, key),
            ReactorCommand::End(key) => self.ports[key.port].end(key),
            ReactorCommand::Hosts(hosts) => self.ports.iter_mut().for_each(|it| it.set_hosts(now, &hosts)),
            ReactorCommand::ServerConfig(config) => {
                if let Some(port) = self.ports.first_mut() {
                    port.set_server_config(config);
                }
            }
            ReactorCommand::Forward(port, packets) => {
                packets.into_iter().for_each(|it| self.ports[port].take_packet(now, it));
            }
            ReactorCommand::Siblings(siblings, number) => {
                if let Some(port) = self.ports.first_mut() {
                    port.share(siblings, number);
                }
            }
            ReactorCommand::AtTurnEnd(call) => self.at_turn_end.push(call),
            ReactorCommand::Close(why, reply) => {
                self.close_all(now, why);
                if let Some((_, waiting)) = &mut self.closing {
                    waiting.push(reply);
                }
            }
        }
    }

    fn close_all(&mut self, now: Time, why: Close) {
        self.ports.iter_mut().for_each(|it| it.close_all(why));
        self.closing.get_or_insert((now + CLOSE_TIMEOUT, Vec::new()));
    }

    fn reply_when_closed(&mut self, now: Time) {
        let are_closed = self.ports.iter().all(|it| it.count() == 0);
        if let Some((by, waiting)) = &mut self.closing
            && (are_closed || *by <= now)
        {
            for reply in waiting.drain(..) {
                let _ = reply.send(()); // The program may have stopped waiting.
            }
            if !self.is_orphaned {
                self.closing = None;
            }
        }
    }
}

/// Makes the reactors that share an address pass packets on to each other.
pub fn share_port<M: Machine>(reactors: &[ReactorHandle<M>]) {
    for (number, reactor) in reactors.iter().enumerate().filter(|_| 1 < reactors.len()) {
        let siblings = reactors.iter().map(|it| Sibling(Arc::downgrade(&it.commands))).collect();
        reactor.command(ReactorCommand::Siblings(siblings, number as u8));
    }
}

/// Opens the UDP sockets of a host's reactors, all at one address.
pub fn open_sockets(address: SocketAddr, count: usize) -> Result<Vec<UdpPacketSocket>, EndpointError> {
    let first = UdpPacketSocket::open(address, 1 < count)?;
    let bound = first.local_address().map_err(|error| EndpointError::Socket { address, error })?;
    let mut sockets = vec![first];
    for _ in 1..count {
        sockets.push(UdpPacketSocket::open(bound, true)?);
    }
    Ok(sockets)
}

/// Connection IDs that begin with the number of their reactor; the rest is random.
struct NumberedIds {
    number: u8,
    random: SystemRandom,
}

impl ConnectionIdGenerator for NumberedIds {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut id = [0; 8];
        self.random.fill(&mut id).expect("the system has random numbers");
        id[0] = self.number;
        ConnectionId::new(&id)
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
