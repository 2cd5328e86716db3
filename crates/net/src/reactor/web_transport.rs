//! WebTransport over a QUIC connection: what a browser needs between QUIC and our frames, for one session with one stream.
//!
//! The browser opens a control stream and two more of HTTP/3, which say nothing that we need; then a CONNECT request, which is
//! accepted; then one stream for frames. Every byte that is not a frame counts against a budget: a browser needs a few hundred.

use super::framed::{Chunk, read_chunk, write_all};
use crate::close::Close;
use bytes::{Buf as _, Bytes, BytesMut};
use quinn_proto::{Connection, Dir, StreamId};
use std::time::Instant;
use web_transport_proto::{
    Capsule, ConnectError, ConnectRequest, ConnectResponse, Frame, Settings, VarInt, error_to_http3,
};

/// The most bytes of a browser that are not frames: settings, the request, capsules.
const OVERHEAD_MAX: usize = 16 * 1024;

/// Bytes that an opened stream counts as: streams that are opened and ended without a byte are work, too. A browser opens five.
const STREAM_COST: usize = 512;

/// The session of one browser.
#[derive(Default)]
pub(super) struct WebSession {
    /// Streams of HTTP/3 itself.
    control: Vec<StreamId>,
    /// Stream of the CONNECT request; its number is the session's.
    connect: Option<StreamId>,
    request: BytesMut,
    is_accepted: bool,
    /// The first bytes of the stream of frames, until its header is complete.
    header: BytesMut,
    has_header: bool,
    overhead: usize,
    is_closing: bool,
}

impl WebSession {
    /// Sends our settings on a stream of their own.
    pub fn begin(&self, quic: &mut Connection) -> Result<(), Close> {
        let stream = quic.streams().open(Dir::Uni).ok_or(Close::Protocol)?;
        let mut settings = Settings::default();
        settings.enable_webtransport(1);
        let mut bytes = BytesMut::new();
        settings.encode(&mut bytes);
        write_all(quic, stream, &bytes)
    }

    /// Takes note of a stream that the browser opened. Returns it if it is the stream of frames.
    pub fn on_opened(&mut self, dir: Dir, stream: StreamId) -> Result<Option<StreamId>, Close> {
        self.spend(STREAM_COST)?;
        Ok(match (dir, self.connect) {
            (Dir::Uni, _) => {
                self.control.push(stream);
                None
            }
            (Dir::Bi, None) => {
                self.connect = Some(stream);
                None
            }
            (Dir::Bi, Some(_)) => Some(stream),
        })
    }

    /// Reads the streams that carry no frames, and answers the request.
    pub fn read(&mut self, quic: &mut Connection) -> Result<(), Close> {
        for at in (0..self.control.len()).rev() {
            loop {
                match read_chunk(quic, self.control[at])? {
                    Chunk::Bytes(bytes) => self.spend(bytes.len())?,
                    Chunk::None => break,
                    Chunk::Finished => {
                        self.control.swap_remove(at);
                        break;
                    }
                }
            }
        }
        let Some(connect) = self.connect else { return Ok(()) };
        loop {
            match read_chunk(quic, connect)? {
                Chunk::Bytes(bytes) => {
                    self.spend(bytes.len())?;
                    // Behind the request come capsules. The only one that matters ends the session, and with it the stream.
                    if !self.is_accepted {
                        self.request.extend_from_slice(&bytes);
                    }
                }
                Chunk::None => break,
                Chunk::Finished => return Err(Close::Gone),
            }
        }
        // Once, after all that has arrived: a request may come byte by byte.
        if self.is_accepted || self.request.is_empty() { Ok(()) } else { self.answer(quic, connect) }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Close> {
        self.overhead += bytes;
        if OVERHEAD_MAX < self.overhead { Err(Close::Protocol) } else { Ok(()) }
    }

    fn answer(&mut self, quic: &mut Connection, connect: StreamId) -> Result<(), Close> {
        match ConnectRequest::decode(&mut self.request.clone().freeze()) {
            Ok(_) => (),
            Err(ConnectError::UnexpectedEnd) => return Ok(()),
            Err(_) => return Err(Close::Protocol),
        }
        let mut bytes = BytesMut::new();
        ConnectResponse::OK.encode(&mut bytes).map_err(|_| Close::Protocol)?;
        self.is_accepted = true;
        self.request = BytesMut::new();
        write_all(quic, connect, &bytes)
    }

    /// Takes the header off the stream of frames, which comes once, before the first frame.
    pub fn strip_header(&mut self, bytes: Bytes) -> Result<Bytes, Close> {
        if self.has_header {
            return Ok(bytes);
        }
        self.header.extend_from_slice(&bytes);
        let mut rest = self.header.clone().freeze();
        let (Ok(kind), Ok(session)) = (Frame::decode(&mut rest), VarInt::decode(&mut rest)) else {
            return Ok(Bytes::new());
        };
        if kind != Frame::WEBTRANSPORT || session != self.session() {
            return Err(Close::Protocol);
        }
        self.has_header = true;
        self.header = BytesMut::new();
        Ok(rest)
    }

    fn session(&self) -> VarInt {
        VarInt::try_from(self.connect.map_or(0, u64::from)).unwrap_or(VarInt::from_u32(0))
    }

    /// A datagram's own number of the session: a quarter of the stream's.
    fn datagram_session(&self) -> VarInt {
        VarInt::try_from(self.session().into_inner() / 4).unwrap_or(VarInt::from_u32(0))
    }

    /// The payload of a datagram; `None` if it is not of this session.
    pub fn open_datagram(&self, mut datagram: Bytes) -> Option<Bytes> {
        let session = VarInt::decode(&mut datagram).ok()?;
        (session == self.datagram_session() && datagram.has_remaining()).then_some(datagram)
    }

    /// A datagram with the session's number in front.
    pub fn seal_datagram(&self, payload: &Bytes) -> Bytes {
        let mut datagram = BytesMut::with_capacity(payload.len() + 8);
        self.datagram_session().encode(&mut datagram);
        datagram.extend_from_slice(payload);
        datagram.freeze()
    }

    /// Ends the session: first the reason on the request's stream, where a page can read it; then, by a second call, the
    /// connection. Returns whether the connection is closed.
    pub fn close(&mut self, quic: &mut Connection, now: Instant, why: Close) -> bool {
        let told = match self.connect.filter(|_| self.is_accepted && !self.is_closing) {
            Some(connect) => {
                self.is_closing = true;
                write_all(quic, connect, &close_capsule(why)).is_ok()
                    && quic.send_stream(connect).finish().is_ok()
            }
            None => false,
        };
        if told {
            return false;
        }
        let code = quinn_proto::VarInt::from_u64(error_to_http3(why.code()))
            .unwrap_or(quinn_proto::VarInt::from_u32(0));
        quic.close(now, code, Bytes::from_static(why.reason().as_bytes()));
        true
    }
}

/// The reason as a capsule in a DATA frame of HTTP/3.
fn close_capsule(why: Close) -> BytesMut {
    let capsule = Capsule::CloseWebTransportSession { code: why.code(), reason: why.reason().to_owned() };
    let mut inner = BytesMut::new();
    capsule.encode(&mut inner);
    let mut bytes = BytesMut::new();
    Frame::DATA.encode(&mut bytes);
    VarInt::from_u32(inner.len() as u32).encode(&mut bytes);
    bytes.extend_from_slice(&inner);
    bytes
}
