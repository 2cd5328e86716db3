//! Behaviour in a crowd: a peer sees less far, and sends its steps less often to distant neighbours.
//!
//! The nearest neighbours are sent every step, and so are those at the edge of the view, which know the peers beyond.
//! The others are sent steps as often as the relevance of A³ says: always up to the critical distance, then ever more
//! rarely up to the end of their view, but at least every third step. When the budget is too small even for that, the
//! neighbours with the greatest urgency come first.
//!
//! In a crowd unasked introductions would mostly repeat what is known. So a peer there asks, with every step, one of
//! its nearest neighbours and one at the edge of its view for the peers that it lacks.

use crate::config::{PeerConfig, SLOWEST};
use crate::context::PeerContext;
use crate::info::Info;
use crate::msg::OverlayMsg;
use crate::neighbours::{NeighbourState, Neighbours, Urgency};
use crate::uplink::HEADERS;
use interest::policies::CircleAttenuated;
use interest::{Policy as _, Slot, SubjectView};
use machine::Address;
use space::{Distance, VoronoiNeighbour};
use std::collections::BTreeSet;

/// Number of nearest neighbours that are sent every step, however large the crowd is.
const NEAREST: usize = 16;

/// Up to this distance a neighbour is sent every step: two peers that run towards each other from there meet within a
/// step.
const CRITICAL: Distance = Distance::of_metres(18);

/// Approximate bytes of a step, headers included.
const STEP: u32 = 24 + HEADERS;

/// Returns whether a neighbour stands at the edge of the view.
pub(crate) fn is_boundary(around: &[VoronoiNeighbour<Address>], address: Address) -> bool {
    around.binary_search_by_key(&address, |it| it.key).is_ok_and(|at| around[at].boundary)
}

/// Asks one of the nearest and one at the edge of the view for the peers that we lack.
pub(crate) fn ask_for_missing(
    neighbours: &Neighbours,
    around: &[VoronoiNeighbour<Address>],
    ctx: &mut PeerContext,
) {
    if !neighbours.is_crowd(ctx) {
        return;
    }
    let here = neighbours.local().position();
    let away = |it: &(Address, &NeighbourState)| it.1.info().position.distance_squared(here);
    let mut near: Vec<(Address, &NeighbourState)> = neighbours.iter().filter(|it| it.1.is_proven()).collect();
    near.sort_by_key(|it| (away(it), it.0));
    near.truncate(NEAREST);
    let edge = around.iter().filter(|it| it.boundary).map(|it| it.key);
    let edge: Vec<Address> = edge.filter(|&it| neighbours.trusts(it, ctx)).collect();
    // The sequence number takes turns, so that every one of them is asked after a while.
    let turn = neighbours.local().info().sequence as usize;
    let one_near = near.get(turn % near.len().max(1)).map(|it| it.0);
    let one_at_the_edge = edge.get(turn % edge.len().max(1)).copied();
    let asked: BTreeSet<Address> = one_near.into_iter().chain(one_at_the_edge).collect();
    ctx.send(asked, OverlayMsg::Sum { knows: neighbours.knows_nearest(), enclosing: Vec::new() });
}

/// The neighbours that are sent a step, each with whether it is sent steps less often.
pub(crate) fn audience(
    neighbours: &Neighbours,
    around: &[VoronoiNeighbour<Address>],
    ctx: &PeerContext,
) -> Vec<(Address, bool)> {
    let hears = |it: &(Address, &NeighbourState)| it.1.is_proven() || !ctx.config().handshake;
    let all = neighbours.iter().filter(hears);
    if !neighbours.is_crowd(ctx) {
        return all.map(|it| (it.0, false)).collect();
    }
    let me = neighbours.local().info();
    let away = |it: &NeighbourState| it.info().position.distance_squared(me.position);
    let mut all: Vec<(Address, &NeighbourState)> = all.collect();
    all.sort_by_key(|it| (away(it.1), it.0));
    let mut far = all.split_off(NEAREST.min(all.len()));
    // Neighbours at the edge introduce newcomers, so they are sent every step, however far away they are.
    all.extend(far.extract_if(.., |it| is_boundary(around, it.0)));
    let due = far.into_iter().filter_map(|it| Some((urgency(it.1, me, ctx)?, it.0)));
    let mut due: Vec<(Urgency, Address)> = due.collect();
    // The address breaks ties, so that every run chooses the same neighbours.
    due.sort_unstable_by_key(|it| (std::cmp::Reverse(it.0), it.1));
    due.truncate(steps_left(ctx.config()));
    let near = all.into_iter().map(|it| (it.0, false));
    near.chain(due.into_iter().map(|it| (it.1, true))).collect()
}

/// The urgency of this step for a neighbour; `None` if the step need not be sent.
fn urgency(it: &NeighbourState, me: &Info, ctx: &PeerContext) -> Option<Urgency> {
    // Even the least interested neighbour is sent one step in `SLOWEST`.
    let cares = relevance_to(it, me, ctx.config()).max(1.0 / SLOWEST as f32);
    it.pace.is_due(ctx.now(), ctx.config().interval, cares)
}

/// Relevance of the local peer to a neighbour, 0 to 1.
fn relevance_to(it: &NeighbourState, me: &Info, config: &PeerConfig) -> f32 {
    let sees = config.reach(it.info().aoi);
    let sight = SubjectView::new(Slot(0), it.info().position, (1.0, 0.0), Slot(1), me.position);
    // A view below the critical distance makes no policy: such a neighbour is sent every step.
    CircleAttenuated::new(sees, CRITICAL).map_or(1.0, |policy| policy.relevance(&sight))
}

/// Number of distant neighbours that can be sent one step if steps may use three quarters of the uplink; the last
/// quarter is left to links and introductions.
fn steps_left(config: &PeerConfig) -> usize {
    let Some(most) = config.uplink else { return usize::MAX };
    let steps = 1_000_000_u64.div_ceil(config.interval.as_micros().max(1));
    (u64::from(most) * 3 / 4 / steps / u64::from(STEP)) as usize
}
