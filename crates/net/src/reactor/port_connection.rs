//! A connection of a port: how it ends, and what it holds until then.
//!
//! A connection that is over is remembered for a moment, so that an end that missed the reason is told again; how long, the other end
//! does not decide. Until it is dropped it counts against the limits.

use super::TimeBase;
use super::connection_role::{ConnectionRole, RoleContext, Urgency};
use super::framed::FramedConnection;
use super::handshakes::{ConnectionSlot, ConnectionSlots};
use super::workers::Workers;
use crate::close::Close;
use crate::open_connections::OpenConnection;
use machine::{Machine, Span, Time};
use wire::Message;

/// The most bytes of packets that an end may send before it has proved itself, and again after the connection is over. A handshake, a
/// token and what WebTransport adds take some ten thousand.
const FEW_BYTES: usize = 64 * 1024;

/// The time that a browser has to read why its session ended.
const LINGER: Span = Span::from_millis(200);

/// The time for which a connection that is over is remembered, that of [`LINGER`] included. QUIC's own rule is three times a value
/// that the other end may raise to a minute.
const CLOSED_FOR: Span = Span::from_millis(500);

/// A connection and what it is for.
pub(super) struct PortConnection<M: Machine> {
    pub framed: FramedConnection,
    pub role: ConnectionRole<M>,
    /// The time for which its deadline is armed.
    pub armed: Option<Time>,
    pub is_active: bool,
    /// The connection ends with this reason; a browser gets a moment to read it.
    closing: Option<(Close, Time)>,
    /// Time at which queued frames may be sent.
    send_at: Option<Time>,
    /// The connection is over, and is dropped at this time.
    forget_at: Option<Time>,
    /// Bytes of packets since its beginning, or since it is over.
    few_bytes: usize,
    /// Held until the other end has proved itself, or the connection is dropped.
    slot: Option<ConnectionSlot>,
    _open: Option<OpenConnection>,
}

impl<M: Machine> PortConnection<M>
where
    M::Msg: Message,
{
    /// A connection that begins; one to which this end connects holds no slots.
    pub fn new(framed: FramedConnection, role: ConnectionRole<M>, slots: Option<ConnectionSlots>) -> Self {
        let (slot, open) = slots.map_or((None, None), |it| (Some(it.slot), it.open));
        Self {
            framed,
            role,
            armed: None,
            is_active: false,
            closing: None,
            send_at: None,
            forget_at: None,
            few_bytes: 0,
            slot,
            _open: open,
        }
    }

    /// Counts a packet. Returns false if it is to be dropped unread: the other end has not proved itself, or the connection is
    /// over, and it has sent enough.
    pub fn takes_packet(&mut self, bytes: usize) -> bool {
        if !self.role.has_few_bytes(&self.framed) {
            return true;
        }
        self.few_bytes += bytes;
        self.few_bytes <= FEW_BYTES
    }

    /// Returns whether the connection has been over for long enough to be dropped, whatever the other end does.
    pub fn is_forgotten(&self, now: Time) -> bool {
        self.forget_at.is_some_and(|it| it <= now)
    }

    /// Takes the frames that have arrived.
    pub fn read(&mut self, now: Time, time: TimeBase, workers: &mut Workers<M>) {
        let mut context = RoleContext { now, workers };
        if FEW_BYTES < self.few_bytes && self.role.has_few_bytes(&self.framed) {
            return self.end_at_once(&mut context, time);
        }
        if let Err(why) = self.take_frames(&mut context) {
            self.end(&mut context, time, why);
        }
        if self.role.is_admitted()
            && let Some(ConnectionSlot::Server(slot)) = self.slot.take()
        {
            slot.prove();
        }
    }

    fn take_frames(&mut self, context: &mut RoleContext<'_, M>) -> Result<(), Close> {
        let Self { framed, role, .. } = self;
        let mut progress = framed.progress(context.now)?;
        let mut taken = Ok(());
        if progress.connected {
            taken = role.on_connected(context.now, framed);
            progress = framed.progress(context.now)?; // Streams that came with the end of the handshake.
        }
        if taken.is_ok() {
            taken = role.on_deadline(context.now, framed).and_then(|()| take_frames(framed, role, context));
        }
        // The reason that the other end gave is the true one.
        progress.lost.map_or(taken, Err)
    }

    /// Writes queued frames, or ends the connection.
    pub fn write(&mut self, now: Time, time: TimeBase, workers: &mut Workers<M>) {
        let mut context = RoleContext { now, workers };
        if let Some((why, _)) = self.closing.take_if(|it| it.1 <= now) {
            self.framed.close(time.instant(now), why);
        }
        if matches!(self.role, ConnectionRole::Ended) {
            return;
        }
        match self.framed.write(now) {
            Ok(send_at) => self.send_at = send_at,
            Err(why) => self.end(&mut context, time, why),
        }
    }

    fn end(&mut self, context: &mut RoleContext<'_, M>, time: TimeBase, why: Close) {
        if matches!(self.role, ConnectionRole::Ended) {
            return;
        }
        self.role.end(context, &self.framed, why);
        (self.few_bytes, self.forget_at) = (0, Some(context.now + CLOSED_FOR));
        if !self.framed.quic.is_closed() && !self.framed.close(time.instant(context.now), why) {
            self.closing = Some((why, context.now + LINGER));
        }
    }

    /// Ends a connection whose other end has sent too much: it gets one packet that says so, and no time to read a reason.
    fn end_at_once(&mut self, context: &mut RoleContext<'_, M>, time: TimeBase) {
        self.end(context, time, Close::Protocol);
        if self.closing.take().is_some() {
            self.framed.close(time.instant(context.now), Close::Protocol);
        }
        self.forget_at = Some(context.now);
    }

    /// The next time at which it needs attention.
    pub fn next_deadline(&mut self, time: TimeBase) -> Option<Time> {
        let quic = self.framed.quic.poll_timeout().map(|it| self.framed.timer_at(time.time(it)));
        let closing = self.closing.map(|it| it.1);
        let delivery = self.framed.holds.then(|| self.framed.delivery.deadline()).flatten();
        [
            quic,
            self.role.deadline(),
            self.send_at,
            closing,
            self.forget_at,
            self.framed.held_until(),
            delivery,
        ]
        .into_iter()
        .flatten()
        .min()
    }
}

fn take_frames<M: Machine>(
    framed: &mut FramedConnection,
    role: &mut ConnectionRole<M>,
    context: &mut RoleContext<'_, M>,
) -> Result<(), Close>
where
    M::Msg: Message,
{
    while !role.is_paused() {
        let Some(body) = framed.next_of_stream()? else { break };
        if role.on_sure(context, framed, &body)? == Urgency::Urgent {
            framed.owe_receipt(context.now);
        }
    }
    if 0 < framed.half_frame() {
        framed.hold_nothing(context.now); // The rest of the frame is on its way, and it may be long.
    }
    if role.is_overlong(framed) {
        return Err(Close::Protocol);
    }
    while let Some(datagram) = framed.next_datagram() {
        role.on_datagram(context, framed, &datagram)?;
    }
    Ok(())
}
