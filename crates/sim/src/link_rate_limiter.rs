//! The part of a link that has a rate: one message leaves at a time, others wait.

use crate::direction::LinkMessage;
use crate::profile::Profile;
use machine::queue::{Displaced, Full, LinkQueue};
use machine::{Lane, Span, Time};
use std::num::NonZeroU64;

/// The answer of a limiter to a message that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OfferResult {
    /// It leaves now; its last byte is out at this time.
    Leaves(Time),
    /// It waits, and the displaced messages no longer do.
    Waits(Displaced<LinkMessage>),
    /// The queue has no room for it.
    Refused,
}

/// The result for a message that displaced no other.
const NOTHING: Displaced<LinkMessage> = Displaced { replaced: None, dropped: Vec::new() };

/// The rate of one direction, and the messages that wait for it.
#[derive(Debug)]
pub(crate) struct LinkRateLimiter {
    rate: NonZeroU64,
    overhead: usize,
    /// The remainder of rounding to whole microseconds, in bytes × 10^-6, so that the rate of a long queue is
    /// exact.
    carry: u128,
    leaving: Option<LinkMessage>,
    /// The time at which the last byte of `leaving` is out.
    leaves_at: Time,
    waiting: LinkQueue<LinkMessage>,
}

impl LinkRateLimiter {
    pub(crate) fn new(rate: NonZeroU64, profile: Profile) -> Self {
        let waiting = LinkQueue::new(profile.queue_limit);
        Self { rate, overhead: profile.overhead, carry: 0, leaving: None, leaves_at: Time::ZERO, waiting }
    }

    /// Sets another rate from now on. Returns the time at which the message that is leaving is out, if that is sooner
    /// than before; a slower rate does not delay it, since some of its bytes are out already.
    pub(crate) fn reshape(&mut self, now: Time, rate: NonZeroU64, profile: Profile) -> Option<Time> {
        // The remainder was counted at the old rate, and is less than a microsecond's worth.
        (self.rate, self.overhead, self.carry) = (rate, profile.overhead, 0);
        self.set_limit(profile.queue_limit);
        let sooner = now + self.span(self.leaving?);
        // Slower or equal: the departure in the event queue stays as it is.
        if self.leaves_at <= sooner {
            return None;
        }
        self.leaves_at = sooner;
        Some(sooner)
    }

    /// Sets the limit of the queue. Messages that wait already were promised room, and stay whatever the limit. They
    /// are counted with the new overhead.
    fn set_limit(&mut self, limit: usize) {
        // Without a limit while refilling, so that no waiting message is dropped.
        let mut old = std::mem::replace(&mut self.waiting, LinkQueue::new(usize::MAX));
        while let Some(message) = old.pop() {
            self.push(message);
        }
        self.waiting.set_limit(limit);
    }

