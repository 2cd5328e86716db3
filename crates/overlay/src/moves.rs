//! How a step of the local peer is told to its neighbours.

use crate::crowd::{audience, is_boundary};
use crate::ctx::Ctx;
use crate::msg::{Flags, Msg};
use crate::neighbours::Neighbours;
use crate::rule::Rule;
use crate::uplink::Weight;
use machine::Address;
use space::{Neighbour, Position};

/// What a step says besides the place.
pub(crate) struct News {
    /// Where the local peer was before.
    pub before: Position,
    /// The short names of the neighbours that it has come to know.
    pub met: Vec<u32>,
}

/// Tells the neighbours of a step: one message for all that are told the same.
pub(crate) fn tell_step(
    neighbours: &mut Neighbours,
    around: &[Neighbour<Address>],
    news: News,
    ctx: &mut Ctx,
) {
    let local = neighbours.local();
    let before = (!ctx.config().handshake || local.has_stridden()).then_some(news.before);
    let aoi = local.announced_view(ctx);
    let (sequence, position) = (local.info().sequence, local.position());
    for (flags, to) in audiences(neighbours, around, ctx).into_iter().filter(|it| !it.1.is_empty()) {
        let sparse = flags.has(Flags::SPARSE);
        let weight = if sparse { Weight::Second } else { Weight::First };
        let step = Msg::Move { sequence, position, before, flags, aoi, met: news.met.clone() };
        let told = ctx.tell_weighted(weight, to, step);
        if ctx.config().crowd.is_some() {
            note_told(neighbours, &told, sparse, ctx);
        }
    }
}

/// The audience of a step, grouped by what each neighbour is told.
fn audiences(
    neighbours: &Neighbours,
    around: &[Neighbour<Address>],
    ctx: &Ctx,
) -> [(Flags, Vec<Address>); 8] {
    let mut audiences: [(Flags, Vec<Address>); 8] = Default::default();
    for (address, sparse) in audience(neighbours, around, ctx) {
        let Some(it) = neighbours.get(address) else { continue };
        let (boundary, want) = (is_boundary(around, address), it.want());
        let number = usize::from(boundary) + 2 * usize::from(want) + 4 * usize::from(sparse);
        let flags = Flags::default()
            .with(Flags::BOUNDARY, boundary)
            .with(Flags::WANT, want && ctx.enforces(Rule::AnnounceWant))
            .with(Flags::SPARSE, sparse);
        audiences[number].0 = flags;
        audiences[number].1.push(address);
    }
    audiences
}

fn note_told(neighbours: &mut Neighbours, told: &[Address], sparse: bool, ctx: &Ctx) {
    for &address in told {
        if let Some(it) = neighbours.get_mut(address) {
            it.pace.tell(ctx.now(), sparse);
        }
    }
}
