//! Where players come in: accepts connections by QUIC, WebTransport and WebSocket, within limits.

use crate::bucket::Bucket;
use crate::close::Close;
use crate::endpoint::ALPN_PLAYERS;
use crate::metric;
use crate::pipe::{MessageSink, MessageStream, Receiver, Sender, SocketMessage};
use crate::session::{self, House};
use axum::extract::ws::{CloseFrame, Message as WebMessage, WebSocket};
use futures_util::{SinkExt as _, StreamExt as _};
use machine::Machine;
use rustc_hash::FxHashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use web_transport_quinn as web;
use wire::Message;

/// How long a handshake may take.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(3);

/// Handshakes under way; beyond a part of them, addresses must first prove that they are real.
const HANDSHAKES_MAX: usize = 256;
const HANDSHAKES_TRUSTED: usize = 64;

/// Connections per second and address, and at once. A household or a school shares an address.
const PER_ADDRESS: (f64, f64) = (50.0, 1_000.0);

/// Addresses remembered; when there are more, all are forgotten, which is generous to everybody alike.
const ADDRESSES_MAX: usize = 65_536;

/// WebSocket's codes for private use begin here.
pub const SOCKET_CODES: u16 = 4_000;

/// Accepts players at an endpoint until it is closed.
pub async fn accept<M: Machine + 'static>(endpoint: quinn::Endpoint, house: Arc<House<M>>)
where
    M::Msg: Message + Send,
    M::Command: Send,
{
    let handshakes = Arc::new(Semaphore::new(HANDSHAKES_MAX));
    let mut addresses: FxHashMap<IpAddr, Bucket> = FxHashMap::default();
    while let Some(incoming) = endpoint.accept().await {
        let busy = handshakes.available_permits() < HANDSHAKES_MAX - HANDSHAKES_TRUSTED;
        if busy && !incoming.remote_address_validated() {
            drop(incoming.retry());
            continue;
        }
        if ADDRESSES_MAX <= addresses.len() {
            addresses.clear();
        }
        let fresh = || Bucket::new(PER_ADDRESS.0, PER_ADDRESS.1);
        let bucket = addresses.entry(incoming.remote_address().ip()).or_insert_with(fresh);
        let permit = handshakes.clone().try_acquire_owned();
        let (true, Ok(permit)) = (bucket.try_take(1.0), permit) else {
            metric::refused(Close::Full);
            incoming.refuse();
            continue;
        };
        let house = house.clone();
        tokio::spawn(async move {
            let pipe = timeout(HANDSHAKE_WITHIN, shake_hands(incoming)).await;
            drop(permit);
            if let Ok(Some((sender, receiver))) = pipe {
                session::serve(house, sender, receiver).await;
            }
        });
    }
}

async fn shake_hands(incoming: quinn::Incoming) -> Option<(Sender, Receiver)> {
    let connection = incoming.await.ok()?;
    let data = connection.handshake_data()?.downcast::<quinn::crypto::rustls::HandshakeData>().ok()?;
    if data.protocol.as_deref() == Some(ALPN_PLAYERS.as_bytes()) {
        let (send, receive) = connection.accept_bi().await.ok()?;
        return Some((Sender::Quic(connection.clone(), send), Receiver::Quic(connection, receive)));
    }
    let session = web::Request::accept(connection).await.ok()?.ok().await.ok()?;
    let (send, receive) = session.accept_bi().await.ok()?;
    Some((Sender::Web(session.clone(), send), Receiver::Web(session, receive)))
}

/// Serves a player who came by WebSocket.
pub async fn serve_socket<M: Machine>(socket: WebSocket, house: Arc<House<M>>)
where
    M::Msg: Message + Send,
    M::Command: Send,
{
    let (sink, stream) = socket.split();
    let sink: MessageSink = Box::pin(
        sink.with(|it| std::future::ready(Ok::<_, axum::Error>(outgoing(it)))).sink_map_err(|_| Close::Gone),
    );
    let stream: MessageStream = Box::pin(stream.filter_map(|it| {
        std::future::ready(match it {
            Ok(WebMessage::Binary(bytes)) => Some(Ok(bytes)),
            Ok(WebMessage::Ping(_) | WebMessage::Pong(_)) => None,
            Ok(WebMessage::Text(_)) => Some(Err(Close::Protocol)),
            Ok(WebMessage::Close(_)) | Err(_) => Some(Err(Close::Gone)),
        })
    }));
    session::serve(house, Sender::Socket(sink), Receiver::Socket(stream)).await;
}

fn outgoing(it: SocketMessage) -> WebMessage {
    match it {
        SocketMessage::Frames(bytes) => WebMessage::Binary(bytes),
        SocketMessage::End(why) => {
            let code = SOCKET_CODES + why.code() as u16;
            WebMessage::Close(Some(CloseFrame { code, reason: why.reason().into() }))
        }
    }
}
