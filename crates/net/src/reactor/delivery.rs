//! Whether urgent frames arrived, between two ends that hold QUIC's acknowledgements back.
//!
//! QUIC notices a lost packet by acknowledgements, and here these wait for a packet to ride on: so it would notice late. Both ends
//! therefore count the frames of the stream. The receiver of an urgent frame tells soon how many it has (a receipt); a sender that
//! misses the receipt sends copies of the frames as datagrams, which do not wait behind a lost packet of the stream. The receiver
//! takes a copy if it is the next frame, and ignores the frame when the stream brings it. So every frame is still delivered once
//! and in order, and QUIC may be as slow as it likes.

use crate::frame::{self, Control, DATAGRAM_MAX};
use bytes::{Bytes, BytesMut};
use machine::{Span, Time};
use std::collections::VecDeque;

/// The longest time that a receipt waits for a packet to ride on: the result of an action mostly leaves by then.
const RECEIPT_AFTER: Span = Span::from_millis(10);

/// Least time that a receipt may take. Two turns at each end and the receipt's own wait are no reason for a copy.
const TIMEOUT_MIN: Span = Span::from_millis(30);

/// The longest time that a receipt may take.
const TIMEOUT_MAX: Span = Span::from_millis(1_000);

/// Time beyond QUIC's round trip that the first receipt may take, when none was measured.
const TIMEOUT_FIRST: Span = Span::from_millis(40);

/// Number of times that copies are sent. Then QUIC is left to it.
const COPIES_MAX: u32 = 3;

/// The most bytes of frames kept for copies: three datagrams. Of more, which is a first view or a crowd, none are sent.
const KEPT_MAX: usize = 3 * COPY_BYTES;

/// Bytes of frames per datagram of copies; the rest is for their number.
const COPY_BYTES: usize = DATAGRAM_MAX - 24;

/// Counts the frames of a connection's stream in both directions.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    // Outgoing.
    /// Frames handed to the stream.
    sent: u64,
    /// The same up to the last urgent one.
    urgent: u64,
    /// Frames that the other end has, by its last receipt.
    received: u64,
    /// The last frames that were sent, without those that the other end has.
    kept: VecDeque<Bytes>,
    kept_bytes: usize,
    check: Option<ReceiptCheck>,
    timeout: ReceiptTimeout,
    /// QUIC's round trip when the last urgent frame was sent.
    round_trip: Span,
    // Incoming.
    /// Frames delivered so far, by the stream or as copies.
    delivered: u64,
    /// Frames that the stream brought so far.
    streamed: u64,
    /// Frames delivered when the last receipt was sent.
    receipted: u64,
    /// Time at which a receipt must leave.
    receipt_at: Option<Time>,
}

/// An urgent frame that the other end has not confirmed.
#[derive(Clone, Copy, Debug)]
struct ReceiptCheck {
    /// Frames that the other end must have.
    frames: u64,
    /// Time since which the receipt is awaited.
    since: Time,
    /// Time at which copies are sent.
    at: Time,
    /// Number of times that copies were sent.
    copies: u32,
    /// True if the receipt tells how long receipts take: the frames were sent at `since`, and only once.
    is_measured: bool,
}

/// The time that receipts take, estimated as TCP estimates its retransmission timeout (RFC 6298).
#[derive(Clone, Copy, Debug, Default)]
struct ReceiptTimeout {
    /// Smoothed time and its deviation; `None` before the first receipt.
    measured: Option<(Span, Span)>,
}

impl ReceiptTimeout {
    fn measure(&mut self, took: Span) {
        let part = |it: Span, of: u64, by: u64| Span::from_micros(it.as_micros() * of / by);
        self.measured = Some(match self.measured {
            None => (took, part(took, 1, 2)),
            Some((smoothed, deviation)) => {
                let off = Span::from_micros(smoothed.as_micros().abs_diff(took.as_micros()));
                (part(smoothed, 7, 8) + part(took, 1, 8), part(deviation, 3, 4) + part(off, 1, 4))
            }
        });
    }

    fn span(&self, round_trip: Span) -> Span {
        let span = match self.measured {
            Some((smoothed, deviation)) => smoothed + deviation.times(4),
            None => round_trip + TIMEOUT_FIRST,
        };
        span.clamp(TIMEOUT_MIN, TIMEOUT_MAX)
    }
}

impl Delivery {
    // Outgoing.

    /// The stream took these frames. `round_trip` is QUIC's estimate.
    pub fn on_sent(&mut self, now: Time, frames: &[Bytes], is_urgent: bool, round_trip: Span) {
        if frames.is_empty() {
            return;
        }
        self.sent += frames.len() as u64;
        self.kept_bytes += frames.iter().map(Bytes::len).sum::<usize>();
        self.kept.extend(frames.iter().cloned());
        if KEPT_MAX < self.kept_bytes {
            // All of them are left to QUIC; the next ones are kept again.
            self.kept.clear();
            self.kept_bytes = 0;
        }
        if is_urgent {
            (self.urgent, self.round_trip) = (self.sent, round_trip);
            if self.check.is_none() {
                self.await_receipt(now, true);
            }
        }
    }

