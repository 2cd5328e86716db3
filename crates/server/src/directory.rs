//! The directory as a service: one thread owns it, hosts ask over QUIC with mutual TLS, one stream per request.

use crate::config::ZONES_MAX;
use crate::log_throttle::LogThrottle;
use anyhow::Context as _;
use directory::config::REQUEST_KEYS_MAX;
use directory::{DirectoryRefusal, DirectorySettings, DurableDirectory, refusal_of};
use history::{EntryKind, HistoryWriter, directory_holds, directory_swapped};
use lobby::HostReport;
use machine::directory::{DirectoryEntry, DirectoryReply, DirectoryRequest, DirectoryWrite, Key, Revision};
use machine::{Address, Ticket};
use net::endpoint::{self, ALPN_DIRECTORY};
use net::server_port_limits::{HANDSHAKE_TIMEOUT, HandshakeSlot, ServerPortLimits};
use net::tls::{DIRECTORY_NAME, MeshIdentity};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{self, Arc, PoisonError};
use std::time::Duration;
use store::Files;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;

/// The most bytes in a request or a reply.
const MESSAGE_MAX: usize = 2 * 1024 * 1024;

/// Time after which a host stops waiting; the outcome of its request is then unknown.
const REPLY_TIMEOUT: Duration = Duration::from_millis(300);

/// The most connections of hosts at once. Each has one, and for a moment another when it has restarted.
const CONNECTIONS_MAX: usize = 1_024;

/// The most bytes of a key in a log line.
const KEY_SHOWN: usize = 64;

/// Address under which the directory writes its history.
pub const DIRECTORY: Address = Address(0);

/// The outcome of a swap of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwapOutcome {
    /// The entry is written.
    Won,
    /// The entry had another revision: read it and try again.
    Lost,
    /// The request or its reply was lost: read before trying again.
    Unknown,
    /// The entry breaks a limit: the same swap will never happen.
    Refused(DirectoryRefusal),
}

impl SwapOutcome {
    fn of(writes: &[DirectoryWrite], reply: &DirectoryReply) -> Self {
        match (refusal_of(writes, reply), reply) {
            (Some(refusal), _) => Self::Refused(refusal),
            (None, DirectoryReply::Won { .. }) => Self::Won,
            (None, DirectoryReply::Lost { .. }) => Self::Lost,
            (None, _) => Self::Unknown,
        }
    }
}

type DirectoryCall = (DirectoryRequest, oneshot::Sender<DirectoryReply>);

/// Sends requests to the directory in this process. Cheap to clone.
#[derive(Clone)]
pub struct DirectoryHandle(mpsc::UnboundedSender<DirectoryCall>);

impl DirectoryHandle {
    /// Opens the directory in a folder and starts its thread.
    pub fn open(folder: &Path, history: HistoryWriter) -> anyhow::Result<Self> {
        let media = Files::open(folder)?;
        let mut directory = DurableDirectory::open(media, net::clock::now(), DirectorySettings::default())?;
        history.note(DIRECTORY, EntryKind::Started);
        directory_holds(zone_entries(&directory)).into_iter().for_each(|what| history.note(DIRECTORY, what));
        history.flush();
        let (sender, mut queries) = mpsc::unbounded_channel::<DirectoryCall>();
        let mut refusals = RefusalLog::default();
        let run = move || {
            while let Some((request, answer)) = queries.blocking_recv() {
                let reply = directory.serve(net::clock::now(), request.clone());
                refusals.check(directory.directory().refusals(), &request);
                let swapped = directory_swapped(&request, &reply);
                // Before the reply: no replica may act on a swap that the history does not know.
                swapped.into_iter().for_each(|what| history.write(DIRECTORY, what));
                drop(answer.send(reply));
            }
            history.write(DIRECTORY, EntryKind::Stopped);
        };
        std::thread::Builder::new().name("directory".to_owned()).spawn(run)?;
        Ok(Self(sender))
    }

    /// Sends a request and waits for its reply.
    pub async fn ask(&self, request: DirectoryRequest) -> DirectoryReply {
        let ticket = ticket_of(&request);
        let (sender, answer) = oneshot::channel();
        let unknown = DirectoryReply::Unknown { ticket };
        if self.0.send((request, sender)).is_err() {
            return unknown;
        }
        answer.await.unwrap_or(unknown)
    }

