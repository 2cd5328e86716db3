//! Links between peers: each side says whether it wants the other's moves, and a link stands while either side does.

use crate::config::Relevance;
use crate::context::PeerContext;
use crate::group_members::GroupMembers;
use crate::info::Info;
use crate::introductions::note_introduced;
use crate::msg::OverlayMsg;
use crate::neighbours::Neighbours;
use crate::rule::OverlayRule;
use machine::Address;
use space::VoronoiNeighbour;

/// The content of a greeting besides its sender and the list of peers that the sender knows.
pub(crate) struct PeerGreeting {
    /// True if the sender wants the receiver's moves.
    pub want: bool,
    /// True if it answers a greeting.
    pub answer: bool,
    /// Peers that the receiver does not seem to know and should.
    pub nodes: Vec<Info>,
}

impl PeerGreeting {
    /// The first greeting to a peer.
    pub const fn first(want: bool) -> Self {
        Self { want, answer: false, nodes: Vec::new() }
    }
}

/// Greets a neighbour. The greeting is repeated until the neighbour answers.
pub(crate) fn greet(neighbours: &mut Neighbours, address: Address, ctx: &mut PeerContext) {
    let Some(it) = neighbours.get_mut(address) else { return };
    let want = it.link.greet(ctx.now());
    send_hello(neighbours, address, PeerGreeting::first(want), ctx);
}

/// Sends a greeting with the information and the credential of the local peer.
pub(crate) fn send_hello(
    neighbours: &mut Neighbours,
    to: Address,
    greeting: PeerGreeting,
    ctx: &mut PeerContext,
) {
    let (who, knows) = (*neighbours.local().info(), neighbours.knows());
    let credential = ctx.credential_of(&who);
    let PeerGreeting { want, answer, nodes } = greeting;
    let hello = OverlayMsg::Hello { who, want, answer, knows, nodes: nodes.clone(), credential };
    if ctx.send_sure(to, hello) && !nodes.is_empty() {
        note_introduced(neighbours, to, &nodes, ctx);
    }
}

/// Judges the neighbours after a step. Relevant are those around the local peer, those of its group, and those to which
/// it is relevant. Returns the neighbours that have been irrelevant for longer than the grace period and must be
/// removed.
#[must_use]
pub(crate) fn take_idle(
    neighbours: &mut Neighbours,
    group_members: &mut GroupMembers,
    around: &[VoronoiNeighbour<Address>],
    ctx: &PeerContext,
) -> Vec<Address> {
    let mutual = ctx.config().relevance == Relevance::Mutual;
    let mut idle: Vec<Address> = Vec::new();
    for address in neighbours.addresses() {
        let matters = group_members.note(address, neighbours, ctx)
            || around.binary_search_by_key(&address, |it| it.key).is_ok()
            || mutual && neighbours.matters_to(address, ctx);
        let matters = matters && !neighbours.overlooks(address, ctx);
        let Some(it) = neighbours.get_mut(address) else { continue };
        if matters {
            it.link.keep();
            continue;
        }
        let want = it.link.idle(ctx.now(), ctx.config().grace);
        // A link that the other side wants stays: lists must be the same from both sides.
        let bound = mutual && it.wanted();
        if !want && !bound && ctx.enforces(OverlayRule::RemoveIrrelevant) {
            idle.push(address);
        }
    }
    idle
}
