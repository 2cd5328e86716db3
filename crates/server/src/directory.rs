//! The directory as a service: one thread owns it, hosts ask over QUIC with mutual TLS, one stream per question.

use crate::config::ZONES_MAX;
use anyhow::Context as _;
use directory::config::REQUEST_KEYS_MAX;
use directory::{Durable, Settings};
use history::{HistoryWriter, What, directory_holds, directory_swapped};
use machine::directory::{Done, Entry, Key, Request, Revision, Write};
use machine::{Address, Ticket};
use net::endpoint::{self, ALPN_DIRECTORY};
use net::tls::{DIRECTORY_NAME, Membership};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::Files;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::timeout;

/// The most bytes a question or an answer may have.
const MESSAGE_MAX: usize = 2 * 1024 * 1024;

/// A host gives up after this long, and knows nothing.
const GIVE_UP: Duration = Duration::from_millis(300);

/// Whose entries in a history the directory's are.
pub const DIRECTORY: Address = Address(0);

type Question = (Request, oneshot::Sender<Done>);

/// Asks the directory in this process. Cheap to clone.
#[derive(Clone)]
pub struct Desk(mpsc::UnboundedSender<Question>);

impl Desk {
    /// Opens the directory in a folder and gives it a thread.
    pub fn open(folder: &Path, history: HistoryWriter) -> anyhow::Result<Self> {
        let media = Files::open(folder)?;
        let mut directory = Durable::open(media, net::clock::now(), Settings::default())?;
        history.note(DIRECTORY, What::Started);
        directory_holds(zone_entries(&directory)).into_iter().for_each(|what| history.note(DIRECTORY, what));
        history.flush();
        let (sender, mut questions) = mpsc::unbounded_channel::<Question>();
        let run = move || {
            while let Some((request, answer)) = questions.blocking_recv() {
                let done = directory.serve(net::clock::now(), request.clone());
                let swapped = directory_swapped(&request, &done);
                swapped.into_iter().for_each(|what| history.write(DIRECTORY, what));
                drop(answer.send(done));
            }
            history.write(DIRECTORY, What::Stopped);
        };
        std::thread::Builder::new().name("directory".to_owned()).spawn(run)?;
        Ok(Self(sender))
    }

    /// Asks.
    pub async fn ask(&self, request: Request) -> Done {
        let ticket = ticket_of(&request);
        let (sender, answer) = oneshot::channel();
        let unknown = Done::Unknown { ticket };
        if self.0.send((request, sender)).is_err() {
            return unknown;
        }
        answer.await.unwrap_or(unknown)
    }

    /// The world's time, in microseconds.
    pub async fn clock(&self) -> Option<u64> {
        match self.ask(Request::Clock { ticket: Ticket(0) }).await {
            Done::Clock { time, .. } => Some(time.as_micros()),
            _ => None,
        }
    }

    /// The entries of these keys, in order.
    pub async fn read(&self, keys: Vec<Key>) -> Option<Vec<Entry>> {
        let mut all = Vec::with_capacity(keys.len());
        for part in keys.chunks(REQUEST_KEYS_MAX) {
            let request = Request::Read { ticket: Ticket(0), keys: part.to_vec() };
            all.extend(entries(self.ask(request).await)?);
        }
        Some(all)
    }

    /// Writes an entry if nobody has written it before.
    pub async fn create(&self, key: Key, value: Vec<u8>) -> bool {
        let writes = vec![Write { key, expected: Revision(0), value: Some(value) }];
        matches!(self.ask(Request::Swap { ticket: Ticket(0), writes }).await, Done::Won { .. })
    }
}

/// Zones that somebody reigns over already. They are numbered from 1.
fn zone_entries(directory: &Durable<Files>) -> Vec<Entry> {
    let keys: Vec<_> = (1..=ZONES_MAX).map(|zone| zone::key(space::ZoneId(zone))).collect();
    let found =
        keys.chunks(REQUEST_KEYS_MAX).flat_map(|it| directory.directory().read(it).unwrap_or_default());
    found.filter(|it| it.revision != Revision(0)).collect()
}

fn entries(done: Done) -> Option<Vec<Entry>> {
    match done {
        Done::Read { entries, .. } => Some(entries),
        _ => None,
    }
}