    /// The world's time, in microseconds.
    pub async fn clock(&self) -> Option<u64> {
        match self.ask(DirectoryRequest::Clock { ticket: Ticket(0) }).await {
            DirectoryReply::Clock { time, .. } => Some(time.as_micros()),
            _ => None,
        }
    }

    /// The entries of these keys, in order; `None` if the directory's disk failed.
    pub async fn read(&self, keys: Vec<Key>) -> Option<Vec<DirectoryEntry>> {
        let mut all = Vec::with_capacity(keys.len());
        for request in read_requests(&keys) {
            all.extend(entries(self.ask(request).await)?);
        }
        Some(all)
    }

    /// Writes an entry if its key does not exist.
    pub async fn create(&self, key: Key, value: Vec<u8>) -> SwapOutcome {
        let writes = vec![DirectoryWrite { key, expected: Revision(0), value: Some(value) }];
        let reply = self.ask(DirectoryRequest::Swap { ticket: Ticket(0), writes: writes.clone() }).await;
        SwapOutcome::of(&writes, &reply)
    }
}

/// Logs the requests that a directory refuses: its answers do not say why.
#[derive(Default)]
struct RefusalLog {
    logged: u64,
    throttle: LogThrottle,
}

impl RefusalLog {
    /// Logs this request if it has raised the number of refusals.
    fn check(&mut self, (refusals, why): (u64, Option<&DirectoryRefusal>), request: &DirectoryRequest) {
        let is_refused = std::mem::replace(&mut self.logged, refusals) != refusals;
        if is_refused
            && let Some(why) = why
            && let Some(before) = self.throttle.count()
        {
            tracing::error!(%why, key = first_key(request), before, "the directory refuses a request beyond its limits");
        }
    }
}

/// The first key that a request names, for the log.
fn first_key(request: &DirectoryRequest) -> &str {
    let key = match request {
        DirectoryRequest::Read { keys, .. } => keys.first(),
        DirectoryRequest::Swap { writes, .. } => writes.first().map(|it| &it.key),
        DirectoryRequest::Clock { .. } => None,
    };
    // The limit that the request breaks may be that of keys.
    key.map_or("", |it| &it.0[..it.0.floor_char_boundary(KEY_SHOWN)])
}

/// Requests that read these keys: the directory limits the keys of one.
fn read_requests(keys: &[Key]) -> impl Iterator<Item = DirectoryRequest> {
    let parts = keys.chunks(REQUEST_KEYS_MAX);
    parts.map(|part| DirectoryRequest::Read { ticket: Ticket(0), keys: part.to_vec() })
}

/// Entries of zones that have a leadership already. Zones are numbered from 1.
fn zone_entries(directory: &DurableDirectory<Files>) -> Vec<DirectoryEntry> {
    let keys: Vec<_> = (1..=ZONES_MAX).map(|zone| zone::leadership_key(space::ZoneId(zone))).collect();
    let found =
        keys.chunks(REQUEST_KEYS_MAX).flat_map(|it| directory.directory().read(it).unwrap_or_default());
    found.filter(|it| it.revision != Revision(0)).collect()
}

fn entries(reply: DirectoryReply) -> Option<Vec<DirectoryEntry>> {
    match reply {
        DirectoryReply::Read { entries, .. } => Some(entries),
        _ => None,
    }
}

fn ticket_of(request: &DirectoryRequest) -> Ticket {
    match *request {
        DirectoryRequest::Read { ticket, .. }
        | DirectoryRequest::Swap { ticket, .. }
        | DirectoryRequest::Clock { ticket } => ticket,
    }
}

/// Takes the reports of hosts.
pub type ReportHandler = Arc<dyn Fn(HostReport) + Send + Sync>;