    fn await_receipt(&mut self, now: Time, is_measured: bool) {
        let at = now + self.timeout.span(self.round_trip);
        self.check = Some(ReceiptCheck { frames: self.urgent, since: now, at, copies: 0, is_measured });
    }

    /// Number of frames before the first one that is kept.
    fn kept_from(&self) -> u64 {
        self.sent - self.kept.len() as u64
    }

    /// The other end has so many frames.
    pub fn on_receipt(&mut self, now: Time, frames: u64) {
        // Receipts are datagrams: an older one may come later, and a hostile end may say anything.
        if frames <= self.received || self.sent < frames {
            return;
        }
        let confirmed = frames.saturating_sub(self.kept_from()) as usize;
        let confirmed = self.kept.drain(..confirmed);
        self.kept_bytes -= confirmed.map(|it| it.len()).sum::<usize>();
        self.received = frames;
        if let Some(check) = self.check.take_if(|it| it.frames <= frames) {
            if check.is_measured {
                self.timeout.measure(now.since(check.since));
            }
            if frames < self.urgent {
                self.await_receipt(now, false); // For urgent frames that were sent meanwhile.
            }
        }
    }

    /// The datagrams with copies that are due.
    pub fn due_copies(&mut self, now: Time) -> Vec<Bytes> {
        let Some(check) = self.check.take_if(|it| it.at <= now) else { return Vec::new() };
        if check.copies + 1 < COPIES_MAX {
            let pause = check.at.since(check.since).times(2).min(TIMEOUT_MAX);
            // After copies it is unknown what the receipt is for.
            let (at, copies) = (now + pause, check.copies + 1);
            self.check = Some(ReceiptCheck { at, copies, is_measured: false, ..check });
        }
        // Copies are of no use behind frames that were left to QUIC.
        if self.kept_from() <= self.received { copies(self.kept_from(), &self.kept) } else { Vec::new() }
    }

    // Incoming.

    /// The stream brings a frame. Returns whether it is to be delivered.
    pub fn takes_from_stream(&mut self) -> bool {
        self.streamed += 1;
        let is_new = self.delivered < self.streamed;
        self.delivered = self.delivered.max(self.streamed);
        is_new
    }

    /// A copy of the frame of this number arrives, counted from 0. Returns whether it is to be delivered.
    pub fn takes_copy(&mut self, number: u64) -> bool {
        let is_next = number == self.delivered;
        self.delivered += u64::from(is_next);
        is_next
    }

    /// A receipt must leave soon: an urgent frame arrived, or a copy, which means that the other end misses a receipt.
    pub fn owe_receipt(&mut self, now: Time) {
        let at = now + RECEIPT_AFTER;
        self.receipt_at = Some(self.receipt_at.map_or(at, |it| it.min(at)));
    }

    /// A packet leaves now: the receipt that may ride on it, if there is news.
    pub fn riding_receipt(&mut self) -> Option<Bytes> {
        let is_owed = self.receipt_at.take().is_some();
        let is_news = std::mem::replace(&mut self.receipted, self.delivered) < self.delivered;
        (is_owed || is_news).then(|| frame::control(&Control::Received { frames: self.delivered }))
    }

    /// Returns whether a receipt cannot wait any longer.
    pub fn is_receipt_due(&self, now: Time) -> bool {
        self.receipt_at.is_some_and(|it| it <= now)
    }

    /// The next time at which copies or a receipt are due.
    pub fn deadline(&self) -> Option<Time> {
        [self.receipt_at, self.check.map(|it| it.at)].into_iter().flatten().min()
    }
}

