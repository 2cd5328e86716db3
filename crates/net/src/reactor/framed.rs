//! A QUIC connection that carries frames: one stream for `Sure`, datagrams for `Latest`, over plain QUIC or WebTransport.

use super::TimeBase;
use super::delivery::Delivery;
use super::web_transport::WebSession;
use crate::close::Close;
use crate::frame::{self, Assembler, Control};
use crate::pipe::pack;
use crate::send_queue::{Batch, Ready, SendQueue};
use bytes::{Bytes, BytesMut};
use machine::{Span, Time};
use quinn_proto::{
    Connection, ConnectionError, ConnectionStats, Dir, Event, ReadError, StreamEvent, StreamId, VarInt,
    WriteError,
};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

/// Bytes read from a stream at once.
const CHUNK: usize = 16 * 1024;

/// The longest time that an acknowledgement waits for a packet to ride on. Hosts send poses every 100 ms, and
/// players a move at least every 200 ms.
const HOLD_MAX: Span = Span::from_millis(210);

/// The most packets that wait for an acknowledgement: the other end may have only so many on their way.
const HELD_PACKETS_MAX: u32 = 4;

/// Time after a handshake or many bytes on a stream during which nothing is held back: what QUIC still has to send does not
/// fit one turn.
const BULK_FOR: Span = Span::from_millis(250);

/// Bytes on a stream that may not fit one turn.
const BULK: usize = 4 * 1024;

/// Time after a gap in the stream was found during which no acknowledgement is held back: QUIC owes this one within 25 ms.
const ACK_WITHIN: Span = Span::from_millis(35);

/// What lies between frames and QUIC.
pub(super) enum Framing {
    /// Our own clients and hosts.
    Plain,
    /// Browsers.
    Web(Box<WebSession>),
}

/// The news of a connection since the last call.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The TLS handshake is complete.
    pub connected: bool,
    /// The reason for which the other end, or QUIC itself, ended the connection.
    pub lost: Option<Close>,
}

/// A QUIC connection that carries frames.
pub(super) struct FramedConnection {
    pub quic: Connection,
    pub queue: SendQueue,
    pub framing: Framing,
    /// The stream of the frames, once it is open.
    stream: Option<StreamId>,
    assembler: Assembler,
    /// `Sure` frames that the stream has not taken yet.
    unsent: VecDeque<Bytes>,
    /// Time of the last batch of frames.
    sent: Time,
    /// Streams have bytes that were not read yet.
    is_readable: bool,
    is_finished: bool,
    /// False if acknowledgements must not be held back.
    pub may_hold: bool,
    /// Both ends hold acknowledgements back until a packet leaves anyway.
    pub holds: bool,
    /// Since when an acknowledgement is held back.
    held_since: Option<Time>,
    /// Packets that have arrived since.
    held_packets: u32,
    /// A stream sent many bytes lately, or lacks some: until this time nothing is held back.
    free_until: Time,
    /// Which frames of the stream arrived, while QUIC's acknowledgements are held back.
    pub delivery: Delivery,
    /// Address of the other end, and the times it asked whether this one is reachable, when last looked at.
    path: Option<(SocketAddr, u64)>,
    /// Packets that QUIC had given up for lost, when last looked at.
    lost_before: u64,
    /// Frames of QUIC with bytes of a stream that had arrived, when last looked at.
    pieces_before: u64,
    /// Packets arrived since [`Self::progress`] was last called.
    has_packets: bool,
    /// Something was written, or a timer fired, since packets were last sent.
    must_transmit: bool,
}

impl FramedConnection {
    pub fn new(quic: Connection, queue: SendQueue, framing: Framing, frame_max: usize, now: Time) -> Self {
        Self {
            quic,
            queue,
            framing,
            stream: None,
            assembler: Assembler::new(frame_max),
            unsent: VecDeque::new(),
            sent: Time::ZERO,
            is_readable: false,
            is_finished: false,
            may_hold: true,
            holds: false,
            held_since: None,
            held_packets: 0,
            free_until: now + BULK_FOR,
            delivery: Delivery::default(),
            path: None,
            lost_before: 0,
            pieces_before: 0,
            has_packets: false,
            must_transmit: false,
        }
    }

    /// Frames from here on may be this long.
    pub fn allow_frames(&mut self, frame_max: usize) {
        let assembler = std::mem::replace(&mut self.assembler, Assembler::new(0));
        self.assembler = assembler.with_limit(frame_max);
    }

