//! One direction between two hosts: how chance, rate and faults treat the messages on it.
//!
//! The model. A message first *leaves*: at once, or, with a rate, when the bytes before it and its own
//! have left. Then it *flies* for the delay plus jitter.
//! - `Latest`: lost with the profile's probability; jitter may change the order. While it waits to
//!   leave, a newer one with its key takes its place. A full queue drops the oldest `Latest` messages for it, and
//!   refuses it only if `Sure` ones take up the room. With `LatestFaults` it may be much later than the rest, or arrive
//!   twice.
//! - `Sure`: a lost try costs one round trip (there with jitter, back without), after which the message
//!   is tried again. It never arrives before an earlier `Sure` message, so one loss holds up those
//!   behind it, as in a real stream. Retries take none of the rate. After [`SURE_TRIES_MAX`] lost tries, or
//!   when a full queue refuses a `Sure` message, the link can no longer keep its promise and is cut.
//!
//! A direction can also be cut silently, without `LinkDown` at either end: see [`crate::outage`].
//!
//! These modules decide how messages end, and count them. They never touch bytes or the event queue.
//!
//! [`SURE_TRIES_MAX`]: crate::config::SURE_TRIES_MAX

use crate::buffers::BufferId;
use crate::counters::Counters;
use crate::delay_model::DelayModel;
use crate::link_rate_limiter::LinkRateLimiter;
use crate::outage::Outage;
use crate::profile::{LatestFaults, Profile};
use machine::{Lane, Rng, Span};
use std::mem::offset_of;

/// A message on a link. It is a holder of its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkMessage {
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
pub(crate) struct Direction {
    pub(crate) delay_model: DelayModel,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// The number of the newest link; the first is 1.
    pub(crate) link: u32,
    /// The link for which the sending machine last got `LinkUp`; 0 before the first. `LinkDown` need not
    /// clear it: that link never comes up again.
    pub(crate) known_link: u32,
    /// The sending machine gets no news of links up to this number: they belonged to the machine before it, or
    /// an open network made them.
    pub(crate) forgotten: u32,
    /// The number of silent cuts of this direction, wrapping. A `Latest` message that left in another
    /// era met such a cut on its way. No message is in flight for 65 536 cuts.
    pub(crate) era: u16,
    /// True while the newest link is up.
    pub(crate) up: bool,
    /// True if the sending machine crashed during the newest link: lost messages are not tried again.
    pub(crate) orphaned: bool,
    pub(crate) extras: Option<Box<DirectionExtras>>,
    pub(crate) counters: Counters,
}

const _: () = assert!(size_of::<DelayModel>() == 64);
const _: () = assert!(offset_of!(Direction, counters) + offset_of!(Counters, garbled) <= 128);

/// The parts that most links of an experiment do without, boxed to keep [`Direction`] small.
#[derive(Debug, Default)]
pub(crate) struct DirectionExtras {
    /// `None` if the link has no rate.
    pub(crate) limiter: Option<LinkRateLimiter>,
    pub(crate) latest_faults: LatestFaults,
    /// Lasts from a silent cut until the messages that it held have arrived.
    pub(crate) outage: Option<Outage>,
}

impl DirectionExtras {
    fn of(profile: Profile) -> Option<Box<Self>> {
        let Profile { rate, latest_faults, .. } = profile;
        let limiter = rate.map(|rate| LinkRateLimiter::new(rate, profile));
        let needed = limiter.is_some() || latest_faults != LatestFaults::NONE;
        needed.then(|| Box::new(Self { limiter, latest_faults, outage: None }))
    }
}

impl Direction {
    /// A direction that has no link yet.
    pub(crate) fn new(from: u32, to: u32, rng: Rng) -> Self {
        Self {
            delay_model: DelayModel::new(Profile::new(Span::ZERO), rng),
            from,
            to,
            link: 0,
            known_link: 0,
            forgotten: 0,
            era: 0,
            up: false,
            orphaned: false,
            extras: None,
            counters: Counters::default(),
        }
    }

    /// Starts a new link with this profile. The stream of draws goes on where it was.
    pub(crate) fn open(&mut self, profile: Profile) {
        // Entries of older links are recognised by their number.
        self.link += 1;
        self.up = true;
        self.orphaned = false;
        // Continues the stream of draws: two links in a row must not draw the same numbers.
        self.delay_model = self.delay_model.anew(profile);
        self.extras = DirectionExtras::of(profile);
    }

    /// True if the sending machine can send: it got `LinkUp` for the link that is up. Links come and go before their
    /// ends hear of it, and a machine must not send over a link that it does not know.
    pub(crate) const fn can_send(&self) -> bool {
        self.carries(self.known_link)
    }

    /// True if the link with this number is the one that is up.
    pub(crate) const fn carries(&self, link: u32) -> bool {
        self.up && self.link == link
    }

    /// True if no silent cut met a message that left in `era` and arrives now.
    pub(crate) fn was_clear_since(&self, era: u16) -> bool {
        self.era == era && self.outage().is_none()
    }

    pub(crate) fn outage(&self) -> Option<&Outage> {
        self.extras.as_ref()?.outage.as_ref()
    }

    pub(crate) fn outage_mut(&mut self) -> Option<&mut Outage> {
        self.extras.as_mut()?.outage.as_mut()
    }

    pub(crate) fn extras_mut(&mut self) -> &mut DirectionExtras {
        self.extras.get_or_insert_default()
    }
}
