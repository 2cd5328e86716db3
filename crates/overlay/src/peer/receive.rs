//! Messages of other peers: one function per kind of message.

use super::Peer;
use crate::admission::AdmittedPeer;
use crate::config::{Introducers, UnknownSender};
use crate::info::Info;
use crate::introductions::{introduce, missing_in, tell_missing};
use crate::links::{PeerGreeting, greet, send_hello};
use crate::msg::{Flags, Knows, OverlayMsg, PeerMove};
use crate::neighbours::NeighbourState;
use machine::Address;

impl Peer {
    pub(super) fn on_move(&mut self, from: Address, step: &PeerMove) {
        if !self.is_ready() || from == self.info().address {
            return;
        }
        if self.neighbours.get(from).is_none() && !self.meet(from, step) {
            return;
        }
        let Some(before) = self.neighbours.hear_move(from, step, &mut self.ctx) else { return };
        // In the paper a newcomer asks for whole lists with its first move.
        if step.flags.has(Flags::LIST) && !self.ctx.config().handshake {
            let all = self.neighbours.iter().filter(|it| it.0 != from).map(|it| *it.1.info()).collect();
            self.ctx.send([from], OverlayMsg::Nodes(all));
        }
        let config = self.ctx.config();
        let checks = step.flags.has(Flags::BOUNDARY) || config.introducers == Introducers::AllReceivers;
        // A mover in a crowd asks for the peers that it lacks; unasked introductions would mostly repeat what it knows.
        let asks = || self.neighbours.get(from).is_some_and(|it| it.knowledge.is_partial());
        if checks && !(config.crowd.is_some() && asks()) {
            introduce(&mut self.neighbours, from, before, &mut self.ctx);
        }
    }

    /// Takes in a move of an unknown peer; returns whether it is in the list now.
    fn meet(&mut self, from: Address, step: &PeerMove) -> bool {
        let config = self.ctx.config();
        let info = Info {
            address: from,
            // A move names neither life nor group: 0 stands for unknown.
            life: 0,
            sequence: step.sequence,
            position: step.position,
            aoi: step.aoi.unwrap_or(config.aoi),
            group: if self.group_members.contains(from) { self.info().group } else { 0 },
        };
        // In the paper a newcomer connects with its first move; ours greet instead.
        let connects = step.flags.has(Flags::LIST) && !config.handshake;
        match config.unknown_sender {
            UnknownSender::Drop if !connects && !self.neighbours.is_group_member(&info, &self.ctx) => false,
            UnknownSender::InsertIfRelevant if !connects => {
                self.reports.departed.remove(from); // Its own message shows that it is there.
                let taken = self.reports.take(info, &mut self.neighbours, &mut self.ctx);
                if !taken {
                    self.ctx.send([from], OverlayMsg::Stranger);
                }
                taken
            }
            UnknownSender::Drop | UnknownSender::Insert | UnknownSender::InsertIfRelevant => {
                self.neighbours.insert(NeighbourState::new(info, self.ctx.now()));
                true
            }
        }
    }

    pub(super) fn on_nodes(&mut self, from: Address, list: Vec<Info>) {
        if self.is_ready() && self.neighbours.trusts(from, &self.ctx) {
            self.reports.introduced(list, &mut self.neighbours, &mut self.ctx);
        }
    }

    pub(super) fn on_hello(&mut self, admitted: AdmittedPeer, greeting: PeerGreeting, knows: Knows) {
        let who = *admitted.info();
        self.reports.departed.remove(who.address);
        if !self.hear_greeter(&who, greeting.want) {
            return;
        }
        let wanted_here = self.neighbours.is_relevant(who.address, &self.ctx);
        let now = self.ctx.now();
        let Some(it) = self.neighbours.get_mut(who.address) else { return };
        it.life_signs.hear(now);
        it.link.prove(&admitted);
        it.link.hear_hello(now, greeting.want, wanted_here);
        it.knowledge.hear(knows);
        if greeting.answer {
            it.link.hear_answer();
        } else if it.link.take_answer(now) {
            let nodes = missing_in(&self.neighbours, who.address, &self.ctx);
            let answer = PeerGreeting { want: wanted_here, answer: true, nodes };
            send_hello(&mut self.neighbours, who.address, answer, &mut self.ctx);
        }
        self.reports.take_all(greeting.nodes, &mut self.neighbours, &mut self.ctx);
        // Once all neighbours have answered, there is nothing left to wait for.
        let all_answered = || self.neighbours.iter().all(|it| !it.1.link.awaits_answer());
        if self.membership.is_settling(&self.ctx) && all_answered() {
            self.get_ready();
        }
    }

    /// Takes in the information of a greeting peer, and adds the peer to the list if it is new and either side wants
    /// that. Returns whether the rest of the greeting counts.
    fn hear_greeter(&mut self, who: &Info, want: bool) -> bool {
        if let Some(it) = self.neighbours.get(who.address) {
            let spoken = it.is_met() || it.is_proven();
            if spoken && who.life < it.info().life {
                return false; // A late message of an earlier life.
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
        self.neighbours.insert(NeighbourState::new(*who, self.ctx.now()));
        if !want && self.neighbours.remove_if_irrelevant(who.address, &self.ctx) {
            return false;
        }
        self.reports.arrivals.add_known(who.address);
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

    /// Takes in that a peer does not know the local one and does not want its moves.
    pub(super) fn on_stranger(&mut self, from: Address) {
        let now = self.ctx.now();
        let Some(it) = self.neighbours.get_mut(from) else { return };
        it.link.hear_refusal();
        let just_greeted = it.link.was_just_greeted(now);
        if !self.neighbours.is_relevant(from, &self.ctx) {
            self.neighbours.forget(from, &mut self.ctx);
        } else if self.ctx.config().handshake && !just_greeted {
            greet(&mut self.neighbours, from, &mut self.ctx); // It is relevant: it must know that we want its moves.
        }
    }

    pub(super) fn on_leave(&mut self, from: Address, list: Vec<Info>) {
        // Asked before the removal: an unknown peer is never trusted.
        let trusted = self.neighbours.trusts(from, &self.ctx);
        let Some(entry) = self.neighbours.forget(from, &mut self.ctx) else { return };
        // The peer said itself that it leaves, so no report of a later move in this life can be true.
        self.reports.departed.add(from, (entry.info().life, u32::MAX), &self.ctx);
        if trusted && self.is_ready() {
            self.reports.introduced(list, &mut self.neighbours, &mut self.ctx);
        }
    }

    pub(super) fn on_ping(&mut self, from: Address) {
        if self.neighbours.trusts(from, &self.ctx) && self.neighbours.get(from).is_some() {
            self.ctx.send([from], OverlayMsg::Pong { who: *self.neighbours.local().info() });
        }
    }

    pub(super) fn on_pong(&mut self, from: Address, who: Info) {
        if !self.neighbours.trusts(from, &self.ctx) {
            return;
        }
        let now = self.ctx.now();
        // A pong of another life says nothing about this one.
        let same = |it: &&mut NeighbourState| who.address == from && it.info().life == who.life;
        if let Some(it) = self.neighbours.get_mut(from).filter(same) {
            it.life_signs.hear(now);
            self.neighbours.update(&who, &self.ctx);
        }
    }
}
