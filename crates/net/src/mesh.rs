//! Hosts among themselves: one connection per pair, mutual TLS, on a thread of its own so that nothing a player
//! causes delays a beacon.
//!
//! Of two hosts the one with the higher number connects. Frames name the zones at both ends. Each host greets the other
//! with the zones that live there, and says so again whenever that changes.

use crate::cell::Inbound;
use crate::close::Close;
use crate::endpoint::{self, ALPN_MESH, EndpointError};
use crate::frame::{self, Assembler, HOST_FRAME_MAX};
use crate::mailbox::{Mailbox, Pace};
use crate::pipe::{Arrival, Receiver, Sender};
use crate::session::{House, write};
use crate::switchboard::Peer;
use crate::tls::{self, Membership};
use crate::{address, clock};
use bytes::Bytes;
use machine::Machine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
use wire::Message;

/// How long two hosts may take to greet each other.
const GREET_WITHIN: Duration = Duration::from_secs(3);

/// How long a called host may take to answer.
const CALL_WITHIN: Duration = Duration::from_secs(1);

/// How soon a lost host is called again.
const CALL_EVERY: Duration = Duration::from_millis(200);

/// Where the other hosts are, as far as is known.
pub type Others = BTreeMap<u32, SocketAddr>;

/// A host's first words to another, and its words whenever a zone moves in or out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Greeting {
    host: u32,
    zones: Vec<u32>,
}

/// Connects a host to the others, as `others` tells where they are, until `others` is dropped. Returns the address it
/// listens at.
pub fn spawn<M: Machine + 'static>(
    house: Arc<House<M>>,
    at: SocketAddr,
    membership: Membership,
    others: watch::Receiver<Others>,
) -> Result<SocketAddr, EndpointError>
where
    M::Msg: Message + Send,
    M::Command: Send,
{
    let socket = |error| EndpointError::Socket { address: at, error };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(socket)?;
    let endpoint = {
        let _inside = runtime.enter();
        endpoint::for_servers_at(at, &membership, ALPN_MESH)?
    };
    let bound = endpoint.local_addr().map_err(socket)?;
    let config = endpoint::to_server(&membership, ALPN_MESH)?;
    let name = format!("mesh-{}", house.host);
    let run = move || {
        crate::priority::raise();
        runtime.block_on(async {
            tokio::spawn(accept(endpoint.clone(), house.clone()));
            call_all(&endpoint, &config, &house, others).await;
            endpoint.close(Close::Leaving.code().into(), Close::Leaving.reason().as_bytes());
            endpoint.wait_idle().await;
        });
    };
    std::thread::Builder::new().name(name).spawn(run).map_err(socket)?;
    Ok(bound)
}

async fn accept<M: Machine + 'static>(endpoint: quinn::Endpoint, house: Arc<House<M>>)
where
    M::Msg: Message + Send,
    M::Command: Send,
{
    while let Some(incoming) = endpoint.accept().await {
        let house = house.clone();
        tokio::spawn(async move {
            let Ok(Ok(connection)) = timeout(GREET_WITHIN, incoming).await else { return };
            let greeted = timeout(GREET_WITHIN, greeted(&connection, &house)).await;
            if let Ok(Some(pair)) = greeted {
                serve(&house, pair).await;
            } else {
                connection.close(Close::Refused.code().into(), b"who are you?");
            }
        });
    }
}

/// Keeps calling every host with a lower number.
async fn call_all<M: Machine + 'static>(
    endpoint: &quinn::Endpoint,
    config: &quinn::ClientConfig,
    house: &Arc<House<M>>,
    mut others: watch::Receiver<Others>,
) where
    M::Msg: Message + Send,
    M::Command: Send,
{
    let mut callers = BTreeMap::new();
    loop {
        let known: Vec<u32> = others.borrow_and_update().range(..house.host).map(|it| *it.0).collect();
        for host in known {
            let (endpoint, config, house) = (endpoint.clone(), config.clone(), house.clone());
            let mut others = others.clone();
            callers.entry(host).or_insert_with(|| {
                tokio::spawn(async move {
                    loop {
                        let at = others.borrow().get(&host).copied();
                        if let Some(at) = at {
                            let called = call(&endpoint, &config, &house, host, at);
                            tokio::pin!(called);
                            tokio::select! {
                                () = &mut called => (),
                                () = moved(&mut others, host, at) => {
                                    // It has started anew elsewhere: nobody is at the other end any more.
                                    house.switchboard.hang_up(Peer::Host(host));
                                    called.await;
                                }
                            }
                        }
                        tokio::time::sleep(CALL_EVERY).await;
                    }
                })
            });
        }
        if others.changed().await.is_err() {
            return callers.values().for_each(tokio::task::JoinHandle::abort);
        }
    }
}

/// Waits until a host is somewhere else.
async fn moved(others: &mut watch::Receiver<Others>, host: u32, from: SocketAddr) {
    let elsewhere = |it: &Others| it.get(&host).is_some_and(|&at| at != from);
    if others.wait_for(elsewhere).await.is_err() {
        std::future::pending().await
    }
}