    /// Bytes that wait for the rest of their frame.
    pub fn half_frame(&self) -> usize {
        self.assembler.waiting()
    }

    /// Opens the stream of the frames, at the end that connects.
    pub fn open_stream(&mut self) -> bool {
        self.stream = self.quic.streams().open(Dir::Bi);
        self.stream.is_some()
    }

    /// A packet has arrived.
    pub fn on_packet(&mut self) {
        self.has_packets = true;
        self.held_packets += 1;
    }

    /// Takes note of what QUIC reports, up to the end of the handshake: until the protocol is known, no stream can be
    /// told from another.
    pub fn progress(&mut self, now: Time) -> Result<Progress, Close> {
        let mut progress = Progress::default();
        let has_packets = std::mem::take(&mut self.has_packets);
        let was_readable = self.is_readable;
        while let Some(event) = self.quic.poll() {
            match event {
                Event::Connected => {
                    progress.connected = true;
                    break;
                }
                Event::ConnectionLost { reason } => progress.lost = Some(why_lost(&reason)),
                Event::Stream(event) => self.on_stream(event)?,
                Event::HandshakeDataReady | Event::DatagramReceived | Event::DatagramsUnblocked => (),
            }
        }
        if has_packets {
            // Once per turn: the numbers are copied.
            let stats = self.quic.stats();
            self.look_for_new_path(now, &stats);
            self.look_for_loss(&stats);
            self.look_for_gap(now, &stats, was_readable);
        }
        Ok(progress)
    }

    fn on_stream(&mut self, event: StreamEvent) -> Result<(), Close> {
        match event {
            StreamEvent::Opened { dir } => {
                while let Some(stream) = self.quic.streams().accept(dir) {
                    self.on_opened(dir, stream)?;
                }
                self.is_readable = true;
            }
            StreamEvent::Readable { .. } => self.is_readable = true,
            StreamEvent::Stopped { .. } => return Err(Close::Gone),
            StreamEvent::Writable { .. } | StreamEvent::Finished { .. } | StreamEvent::Available { .. } => (),
        }
        Ok(())
    }

    /// An urgent frame arrived: its sender is told soon, by a receipt or by QUIC.
    pub fn owe_receipt(&mut self, now: Time) {
        if self.holds {
            self.delivery.owe_receipt(now);
        }
    }

    /// Lets QUIC acknowledge at once what it wants to.
    pub fn hold_nothing(&mut self, now: Time) {
        self.free_until = self.free_until.max(now + ACK_WITHIN);
    }

    /// When bytes of a stream arrived that cannot be read, earlier ones are missing: QUIC should learn that soon. Or the
    /// other end sent them again, because it missed an acknowledgement.
    fn look_for_gap(&mut self, now: Time, stats: &ConnectionStats, was_readable: bool) {
        let pieces = stats.frame_rx.stream;
        if std::mem::replace(&mut self.pieces_before, pieces) < pieces && (was_readable || !self.is_readable)
        {
            self.hold_nothing(now);
        }
    }

    fn on_opened(&mut self, dir: Dir, stream: StreamId) -> Result<(), Close> {
        match &mut self.framing {
            Framing::Web(web) => {
                if let Some(frames) = web.on_opened(dir, stream)? {
                    self.stream = Some(frames);
                }
            }
            Framing::Plain if dir == Dir::Bi && self.stream.is_none() => self.stream = Some(stream),
            Framing::Plain => (), // A second stream: its window is all that it can fill, and no frame comes of it.
        }
        Ok(())
    }

    /// The next frame of the stream, if one has arrived.
    pub fn next_of_stream(&mut self) -> Result<Option<Bytes>, Close> {
        loop {
            while let Some(body) = self.assembler.body().map_err(|_| Close::Protocol)? {
                // A copy may have brought it already.
                if !self.holds || self.delivery.takes_from_stream() {
                    return Ok(Some(body));
                }
            }
            if self.is_finished {
                return Err(Close::Gone);
            }
            if !self.is_readable {
                return Ok(None);
            }
            if let Framing::Web(web) = &mut self.framing {
                web.read(&mut self.quic)?;
            }
            self.is_readable = false;
            let Some(stream) = self.stream else { return Ok(None) };
            let read = read_chunk(&mut self.quic, stream)?;
            match read {
                Chunk::Bytes(bytes) => {
                    self.is_readable = true;
                    self.push(bytes)?;
                }
                Chunk::None => (),
                Chunk::Finished => self.is_finished = true,
            }
        }
    }

