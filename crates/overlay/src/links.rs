//! Links between peers: two words per link, one from each side, and a link stands while either side wants it.

use crate::config::Relevance;
use crate::ctx::Ctx;
use crate::info::Info;
use crate::introductions::note_told;
use crate::mates::Mates;
use crate::msg::Msg;
use crate::neighbours::Neighbours;
use crate::rule::Rule;
use machine::Address;
use space::Neighbour;

/// What a greeting says besides who greets and whom it knows.
pub(crate) struct Greeting {
    /// Whether the sender wants to hear the receiver.
    pub want: bool,
    /// Whether it is an answer.
    pub answer: bool,
    /// Peers that the receiver does not seem to know and should.
    pub nodes: Vec<Info>,
}

impl Greeting {
    /// The first word to a peer.
    pub const fn first(want: bool) -> Self {
        Self { want, answer: false, nodes: Vec::new() }
    }
}

/// Tells a neighbour whether we want to hear it, until it answers.
pub(crate) fn greet(neighbours: &mut Neighbours, address: Address, ctx: &mut Ctx) {
    let Some(it) = neighbours.get_mut(address) else { return };
    let want = it.link.greet(ctx.now());
    send_hello(neighbours, address, Greeting::first(want), ctx);
}

/// Says who we are, and what a greeting says.
pub(crate) fn send_hello(neighbours: &mut Neighbours, to: Address, greeting: Greeting, ctx: &mut Ctx) {
    let (who, knows) = (*neighbours.local().info(), neighbours.knows());
    let credential = ctx.credential_of(&who);
    let Greeting { want, answer, nodes } = greeting;
    let hello = Msg::Hello { who, want, answer, knows, nodes: nodes.clone(), credential };
    if ctx.send_sure(to, hello) && !nodes.is_empty() {
        note_told(neighbours, to, &nodes, ctx);
    }
}

/// Judges after a step which neighbours matter: those around us, our group, and those to whom we matter. Returns those that
/// have not mattered for a while, and must be forgotten.
#[must_use]
pub(crate) fn take_idle(
    neighbours: &mut Neighbours,
    mates: &mut Mates,
    around: &[Neighbour<Address>],
    ctx: &Ctx,
) -> Vec<Address> {
    let mutual = ctx.config().relevance == Relevance::Mutual;
    let mut idle: Vec<Address> = Vec::new();
    for address in neighbours.addresses() {
        let matters = mates.note(address, neighbours, ctx)
            || around.binary_search_by_key(&address, |it| it.key).is_ok()
            || mutual && neighbours.matters_to(address, ctx);
        let matters = matters && !neighbours.overlooks(address, ctx);
        let Some(it) = neighbours.get_mut(address) else { continue };
        if matters {
            it.link.keep();
            continue;
        }
        let want = it.link.idle(ctx.now(), ctx.config().grace);
        let bound = mutual && it.wanted();
        if !want && !bound && ctx.enforces(Rule::RemoveIrrelevant) {
            idle.push(address);
        }
    }
    idle
}