fn ticket_of(request: &Request) -> Ticket {
    match *request {
        Request::Read { ticket, .. } | Request::Swap { ticket, .. } | Request::Clock { ticket } => ticket,
    }
}

/// Serves hosts at this address; returns where it really is.
pub fn serve(desk: &Desk, at: SocketAddr, membership: &Membership) -> anyhow::Result<SocketAddr> {
    let endpoint = endpoint::for_servers_at(at, membership, ALPN_DIRECTORY)?;
    let bound = endpoint.local_addr()?;
    let desk = desk.clone();
    tokio::spawn(async move {
        while let Some(incoming) = endpoint.accept().await {
            let desk = desk.clone();
            tokio::spawn(async move {
                let Ok(connection) = incoming.await else { return };
                while let Ok((send, receive)) = connection.accept_bi().await {
                    tokio::spawn(answer(desk.clone(), send, receive));
                }
            });
        }
    });
    Ok(bound)
}

async fn answer(desk: Desk, mut send: quinn::SendStream, mut receive: quinn::RecvStream) {
    let Ok(bytes) = receive.read_to_end(MESSAGE_MAX).await else { return };
    let Ok(request) = postcard::from_bytes::<Request>(&bytes) else { return };
    let done = desk.ask(request).await;
    let bytes = postcard::to_stdvec(&done).expect("plain data encodes");
    if send.write_all(&bytes).await.is_ok() {
        drop(send.finish());
    }
}

/// Asks a directory in another process. Cheap to clone.
#[derive(Clone)]
pub struct Remote {
    at: SocketAddr,
    endpoint: quinn::Endpoint,
    config: quinn::ClientConfig,
    connection: Arc<Mutex<Option<quinn::Connection>>>,
}

impl Remote {
    /// The directory at this address. It need not be there yet.
    pub fn new(at: SocketAddr, membership: &Membership) -> anyhow::Result<Self> {
        let config = endpoint::to_server(membership, ALPN_DIRECTORY)?;
        Ok(Self { at, endpoint: endpoint::outgoing()?, config, connection: Arc::default() })
    }

    /// Asks. Whoever gets no answer in time knows nothing: the question may still be carried out.
    pub async fn ask(&self, request: Request) -> Done {
        let ticket = ticket_of(&request);
        match timeout(GIVE_UP, self.try_ask(&request)).await {
            Ok(Ok(done)) => done,
            _ => Done::Unknown { ticket },
        }
    }

    async fn try_ask(&self, request: &Request) -> anyhow::Result<Done> {
        let connection = self.connected().await?;
        let asked = async {
            let (mut send, mut receive) = connection.open_bi().await?;
            send.write_all(&postcard::to_stdvec(request)?).await?;
            send.finish()?;
            anyhow::Ok(postcard::from_bytes(&receive.read_to_end(MESSAGE_MAX).await?)?)
        };
        let done = asked.await;
        if done.is_err() {
            self.forget(&connection).await;
        }
        done
    }

    async fn connected(&self) -> anyhow::Result<quinn::Connection> {
        let mut slot = self.connection.lock().await;
        if let Some(connection) = slot.as_ref().filter(|it| it.close_reason().is_none()) {
            return Ok(connection.clone());
        }
        let connecting = self.endpoint.connect_with(self.config.clone(), self.at, DIRECTORY_NAME)?;
        let connection = connecting.await.context("the directory does not answer")?;
        *slot = Some(connection.clone());
        Ok(connection)
    }

    async fn forget(&self, connection: &quinn::Connection) {
        let mut slot = self.connection.lock().await;
        if slot.as_ref().is_some_and(|it| it.stable_id() == connection.stable_id()) {
            *slot = None;
        }
    }

    /// The entries of these keys, in order; `None` if the directory does not answer.
    pub async fn read(&self, keys: Vec<Key>) -> Option<Vec<Entry>> {
        entries(self.ask(Request::Read { ticket: Ticket(0), keys }).await)
    }

    /// Writes an entry if its revision is the expected one.
    pub async fn swap(&self, key: Key, expected: Revision, value: Vec<u8>) -> bool {
        let writes = vec![Write { key, expected, value: Some(value) }];
        matches!(self.ask(Request::Swap { ticket: Ticket(0), writes }).await, Done::Won { .. })
    }
}
