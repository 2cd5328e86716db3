//! Moves: how a step of the local peer is sent to its neighbours.

use crate::context::PeerContext;
use crate::crowd::{audience, is_boundary};
use crate::msg::{Flags, OverlayMsg};
use crate::neighbours::Neighbours;
use crate::rule::OverlayRule;
use crate::uplink::SendPriority;
use machine::Address;
use space::{Position, VoronoiNeighbour};

/// The content of a step besides the new position.
pub(crate) struct StepDetails {
    /// Position of the local peer before the step.
    pub before: Position,
    /// Short names of neighbours that are new since the last step.
    pub met: Vec<u32>,
}

/// Sends a step to the neighbours: one message for all that get the same content.
pub(crate) fn tell_step(
    neighbours: &mut Neighbours,
    around: &[VoronoiNeighbour<Address>],
    details: StepDetails,
    ctx: &mut PeerContext,
) {
    let local = neighbours.local();
    // The paper's moves always carry the position before; ours only after a long step, to save bytes.
    let before = (!ctx.config().handshake || local.made_long_step()).then_some(details.before);
    let aoi = local.announced_view(ctx);
    let (sequence, position) = (local.info().sequence, local.position());
    for (flags, to) in audiences(neighbours, around, ctx).into_iter().filter(|it| !it.1.is_empty()) {
        let sparse = flags.has(Flags::SPARSE);
        let priority = if sparse { SendPriority::Second } else { SendPriority::First };
        let step = OverlayMsg::Move { sequence, position, before, flags, aoi, met: details.met.clone() };
        let receivers = ctx.tell_with_priority(priority, to, step);
        // Without crowds every neighbour is sent every step, so there is no pace to keep.
        if ctx.config().crowd.is_some() {
            note_sent(neighbours, &receivers, sparse, ctx);
        }
    }
}

/// The receivers of a step, grouped by the flags that each is sent.
fn audiences(
    neighbours: &Neighbours,
    around: &[VoronoiNeighbour<Address>],
    ctx: &PeerContext,
) -> [(Flags, Vec<Address>); 8] {
    let mut audiences: [(Flags, Vec<Address>); 8] = Default::default();
    for (address, sparse) in audience(neighbours, around, ctx) {
        let Some(it) = neighbours.get(address) else { continue };
        let (boundary, want) = (is_boundary(around, address), it.want());
        // Three flags give eight groups; the number is the group's index.
        let number = usize::from(boundary) + 2 * usize::from(want) + 4 * usize::from(sparse);
        let flags = Flags::default()
            .with(Flags::BOUNDARY, boundary)
            .with(Flags::WANT, want && ctx.enforces(OverlayRule::AnnounceWant))
            .with(Flags::SPARSE, sparse);
        audiences[number].0 = flags;
        audiences[number].1.push(address);
    }
    audiences
}

fn note_sent(neighbours: &mut Neighbours, receivers: &[Address], sparse: bool, ctx: &PeerContext) {
    for &address in receivers {
        if let Some(it) = neighbours.get_mut(address) {
            it.pace.note_sent(ctx.now(), sparse);
        }
    }
}