/// Serves hosts at this address, on a thread of its own: hosts need the directory most when all players log in again, and
/// must not wait for them. Hosts report over the same connections, and are known to come from `known`. Returns the address
/// with its real port.
pub fn serve(
    directory: &DirectoryHandle,
    at: SocketAddr,
    mesh_identity: &MeshIdentity,
    on_report: ReportHandler,
    known: impl IntoIterator<Item = IpAddr>,
) -> anyhow::Result<SocketAddr> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let endpoint = {
        let _entered = runtime.enter();
        endpoint::for_servers_at(at, mesh_identity, ALPN_DIRECTORY)
    };
    let endpoint = match endpoint {
        Ok(it) => it,
        Err(why) => {
            // Dropping it would wait for its tasks, which a caller on another runtime must not do.
            runtime.shutdown_background();
            return Err(why.into());
        }
    };
    let bound = endpoint.local_addr()?;
    let limits = ServerPortLimits::default();
    limits.know(known);
    let accepting = accept_hosts(endpoint, directory.clone(), on_report, limits);
    let run = move || runtime.block_on(accepting);
    std::thread::Builder::new().name("directory-port".to_owned()).spawn(run)?;
    Ok(bound)
}

/// Accepts the connections of hosts, as far as the limits of this port allow.
async fn accept_hosts(
    endpoint: quinn::Endpoint,
    directory: DirectoryHandle,
    on_report: ReportHandler,
    limits: ServerPortLimits,
) {
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    while let Some(incoming) = endpoint.accept().await {
        // Always: a forged address must not cost a signature.
        if !incoming.remote_address_validated() {
            drop(incoming.retry()); // An error means that it was validated.
            continue;
        }
        // The permit first: an attempt without one must not use up the rate.
        let permit = connections.clone().try_acquire_owned().ok();
        match permit.and_then(|it| Some((it, limits.reserve(incoming.remote_address().ip())?))) {
            Some((permit, slot)) => {
                let (directory, on_report) = (directory.clone(), on_report.clone());
                drop(tokio::spawn(serve_host(directory, on_report, incoming, slot, permit)));
            }
            None => {
                metrics::counter!("ecumene_handshakes_dropped_total", "port" => "directory").increment(1);
                incoming.ignore();
            }
        }
    }
}

/// Answers the requests and takes the reports of a host until its connection ends. Its slot is free again when the handshake,
/// and with it the host's certificate, is good.
async fn serve_host(
    directory: DirectoryHandle,
    on_report: ReportHandler,
    incoming: quinn::Incoming,
    slot: HandshakeSlot,
    _permit: OwnedSemaphorePermit,
) {
    let Ok(Ok(connection)) = timeout(HANDSHAKE_TIMEOUT, incoming.into_future()).await else { return };
    slot.prove();
    tokio::spawn(take_reports(connection.clone(), on_report));
    while let Ok((send, receive)) = connection.accept_bi().await {
        tokio::spawn(answer(directory.clone(), send, receive));
    }
}

/// Takes the reports of a host until its connection ends. What is no report of this version is ignored.
async fn take_reports(connection: quinn::Connection, on_report: ReportHandler) {
    while let Ok(bytes) = connection.read_datagram().await {
        if let Some(report) = HostReport::from_bytes(&bytes) {
            on_report(report);
        }
    }
}

async fn answer(directory: DirectoryHandle, mut send: quinn::SendStream, mut receive: quinn::RecvStream) {
    let Ok(bytes) = receive.read_to_end(MESSAGE_MAX).await else { return };
    let Ok(request) = postcard::from_bytes::<DirectoryRequest>(&bytes) else { return };
    let reply = directory.ask(request).await;
    let bytes = postcard::to_stdvec(&reply).expect("plain data encodes");
    if send.write_all(&bytes).await.is_ok() {
        drop(send.finish());
    }
}

/// Sends requests to a directory in another process. Cheap to clone.
#[derive(Clone)]
pub struct RemoteDirectory {
    at: SocketAddr,
    endpoint: quinn::Endpoint,
    config: quinn::ClientConfig,
    connection: Arc<Mutex<Option<quinn::Connection>>>,
    refusals: Arc<sync::Mutex<LogThrottle>>,
}

impl RemoteDirectory {
    /// For the directory at this address, which need not run yet.
    pub fn new(at: SocketAddr, mesh_identity: &MeshIdentity) -> anyhow::Result<Self> {
        let config = endpoint::to_server(mesh_identity, ALPN_DIRECTORY)?;
        let endpoint = endpoint::outgoing()?;
        Ok(Self { at, endpoint, config, connection: Arc::default(), refusals: Arc::default() })
    }

