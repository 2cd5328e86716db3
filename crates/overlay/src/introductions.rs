//! Introductions: a peer at the edge of a mover's view tells the mover of the peers beyond, and those of the mover.

use crate::config::{ANSWER_MAX, Candidates, IntroductionTrigger, NODES_MAX};
use crate::context::PeerContext;
use crate::info::Info;
use crate::msg::OverlayMsg;
use crate::neighbours::{NeighbourState, Neighbours};
use machine::Address;
use space::Position;

/// Introduces to a mover, which was at `before`, the peers that it should know and does not seem to know.
pub(crate) fn introduce(
    neighbours: &mut Neighbours,
    mover: Address,
    before: Position,
    ctx: &mut PeerContext,
) {
    let me = neighbours.local().address();
    let mut candidates = Vec::new();
    match ctx.config().candidates {
        Candidates::Enclosing => neighbours.diagram().enclosing(me, &mut candidates),
        Candidates::All => candidates.extend(neighbours.iter().map(|it| it.0)),
    }
    candidates.retain(|&it| it != mover && it != me);
    let new_peers = match ctx.config().trigger {
        IntroductionTrigger::Edge => entered(neighbours, mover, before, &candidates),
        IntroductionTrigger::Level => unknown_to(neighbours, mover, &candidates, ctx),
    };
    let new_peers = if ctx.config().enclosing_diff {
        with_new_touch(neighbours, mover, &candidates, new_peers)
    } else {
        new_peers
    };
    if new_peers.is_empty() {
        return;
    }
    if ctx.config().mutual_introductions {
        tell_of_mover(neighbours, mover, &new_peers, ctx);
    }
    tell_of(neighbours, mover, new_peers, ctx);
}

/// Introduces to a neighbour the peers that it should know and lacks, by its own list.
pub(crate) fn tell_missing(neighbours: &mut Neighbours, address: Address, ctx: &mut PeerContext) {
    let missing = missing_in(neighbours, address, ctx);
    tell_of(neighbours, address, missing, ctx);
}

/// The peers that a neighbour should know and lacks, by its own list; the nearest first.
pub(crate) fn missing_in(neighbours: &Neighbours, address: Address, ctx: &PeerContext) -> Vec<Info> {
    let other = |it: &(Address, &NeighbourState)| it.0 != address && it.1.is_there(ctx);
    let others = neighbours.iter().filter(other).map(|it| *it.1.info()).collect();
    missing(neighbours, address, others, ANSWER_MAX, ctx)
}

/// Notes that peers were introduced to a neighbour just now.
pub(crate) fn note_introduced(neighbours: &mut Neighbours, who: Address, others: &[Info], ctx: &PeerContext) {
    if let Some(it) = neighbours.get_mut(who).filter(|_| ctx.config().mutual_introductions) {
        it.knowledge.tell_of(ctx.now(), others);
    }
}

/// Introduces the mover to the peers that are introduced to it, if they do not seem to know it either.
fn tell_of_mover(neighbours: &mut Neighbours, mover: Address, others: &[Info], ctx: &mut PeerContext) {
    let Some(mover) = neighbours.get(mover).map(|it| *it.info()) else { return };
    let lacks = |it: &Address| neighbours.get(*it).is_some_and(|it| it.lacks(&mover, ctx));
    let lacking: Vec<Address> = others.iter().map(|it| it.address).filter(lacks).collect();
    for it in ctx.tell(lacking, OverlayMsg::Nodes(vec![mover])) {
        note_introduced(neighbours, it, &[mover], ctx);
    }
}

fn tell_of(neighbours: &mut Neighbours, who: Address, others: Vec<Info>, ctx: &mut PeerContext) {
    // Only what the budget let through counts as introduced.
    if !others.is_empty() && !ctx.tell([who], OverlayMsg::Nodes(others.clone())).is_empty() {
        note_introduced(neighbours, who, &others, ctx);
    }
}

/// The candidates whose regions meet the mover's view now and did not meet it before.
fn entered(neighbours: &Neighbours, mover: Address, before: Position, candidates: &[Address]) -> Vec<Info> {
    let Some(it) = neighbours.get(mover).map(NeighbourState::info) else { return Vec::new() };
    let diagram = neighbours.diagram();
    let enters =
        |c: &&Address| diagram.meets(**c, it.position, it.aoi) && !diagram.meets(**c, before, it.aoi);
    candidates.iter().filter(enters).filter_map(|&c| Some(*neighbours.get(c)?.info())).collect()
}

/// The candidates that are relevant to the mover and that it does not seem to know: it has not named them, and they
/// were not introduced to it recently.
fn unknown_to(
    neighbours: &mut Neighbours,
    mover: Address,
    candidates: &[Address],
    ctx: &PeerContext,
) -> Vec<Info> {
    let there = |it: &Address| neighbours.get(*it).filter(|it| it.is_there(ctx)).map(|it| *it.info());
    let others: Vec<Info> = candidates.iter().filter_map(there).collect();
    doubt(neighbours, mover, &others, ctx);
    missing(neighbours, mover, others, NODES_MAX, ctx)
}

/// Forgets that the mover knows peers that are irrelevant to it now: the mover will remove them from its list, and they
/// must be introduced anew once they are relevant again.
fn doubt(neighbours: &mut Neighbours, mover: Address, others: &[Info], ctx: &PeerContext) {
    let Some(it) = neighbours.get(mover) else { return };
    let doubtful = others.iter().filter(|c| it.knowledge.names(c));
    let doubtful = doubtful.filter(|c| !neighbours.should_know(it.info(), c, ctx));
    let doubtful: Vec<u32> = doubtful.map(Info::short).collect();
    if let Some(it) = neighbours.get_mut(mover).filter(|_| !doubtful.is_empty()) {
        it.knowledge.doubt_all(&doubtful);
    }
    // The other side will remove the mover, too.
    for c in others.iter().filter(|it| doubtful.contains(&it.short())) {
        if let Some(it) = neighbours.get_mut(c.address) {
            it.knowledge.doubt(mover);
        }
    }
}

/// Adds to the introductions the candidates whose regions newly touch the mover's, in the diagram of the local peer.
fn with_new_touch(
    neighbours: &mut Neighbours,
    mover: Address,
    candidates: &[Address],
    mut new_peers: Vec<Info>,
) -> Vec<Info> {
    let mut touches = Vec::new();
    neighbours.diagram().enclosing(mover, &mut touches);
    let Some(it) = neighbours.get_mut(mover) else { return new_peers };
    let before = it.knowledge.touch(touches.clone());
    for c in touches.into_iter().filter(|it| before.binary_search(it).is_err()) {
        // Candidates are sorted by address, whichever way they were chosen.
        let is_new = candidates.binary_search(&c).is_ok() && new_peers.iter().all(|it| it.address != c);
        new_peers.extend(neighbours.get(c).filter(|_| is_new).map(|it| *it.info()));
    }
    new_peers
}

/// The peers among `others` that a neighbour should know and lacks, without those introduced to it recently; the
/// nearest first.
fn missing(
    neighbours: &Neighbours,
    address: Address,
    others: Vec<Info>,
    most: usize,
    ctx: &PeerContext,
) -> Vec<Info> {
    let Some(it) = neighbours.get(address) else { return Vec::new() };
    let (mut missing, place) = (others, it.info().position);
    missing.retain(|other| it.lacks(other, ctx) && neighbours.should_know(it.info(), other, ctx));
    // The address breaks ties, so that every run sends the same list.
    missing.sort_by_key(|other| (place.distance_squared(other.position), other.address));
    missing.truncate(most);
    missing
}
