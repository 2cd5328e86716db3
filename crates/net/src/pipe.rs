//! From frames to packets: how frames share datagrams, and how they leave over a WebSocket.

use crate::close::Close;
use crate::frame::{self, Control, DATAGRAM_MAX};
use crate::send_queue::{Batch, SendQueue};
use bytes::{Bytes, BytesMut};
use futures_util::{Sink, SinkExt as _, Stream};
use std::pin::Pin;
use std::time::Duration;
use tokio::time::Instant;

/// The time that sending a close message may take.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// The sending half of a WebSocket.
pub type MessageSink = Pin<Box<dyn Sink<SocketMessage, Error = Close> + Send>>;

/// A message sent over a WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketMessage {
    /// One or more whole frames.
    Frames(Bytes),
    /// The end of the connection, with its reason.
    End(Close),
}

/// The receiving half of a WebSocket: binary messages. An error ends it.
pub type MessageStream = Pin<Box<dyn Stream<Item = Result<Bytes, Close>> + Send>>;

/// The transport of a connection, for metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransportKind {
    /// QUIC, used by native clients.
    Quic,
    /// HTTP/3, used by browsers that have WebTransport.
    WebTransport,
    /// TCP, used where UDP or WebTransport is missing.
    WebSocket,
}

impl TransportKind {
    /// The name in metrics and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quic => "quic",
            Self::WebTransport => "web-transport",
            Self::WebSocket => "web-socket",
        }
    }
}

/// Sends queued frames over a WebSocket until the queue is closed.
pub(crate) async fn write(mut sink: MessageSink, queue: SendQueue) {
    let mut sent = Instant::now() - Duration::from_secs(1); // So that the first batch leaves at once.
    let why = loop {
        let mut batch = match queue.next(sent).await {
            Ok(batch) => batch,
            Err(why) => break why,
        };
        sent = Instant::now();
        if let Some(lost) = batch.lost {
            batch.sure.push(frame::control(&Control::Lagging { lost }));
        }
        // All frames travel in one stream, so none finds no room.
        let sending = sink.send(SocketMessage::Frames(joined(&batch.sure, &batch.latest)));
        let result = tokio::select! {
            result = sending => result,
            why = queue.until_closed() => Err(why),
        };
        if let Err(why) = result {
            queue.close(why);
            break why;
        }
    };
    close_socket(sink, why).await;
}

/// Ends a WebSocket with this reason.
pub(crate) async fn close_socket(mut sink: MessageSink, why: Close) {
    // A client that does not read would block this send for ever; it then misses the reason.
    drop(tokio::time::timeout(CLOSE_TIMEOUT, sink.send(SocketMessage::End(why))).await);
}

/// Packs `Latest` frames into as few datagrams as their order allows. Frames too large for a datagram join the `Sure`
/// ones. `send` returns false if it has no room. Returns the number of frames that found none.
pub(crate) fn pack(batch: &mut Batch, mut send: impl FnMut(Bytes) -> bool) -> u64 {
    let mut lost = 0;
    let (mut datagram, mut frames) = (BytesMut::new(), 0);
    let mut flush = |datagram: &mut BytesMut, frames: &mut u64| {
        let full = datagram.split().freeze();
        if !full.is_empty() && !send(full) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_share_datagrams_and_large_ones_join_the_stream() {
        let frame = |length: usize| Bytes::from(vec![7; length]);
        let mut batch = Batch {
            latest: vec![frame(600), frame(500), frame(100), frame(2_000), frame(9)],
            ..Batch::default()
        };
        let mut sent = Vec::new();
        let lost = pack(&mut batch, |it| {
            sent.push(it.len());
            true
        });
        assert_eq!((sent, lost, batch.sure.len()), (vec![1_100, 109], 0, 1));
    }

    #[test]
    fn frames_that_find_no_room_are_counted() {
        let mut batch = Batch { latest: vec![Bytes::from_static(b"abc"); 5], ..Batch::default() };
        assert_eq!(pack(&mut batch, |_| false), 5);
    }
}
