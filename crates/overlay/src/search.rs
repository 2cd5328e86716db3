//! Searches for a place: each peer hands one on to the nearest neighbour, until none is nearer than itself.
//!
//! A peer that is in searches for itself now and then. If the search comes home, the peers around it know it; if not, the
//! peer that answers tells it of its neighbours.

use crate::broken;
use crate::config::HOPS_MAX;
use crate::ctx::{Ctx, Purpose};
use crate::info::Info;
use crate::msg::{Msg, Search};
use crate::neighbours::{Entry, Neighbours};
use crate::rule::Rule;
use machine::{Address, Span};
use space::Position;

/// After so many searches in a row that found everything as it should be, a peer searches less often.
const QUIET: u32 = 3;

/// How many times less often.
const LESS_OFTEN: u64 = 6;

/// A peer that knows fewer searches for itself after so long.
const LONELY: usize = 3;
const SOON: Span = Span::from_secs(1);

/// Begins a search for the local peer, from anywhere.
pub(crate) fn search(purpose: Search, me: &Info, ctx: &mut Ctx) {
    let credential = ctx.credential_of(me);
    let seek = Msg::Seek { who: *me, purpose, hops: HOPS_MAX, credential };
    ctx.send_sure(ctx.rendezvous(), seek);
}

/// The neighbour that is nearest to a place, if it is nearer than we are; of those that are in.
pub(crate) fn nearer(
    neighbours: &Neighbours,
    place: Position,
    except: Option<Address>,
    ctx: &Ctx,
) -> Option<Address> {
    let here = neighbours.local().position().distance_squared(place);
    let may = |it: &(Address, &Entry)| {
        !it.1.link.is_joining() && Some(it.0) != except && neighbours.trusts(it.0, ctx)
    };
    let away = |it: &(Address, &Entry)| it.1.info().position.distance_squared(place);
    let among = if ctx.enforces(Rule::SearchNearest) { usize::MAX } else { broken::SEARCHED };
    let nearest = neighbours.iter().filter(may).take(among).min_by_key(|it| (away(it), it.0))?;
    (away(&nearest) < here).then_some(nearest.0)
}

/// The peer's searches for itself.
#[derive(Default)]
pub(crate) struct SelfLookup {
    /// How many searches in a row found everything as it should be.
    quiet: u32,
    /// Whether one is under way.
    looking: bool,
}

impl SelfLookup {
    /// Sets the first timer, at a random moment.
    pub fn start(&self, ctx: &mut Ctx) {
        if let Some(every) = ctx.config().self_lookup {
            let first = ctx.some_of(every);
            ctx.wake_after(Purpose::Lookup, first);
        }
    }

    /// Searches for the local peer; and again soon, if there is no answer.
    pub fn look_up(&mut self, purpose: Search, me: &Info, ctx: &mut Ctx) {
        let Some(every) = ctx.config().self_lookup else { return };
        if std::mem::replace(&mut self.looking, true) {
            self.quiet = 0; // The last search got lost: something may be wrong.
        }
        next_after(Span::from_micros(every.as_micros() / 2), ctx);
        search(purpose, me, ctx);
    }

    /// The search came home: the peers around know us.
    pub fn came_home(&mut self, purpose: Search, ctx: &mut Ctx) {
        if purpose != Search::Check || !std::mem::take(&mut self.looking) {
            return;
        }
        self.quiet = self.quiet.saturating_add(1);
        if let Some(every) = ctx.config().self_lookup {
            next_after(if QUIET <= self.quiet { every.times(LESS_OFTEN) } else { every }, ctx);
        }
    }

    /// The search was answered: the peers around did not know us. Whether there was a search at all.
    #[must_use]
    pub fn was_answered(&mut self, ctx: &mut Ctx) -> bool {
        if ctx.config().handshake && !std::mem::take(&mut self.looking) {
            return false;
        }
        self.quiet = 0;
        if let Some(every) = ctx.config().self_lookup {
            next_after(every, ctx);
        }
        true
    }

    /// A peer that knows hardly any other searches for itself soon.
    pub fn hurry_if_lonely(&self, neighbours: &Neighbours, ctx: &mut Ctx) {
        let soon = ctx.now() + SOON;
        if neighbours.len() < LONELY && ctx.timer(Purpose::Lookup).is_some_and(|at| soon < at) {
            ctx.wake_after(Purpose::Lookup, SOON);
        }
    }
}

/// The next search comes after about this.
fn next_after(about: Span, ctx: &mut Ctx) {
    let early = ctx.some_of(Span::from_micros(about.as_micros() * 2 / 5));
    ctx.wake_after(Purpose::Lookup, Span::from_micros(about.as_micros() * 4 / 5) + early);
}
