//! The directory as a service: one thread owns it, hosts ask over QUIC with mutual TLS, one stream per request.

use crate::config::ZONES_MAX;
use anyhow::Context as _;
use directory::config::REQUEST_KEYS_MAX;
use directory::{DirectorySettings, DurableDirectory};
use history::{EntryKind, HistoryWriter, directory_holds, directory_swapped};
use machine::directory::{DirectoryEntry, DirectoryReply, DirectoryRequest, DirectoryWrite, Key, Revision};
use machine::{Address, Ticket};
use net::endpoint::{self, ALPN_DIRECTORY};
use net::tls::{DIRECTORY_NAME, MeshIdentity};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::Files;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::timeout;

/// The most bytes in a request or a reply.
const MESSAGE_MAX: usize = 2 * 1024 * 1024;

/// Time after which a host stops waiting; the outcome of its request is then unknown.
const REPLY_TIMEOUT: Duration = Duration::from_millis(300);

/// Address under which the directory writes its history.
pub const DIRECTORY: Address = Address(0);

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
        let run = move || {
            while let Some((request, answer)) = queries.blocking_recv() {
                let reply = directory.serve(net::clock::now(), request.clone());
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
        // The directory limits the keys of one request.
        for part in keys.chunks(REQUEST_KEYS_MAX) {
            let request = DirectoryRequest::Read { ticket: Ticket(0), keys: part.to_vec() };
            all.extend(entries(self.ask(request).await)?);
        }
        Some(all)
    }

    /// Writes an entry if its key has never been written. Returns whether it did.
    pub async fn create(&self, key: Key, value: Vec<u8>) -> bool {
        let writes = vec![DirectoryWrite { key, expected: Revision(0), value: Some(value) }];
        matches!(
            self.ask(DirectoryRequest::Swap { ticket: Ticket(0), writes }).await,
            DirectoryReply::Won { .. }
        )
    }
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

/// Serves hosts at this address; returns the address with its real port.
pub fn serve(
    directory: &DirectoryHandle,
    at: SocketAddr,
    mesh_identity: &MeshIdentity,
) -> anyhow::Result<SocketAddr> {
    let endpoint = endpoint::for_servers_at(at, mesh_identity, ALPN_DIRECTORY)?;
    let bound = endpoint.local_addr()?;
    let directory = directory.clone();
    tokio::spawn(async move {
        while let Some(incoming) = endpoint.accept().await {
            let directory = directory.clone();
            tokio::spawn(async move {
                let Ok(connection) = incoming.await else { return };
                while let Ok((send, receive)) = connection.accept_bi().await {
                    tokio::spawn(answer(directory.clone(), send, receive));
                }
            });
        }
    });
    Ok(bound)
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
}

impl RemoteDirectory {
    /// For the directory at this address, which need not run yet.
    pub fn new(at: SocketAddr, mesh_identity: &MeshIdentity) -> anyhow::Result<Self> {
        let config = endpoint::to_server(mesh_identity, ALPN_DIRECTORY)?;
        Ok(Self { at, endpoint: endpoint::outgoing()?, config, connection: Arc::default() })
    }

    /// Sends a request. Without a reply in time the outcome is unknown: the directory may still carry it out.
    pub async fn ask(&self, request: DirectoryRequest) -> DirectoryReply {
        let ticket = ticket_of(&request);
        match timeout(REPLY_TIMEOUT, self.try_ask(&request)).await {
            Ok(Ok(reply)) => reply,
            _ => DirectoryReply::Unknown { ticket },
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

    /// The entries of these keys, in order; `None` if the directory does not answer.
    pub async fn read(&self, keys: Vec<Key>) -> Option<Vec<DirectoryEntry>> {
        entries(self.ask(DirectoryRequest::Read { ticket: Ticket(0), keys }).await)
    }

    /// Writes an entry if its revision is the expected one. Returns whether it did.
    pub async fn swap(&self, key: Key, expected: Revision, value: Vec<u8>) -> bool {
        let writes = vec![DirectoryWrite { key, expected, value: Some(value) }];
        matches!(
            self.ask(DirectoryRequest::Swap { ticket: Ticket(0), writes }).await,
            DirectoryReply::Won { .. }
        )
    }
}
