//! One direction of a link: what chance and rate do to the messages on it.
//!
//! The model. A message first *leaves*: at once, or, with a rate, when the bytes before it and its own
//! have left. Then it *flies* for the delay plus jitter.
//! - `Latest`: lost with the profile's probability; jitter may change the order. While it waits to
//!   leave, a newer one with its key takes its place. A full queue refuses it.
//! - `Sure`: a lost try costs one round trip (there with jitter, back without), after which the message
//!   is tried again. It never arrives before an earlier `Sure` message, so one loss holds up those
//!   behind it, as in a real stream. Retries take none of the rate. After
//!   [`SURE_TRIES_MAX`] lost tries, or when a full queue refuses a `Sure` message, the link can no longer
//!   keep its promise and is cut.
//!
//! This module decides fates and keeps count. It never touches bytes or the event queue.

use crate::buffers::BufferId;
use crate::config::SURE_TRIES_MAX;
use crate::profile::Profile;
use machine::queue::{Full, LinkQueue, Queued};
use machine::{Lane, Rng, Span, Time};
use std::mem::offset_of;
use std::num::NonZeroU64;

/// Messages, and the bytes in them without overhead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many messages.
    pub messages: u64,
    /// How many bytes they encode to.
    pub bytes: u64,
}

impl Tally {
    pub(crate) const fn add(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
    }
}

/// What became of the messages from one address to another, over all their links.
///
/// Every message sent is in exactly one of the others (`resent` aside), or still on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)] // What changes with every message stands first: see `Way`.
pub struct Counters {
    /// Handed to the link by its machine.
    pub sent: Tally,
    /// Arrived, decoded and handed to the other machine.
    pub delivered: Tally,
    /// Arrived, but did not decode.
    pub garbled: Tally,
    /// Lost by chance, or on the way when the link was cut.
    pub lost: Tally,
    /// Replaced by a newer `Latest` message before they left.
    pub replaced: Tally,
    /// Refused because the queue was full.
    pub refused: Tally,
    /// Lost tries of `Sure` messages that are tried until they get through. Counted when a message
    /// leaves, so also if its link is cut before it arrives.
    pub resent: Tally,
}

/// How a message ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Delivered,
    Garbled,
    Lost,
    Replaced,
    Refused,
}

impl Counters {
    pub(crate) const fn count(&mut self, end: End, bytes: usize) {
        let tally = match end {
            End::Delivered => &mut self.delivered,
            End::Garbled => &mut self.garbled,
            End::Lost => &mut self.lost,
            End::Replaced => &mut self.replaced,
            End::Refused => &mut self.refused,
        };
        tally.add(bytes);
    }
}

/// A message on a link. Holds its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parcel {
    pub(crate) buffer: BufferId,
    pub(crate) bytes: usize,
    pub(crate) lane: Lane,
}

/// One direction between two addresses, over all their links.
///
/// Laid out by cache lines, because a large experiment waits for memory more than for anything else:
/// sending touches the first two, arriving only the second.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Way {
    pub(crate) flight: Flight,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// The number of the newest link; the first is 1.
    pub(crate) link: u32,
    /// The link that the sending end last heard `LinkUp` for; 0 before the first. `LinkDown` need not
    /// clear it: that link never lives again.
    pub(crate) heard: u32,
    /// Whether the newest link lives.
    pub(crate) up: bool,
    /// Only with a rate: most links of an experiment need no queue.
    pub(crate) outlet: Option<Box<Outlet>>,
    pub(crate) counters: Counters,
}

const _: () = assert!(size_of::<Flight>() == 64);
const _: () = assert!(offset_of!(Way, counters) + offset_of!(Counters, garbled) <= 128);

impl Way {
    /// A way that has no link yet.
    pub(crate) fn new(from: u32, to: u32, rng: Rng) -> Self {
        let flight = Flight::new(Profile::new(Span::ZERO), rng);
        Self { from, to, link: 0, heard: 0, up: false, flight, outlet: None, counters: Counters::default() }
    }

    /// A new link, like `profile`. Chance goes on where it was.
    pub(crate) fn open(&mut self, profile: Profile) {
        self.link += 1;
        self.up = true;
        self.flight = Flight::new(profile, self.flight.rng.clone());
        self.outlet = profile.rate.map(|rate| Box::new(Outlet::new(rate, profile)));
    }

