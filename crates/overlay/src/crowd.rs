//! What is different where many are: a peer sees less far, and tells those farther away less often.
//!
//! The nearest hear every step, and so do those at the edge of the view, which know the peers beyond. The others hear it as
//! often as A³ finds that they care: always up to the critical distance, then ever more rarely up to the end of what they
//! see, but never less than every third step. When even that is too much, those go first that have waited longest for what
//! they care about.
//!
//! All peers around have much to tell of each other, most of it known. So none does it unasked: a peer in a crowd asks one of
//! its nearest and one at the edge of its view with every step for the peers that it lacks.

use crate::config::{Config, SLOWEST};
use crate::ctx::Ctx;
use crate::info::Info;
use crate::msg::Msg;
use crate::neighbours::{Entry, Neighbours, Urgency};
use crate::uplink::HEADERS;
use interest::policies::CircleAttenuated;
use interest::{Policy as _, Sight, Slot};
use machine::Address;
use space::{Distance, Neighbour};
use std::collections::BTreeSet;

/// So many hear every step, however large the crowd is.
const NEAREST: usize = 16;

/// Up to this distance every neighbour cares: two who run towards each other from there are beside each other after a step.
const CRITICAL: Distance = Distance::of_metres(18);

/// What a step weighs on the line, about.
const STEP: u32 = 24 + HEADERS;

/// Whether a neighbour stands at the edge of the view.
pub(crate) fn is_boundary(around: &[Neighbour<Address>], address: Address) -> bool {
    around.binary_search_by_key(&address, |it| it.key).is_ok_and(|at| around[at].boundary)
}

/// Asks one of the nearest and one at the edge of the view for the peers that we lack.
pub(crate) fn ask_around(neighbours: &Neighbours, around: &[Neighbour<Address>], ctx: &mut Ctx) {
    if !neighbours.is_crowd(ctx) {
        return;
    }
    let here = neighbours.local().position();
    let away = |it: &(Address, &Entry)| it.1.info().position.distance_squared(here);
    let mut near: Vec<(Address, &Entry)> = neighbours.iter().filter(|it| it.1.is_proven()).collect();
    near.sort_by_key(|it| (away(it), it.0));
    near.truncate(NEAREST);
    let edge = around.iter().filter(|it| it.boundary).map(|it| it.key);
    let edge: Vec<Address> = edge.filter(|&it| neighbours.trusts(it, ctx)).collect();
    let turn = neighbours.local().info().sequence as usize;
    let one_near = near.get(turn % near.len().max(1)).map(|it| it.0);
    let one_at_the_edge = edge.get(turn % edge.len().max(1)).copied();
    let asked: BTreeSet<Address> = one_near.into_iter().chain(one_at_the_edge).collect();
    ctx.send(asked, Msg::Sum { knows: neighbours.knows_nearest(), enclosing: Vec::new() });
}

/// The neighbours that hear a step, and which of them will hear less often.
pub(crate) fn audience(
    neighbours: &Neighbours,
    around: &[Neighbour<Address>],
    ctx: &Ctx,
) -> Vec<(Address, bool)> {
    let hears = |it: &(Address, &Entry)| it.1.is_proven() || !ctx.config().handshake;
    let all = neighbours.iter().filter(hears);
    if !neighbours.is_crowd(ctx) {
        return all.map(|it| (it.0, false)).collect();
    }
    let me = neighbours.local().info();
    let away = |it: &Entry| it.info().position.distance_squared(me.position);
    let mut all: Vec<(Address, &Entry)> = all.collect();
    all.sort_by_key(|it| (away(it.1), it.0));
    let mut far = all.split_off(NEAREST.min(all.len()));
    all.extend(far.extract_if(.., |it| is_boundary(around, it.0)));
    let due = far.into_iter().filter_map(|it| Some((urgency(it.1, me, ctx)?, it.0)));
    let mut due: Vec<(Urgency, Address)> = due.collect();
    due.sort_unstable_by_key(|it| (std::cmp::Reverse(it.0), it.1));
    due.truncate(steps_left(ctx.config()));
    let near = all.into_iter().map(|it| (it.0, false));
    near.chain(due.into_iter().map(|it| (it.1, true))).collect()
}

/// How urgently a neighbour should hear this step, if it should.
fn urgency(it: &Entry, me: &Info, ctx: &Ctx) -> Option<Urgency> {
    let cares = relevance_to(it, me, ctx.config()).max(1.0 / SLOWEST as f32);
    it.pace.is_due(ctx.now(), ctx.config().interval, cares)
}

/// How much a neighbour cares where we are.
fn relevance_to(it: &Entry, me: &Info, config: &Config) -> f32 {
    let sees = config.reach(it.info().aoi);
    let sight = Sight::new(Slot(0), it.info().position, (1.0, 0.0), Slot(1), me.position);
    CircleAttenuated::new(sees, CRITICAL).map_or(1.0, |policy| policy.relevance(&sight))
}

/// How many of those farther away can be told of one step with three quarters of what may be sent in a second.
fn steps_left(config: &Config) -> usize {
    let Some(most) = config.uplink else { return usize::MAX };
    let steps = 1_000_000_u64.div_ceil(config.interval.as_micros().max(1));
    (u64::from(most) * 3 / 4 / steps / u64::from(STEP)) as usize
}
