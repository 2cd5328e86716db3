//! A step of the local peer: it removes neighbours that are gone or irrelevant, and sends its move to the others.

use super::Peer;
use crate::crowd::ask_for_missing;
use crate::links::{PeerGreeting, greet, send_hello, take_idle};
use crate::liveness::find_silent;
use crate::moves::{StepDetails, tell_step};
use crate::msg::{OverlayMsg, SearchPurpose};
use crate::neighbours::Neighbours;
use machine::Address;
use space::Position;

impl Peer {
    pub(super) fn on_step(&mut self, position: Position) {
        if !self.is_ready() {
            return;
        }
        // Why this order: first the diagram gets the new position, then the list is put right, and only the neighbours
        // that remain are sent the move.
        let before = self.neighbours.step(position, &self.ctx);
        self.check_silence();
        self.reports.reconsider_shortlist(&mut self.neighbours, &mut self.ctx);
        self.neighbours.adapt_view(&self.ctx);
        let (neighbours, ctx) = (&mut self.neighbours, &mut self.ctx);
        let mut around = Vec::new();
        neighbours.diagram().neighbours(
            neighbours.local().address(),
            neighbours.local().reach(ctx),
            &mut around,
        );
        for it in take_idle(neighbours, &mut self.group_members, &around, ctx) {
            neighbours.forget(it, ctx);
        }
        let met = self.reports.arrivals.take_names(neighbours, ctx);
        tell_step(neighbours, &around, StepDetails { before, met }, ctx);
        ask_for_missing(neighbours, &around, ctx);
        if ctx.config().handshake && neighbours.local().made_leap(before) {
            self.look_up(SearchPurpose::Leap);
        }
    }

    /// Pings silent neighbours, and closes the gaps of those that are gone.
    fn check_silence(&mut self) {
        let silent = find_silent(&mut self.neighbours, &self.ctx);
        silent.gone.into_iter().for_each(|it| self.on_gone(it));
        if !silent.to_ping.is_empty() {
            self.ctx.send(silent.to_ping, OverlayMsg::Ping);
        }
        silent.to_greet.into_iter().for_each(|it| greet(&mut self.neighbours, it, &mut self.ctx));
    }

    /// Removes a neighbour that is gone. The peers that enclosed it are greeted to close the gap.
    fn on_gone(&mut self, address: Address) {
        let Some(entry) = self.neighbours.forget(address, &mut self.ctx) else { return };
        self.reports.departed.add(address, (entry.info().life, entry.info().sequence), &self.ctx);
        if self.ctx.config().repair {
            let departed = &self.reports.departed;
            let is_new = |it: &Address| is_unknown(&self.neighbours, *it) && !departed.contains(*it);
            let strangers: Vec<Address> =
                entry.knowledge.enclosing().iter().copied().filter(is_new).collect();
            // Why without a wish for their moves: the gap may not be ours to close; a peer that is relevant will say
            // so.
            for it in strangers {
                send_hello(&mut self.neighbours, it, PeerGreeting::first(false), &mut self.ctx);
            }
        }
        self.lookup.search_soon_if_few(&self.neighbours, &mut self.ctx);
    }
}

fn is_unknown(neighbours: &Neighbours, address: Address) -> bool {
    address != neighbours.local().address() && neighbours.get(address).is_none()
}
