//! A connection, whatever carries it: QUIC, WebTransport or WebSocket. A way out and a way in.

use crate::close::Close;
use crate::frame::{self, Control, DATAGRAM_MAX};
use crate::mailbox::Batch;
use bytes::{Bytes, BytesMut};
use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use std::pin::Pin;
use web_transport_quinn as web;

/// How much is read from a stream at once.
const CHUNK: usize = 16 * 1024;

/// How long a farewell may take.
const GOODBYE_WITHIN: std::time::Duration = std::time::Duration::from_millis(500);

/// Binary messages out, and the end of them.
pub type MessageSink = Pin<Box<dyn Sink<SocketMessage, Error = Close> + Send>>;

/// What goes out over a WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketMessage {
    /// Whole frames.
    Frames(Bytes),
    /// That is all, and why.
    End(Close),
}

/// Binary messages in. An error ends them.
pub type MessageStream = Pin<Box<dyn Stream<Item = Result<Bytes, Close>> + Send>>;

/// What a connection is made of, for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Native QUIC.
    Quic,
    /// A browser over HTTP/3.
    WebTransport,
    /// Anything else.
    WebSocket,
}

impl Transport {
    /// For people and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quic => "quic",
            Self::WebTransport => "web-transport",
            Self::WebSocket => "web-socket",
        }
    }
}

/// The way out.
#[expect(clippy::large_enum_variant, reason = "one per connection, and moved twice in its life")]
pub enum Sender {
    /// Native QUIC.
    Quic(quinn::Connection, quinn::SendStream),
    /// WebTransport.
    Web(web::Session, web::SendStream),
    /// WebSocket. The other end of its message stream may want to close it.
    Socket(MessageSink),
}

/// The way in.
#[expect(clippy::large_enum_variant, reason = "one per connection, and moved twice in its life")]
pub enum Receiver {
    /// Native QUIC.
    Quic(quinn::Connection, quinn::RecvStream),
    /// WebTransport.
    Web(web::Session, web::RecvStream),
    /// WebSocket.
    Socket(MessageStream),
}

/// What arrived.
#[derive(Debug)]
pub enum Arrival {
    /// Bytes of the stream.
    Stream(Bytes),
    /// Whole frames.
    Whole(Bytes),
}

impl Sender {
    /// Which transport this is.
    pub const fn transport(&self) -> Transport {
        match self {
            Self::Quic(..) => Transport::Quic,
            Self::Web(..) => Transport::WebTransport,
            Self::Socket(_) => Transport::WebSocket,
        }
    }

    /// Sends a batch. Says how many frames of `Latest` found no room.
    pub async fn send(&mut self, mut batch: Batch) -> Result<u64, Close> {
        if let Some(lost) = batch.lost {
            batch.sure.push(frame::control(&Control::Lagging { lost }));
        }
        match self {
            Self::Quic(connection, stream) => {
                let room = || connection.datagram_send_buffer_space();
                let lost = pack(&mut batch, room, |it| connection.send_datagram(it).is_ok());
                stream.write_all_chunks(&mut batch.sure).await.map_err(|_| Close::Gone)?;
                Ok(lost)
            }
            Self::Web(session, stream) => {
                let room = || session.datagram_send_buffer_space();
                let lost = pack(&mut batch, room, |it| session.send_datagram(it).is_ok());
                if !batch.sure.is_empty() {
                    stream.write_all_chunks(&mut batch.sure).await.map_err(|_| Close::Gone)?;
                }
                Ok(lost)
            }
            Self::Socket(sink) => {
                sink.send(SocketMessage::Frames(joined(&batch.sure, &batch.latest))).await?;
                Ok(0)
            }
        }
    }

    /// What can send datagrams while the stream is busy; `None` if they would travel in it.
    pub fn overtaker(&self) -> Option<quinn::Connection> {
        match self {
            Self::Quic(connection, _) => Some(connection.clone()),
            Self::Web(..) | Self::Socket(_) => None,
        }
    }

