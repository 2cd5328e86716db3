//! Comparison of lists with one neighbour after the other (anti-entropy): it repairs what lost messages left out.

use crate::context::{PeerContext, PeerTimer};
use crate::msg::OverlayMsg;
use crate::neighbours::Neighbours;
use machine::{Address, Span};

/// Factor by which lists are compared more often after many arrivals.
const SOONER: u64 = 8;

/// The round of comparisons of one peer.
pub(crate) struct Comparison {
    /// Address of the neighbour with which the list was compared last.
    last: Address,
}

impl Comparison {
    pub const fn new() -> Self {
        Self { last: Address(0) }
    }

    /// Sets the first timer, at a random moment, so that peers do not compare in step.
    pub fn start(&self, ctx: &mut PeerContext) {
        if let Some(every) = ctx.config().anti_entropy {
            let first = ctx.some_of(every);
            ctx.wake_after(PeerTimer::Compare, first);
        }
    }

    /// Sends the list to the next neighbour, which answers with the peers that are missing from it.
    pub fn compare(&mut self, hurry: bool, neighbours: &Neighbours, ctx: &mut PeerContext) {
        let Some(every) = ctx.config().anti_entropy else { return };
        let every = if hurry { Span::from_micros(every.as_micros() / SOONER) } else { every };
        // The timer is set first, so that comparisons go on also while there is no neighbour.
        ctx.wake_after(PeerTimer::Compare, every);
        // Why by address and round the circle: every neighbour gets its turn, also while others come and go.
        let trusted = || neighbours.iter().map(|it| it.0).filter(|&it| neighbours.trusts(it, ctx));
        let Some(next) = trusted().find(|&it| self.last < it).or_else(|| trusted().next()) else {
            return;
        };
        self.last = next;
        let mut enclosing = Vec::new();
        neighbours.diagram().enclosing(neighbours.local().address(), &mut enclosing);
        ctx.send([next], OverlayMsg::Sum { knows: neighbours.knows_nearest(), enclosing });
    }
}