    /// Whether the sending end can send: it heard of the link that lives. Links come and go before their
    /// ends hear of it, and a machine must not send over one that it does not know.
    pub(crate) const fn takes(&self) -> bool {
        self.carries(self.heard)
    }

    /// Whether the link with this number is the one that lives.
    pub(crate) const fn carries(&self, link: u32) -> bool {
        self.up && self.link == link
    }
}

/// What chance decided for a message that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives at `at`, after `retries` lost tries.
    Arrives { at: Time, retries: u32 },
    /// It never arrives.
    Lost,
    /// It was lost too often: the link dies at this time.
    GivenUp(Time),
}

/// The part of a link that messages fly over.
#[derive(Debug)]
pub(crate) struct Flight {
    delay: Span,
    jitter: Span,
    loss: f64,
    rng: Rng,
    /// When the last `Sure` message arrives.
    last_sure: Time,
    /// Whether a `Sure` message was given up: those behind it cannot arrive either.
    broken: bool,
}

impl Flight {
    fn new(profile: Profile, rng: Rng) -> Self {
        let Profile { delay, jitter, loss, .. } = profile;
        Self { delay, jitter, loss, rng, last_sure: Time::ZERO, broken: false }
    }

    /// Decides what becomes of a message that leaves now.
    pub(crate) fn fate(&mut self, now: Time, lane: Lane) -> Fate {
        match lane {
            Lane::Latest(_) if self.loses() => Fate::Lost,
            Lane::Latest(_) => Fate::Arrives { at: now + self.trip(), retries: 0 },
            Lane::Sure if self.broken => Fate::Lost,
            Lane::Sure => self.fate_of_sure(now),
        }
    }

    fn fate_of_sure(&mut self, now: Time) -> Fate {
        let mut left = now;
        for retries in 0..SURE_TRIES_MAX {
            if !self.loses() {
                self.last_sure = self.last_sure.max(left + self.trip());
                return Fate::Arrives { at: self.last_sure, retries };
            }
            left = left + self.trip() + self.delay;
        }
        self.broken = true;
        Fate::GivenUp(left)
    }

    /// Draws only where there is something to draw: certain links cost no chance and little time.
    fn loses(&mut self) -> bool {
        0.0 < self.loss && self.rng.chance(self.loss)
    }

    fn trip(&mut self) -> Span {
        if self.jitter == Span::ZERO {
            return self.delay;
        }
        let choices = self.jitter.as_micros().saturating_add(1);
        self.delay + Span::from_micros(self.rng.below(choices))
    }
}

/// What an outlet did with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    /// It leaves now; its last byte is out after this span.
    Leaves(Span),
    /// It waits.
    Waits,
    /// It waits in the place of this older one.
    Replaces(Parcel),
    /// There is no room.
    Refused,
}

/// The part of a link that has a rate: one message leaves at a time, others wait.
#[derive(Debug)]
pub(crate) struct Outlet {
    rate: NonZeroU64,
    overhead: usize,
    /// What rounding to whole microseconds kept back, in bytes × 10^-6, so that the rate of a long queue is
    /// exact.
    carry: u128,
    leaving: Option<Parcel>,
    waiting: LinkQueue<Parcel>,
}

impl Outlet {
    fn new(rate: NonZeroU64, profile: Profile) -> Self {
        let waiting = LinkQueue::new(profile.queue_limit);
        Self { rate, overhead: profile.overhead, carry: 0, leaving: None, waiting }
    }

    /// Takes a message, if there is room.
    pub(crate) fn offer(&mut self, parcel: Parcel) -> Offered {
        if self.leaving.is_none() {
            return Offered::Leaves(self.start(parcel));
        }
        let bytes = parcel.bytes.saturating_add(self.overhead);
        match parcel.lane {
            Lane::Sure => match self.waiting.push_sure(bytes, parcel) {
                Ok(()) => Offered::Waits,
                Err(Full(_)) => Offered::Refused,
            },
            Lane::Latest(key) => match self.waiting.push_latest(key, bytes, parcel) {
                Queued::Appended => Offered::Waits,
                Queued::Replaced(elder) => Offered::Replaces(elder),
                Queued::Refused(_) => Offered::Refused,
            },
        }
    }