    fn push(&mut self, bytes: Bytes) -> Result<(), Close> {
        match &mut self.framing {
            Framing::Plain => self.assembler.push(&bytes),
            Framing::Web(web) => self.assembler.push(&web.strip_header(bytes)?),
        }
        Ok(())
    }

    /// The next datagram, if one has arrived.
    pub fn next_datagram(&mut self) -> Option<Bytes> {
        loop {
            let datagram = self.quic.datagrams().recv()?;
            match &self.framing {
                Framing::Plain => return Some(datagram),
                Framing::Web(web) => match web.open_datagram(datagram) {
                    Some(it) => return Some(it),
                    None => continue,
                },
            }
        }
    }

    /// Hands queued frames to QUIC. Returns the time at which more may be sent.
    pub fn write(&mut self, now: Time) -> Result<Option<Time>, Close> {
        if let Some(why) = self.queue.closed() {
            return Err(why);
        }
        if self.stream.is_none() {
            return Ok(None);
        }
        self.write_copies(now);
        self.write_unsent(now)?;
        while self.unsent.is_empty() {
            match self.queue.ready(now, self.sent)? {
                // Nothing else leaves now: a receipt that is due leaves alone.
                Ready::Empty | Ready::At(_) if self.delivery.is_receipt_due(now) => {
                    let sent = self.sent;
                    self.write_batch(now, Batch::default())?;
                    self.sent = sent;
                }
                Ready::Empty => return Ok(None),
                Ready::At(at) => return Ok(Some(at)),
                Ready::Batch(batch) => self.write_batch(now, batch)?,
            }
        }
        // The stream is full. Between servers, what is `Latest` does not wait behind it.
        let latest = self.queue.overtaking_now();
        if !latest.is_empty() {
            self.write_batch(now, Batch { latest, ..Batch::default() })?;
        }
        Ok(None)
    }

    /// Sends copies of urgent frames for which no receipt came.
    fn write_copies(&mut self, now: Time) {
        for copy in self.delivery.due_copies(now) {
            let _ = self.quic.datagrams().send(copy, false); // Without room they are lost, like any datagram.
            self.must_transmit = true;
        }
    }

    fn write_batch(&mut self, now: Time, mut batch: Batch) -> Result<(), Close> {
        (self.sent, self.must_transmit) = (now, true);
        if let Some(lost) = batch.lost {
            batch.sure.push(frame::control(&Control::Lagging { lost }));
        }
        if self.holds {
            batch.latest.extend(self.delivery.riding_receipt());
        }
        let (quic, framing) = (&mut self.quic, &self.framing);
        let lost = pack(&mut batch, |datagram| {
            let datagram = match framing {
                Framing::Plain => datagram,
                Framing::Web(web) => web.seal_datagram(&datagram),
            };
            // QUIC would drop its oldest datagrams to make room; here the newest are dropped, and counted.
            quic.datagrams().send(datagram, false).is_ok()
        });
        self.queue.lost(lost);
        if self.holds {
            let round_trip = self.round_trip();
            self.delivery.on_sent(now, &batch.sure, batch.is_urgent, round_trip);
        }
        self.unsent.extend(batch.sure);
        self.write_unsent(now)
    }

    fn write_unsent(&mut self, now: Time) -> Result<(), Close> {
        let Some(stream) = self.stream.filter(|_| !self.unsent.is_empty()) else { return Ok(()) };
        let mut bytes = 0;
        while !self.unsent.is_empty() {
            match self.quic.send_stream(stream).write_chunks(self.unsent.make_contiguous()) {
                Ok(written) => {
                    bytes += written.bytes;
                    drop(self.unsent.drain(..written.chunks));
                }
                Err(WriteError::Blocked) => break,
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => return Err(Close::Gone),
            }
        }
        self.must_transmit |= 0 < bytes;
        if BULK < bytes {
            self.free_until = self.free_until.max(now + BULK_FOR + self.round_trip().times(4));
        }
        Ok(())
    }

    fn round_trip(&self) -> Span {
        Span::from_micros(self.quic.rtt().as_micros() as u64)
    }

