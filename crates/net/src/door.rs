//! Where players come in: accepts connections by QUIC, WebTransport and WebSocket, within limits.

use crate::close::Close;
use crate::endpoint::ALPN_PLAYERS;
use crate::metric;
use crate::pipe::{MessageSink, MessageStream, Receiver, Sender, SocketMessage};
use crate::session::{self, House};
use axum::extract::ws::{CloseFrame, Message as WebMessage, WebSocket};
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use machine::Machine;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use web_transport_quinn as web;
use wire::Message;

/// How long a handshake may take.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(3);

pub use crate::callers::STRANGERS_MAX;

/// WebSocket's codes for private use begin here.
pub const SOCKET_CODES: u16 = 4_000;

/// Accepts players at an endpoint until it is closed.
pub async fn accept<M: Machine + 'static>(endpoint: quinn::Endpoint, house: Arc<House<M>>)
where
    M::Msg: Message + Send,
    M::Command: Send,
{
    while let Some(incoming) = endpoint.accept().await {
        let (from, callers) = (incoming.remote_address().ip(), house.switchboard.callers());
        if callers.doubts(from) && !incoming.remote_address_validated() {
            drop(incoming.retry());
            continue;
        }
        let Some(place) = callers.stranger(from) else {
            metric::refused(Close::Full);
            incoming.refuse();
            continue;
        };
        let house = house.clone();
        tokio::spawn(async move {
            if let Ok(Some((sender, receiver))) = timeout(HANDSHAKE_WITHIN, shake_hands(incoming)).await {
                session::serve(house, sender, receiver, place).await;
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

/// Serves a player who came by WebSocket, from this address.
pub async fn serve_socket<M: Machine>(socket: WebSocket, from: IpAddr, house: Arc<House<M>>)
where
    M::Msg: Message + Send,
    M::Command: Send,
{
    let (sink, stream) = socket.split();
    let sink: MessageSink = Box::pin(
        sink.with(|it| std::future::ready(Ok::<_, axum::Error>(outgoing(it)))).sink_map_err(|_| Close::Gone),
    );
    let stream: MessageStream = Box::pin(stream.map(|it| match it {
        Ok(WebMessage::Binary(bytes)) if bytes.is_empty() => Err(Close::Protocol),
        Ok(WebMessage::Binary(bytes)) => Ok(bytes),
        // The library answers it; it counts as a message, and says nothing.
        Ok(WebMessage::Ping(_) | WebMessage::Pong(_)) => Ok(Bytes::new()),
        Ok(WebMessage::Text(_)) => Err(Close::Protocol),
        Ok(WebMessage::Close(_)) | Err(_) => Err(Close::Gone),
    }));
    let sender = Sender::Socket(sink);
    match house.switchboard.callers().stranger(from) {
        Some(place) => session::serve(house, sender, Receiver::Socket(stream), place).await,
        None => {
            metric::refused(Close::Full);
            sender.close(Close::Full).await;
        }
    }
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
