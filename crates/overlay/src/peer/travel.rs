//! What a peer does when it moves: it forgets the neighbours that are gone or do not matter any more, and tells the others.

use super::Peer;
use crate::crowd::ask_around;
use crate::links::{Greeting, greet, send_hello, take_idle};
use crate::liveness::look_for_silent;
use crate::moves::{News, tell_step};
use crate::msg::{Msg, Search};
use crate::neighbours::Neighbours;
use machine::Address;
use space::Position;

impl Peer {
    pub(super) fn on_step(&mut self, position: Position) {
        if !self.is_ready() {
            return;
        }
        let before = self.neighbours.step(position, &self.ctx);
        self.check_silence();
        self.hearsay.look_again(&mut self.neighbours, &mut self.ctx);
        self.neighbours.adapt_view(&self.ctx);
        let (neighbours, ctx) = (&mut self.neighbours, &mut self.ctx);
        let mut around = Vec::new();
        neighbours.diagram().neighbours(
            neighbours.local().address(),
            neighbours.local().reach(ctx),
            &mut around,
        );
        for it in take_idle(neighbours, &mut self.mates, &around, ctx) {
            neighbours.forget(it, ctx);
        }
        let met = self.hearsay.arrivals.take_names(neighbours, ctx);
        tell_step(neighbours, &around, News { before, met }, ctx);
        ask_around(neighbours, &around, ctx);
        if ctx.config().handshake && neighbours.local().has_leapt(before) {
            self.look_up(Search::Leap);
        }
    }

    /// Asks silent neighbours whether they are there, and closes the gaps of those that are gone.
    fn check_silence(&mut self) {
        let silence = look_for_silent(&mut self.neighbours, &self.ctx);
        silence.gone.into_iter().for_each(|it| self.on_gone(it));
        if !silence.asked.is_empty() {
            self.ctx.send(silence.asked, Msg::Ping);
        }
        silence.unanswered.into_iter().for_each(|it| greet(&mut self.neighbours, it, &mut self.ctx));
    }

    /// A neighbour is gone. The peers beside it close the gap.
    fn on_gone(&mut self, address: Address) {
        let Some(entry) = self.neighbours.forget(address, &mut self.ctx) else { return };
        self.hearsay.departed.add(address, (entry.info().life, entry.info().sequence), &self.ctx);
        if self.ctx.config().repair {
            let departed = &self.hearsay.departed;
            let is_new = |it: &Address| is_unknown(&self.neighbours, *it) && !departed.contains(*it);
            let strangers: Vec<Address> =
                entry.knowledge.enclosing().iter().copied().filter(is_new).collect();
            // A peer among them that matters to us will say so: the gap may not be ours to close.
            for it in strangers {
                send_hello(&mut self.neighbours, it, Greeting::first(false), &mut self.ctx);
            }
        }
        self.lookup.hurry_if_lonely(&self.neighbours, &mut self.ctx);
    }
}

fn is_unknown(neighbours: &Neighbours, address: Address) -> bool {
    address != neighbours.local().address() && neighbours.get(address).is_none()
}