async fn call<M: Machine>(
    endpoint: &quinn::Endpoint,
    config: &quinn::ClientConfig,
    house: &House<M>,
    host: u32,
    at: SocketAddr,
) where
    M::Msg: Message + Send,
    M::Command: Send,
{
    let Ok(connecting) = endpoint.connect_with(config.clone(), at, &tls::host_name(host)) else { return };
    let Ok(Ok(connection)) = timeout(CALL_WITHIN, connecting).await else { return };
    if let Ok(Some(pair)) = timeout(GREET_WITHIN, greet(&connection, house)).await
        && pair.greeting.host == host
    {
        serve(house, pair).await;
    }
}

/// A connection to a host that has said who it is.
struct Pair {
    greeting: Greeting,
    sender: Sender,
    receiver: Receiver,
    assembler: Assembler,
}

async fn greet<M: Machine>(connection: &quinn::Connection, house: &House<M>) -> Option<Pair> {
    let (mut send, receive) = connection.open_bi().await.ok()?;
    send.write_all(&own_greeting(house)).await.ok()?;
    read_greeting(connection, send, receive).await
}

async fn greeted<M: Machine>(connection: &quinn::Connection, house: &House<M>) -> Option<Pair> {
    let (mut send, receive) = connection.accept_bi().await.ok()?;
    send.write_all(&own_greeting(house)).await.ok()?;
    read_greeting(connection, send, receive).await
}

fn own_greeting<M: Machine>(house: &House<M>) -> Bytes {
    greeting(house.host, house.switchboard.zones())
}

/// What a host says of itself, as a frame.
pub(crate) fn greeting(host: u32, zones: Vec<u32>) -> Bytes {
    let greeting = Greeting { host, zones };
    frame::framed(frame::CONTROL, &postcard::to_stdvec(&greeting).expect("plain data encodes"))
}

async fn read_greeting(
    connection: &quinn::Connection,
    send: quinn::SendStream,
    receive: quinn::RecvStream,
) -> Option<Pair> {
    let mut receiver = Receiver::Quic(connection.clone(), receive);
    let mut assembler = Assembler::new(HOST_FRAME_MAX);
    let body = loop {
        if let Some(body) = assembler.body().ok()? {
            break body;
        }
        match receiver.next().await.ok()? {
            Arrival::Stream(bytes) => assembler.push(&bytes),
            Arrival::Whole(_) => (), // Too early: nobody knows yet who says so.
        }
    };
    let (_, message) = frame::open(&body).ok()?;
    let greeting: Greeting = postcard::from_bytes(message).ok()?;
    // The certificate says who it is; the greeting only says which of its names to look for.
    let is_who_it_says = tls::is_named(connection, &tls::host_name(greeting.host));
    let sender = Sender::Quic(connection.clone(), send);
    is_who_it_says.then_some(Pair { greeting, sender, receiver, assembler })
}

async fn serve<M: Machine>(house: &House<M>, pair: Pair)
where
    M::Msg: Message + Send,
    M::Command: Send,
{
    let Pair { greeting, sender, mut receiver, mut assembler } = pair;
    let mailbox = Mailbox::new(Pace::SERVERS);
    let peer = Peer::Host(greeting.host);
    let session = clock::now().as_micros();
    if house.switchboard.connect(peer, session, &mailbox, greeting.zones.clone()).is_err() {
        return;
    }
    tracing::info!(host = greeting.host, "connected");
    let writer = tokio::spawn(write(sender, mailbox.clone()));
    let why = tokio::select! {
        why = read(house, greeting.host, &mailbox, &mut receiver, &mut assembler) => why,
        why = mailbox.until_closed() => why,
    };
    mailbox.close(why);
    house.switchboard.disconnect(peer, &mailbox);
    drop(writer.await);
    tracing::info!(host = greeting.host, ?why, "connection lost");
}

async fn read<M: Machine>(
    house: &House<M>,
    host: u32,
    mailbox: &Mailbox,
    receiver: &mut Receiver,
    assembler: &mut Assembler,
) -> Close
where
    M::Msg: Message,
{
    loop {
        loop {
            match assembler.body() {
                Ok(Some(body)) => take(house, host, mailbox, &body),
                Ok(None) => break,
                Err(_) => return Close::Protocol,
            }
        }
        match receiver.next().await {
            Ok(Arrival::Stream(bytes)) => assembler.push(&bytes),
            Ok(Arrival::Whole(bytes)) => {
                let Ok(bodies) = frame::bodies(&bytes, HOST_FRAME_MAX) else { return Close::Protocol };
                bodies.iter().for_each(|body| take(house, host, mailbox, body));
            }
            Err(why) => return why,
        }
    }
}

/// Hands a body to its zone. One that makes no sense is dropped: a host of another version is no enemy.
fn take<M: Machine>(house: &House<M>, host: u32, mailbox: &Mailbox, body: &Bytes)
where
    M::Msg: Message,
{
    let Ok((from, rest)) = frame::open(body) else { return };
    if from == frame::CONTROL {
        let Ok(it) = postcard::from_bytes::<Greeting>(rest) else { return };
        return house.switchboard.moved(Peer::Host(host), mailbox, it.zones);
    }
    let Ok((to, message)) = frame::open(rest) else { return };
    let (Some(handle), Ok(msg)) = (house.switchboard.zone(to), M::Msg::decode(message)) else {
        return tracing::warn!(host, from, to, "a message that nobody understands");
    };
    handle.say(Inbound::Recv(address::replica(host, from), mailbox.id(), msg, None));
}
