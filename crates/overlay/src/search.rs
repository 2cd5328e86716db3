//! Searches for a position: each peer forwards one to its neighbour nearest to the position, until none is nearer than
//! itself.
//!
//! A peer that is in searches for its own position now and then. If the search returns to it, the peers around it know
//! it; otherwise the peer that answers names its neighbours.

use crate::broken;
use crate::config::HOPS_MAX;
use crate::context::{PeerContext, PeerTimer};
use crate::info::Info;
use crate::msg::{OverlayMsg, SearchPurpose};
use crate::neighbours::{NeighbourState, Neighbours};
use crate::rule::OverlayRule;
use machine::{Address, Span};
use space::Position;

/// Number of searches in a row that returned after which a peer searches less often.
const QUIET_SEARCHES: u32 = 3;

/// Factor by which it then searches less often.
const LESS_OFTEN: u64 = 6;

/// A peer with fewer neighbours than this searches for itself after [`SOON`].
const FEW_NEIGHBOURS: usize = 3;
const SOON: Span = Span::from_secs(1);

/// Begins a search for the local peer's position; the rendezvous sends it off from a random peer.
pub(crate) fn search(purpose: SearchPurpose, me: &Info, ctx: &mut PeerContext) {
    let credential = ctx.credential_of(me);
    let seek = OverlayMsg::Seek { who: *me, purpose, hops: HOPS_MAX, credential };
    ctx.send_sure(ctx.rendezvous(), seek);
}

/// The neighbour nearest to a position, if it is nearer than the local peer. Only trusted neighbours that are in count.
pub(crate) fn nearer(
    neighbours: &Neighbours,
    place: Position,
    except: Option<Address>,
    ctx: &PeerContext,
) -> Option<Address> {
    let here = neighbours.local().position().distance_squared(place);
    let may = |it: &(Address, &NeighbourState)| {
        !it.1.link.is_joining() && Some(it.0) != except && neighbours.trusts(it.0, ctx)
    };
    let away = |it: &(Address, &NeighbourState)| it.1.info().position.distance_squared(place);
    let among = if ctx.enforces(OverlayRule::SearchNearest) { usize::MAX } else { broken::SEARCHED };
    let nearest = neighbours.iter().filter(may).take(among).min_by_key(|it| (away(it), it.0))?;
    (away(&nearest) < here).then_some(nearest.0)
}

/// The peer's searches for itself.
#[derive(Default)]
pub(crate) struct SelfLookup {
    /// Number of searches in a row that returned.
    quiet: u32,
    /// True if a search is under way.
    looking: bool,
}

impl SelfLookup {
    /// Sets the first timer, at a random moment, so that peers do not search in step.
    pub fn start(&self, ctx: &mut PeerContext) {
        if let Some(every) = ctx.config().self_lookup {
            let first = ctx.some_of(every);
            ctx.wake_after(PeerTimer::Lookup, first);
        }
    }

    /// Searches for the local peer, and again soon if no answer arrives.
    pub fn look_up(&mut self, purpose: SearchPurpose, me: &Info, ctx: &mut PeerContext) {
        let Some(every) = ctx.config().self_lookup else { return };
        if std::mem::replace(&mut self.looking, true) {
            self.quiet = 0; // The last search got lost: something may be wrong.
        }
        // Half the interval: if the search gets lost, the next one comes sooner.
        next_after(Span::from_micros(every.as_micros() / 2), ctx);
        search(purpose, me, ctx);
    }

    /// Called when a search returned: the peers around know the local peer.
    pub fn search_returned(&mut self, purpose: SearchPurpose, ctx: &mut PeerContext) {
        if purpose != SearchPurpose::Check || !std::mem::take(&mut self.looking) {
            return;
        }
        self.quiet = self.quiet.saturating_add(1);
        if let Some(every) = ctx.config().self_lookup {
            next_after(if QUIET_SEARCHES <= self.quiet { every.times(LESS_OFTEN) } else { every }, ctx);
        }
    }

    /// Called when another peer answered: the peers around did not know the local one. Returns whether there was a
    /// search.
    #[must_use]
    pub fn search_answered(&mut self, ctx: &mut PeerContext) -> bool {
        if ctx.config().handshake && !std::mem::take(&mut self.looking) {
            return false;
        }
        self.quiet = 0;
        if let Some(every) = ctx.config().self_lookup {
            next_after(every, ctx);
        }
        true
    }

    /// Moves the next search forward if the local peer has hardly any neighbours left.
    pub fn search_soon_if_few(&self, neighbours: &Neighbours, ctx: &mut PeerContext) {
        let soon = ctx.now() + SOON;
        if neighbours.len() < FEW_NEIGHBOURS && ctx.timer(PeerTimer::Lookup).is_some_and(|at| soon < at) {
            ctx.wake_after(PeerTimer::Lookup, SOON);
        }
    }
}

/// Sets the next search to about this span from now: 80 to 120 %, so that peers do not search in step.
fn next_after(about: Span, ctx: &mut PeerContext) {
    let early = ctx.some_of(Span::from_micros(about.as_micros() * 2 / 5));
    ctx.wake_after(PeerTimer::Lookup, Span::from_micros(about.as_micros() * 4 / 5) + early);
}