    /// Sends a request. Without a reply in time the outcome is unknown: the directory may still carry it out. A swap that is
    /// refused is logged, because its reply looks like a lost race to a machine.
    pub async fn ask(&self, request: DirectoryRequest) -> DirectoryReply {
        let reply = self.exchange(&request).await;
        if let DirectoryRequest::Swap { writes, .. } = &request
            && let Some(why) = refusal_of(writes, &reply)
            && let Some(before) = self.refusals.lock().unwrap_or_else(PoisonError::into_inner).count()
        {
            tracing::error!(%why, key = first_key(&request), before, "the directory refuses a swap, and would refuse it again; run the same version of the program everywhere");
        }
        reply
    }

    async fn exchange(&self, request: &DirectoryRequest) -> DirectoryReply {
        match timeout(REPLY_TIMEOUT, self.try_ask(request)).await {
            Ok(Ok(reply)) => reply,
            _ => DirectoryReply::Unknown { ticket: ticket_of(request) },
        }
    }

    async fn try_ask(&self, request: &DirectoryRequest) -> anyhow::Result<DirectoryReply> {
        let connection = self.connected().await?;
        let exchange = async {
            let (mut send, mut receive) = connection.open_bi().await?;
            send.write_all(&postcard::to_stdvec(request)?).await?;
            send.finish()?;
            anyhow::Ok(postcard::from_bytes(&receive.read_to_end(MESSAGE_MAX).await?)?)
        };
        let reply = exchange.await;
        // A connection that failed once is replaced, or every later request would wait for its timeout.
        if reply.is_err() {
            self.forget(&connection).await;
        }
        reply
    }

    async fn connected(&self) -> anyhow::Result<quinn::Connection> {
        let mut slot = self.connection.lock().await;
        if let Some(connection) = slot.as_ref().filter(|it| it.close_reason().is_none()) {
            return Ok(connection.clone());
        }
        // The lock is held while connecting: concurrent requests share one connection.
        let connecting = self.endpoint.connect_with(self.config.clone(), self.at, DIRECTORY_NAME)?;
        let connection = connecting.await.context("the directory does not answer")?;
        *slot = Some(connection.clone());
        Ok(connection)
    }

    async fn forget(&self, connection: &quinn::Connection) {
        // Another request may have replaced it already.
        let mut slot = self.connection.lock().await;
        if slot.as_ref().is_some_and(|it| it.stable_id() == connection.stable_id()) {
            *slot = None;
        }
    }

    /// Sends a report to the lobby, which is in the directory's process. It may be lost: the next one replaces it.
    pub async fn report(&self, report: &HostReport) {
        if let Ok(Ok(connection)) = timeout(REPLY_TIMEOUT, self.connected()).await {
            drop(connection.send_datagram(report.to_bytes().into()));
        }
    }

    /// The entries of these keys, in order; `None` if the directory does not answer.
    pub async fn read(&self, keys: Vec<Key>) -> Option<Vec<DirectoryEntry>> {
        let mut all = Vec::with_capacity(keys.len());
        for request in read_requests(&keys) {
            all.extend(entries(self.ask(request).await)?);
        }
        Some(all)
    }

