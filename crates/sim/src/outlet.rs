//! The part of a link that has a rate: one message leaves at a time, others wait.

use crate::link::Parcel;
use crate::profile::Profile;
use machine::queue::{Displaced, Full, LinkQueue};
use machine::{Lane, Span, Time};
use std::num::NonZeroU64;

/// What an outlet did with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    /// It leaves now; its last byte is out at this time.
    Leaves(Time),
    /// It waits, and these no longer do.
    Waits(Displaced<Parcel>),
    /// There is no room.
    Refused,
}

/// Nothing made way.
const NOTHING: Displaced<Parcel> = Displaced { replaced: None, dropped: Vec::new() };

/// The queue and the rate.
#[derive(Debug)]
pub(crate) struct Outlet {
    rate: NonZeroU64,
    overhead: usize,
    /// What rounding to whole microseconds kept back, in bytes × 10^-6, so that the rate of a long queue is
    /// exact.
    carry: u128,
    leaving: Option<Parcel>,
    /// When the last byte of what is leaving is out.
    leaves_at: Time,
    waiting: LinkQueue<Parcel>,
}

impl Outlet {
    pub(crate) fn new(rate: NonZeroU64, profile: Profile) -> Self {
        let waiting = LinkQueue::new(profile.queue_limit);
        Self { rate, overhead: profile.overhead, carry: 0, leaving: None, leaves_at: Time::ZERO, waiting }
    }

    /// Another rate from now on. Says when the message that is leaving is out, if that is sooner than before;
    /// a slower rate does not call back the bytes of it that are out already.
    pub(crate) fn reshape(&mut self, now: Time, rate: NonZeroU64, profile: Profile) -> Option<Time> {
        (self.rate, self.overhead, self.carry) = (rate, profile.overhead, 0);
        self.set_limit(profile.queue_limit);
        let sooner = now + self.span(self.leaving?);
        if self.leaves_at <= sooner {
            return None;
        }
        self.leaves_at = sooner;
        Some(sooner)
    }

    /// What waits already was promised room, and stays whatever the limit. It is counted with the new overhead.
    fn set_limit(&mut self, limit: usize) {
        let mut old = std::mem::replace(&mut self.waiting, LinkQueue::new(usize::MAX));
        while let Some(parcel) = old.pop() {
            self.push(parcel);
        }
        self.waiting.set_limit(limit);
    }