/// Packs copies of frames into datagrams, the first of them with this number.
fn copies(mut first: u64, frames: &VecDeque<Bytes>) -> Vec<Bytes> {
    let mut datagrams = Vec::new();
    let (mut joined, mut count) = (BytesMut::new(), 0);
    let mut flush = |joined: &mut BytesMut, count: &mut u64| {
        if 0 < *count {
            let again = Control::Again { first, frames: joined.split().to_vec() };
            datagrams.push(frame::control(&again));
            first += std::mem::take(count);
        }
    };
    for it in frames {
        if COPY_BYTES < it.len() {
            break; // No datagram holds it, so those behind it must wait for QUIC, too.
        }
        if COPY_BYTES < joined.len() + it.len() {
            flush(&mut joined, &mut count);
        }
        joined.extend_from_slice(it);
        count += 1;
    }
    flush(&mut joined, &mut count);
    datagrams
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIP: Span = Span::from_millis(20);

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn frame(number: u8, length: usize) -> Bytes {
        frame::framed(7, &vec![number; length])
    }

    /// The frames in datagrams of copies, with their numbers.
    fn opened(datagrams: &[Bytes]) -> Vec<(u64, Bytes)> {
        let mut found = Vec::new();
        for datagram in datagrams {
            assert!(datagram.len() <= DATAGRAM_MAX, "{} bytes", datagram.len());
            let body = &frame::bodies(datagram, DATAGRAM_MAX).unwrap()[0];
            let (_, control) = frame::open(body).unwrap();
            let Ok(Control::Again { first, frames }) = frame::open_control(control) else { panic!() };
            found.extend((first..).zip(frame::bodies(&frames.into(), DATAGRAM_MAX).unwrap()));
        }
        found
    }

    #[test]
    fn frames_without_a_receipt_are_copied_with_all_before_them_and_given_up() {
        let mut sender = Delivery::default();
        sender.on_sent(at(0), &[frame(0, 9)], true, TRIP);
        sender.on_receipt(at(25), 1);
        sender.on_sent(at(100), &[frame(1, 9)], false, TRIP);
        assert_eq!(sender.deadline(), None, "what can wait needs no receipt");
        sender.on_sent(at(130), &[frame(2, 600), frame(3, 700)], true, TRIP);
        // 25 ms were measured, with a deviation of 12.5 ms.
        assert_eq!(sender.deadline(), Some(at(130 + 75)));
        assert!(sender.due_copies(at(204)).is_empty());
        let copied = opened(&sender.due_copies(at(205)));
        assert_eq!(copied.iter().map(|it| it.0).collect::<Vec<_>>(), [1, 2, 3]);
        sender.on_receipt(at(230), 2);
        let again = sender.deadline().unwrap();
        assert_eq!(opened(&sender.due_copies(again)).len(), 2);
        let last = sender.deadline().unwrap();
        assert_eq!(opened(&sender.due_copies(last)).len(), 2);
        assert_eq!(sender.deadline(), None, "QUIC is left to it");
        sender.on_receipt(at(900), 4);
        assert_eq!(
            sender.timeout.measured.unwrap().0,
            Span::from_millis(25),
            "nothing is learnt from copies"
        );
    }

    #[test]
    fn a_receiver_delivers_each_frame_once_and_in_order() {
        let mut receiver = Delivery::default();
        assert!(receiver.takes_from_stream());
        assert!(!receiver.takes_copy(2), "frame 1 is missing");
        assert!(receiver.takes_copy(1) && receiver.takes_copy(2) && !receiver.takes_copy(1));
        assert!(
            !receiver.takes_from_stream() && !receiver.takes_from_stream(),
            "1 and 2 were delivered as copies"
        );
        assert!(receiver.takes_from_stream());
        assert_eq!(receiver.delivered, 4);
    }

    #[test]
    fn a_receipt_rides_on_the_next_packet_or_leaves_soon() {
        let mut receiver = Delivery::default();
        assert_eq!(receiver.riding_receipt(), None);
        assert!(receiver.takes_from_stream());
        assert_eq!((receiver.deadline(), receiver.is_receipt_due(at(9))), (None, false));
        receiver.owe_receipt(at(0));
        assert!(!receiver.is_receipt_due(at(9)) && receiver.is_receipt_due(at(10)));
        assert_eq!(receiver.riding_receipt(), Some(frame::control(&Control::Received { frames: 1 })));
        assert_eq!((receiver.riding_receipt(), receiver.deadline()), (None, None));
        receiver.owe_receipt(at(50)); // For a copy that it had: the receipt was lost.
        assert!(receiver.riding_receipt().is_some());
    }

    #[test]
    fn too_many_bytes_are_left_to_quic_and_a_false_receipt_changes_nothing() {
        let mut sender = Delivery::default();
        sender.on_sent(at(0), &vec![frame(1, 1_000); 9], true, TRIP);
        sender.on_sent(at(5), &[frame(2, 5)], true, TRIP);
        sender.on_receipt(at(10), u64::MAX);
        sender.on_receipt(at(10), 11);
        assert_eq!(sender.received, 0);
        let due = sender.deadline().unwrap();
        assert!(sender.due_copies(due).is_empty(), "they would stand behind frames that are not kept");
        sender.on_receipt(due, 9);
        let due = sender.deadline().unwrap();
        assert_eq!(opened(&sender.due_copies(due)).len(), 1, "the next ones are few again");
        // Under way all the time: the sender never knows that all has arrived.
        sender.on_sent(due, &[frame(3, 5)], true, TRIP);
        sender.on_receipt(due, 10);
        assert_eq!((sender.kept.len(), sender.kept_bytes), (1, frame(3, 5).len()));
        let mut sender = Delivery::default();
        sender.on_sent(at(0), &[frame(1, 5), frame(2, 1_150), frame(3, 5)], true, TRIP);
        let due = sender.deadline().unwrap();
        assert_eq!(opened(&sender.due_copies(due)).len(), 1, "no datagram holds the second");
    }
}