    /// Writes an entry if its revision is the expected one. The caller logs a refusal.
    pub async fn swap(&self, key: Key, expected: Revision, value: Vec<u8>) -> SwapOutcome {
        let writes = vec![DirectoryWrite { key, expected, value: Some(value) }];
        let reply =
            self.exchange(&DirectoryRequest::Swap { ticket: Ticket(0), writes: writes.clone() }).await;
        SwapOutcome::of(&writes, &reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_directory::{LogLines, TestDirectory};
    use directory::Directory;
    use directory::config::{KEY_MAX, VALUE_MAX};
    use machine::Time;

    fn swap(key: &str, expected: u64, bytes: usize) -> DirectoryRequest {
        let write = DirectoryWrite {
            key: Key(key.to_owned()),
            expected: Revision(expected),
            value: Some(vec![0; bytes]),
        };
        DirectoryRequest::Swap { ticket: Ticket(7), writes: vec![write] }
    }

    #[tokio::test]
    async fn a_host_logs_a_refused_swap_and_no_lost_race() {
        let directory = TestDirectory::start("refused");
        let (lines, _guard) = LogLines::collect();
        assert_eq!(directory.handle.create(Key("zone/1".to_owned()), vec![0]).await, SwapOutcome::Won);
        directory.remote.ask(swap("zone/1", 0, 1)).await;
        assert!(lines.with("refuses").is_empty(), "another revision than expected is a lost race");
        directory.remote.ask(swap("zone/1", 1, VALUE_MAX + 1)).await;
        let said = lines.with("refuses a swap");
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("a value of 16385 bytes is too long, the limit is 16384"), "{said:?}");
        assert!(said[0].contains("zone/1"), "{said:?}");
    }

    /// The runtime on which the service was started stands still, as if all its threads logged players in.
    #[test]
    fn hosts_are_answered_while_the_runtime_of_the_lobby_stands_still() {
        let of_lobby = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let directory = of_lobby.block_on(async { TestDirectory::start("thread") });
        let of_host = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let reply = of_host.block_on(async {
            let remote = directory.another_remote();
            remote.ask(DirectoryRequest::Clock { ticket: Ticket(1) }).await
        });
        assert!(matches!(reply, DirectoryReply::Clock { .. }), "{reply:?}");
    }

    #[tokio::test]
    async fn an_address_is_validated_before_a_handshake_begins() {
        let directory = TestDirectory::start("retry");
        let tls = net::tls::pinning(directory.certificate, ALPN_DIRECTORY).unwrap();
        let tls = quinn::crypto::rustls::QuicClientConfig::try_from(tls).unwrap();
        let config = quinn::ClientConfig::new(Arc::new(tls));
        // The first packet of a client, which then hears nothing.
        let catcher = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let client = endpoint::as_players().unwrap();
        let _connecting = client.connect_with(config, catcher.local_addr().unwrap(), DIRECTORY_NAME).unwrap();
        let mut packet = vec![0; 2_048];
        let length = catcher.recv(&mut packet).await.unwrap();
        catcher.send_to(&packet[..length], directory.at).await.unwrap();
        // The client sends again, too.
        while catcher.recv_from(&mut packet).await.unwrap().1 != directory.at {}
        assert_eq!(packet[0] >> 4, 0xf, "the answer is a retry of QUIC");
    }

    #[tokio::test]
    async fn a_swap_beyond_what_the_service_reads_is_refused_too() {
        let directory = TestDirectory::start("beyond");
        let outcome = directory.remote.swap(Key("a".to_owned()), Revision(0), vec![0; MESSAGE_MAX]).await;
        assert_eq!(outcome, SwapOutcome::Refused(DirectoryRefusal::ValueTooLong(MESSAGE_MAX)));
    }

    #[tokio::test]
    async fn a_report_arrives_and_bytes_that_are_none_are_ignored() {
        let (sender, mut received) = mpsc::unbounded_channel();
        let directory = TestDirectory::with_reports("reports", Arc::new(move |it| sender.send(it).unwrap()));
        let report = HostReport { host: 1, players: 7, ..HostReport::default() };
        let connection = directory.remote.connected().await.unwrap();
        for bytes in [vec![], vec![9; 4], report.to_bytes()[..2].to_vec()] {
            connection.send_datagram(bytes.into()).unwrap();
        }
        directory.remote.report(&report).await;
        assert_eq!(received.recv().await, Some(report));
    }

    #[test]
    fn the_directory_logs_what_it_refuses_and_shortens_keys() {
        let (lines, _guard) = LogLines::collect();
        let mut directory = Directory::new(Time::ZERO);
        let mut log = RefusalLog::default();
        for request in
            [swap("a", 0, 1), swap("a", 0, 1), swap(&"é".repeat(KEY_MAX), 0, 1), swap("b", 0, VALUE_MAX + 1)]
        {
            directory.serve(Time::ZERO, request.clone());
            log.check(directory.refusals(), &request);
        }
        let said = lines.with("refuses a request");
        assert_eq!(said.len(), 1, "the second follows too soon: {said:?}");
        assert!(said[0].contains("a key of 512 bytes is too long") && said[0].len() < 300, "{said:?}");
    }
}