    /// Whether the message that is leaving is out by now. Not so if another rate hurried it and this is its
    /// old time.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.leaving.is_some() && self.leaves_at <= now
    }

    /// Takes a message, if there is room.
    pub(crate) fn offer(&mut self, now: Time, parcel: Parcel) -> Offered {
        if self.leaving.is_none() {
            return Offered::Leaves(self.start(now, parcel));
        }
        self.push(parcel)
    }

    fn push(&mut self, parcel: Parcel) -> Offered {
        let bytes = parcel.bytes.saturating_add(self.overhead);
        let queued = match parcel.lane {
            Lane::Sure => self.waiting.push_sure(bytes, parcel).map(|()| NOTHING),
            Lane::Latest(key) => self.waiting.push_latest(key, bytes, parcel),
        };
        queued.map_or_else(|Full(_)| Offered::Refused, Offered::Waits)
    }

    /// The message whose last byte just left, and when the next one is out, if there is one.
    pub(crate) fn depart(&mut self, now: Time) -> (Option<Parcel>, Option<Time>) {
        let departed = self.leaving.take();
        let next = self.waiting.pop().map(|parcel| self.start(now, parcel));
        (departed, next)
    }

    /// Takes out the oldest message, whether it left or not.
    pub(crate) fn pop(&mut self) -> Option<Parcel> {
        self.leaving.take().or_else(|| self.waiting.pop())
    }

    fn start(&mut self, now: Time, parcel: Parcel) -> Time {
        self.leaving = Some(parcel);
        self.leaves_at = now + self.span(parcel);
        self.leaves_at
    }

    /// How long a message takes to leave.
    fn span(&mut self, parcel: Parcel) -> Span {
        let rate = u128::from(self.rate.get());
        let due = (parcel.bytes.saturating_add(self.overhead) as u128) * 1_000_000 + self.carry;
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

    fn parcel(bytes: usize, lane: Lane) -> Parcel {
        Parcel { buffer: Buffers::new().fill(lane, |_| ()), bytes, lane }
    }

    #[test]
    fn rounding_does_not_add_up() {
        // 7 bytes at 3 bytes per second: 2 333 333.3 µs each, 7 s for three.
        let mut outlet = Outlet::new(NonZeroU64::new(3).unwrap(), Profile::new(Span::ZERO));
        let Offered::Leaves(mut out) = outlet.offer(Time::ZERO, parcel(7, Lane::Sure)) else {
            panic!("idle")
        };
        for _ in 0..2 {
            assert_eq!(outlet.offer(out, parcel(7, Lane::Sure)), Offered::Waits(NOTHING));
            let (departed, next) = outlet.depart(out);
            assert_eq!(departed.map(|it| it.bytes), Some(7));
            out = next.unwrap();
        }
        assert_eq!(out, Time::from_millis(7_000));
        assert_eq!(outlet.depart(out).1, None);
    }

    #[test]
    fn what_waits_stays_whatever_the_new_profile() {
        let rate = NonZeroU64::MIN;
        let mut outlet = Outlet::new(rate, Profile::new(Span::ZERO).with_queue_limit(100));
        for _ in 0..11 {
            assert_ne!(outlet.offer(Time::ZERO, parcel(10, Lane::Sure)), Offered::Refused);
        }
        outlet.reshape(Time::ZERO, rate, Profile::new(Span::ZERO).with_queue_limit(50).with_overhead(28));
        assert_eq!(
            outlet.offer(Time::ZERO, parcel(0, Lane::Sure)),
            Offered::Refused,
            "there is no room left"
        );
        let left = std::iter::from_fn(|| outlet.pop()).count();
        assert_eq!(left, 11);
    }

    #[test]
    fn overhead_counts_against_the_limit() {
        let profile = Profile::new(Span::ZERO).with_queue_limit(20).with_overhead(8);
        let mut outlet = Outlet::new(NonZeroU64::MIN, profile);
        assert!(matches!(outlet.offer(Time::ZERO, parcel(100, KEY)), Offered::Leaves(_)));
        assert_eq!(outlet.offer(Time::ZERO, parcel(10, KEY)), Offered::Waits(NOTHING));
        let replaced = Displaced { replaced: Some(parcel(10, KEY)), ..NOTHING };
        assert_eq!(outlet.offer(Time::ZERO, parcel(12, KEY)), Offered::Waits(replaced));
        assert_eq!(outlet.offer(Time::ZERO, parcel(0, Lane::Sure)), Offered::Refused);
    }

    #[test]
    fn a_lower_limit_counts_once_there_is_room_again() {
        let (rate, profile) = (NonZeroU64::MIN, Profile::new(Span::ZERO));
        let mut outlet = Outlet::new(rate, profile.with_queue_limit(100));
        assert!(matches!(outlet.offer(Time::ZERO, parcel(10, Lane::Sure)), Offered::Leaves(_)));
        assert_eq!(outlet.offer(Time::ZERO, parcel(80, Lane::Sure)), Offered::Waits(NOTHING));
        assert_eq!(outlet.offer(Time::ZERO, parcel(20, KEY)), Offered::Waits(NOTHING));
        outlet.reshape(Time::ZERO, rate, profile.with_queue_limit(30));
        let replaced = Displaced { replaced: Some(parcel(20, KEY)), ..NOTHING };
        assert_eq!(outlet.offer(Time::ZERO, parcel(20, KEY)), Offered::Waits(replaced));
        outlet.depart(Time::ZERO);
        assert_eq!(outlet.offer(Time::ZERO, parcel(10, Lane::Sure)), Offered::Waits(NOTHING));
        assert_eq!(outlet.offer(Time::ZERO, parcel(1, Lane::Sure)), Offered::Refused);
    }
}
