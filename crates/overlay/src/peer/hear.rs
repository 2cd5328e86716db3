//! What a peer does with what other peers say: one function per message.

use super::Peer;
use crate::admission::Admitted;
use crate::config::{Checkers, UnknownSender};
use crate::info::Info;
use crate::introductions::{introduce, missing_in, tell_missing};
use crate::links::{Greeting, greet, send_hello};
use crate::msg::{Flags, Knows, Msg, Step};
use crate::neighbours::Entry;
use machine::Address;

impl Peer {
    pub(super) fn on_move(&mut self, from: Address, step: &Step) {
        if !self.is_ready() || from == self.info().address {
            return;
        }
        if self.neighbours.get(from).is_none() && !self.meet(from, step) {
            return;
        }
        let Some(before) = self.neighbours.hear_move(from, step, &mut self.ctx) else { return };
        if step.flags.has(Flags::LIST) && !self.ctx.config().handshake {
            let all = self.neighbours.iter().filter(|it| it.0 != from).map(|it| *it.1.info()).collect();
            self.ctx.send([from], Msg::Nodes(all));
        }
        let config = self.ctx.config();
        let checks = step.flags.has(Flags::BOUNDARY) || config.checkers == Checkers::Everybody;
        // A mover in a crowd asks by itself for the peers that it lacks.
        let asks = || self.neighbours.get(from).is_some_and(|it| it.knowledge.is_partial());
        if checks && !(config.crowd.is_some() && asks()) {
            introduce(&mut self.neighbours, from, before, &mut self.ctx);
        }
    }

    /// An unknown peer is heard to move; whether it is in the list now.
    fn meet(&mut self, from: Address, step: &Step) -> bool {
        let config = self.ctx.config();
        let info = Info {
            address: from,
            life: 0,
            sequence: step.sequence,
            position: step.position,
            aoi: step.aoi.unwrap_or(config.aoi),
            group: if self.mates.contains(from) { self.info().group } else { 0 },
        };
        // In the paper a newcomer's first word is how it connects; ours greet.
        let connects = step.flags.has(Flags::LIST) && !config.handshake;
        match config.unknown_sender {
            UnknownSender::Drop if !connects && !self.neighbours.is_mate(&info, &self.ctx) => false,
            UnknownSender::InsertIfRelevant if !connects => {
                self.hearsay.departed.remove(from); // It speaks for itself.
                let taken = self.hearsay.take(info, &mut self.neighbours, &mut self.ctx);
                if !taken {
                    self.ctx.send([from], Msg::Stranger);
                }
                taken
            }
            UnknownSender::Drop | UnknownSender::Insert | UnknownSender::InsertIfRelevant => {
                self.neighbours.insert(Entry::new(info, self.ctx.now()));
                true
            }
        }
    }

    pub(super) fn on_nodes(&mut self, from: Address, list: Vec<Info>) {
        if self.is_ready() && self.neighbours.trusts(from, &self.ctx) {
            self.hearsay.introduced(list, &mut self.neighbours, &mut self.ctx);
        }
    }

    pub(super) fn on_hello(&mut self, admitted: Admitted, greeting: Greeting, knows: Knows) {
        let who = *admitted.info();
        self.hearsay.departed.remove(who.address);
        if !self.hear_greeter(&who, greeting.want) {
            return;
        }
        let wanted_here = self.neighbours.is_relevant(who.address, &self.ctx);
        let now = self.ctx.now();
        let Some(it) = self.neighbours.get_mut(who.address) else { return };
        it.signs.hear(now);
        it.link.prove(&admitted);
        it.link.hear_hello(now, greeting.want, wanted_here);
        it.knowledge.hear(knows);
        if greeting.answer {
            it.link.hear_answer();
        } else if it.link.take_answer(now) {
            let nodes = missing_in(&self.neighbours, who.address, &self.ctx);
            let answer = Greeting { want: wanted_here, answer: true, nodes };
            send_hello(&mut self.neighbours, who.address, answer, &mut self.ctx);
        }
        self.hearsay.take_all(greeting.nodes, &mut self.neighbours, &mut self.ctx);
        let all_answered = || self.neighbours.iter().all(|it| !it.1.link.awaits_answer());
        if self.membership.is_settling(&self.ctx) && all_answered() {
            self.get_ready();
        }
    }

    /// Notes where a peer that greets is, and takes it into the list if it is new and either side wants that; whether it is
    /// to be heard further.
    fn hear_greeter(&mut self, who: &Info, want: bool) -> bool {
        if let Some(it) = self.neighbours.get(who.address) {
            let spoken = it.is_met() || it.is_proven();
            if spoken && who.life < it.info().life {
                return false; // A word of an earlier life, late.
            }
            if spoken {
                self.neighbours.update(who, &self.ctx);
            } else {
                self.neighbours.begin(who, &self.ctx);
            }
            return true;
        }
        if who.address == self.info().address {
            return false;
        }
        self.neighbours.insert(Entry::new(*who, self.ctx.now()));
        if !want && self.neighbours.remove_if_irrelevant(who.address, &self.ctx) {
            return false;
        }
        self.hearsay.arrivals.add_known(who.address);
        true
    }

    pub(super) fn on_sum(&mut self, from: Address, knows: Knows, enclosing: Vec<Address>) {
        if !self.is_ready() || !self.neighbours.trusts(from, &self.ctx) {
            return;
        }
        let Some(it) = self.neighbours.get_mut(from) else { return };
        it.knowledge.hear(knows);
        it.knowledge.hear_enclosing(enclosing);
        tell_missing(&mut self.neighbours, from, &mut self.ctx);
    }

    /// A peer does not want to hear us and does not know us.
    pub(super) fn on_stranger(&mut self, from: Address) {
        let now = self.ctx.now();
        let Some(it) = self.neighbours.get_mut(from) else { return };
        it.link.hear_refusal();
        let lately = it.link.was_just_greeted(now);
        if !self.neighbours.is_relevant(from, &self.ctx) {
            self.neighbours.forget(from, &mut self.ctx);
        } else if self.ctx.config().handshake && !lately {
            greet(&mut self.neighbours, from, &mut self.ctx); // We want to hear it: it must know.
        }
    }

    pub(super) fn on_leave(&mut self, from: Address, list: Vec<Info>) {
        let trusted = self.neighbours.trusts(from, &self.ctx);
        let Some(entry) = self.neighbours.forget(from, &mut self.ctx) else { return };
        // It said so itself: no move is later than that.
        self.hearsay.departed.add(from, (entry.info().life, u32::MAX), &self.ctx);
        if trusted && self.is_ready() {
            self.hearsay.introduced(list, &mut self.neighbours, &mut self.ctx);
        }
    }

    pub(super) fn on_ping(&mut self, from: Address) {
        if self.neighbours.trusts(from, &self.ctx) && self.neighbours.get(from).is_some() {
            self.ctx.send([from], Msg::Pong { who: *self.neighbours.local().info() });
        }
    }

    pub(super) fn on_pong(&mut self, from: Address, who: Info) {
        if !self.neighbours.trusts(from, &self.ctx) {
            return;
        }
        let now = self.ctx.now();
        let same = |it: &&mut Entry| who.address == from && it.info().life == who.life;
        if let Some(it) = self.neighbours.get_mut(from).filter(same) {
            it.signs.hear(now);
            self.neighbours.update(&who, &self.ctx);
        }
    }
}