    /// True if the message that is leaving is out by now. False for the stale departure of a message that a faster
    /// rate sent off sooner.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.leaving.is_some() && self.leaves_at <= now
    }

    /// Takes a message, if there is room.
    pub(crate) fn offer(&mut self, now: Time, message: LinkMessage) -> OfferResult {
        if self.leaving.is_none() {
            return OfferResult::Leaves(self.start(now, message));
        }
        self.push(message)
    }

    fn push(&mut self, message: LinkMessage) -> OfferResult {
        let bytes = message.bytes.saturating_add(self.overhead);
        let queued = match message.lane {
            Lane::Sure => self.waiting.push_sure(bytes, message).map(|()| NOTHING),
            Lane::Latest(key) => self.waiting.push_latest(key, bytes, message),
        };
        queued.map_or_else(|Full(_)| OfferResult::Refused, OfferResult::Waits)
    }

    /// The message whose last byte just left, and when the next one is out, if there is one.
    pub(crate) fn depart(&mut self, now: Time) -> (Option<LinkMessage>, Option<Time>) {
        let departed = self.leaving.take();
        let next = self.waiting.pop().map(|message| self.start(now, message));
        (departed, next)
    }

    /// Takes out the oldest message, whether it left or not.
    pub(crate) fn pop(&mut self) -> Option<LinkMessage> {
        self.leaving.take().or_else(|| self.waiting.pop())
    }

    fn start(&mut self, now: Time, message: LinkMessage) -> Time {
        self.leaving = Some(message);
        self.leaves_at = now + self.span(message);
        self.leaves_at
    }

    /// The time that a message takes to leave.
    fn span(&mut self, message: LinkMessage) -> Span {
        let rate = u128::from(self.rate.get());
        let due = (message.bytes.saturating_add(self.overhead) as u128) * 1_000_000 + self.carry;
        // Carried over to the next message: otherwise rounding down would make the link too fast.
        self.carry = due % rate;
        Span::from_micros(u64::try_from(due / rate).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffers::Buffers;
    use machine::LatestKey;

    const KEY: Lane = Lane::Latest(LatestKey(0));

    fn message(bytes: usize, lane: Lane) -> LinkMessage {
        LinkMessage { buffer: Buffers::new().fill(lane, |_| ()), bytes, lane }
    }

    #[test]
    fn rounding_does_not_add_up() {
        // 7 bytes at 3 bytes per second: 2 333 333.3 µs each, 7 s for three.
        let mut limiter = LinkRateLimiter::new(NonZeroU64::new(3).unwrap(), Profile::new(Span::ZERO));
        let OfferResult::Leaves(mut out) = limiter.offer(Time::ZERO, message(7, Lane::Sure)) else {
            panic!("idle")
        };
        for _ in 0..2 {
            assert_eq!(limiter.offer(out, message(7, Lane::Sure)), OfferResult::Waits(NOTHING));
            let (departed, next) = limiter.depart(out);
            assert_eq!(departed.map(|it| it.bytes), Some(7));
            out = next.unwrap();
        }
        assert_eq!(out, Time::from_millis(7_000));
        assert_eq!(limiter.depart(out).1, None);
    }

    #[test]
    fn waiting_messages_stay_whatever_the_new_profile() {
        let rate = NonZeroU64::MIN;
        let mut limiter = LinkRateLimiter::new(rate, Profile::new(Span::ZERO).with_queue_limit(100));
        for _ in 0..11 {
            assert_ne!(limiter.offer(Time::ZERO, message(10, Lane::Sure)), OfferResult::Refused);
        }
        limiter.reshape(Time::ZERO, rate, Profile::new(Span::ZERO).with_queue_limit(50).with_overhead(28));
        assert_eq!(
            limiter.offer(Time::ZERO, message(0, Lane::Sure)),
            OfferResult::Refused,
            "there is no room left"
        );
        let left = std::iter::from_fn(|| limiter.pop()).count();
        assert_eq!(left, 11);
    }

    #[test]
    fn overhead_counts_against_the_limit() {
        let profile = Profile::new(Span::ZERO).with_queue_limit(20).with_overhead(8);
        let mut limiter = LinkRateLimiter::new(NonZeroU64::MIN, profile);
        assert!(matches!(limiter.offer(Time::ZERO, message(100, KEY)), OfferResult::Leaves(_)));
        assert_eq!(limiter.offer(Time::ZERO, message(10, KEY)), OfferResult::Waits(NOTHING));
        let replaced = Displaced { replaced: Some(message(10, KEY)), ..NOTHING };
        assert_eq!(limiter.offer(Time::ZERO, message(12, KEY)), OfferResult::Waits(replaced));
        assert_eq!(limiter.offer(Time::ZERO, message(0, Lane::Sure)), OfferResult::Refused);
    }

    #[test]
    fn a_lower_limit_counts_once_there_is_room_again() {
        let (rate, profile) = (NonZeroU64::MIN, Profile::new(Span::ZERO));
        let mut limiter = LinkRateLimiter::new(rate, profile.with_queue_limit(100));
        assert!(matches!(limiter.offer(Time::ZERO, message(10, Lane::Sure)), OfferResult::Leaves(_)));
        assert_eq!(limiter.offer(Time::ZERO, message(80, Lane::Sure)), OfferResult::Waits(NOTHING));
        assert_eq!(limiter.offer(Time::ZERO, message(20, KEY)), OfferResult::Waits(NOTHING));
        limiter.reshape(Time::ZERO, rate, profile.with_queue_limit(30));
        let replaced = Displaced { replaced: Some(message(20, KEY)), ..NOTHING };
        assert_eq!(limiter.offer(Time::ZERO, message(20, KEY)), OfferResult::Waits(replaced));
        limiter.depart(Time::ZERO);
        assert_eq!(limiter.offer(Time::ZERO, message(10, Lane::Sure)), OfferResult::Waits(NOTHING));
        assert_eq!(limiter.offer(Time::ZERO, message(1, Lane::Sure)), OfferResult::Refused);
    }
}
