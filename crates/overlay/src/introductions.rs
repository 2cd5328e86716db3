//! Who is told of whom: a peer at the edge of a mover's view tells it of those beyond, and both sides hear of each other.

use crate::config::{ANSWER_MAX, Candidates, NODES_MAX, Trigger};
use crate::ctx::Ctx;
use crate::info::Info;
use crate::msg::Msg;
use crate::neighbours::{Entry, Neighbours};
use machine::Address;
use space::Position;

/// Tells a mover, which was there before, of the peers that it should know and does not seem to.
pub(crate) fn introduce(neighbours: &mut Neighbours, mover: Address, before: Position, ctx: &mut Ctx) {
    let me = neighbours.local().address();
    let mut candidates = Vec::new();
    match ctx.config().candidates {
        Candidates::Enclosing => neighbours.diagram().enclosing(me, &mut candidates),
        Candidates::All => candidates.extend(neighbours.iter().map(|it| it.0)),
    }
    candidates.retain(|&it| it != mover && it != me);
    let news = match ctx.config().trigger {
        Trigger::Edge => entered(neighbours, mover, before, &candidates),
        Trigger::Level => unknown_to(neighbours, mover, &candidates, ctx),
    };
    let news =
        if ctx.config().enclosing_diff { with_new_touch(neighbours, mover, &candidates, news) } else { news };
    if news.is_empty() {
        return;
    }
    if ctx.config().mutual_introductions {
        tell_of_mover(neighbours, mover, &news, ctx);
    }
    tell_of(neighbours, mover, news, ctx);
}

/// Tells a neighbour of the peers that it should know and does not, by its own word.
pub(crate) fn tell_missing(neighbours: &mut Neighbours, address: Address, ctx: &mut Ctx) {
    let missing = missing_in(neighbours, address, ctx);
    tell_of(neighbours, address, missing, ctx);
}

/// The peers that a neighbour should know and does not, by its own word; the nearest first.
pub(crate) fn missing_in(neighbours: &Neighbours, address: Address, ctx: &Ctx) -> Vec<Info> {
    let other = |it: &(Address, &Entry)| it.0 != address && it.1.is_there(ctx);
    let others = neighbours.iter().filter(other).map(|it| *it.1.info()).collect();
    missing(neighbours, address, others, ANSWER_MAX, ctx)
}

/// Notes that a neighbour was told of peers just now.
pub(crate) fn note_told(neighbours: &mut Neighbours, who: Address, others: &[Info], ctx: &Ctx) {
    if let Some(it) = neighbours.get_mut(who).filter(|_| ctx.config().mutual_introductions) {
        it.knowledge.tell_of(ctx.now(), others);
    }
}

/// Tells the peers of which a mover is told of the mover, if they do not seem to know it either.
fn tell_of_mover(neighbours: &mut Neighbours, mover: Address, others: &[Info], ctx: &mut Ctx) {
    let Some(mover) = neighbours.get(mover).map(|it| *it.info()) else { return };
    let lacks = |it: &Address| neighbours.get(*it).is_some_and(|it| it.lacks(&mover, ctx));
    let lacking: Vec<Address> = others.iter().map(|it| it.address).filter(lacks).collect();
    for it in ctx.tell(lacking, Msg::Nodes(vec![mover])) {
        note_told(neighbours, it, &[mover], ctx);
    }
}

fn tell_of(neighbours: &mut Neighbours, who: Address, others: Vec<Info>, ctx: &mut Ctx) {
    if !others.is_empty() && !ctx.tell([who], Msg::Nodes(others.clone())).is_empty() {
        note_told(neighbours, who, &others, ctx);
    }
}

/// The candidates whose regions the mover's view meets now and did not meet before.
fn entered(neighbours: &Neighbours, mover: Address, before: Position, candidates: &[Address]) -> Vec<Info> {
    let Some(it) = neighbours.get(mover).map(Entry::info) else { return Vec::new() };
    let diagram = neighbours.diagram();
    let enters =
        |c: &&Address| diagram.meets(**c, it.position, it.aoi) && !diagram.meets(**c, before, it.aoi);
    candidates.iter().filter(enters).filter_map(|&c| Some(*neighbours.get(c)?.info())).collect()
}

/// The candidates that matter to the mover and that it does not seem to know: it has not said so, and was not told lately.
fn unknown_to(neighbours: &mut Neighbours, mover: Address, candidates: &[Address], ctx: &Ctx) -> Vec<Info> {
    let there = |it: &Address| neighbours.get(*it).filter(|it| it.is_there(ctx)).map(|it| *it.info());
    let others: Vec<Info> = candidates.iter().filter_map(there).collect();
    doubt(neighbours, mover, &others, ctx);
    missing(neighbours, mover, others, NODES_MAX, ctx)
}

/// The mover has said some time ago whom it knows. It will forget a peer that does not matter to it now, and must be told anew
/// when the peer matters again.
fn doubt(neighbours: &mut Neighbours, mover: Address, others: &[Info], ctx: &Ctx) {
    let Some(it) = neighbours.get(mover) else { return };
    let doubtful = others.iter().filter(|c| it.knowledge.names(c));
    let doubtful = doubtful.filter(|c| !neighbours.should_know(it.info(), c, ctx));
    let doubtful: Vec<u32> = doubtful.map(Info::short).collect();
    if let Some(it) = neighbours.get_mut(mover).filter(|_| !doubtful.is_empty()) {
        it.knowledge.doubt_all(&doubtful);
    }
    for c in others.iter().filter(|it| doubtful.contains(&it.short())) {
        if let Some(it) = neighbours.get_mut(c.address) {
            it.knowledge.doubt(mover);
        }
    }
}

/// The news, and the candidates whose regions newly touch the mover's, as it looks from here.
fn with_new_touch(
    neighbours: &mut Neighbours,
    mover: Address,
    candidates: &[Address],
    mut news: Vec<Info>,
) -> Vec<Info> {
    let mut touches = Vec::new();
    neighbours.diagram().enclosing(mover, &mut touches);
    let Some(it) = neighbours.get_mut(mover) else { return news };
    let before = it.knowledge.touch(touches.clone());
    for c in touches.into_iter().filter(|it| before.binary_search(it).is_err()) {
        let is_new = candidates.binary_search(&c).is_ok() && news.iter().all(|it| it.address != c);
        news.extend(neighbours.get(c).filter(|_| is_new).map(|it| *it.info()));
    }
    news
}

/// Those of others that a neighbour should know and does not, as far as it was not told lately; the nearest first.
fn missing(
    neighbours: &Neighbours,
    address: Address,
    others: Vec<Info>,
    most: usize,
    ctx: &Ctx,
) -> Vec<Info> {
    let Some(it) = neighbours.get(address) else { return Vec::new() };
    let (mut missing, place) = (others, it.info().position);
    missing.retain(|other| it.lacks(other, ctx) && neighbours.should_know(it.info(), other, ctx));
    missing.sort_by_key(|other| (place.distance_squared(other.position), other.address));
    missing.truncate(most);
    missing
}
