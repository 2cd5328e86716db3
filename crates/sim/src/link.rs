//! One direction of a link: what chance, rate and faults do to the messages on it.
//!
//! The model. A message first *leaves*: at once, or, with a rate, when the bytes before it and its own
//! have left. Then it *flies* for the delay plus jitter.
//! - `Latest`: lost with the profile's probability; jitter may change the order. While it waits to
//!   leave, a newer one with its key takes its place. A full queue drops the oldest `Latest` messages for it, and
//!   refuses it only if `Sure` ones take up the room. With quirks it may be much later than the rest, or arrive
//!   twice.
//! - `Sure`: a lost try costs one round trip (there with jitter, back without), after which the message
//!   is tried again. It never arrives before an earlier `Sure` message, so one loss holds up those
//!   behind it, as in a real stream. Retries take none of the rate. After [`SURE_TRIES_MAX`] lost tries, or
//!   when a full queue refuses a `Sure` message, the link can no longer keep its promise and is cut.
//!
//! A direction can also be cut without a word: see [`crate::outage`].
//!
//! These modules decide fates and keep count. They never touch bytes or the event queue.
//!
//! [`SURE_TRIES_MAX`]: crate::config::SURE_TRIES_MAX

use crate::buffers::BufferId;
use crate::counters::Counters;
use crate::flight::Flight;
use crate::outage::Outage;
use crate::outlet::Outlet;
use crate::profile::{Profile, Quirks};
use machine::{Lane, Rng, Span};
use std::mem::offset_of;

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
    /// Of links up to this number the machine at the sending end hears nothing: they were its predecessor's, or
    /// came without a word.
    pub(crate) forgotten: u32,
    /// How often this way was cut without a word, wrapping. A `Latest` message whose flight began in another
    /// era met such a cut on its way. Nothing flies for 65 536 cuts.
    pub(crate) era: u16,
    /// Whether the newest link lives.
    pub(crate) up: bool,
    /// Whether the sending end crashed during the newest link: nothing is tried again.
    pub(crate) orphaned: bool,
    pub(crate) extra: Option<Box<Extra>>,
    pub(crate) counters: Counters,
}

const _: () = assert!(size_of::<Flight>() == 64);
const _: () = assert!(offset_of!(Way, counters) + offset_of!(Counters, garbled) <= 128);

/// What most links of an experiment do without.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    /// Only with a rate.
    pub(crate) outlet: Option<Outlet>,
    pub(crate) quirks: Quirks,
    /// From a cut without a word until what it held back has arrived.
    pub(crate) outage: Option<Outage>,
}

impl Extra {
    fn of(profile: Profile) -> Option<Box<Self>> {
        let Profile { rate, quirks, .. } = profile;
        let outlet = rate.map(|rate| Outlet::new(rate, profile));
        let needed = outlet.is_some() || quirks != Quirks::NONE;
        needed.then(|| Box::new(Self { outlet, quirks, outage: None }))
    }
}

impl Way {
    /// A way that has no link yet.
    pub(crate) fn new(from: u32, to: u32, rng: Rng) -> Self {
        Self {
            flight: Flight::new(Profile::new(Span::ZERO), rng),
            from,
            to,
            link: 0,
            heard: 0,
            forgotten: 0,
            era: 0,
            up: false,
            orphaned: false,
            extra: None,
            counters: Counters::default(),
        }
    }

    /// A new link, like `profile`. Chance goes on where it was.
    pub(crate) fn open(&mut self, profile: Profile) {
        self.link += 1;
        self.up = true;
        self.orphaned = false;
        self.flight = self.flight.anew(profile);
        self.extra = Extra::of(profile);
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

    /// Whether no cut touched a flight that began in `era` and ends now.
    pub(crate) fn was_clear_since(&self, era: u16) -> bool {
        self.era == era && self.outage().is_none()
    }

    pub(crate) fn outage(&self) -> Option<&Outage> {
        self.extra.as_ref()?.outage.as_ref()
    }

    pub(crate) fn outage_mut(&mut self) -> Option<&mut Outage> {
        self.extra.as_mut()?.outage.as_mut()
    }

    pub(crate) fn extra_mut(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }
}