    /// Fires QUIC's timers that are due at this time.
    pub fn fire_timers(&mut self, now: Time, time: TimeBase) {
        let due = self.quic.poll_timeout().map(|at| self.timer_at(time.time(at)));
        if due.is_some_and(|at| at <= now) {
            self.quic.handle_timeout(time.instant(now));
            self.must_transmit = true;
        }
    }

    /// Holds nothing back while a changed address is validated: QUIC gives the new path up after about 100 ms.
    fn look_for_new_path(&mut self, now: Time, stats: &ConnectionStats) {
        let path = (self.quic.remote_address(), stats.frame_rx.path_challenge);
        if self.path.replace(path).is_some_and(|before| before != path) {
            self.free_until = self.free_until.max(now + BULK_FOR);
        }
    }

    /// What QUIC gave up for lost must be sent again: it may have held bytes of the stream.
    fn look_for_loss(&mut self, stats: &ConnectionStats) {
        let lost = stats.path.lost_packets;
        self.must_transmit |= std::mem::replace(&mut self.lost_before, lost) < lost;
    }

    /// The time at which a timer of QUIC that is set for `at` fires. It may be late: the acknowledgement that it misses is held
    /// back at the other end, and a probe would only be one packet more.
    pub fn timer_at(&self, at: Time) -> Time {
        if !self.holds || at < self.free_until || self.quic.is_closed() { at } else { at + HOLD_MAX }
    }

    /// Returns whether packets may leave now. If all that is due is an acknowledgement of datagrams, it waits for a packet to
    /// ride on; the time until which it waits is returned by [`Self::held_until`].
    pub fn may_transmit(&mut self, now: Time) -> bool {
        let must_transmit = std::mem::take(&mut self.must_transmit);
        let is_free = !self.holds || now < self.free_until || self.quic.is_closed();
        let since = *self.held_since.get_or_insert(now);
        let is_over = since + HOLD_MAX <= now || HELD_PACKETS_MAX <= self.held_packets;
        let may_transmit = must_transmit || is_free || is_over;
        if may_transmit {
            (self.held_since, self.held_packets) = (None, 0);
        }
        may_transmit
    }

    /// The time until which acknowledgements are held back.
    pub fn held_until(&self) -> Option<Time> {
        self.held_since.map(|it| it + HOLD_MAX)
    }

    /// Ends the connection with this reason. Returns false if it must stay for a moment, so that a browser can read the reason.
    pub fn close(&mut self, now: Instant, why: Close) -> bool {
        match &mut self.framing {
            Framing::Plain => {
                let code = VarInt::from_u32(why.code());
                self.quic.close(now, code, Bytes::from_static(why.reason().as_bytes()));
                true
            }
            Framing::Web(web) => web.close(&mut self.quic, now, why),
        }
    }
}

/// What a stream gave.
pub(super) enum Chunk {
    /// Some bytes, in order.
    Bytes(Bytes),
    /// None now.
    None,
    /// The end of the stream.
    Finished,
}

/// Reads once from a stream.
pub(super) fn read_chunk(quic: &mut Connection, stream: StreamId) -> Result<Chunk, Close> {
    let mut receive = quic.recv_stream(stream);
    let Ok(mut chunks) = receive.read(true) else { return Ok(Chunk::Finished) };
    let chunk = match chunks.next(CHUNK) {
        Ok(Some(chunk)) => Chunk::Bytes(chunk.bytes),
        Ok(None) => Chunk::Finished,
        Err(ReadError::Blocked) => Chunk::None,
        Err(ReadError::Reset(_)) => return Err(Close::Gone),
    };
    let _ = chunks.finalize(); // The connection is polled for packets in this turn anyway.
    Ok(chunk)
}

/// Writes a few bytes to a new or rarely used stream, which has room for them.
pub(super) fn write_all(quic: &mut Connection, stream: StreamId, bytes: &BytesMut) -> Result<(), Close> {
    match quic.send_stream(stream).write(bytes) {
        Ok(written) if written == bytes.len() => Ok(()),
        _ => Err(Close::Protocol),
    }
}

/// The reason that the other side gave when it ended a connection.
fn why_lost(error: &ConnectionError) -> Close {
    match error {
        ConnectionError::ApplicationClosed(it) => Close::of_code(it.error_code.into_inner()),
        _ => Close::Gone,
    }
}
