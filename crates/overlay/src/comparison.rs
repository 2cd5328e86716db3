//! Lists are compared with one neighbour after the other, so that what got lost is repaired.

use crate::ctx::{Ctx, Purpose};
use crate::msg::Msg;
use crate::neighbours::Neighbours;
use machine::{Address, Span};

/// How many times more often lists are compared after many have come.
const SOONER: u64 = 8;

/// See the module.
pub(crate) struct Comparison {
    /// The neighbour with whom the list was compared last.
    last: Address,
}

impl Comparison {
    pub const fn new() -> Self {
        Self { last: Address(0) }
    }

    /// Sets the first timer, at a random moment.
    pub fn start(&self, ctx: &mut Ctx) {
        if let Some(every) = ctx.config().anti_entropy {
            let first = ctx.some_of(every);
            ctx.wake_after(Purpose::Compare, first);
        }
    }

    /// Sends the list to the next neighbour, which answers with the peers that are missing in it.
    pub fn compare(&mut self, haste: bool, neighbours: &Neighbours, ctx: &mut Ctx) {
        let Some(every) = ctx.config().anti_entropy else { return };
        let every = if haste { Span::from_micros(every.as_micros() / SOONER) } else { every };
        ctx.wake_after(Purpose::Compare, every);
        let trusted = || neighbours.iter().map(|it| it.0).filter(|&it| neighbours.trusts(it, ctx));
        let Some(next) = trusted().find(|&it| self.last < it).or_else(|| trusted().next()) else {
            return;
        };
        self.last = next;
        let mut enclosing = Vec::new();
        neighbours.diagram().enclosing(neighbours.local().address(), &mut enclosing);
        ctx.send([next], Msg::Sum { knows: neighbours.knows_nearest(), enclosing });
    }
}