    /// Ends the connection.
    pub async fn close(mut self, why: Close) {
        match &mut self {
            Self::Quic(connection, _) => connection.close(why.code().into(), why.reason().as_bytes()),
            Self::Web(session, stream) => {
                drop(stream.finish());
                session.close(why.code(), why.reason().as_bytes());
            }
            Self::Socket(sink) => {
                // Somebody who does not read does not hear why, either.
                drop(tokio::time::timeout(GOODBYE_WITHIN, sink.send(SocketMessage::End(why))).await);
            }
        }
    }
}

/// Sends frames of `Latest` past a busy stream. Gives back those that are too large for it, and how many found no room.
pub fn overtake(connection: &quinn::Connection, latest: Vec<Bytes>) -> (Vec<Bytes>, u64) {
    let mut batch = Batch { latest, ..Batch::default() };
    let room = || connection.datagram_send_buffer_space();
    let lost = pack(&mut batch, room, |it| connection.send_datagram(it).is_ok());
    (batch.sure, lost)
}

/// Packs `Latest` frames into as few datagrams as their order allows. A frame too large for any goes with the sure
/// ones. Says how many found no room.
fn pack(batch: &mut Batch, room: impl Fn() -> usize, mut send: impl FnMut(Bytes) -> bool) -> u64 {
    let mut lost = 0;
    let (mut datagram, mut frames) = (BytesMut::new(), 0);
    let mut flush = |datagram: &mut BytesMut, frames: &mut u64| {
        let full = datagram.split().freeze();
        if !full.is_empty() && (room() < full.len() || !send(full)) {
            lost += *frames;
        }
        *frames = 0;
    };
    for it in batch.latest.drain(..) {
        if DATAGRAM_MAX < it.len() {
            batch.sure.push(it);
            continue;
        }
        if DATAGRAM_MAX < datagram.len() + it.len() {
            flush(&mut datagram, &mut frames);
        }
        datagram.extend_from_slice(&it);
        frames += 1;
    }
    flush(&mut datagram, &mut frames);
    lost
}

fn joined(sure: &[Bytes], latest: &[Bytes]) -> Bytes {
    let all = || sure.iter().chain(latest);
    let mut message = BytesMut::with_capacity(all().map(Bytes::len).sum());
    all().for_each(|it| message.extend_from_slice(it));
    message.freeze()
}

impl Receiver {
    /// Waits for what arrives next.
    pub async fn next(&mut self) -> Result<Arrival, Close> {
        match self {
            Self::Quic(connection, stream) => tokio::select! {
                chunk = stream.read_chunk(CHUNK, true) => match chunk {
                    Ok(Some(chunk)) => Ok(Arrival::Stream(chunk.bytes)),
                    _ => Err(why_ended(connection.close_reason())),
                },
                datagram = connection.read_datagram() => {
                    datagram.map(Arrival::Whole).map_err(|it| why_ended(Some(it)))
                }
            },
            Self::Web(session, stream) => tokio::select! {
                chunk = stream.read_chunk(CHUNK, true) => match chunk {
                    Ok(Some(chunk)) => Ok(Arrival::Stream(chunk.bytes)),
                    _ => Err(Close::Gone),
                },
                datagram = session.read_datagram() => datagram.map(Arrival::Whole).map_err(|_| Close::Gone),
            },
            Self::Socket(stream) => match stream.next().await {
                Some(message) => message.map(Arrival::Whole),
                None => Err(Close::Gone),
            },
        }
    }
}

/// What the other side said when it ended a QUIC connection.
pub fn why_ended(error: Option<quinn::ConnectionError>) -> Close {
    match error {
        Some(quinn::ConnectionError::ApplicationClosed(it)) => Close::of_code(it.error_code.into_inner()),
        _ => Close::Gone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_share_datagrams_and_the_large_go_with_the_sure() {
        let frame = |length: usize| Bytes::from(vec![7; length]);
        let mut batch = Batch {
            latest: vec![frame(600), frame(500), frame(100), frame(2_000), frame(9)],
            ..Batch::default()
        };
        let mut sent = Vec::new();
        let lost = pack(
            &mut batch,
            || 10_000,
            |it| {
                sent.push(it.len());
                true
            },
        );
        assert_eq!((sent, lost, batch.sure.len()), (vec![1_100, 109], 0, 1));
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let mut batch = Batch { latest: vec![Bytes::from_static(b"abc"); 5], ..Batch::default() };
        assert_eq!(pack(&mut batch, || 3, |_| true), 5);
    }
}