    /// The message whose last byte just left, and how long the next one takes, if there is one.
    pub(crate) fn depart(&mut self) -> (Option<Parcel>, Option<Span>) {
        let departed = self.leaving.take();
        let next = self.waiting.pop().map(|parcel| self.start(parcel));
        (departed, next)
    }

    fn start(&mut self, parcel: Parcel) -> Span {
        self.leaving = Some(parcel);
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

    fn flight(profile: Profile) -> Flight {
        Flight::new(profile, Rng::seeded(1))
    }

    fn parcel(bytes: usize, lane: Lane) -> Parcel {
        Parcel { buffer: Buffers::new().fill(|_| ()), bytes, lane }
    }

    #[test]
    fn a_certain_link_draws_no_chance() {
        let mut flight = flight(Profile::new(Span::from_millis(5)));
        for lane in [KEY, Lane::Sure] {
            let at = Time::from_millis(7);
            assert_eq!(flight.fate(Time::from_millis(2), lane), Fate::Arrives { at, retries: 0 });
        }
        assert_eq!(flight.rng.next_u64(), Rng::seeded(1).next_u64());
    }

    #[test]
    fn a_retry_costs_one_round_trip() {
        let profile = Profile::new(Span::from_millis(10)).with_loss(0.5).unwrap();
        for seed in 0..100 {
            // A new flight each time: nothing earlier holds the message up.
            let mut flight = Flight::new(profile, Rng::seeded(seed));
            let Fate::Arrives { at, retries } = flight.fate(Time::ZERO, Lane::Sure) else {
                panic!("given up")
            };
            assert_eq!(at, Time::from_millis(10 + 20 * u64::from(retries)));
        }
    }

    #[test]
    fn a_retry_has_jitter_too() {
        let profile = Profile::new(Span::from_millis(10)).with_jitter(Span::from_millis(5));
        let profile = profile.with_loss(0.5).unwrap();
        let late = |seed| {
            let mut flight = Flight::new(profile, Rng::seeded(seed));
            let Fate::Arrives { at, retries } = flight.fate(Time::ZERO, Lane::Sure) else {
                panic!("given up")
            };
            let late = at.since(Time::from_millis(10 + 20 * u64::from(retries)));
            assert!(late <= Span::from_millis(5 * (u64::from(retries) + 1)), "{retries} retries: {late:?}");
            late
        };
        // More than one trip's jitter can only have come from several trips.
        assert!((0..100).any(|seed| Span::from_millis(5) < late(seed)));
    }

    #[test]
    fn what_is_always_lost_is_given_up() {
        let mut flight = flight(Profile::new(Span::from_millis(10)).with_loss(1.0).unwrap());
        let died = Time::from_millis(20 * u64::from(SURE_TRIES_MAX));
        assert_eq!(flight.fate(Time::ZERO, Lane::Sure), Fate::GivenUp(died));
        assert_eq!(flight.fate(Time::ZERO, Lane::Sure), Fate::Lost);
    }

    #[test]
    fn rounding_does_not_add_up() {
        // 7 bytes at 3 bytes per second: 2 333 333.3 µs each, 7 s for three.
        let mut outlet = Outlet::new(NonZeroU64::new(3).unwrap(), Profile::new(Span::ZERO));
        let Offered::Leaves(mut total) = outlet.offer(parcel(7, Lane::Sure)) else { panic!("idle") };
        for _ in 0..2 {
            assert_eq!(outlet.offer(parcel(7, Lane::Sure)), Offered::Waits);
            let (departed, next) = outlet.depart();
            assert_eq!(departed.map(|it| it.bytes), Some(7));
            total = total + next.unwrap();
        }
        assert_eq!(total, Span::from_secs(7));
        assert_eq!(outlet.depart().1, None);
    }

    #[test]
    fn overhead_counts_against_the_limit() {
        let profile = Profile::new(Span::ZERO).with_queue_limit(20).with_overhead(8);
        let mut outlet = Outlet::new(NonZeroU64::MIN, profile);
        assert!(matches!(outlet.offer(parcel(100, KEY)), Offered::Leaves(_)));
        assert_eq!(outlet.offer(parcel(10, KEY)), Offered::Waits);
        assert_eq!(outlet.offer(parcel(12, KEY)), Offered::Replaces(parcel(10, KEY)));
        assert_eq!(outlet.offer(parcel(0, Lane::Sure)), Offered::Refused);
    }
}
