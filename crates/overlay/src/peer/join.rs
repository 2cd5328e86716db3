//! Joining and leaving: a newcomer's search is forwarded to ever nearer peers, and the nearest one welcomes it.

use super::Peer;
use crate::admission::AdmittedPeer;
use crate::config::UNPROVEN_MAX;
use crate::context::PeerContext;
use crate::info::Info;
use crate::links::greet;
use crate::msg::{Flags, OverlayMsg, SearchPurpose};
use crate::neighbours::{NeighbourState, Neighbours};
use crate::search::nearer;
use machine::Address;
use space::Position;

impl Peer {
    pub(super) fn on_join(&mut self, position: Position) {
        self.membership.begin();
        self.neighbours.place(position);
        self.membership.seek(self.neighbours.local().info(), &mut self.ctx);
    }

    pub(super) fn on_seek(&mut self, who: Info, purpose: SearchPurpose, hops: u8, credential: Vec<u8>) {
        if who.address == self.info().address {
            return self.lookup.search_returned(purpose, &mut self.ctx);
        }
        if !self.is_ready() {
            return;
        }
        let Some(admitted) = self.admission.admit(who, &credential, &self.ctx) else { return };
        // A check must be able to return to its sender; other searches must not end there.
        let except = (purpose != SearchPurpose::Check).then_some(who.address);
        match nearer(&self.neighbours, who.position, except, &self.ctx) {
            Some(next) if 0 < hops => {
                self.ctx.send_sure(next, OverlayMsg::Seek { who, purpose, hops: hops - 1, credential });
            }
            _ => self.accept(&admitted, purpose != SearchPurpose::Join),
        }
    }

    /// Called when no peer is nearer: the searching peer becomes a neighbour.
    fn accept(&mut self, admitted: &AdmittedPeer, again: bool) {
        let (who, handshake) = (*admitted.info(), self.ctx.config().handshake);
        if !handshake && who.position == self.info().position {
            return; // As in the paper's program: the newcomer will try again from another position.
        }
        let known = self.neighbours.get(who.address).is_some();
        if known && handshake {
            self.neighbours.hear_of(&who, &self.ctx);
        } else if known {
            self.neighbours.update(&who, &self.ctx);
        } else {
            self.reports.arrivals.add_known(who.address);
            self.neighbours.insert(accepted(admitted, again, &self.ctx));
        }
        let list = welcome_list(&self.neighbours, &who, &self.ctx);
        // It was inserted so that the list above was judged with its region in the diagram; an irrelevant one must not
        // stay.
        if handshake && !known {
            self.neighbours.remove_if_irrelevant(who.address, &self.ctx);
        }
        self.ctx.send_sure(
            who.address,
            OverlayMsg::Welcome { from: *self.neighbours.local().info(), list, again },
        );
    }

    pub(super) fn on_welcome(&mut self, from: Address, host: Info, list: Vec<Info>, again: bool) {
        let handshake = self.ctx.config().handshake;
        // A peer welcomes in its own name only; the rendezvous alone may tell the first peer that it is the first.
        if handshake && host.address != from && from != self.ctx.rendezvous() {
            return;
        }
        if again {
            if self.lookup.search_answered(&mut self.ctx) {
                let all = list.into_iter().chain([host]).collect();
                self.reports.take_all(all, &mut self.neighbours, &mut self.ctx);
            }
            return;
        }
        if self.is_ready() {
            return;
        }
        // None of them has proven itself yet, so the limit for unproven peers applies.
        let most = if handshake { UNPROVEN_MAX } else { usize::MAX };
        let me = self.info().address;
        for info in [host].into_iter().chain(list).filter(|it| it.address != me).take(most) {
            self.neighbours.insert(NeighbourState::new(info, self.ctx.now()));
        }
        let all = self.neighbours.addresses();
        if handshake && !all.is_empty() {
            self.membership.settle(&mut self.ctx);
            all.into_iter().for_each(|it| greet(&mut self.neighbours, it, &mut self.ctx));
            return;
        }
        self.get_ready();
        let first = first_move(self.info());
        self.ctx.send(all, first);
    }

    /// Called when the peer has waited long enough for the answers of its neighbours.
    pub(super) fn on_settled(&mut self) {
        if !self.is_ready() {
            self.get_ready();
        }
    }

    pub(super) fn get_ready(&mut self) {
        self.membership.enter(&mut self.ctx);
        self.comparison.start(&mut self.ctx);
        self.lookup.start(&mut self.ctx);
    }

    /// Leaves the overlay: tells the neighbours, and names the peers that close the gap.
    pub(super) fn on_departure(&mut self) {
        let (neighbours, ctx) = (&self.neighbours, &mut self.ctx);
        let mut beside = Vec::new();
        neighbours.diagram().enclosing(neighbours.local().address(), &mut beside);
        let infos = beside.iter().filter_map(|&it| Some(*neighbours.get(it)?.info())).collect();
        let mut all = neighbours.addresses();
        // Unproven peers were never sent moves, so they need no farewell.
        all.retain(|&it| neighbours.trusts(it, ctx));
        ctx.send(all, OverlayMsg::Leave(infos));
        self.membership.leave(ctx);
    }
}

/// The state of a neighbour that is accepted at its place. It joins now, unless it was in before.
fn accepted(admitted: &AdmittedPeer, again: bool, ctx: &PeerContext) -> NeighbourState {
    let mut entry = NeighbourState::new(*admitted.info(), ctx.now());
    entry.link.prove(admitted);
    if !again {
        entry.link.begin_joining();
    }
    entry
}

/// The peers that a newcomer must know, the nearest first. The paper's peers name all that they know.
fn welcome_list(neighbours: &Neighbours, who: &Info, ctx: &PeerContext) -> Vec<Info> {
    let there = neighbours.iter().filter(|it| it.0 != who.address && it.1.is_there(ctx));
    let mut list: Vec<Info> = there.map(|it| *it.1.info()).collect();
    if ctx.config().handshake {
        list.retain(|it| neighbours.should_know(who, it, ctx));
        list.sort_by_key(|it| (it.position.distance_squared(who.position), it.address));
        // The answering peer itself takes one place in the list of the newcomer.
        list.truncate(UNPROVEN_MAX - 1);
    }
    list
}

/// The first move of a paper's peer, which has no greetings: it asks the neighbours for their lists.
fn first_move(me: &Info) -> OverlayMsg {
    OverlayMsg::Move {
        sequence: me.sequence,
        position: me.position,
        before: Some(me.position),
        flags: Flags::LIST.with(Flags::WANT, true),
        aoi: Some(me.aoi),
        met: Vec::new(),
    }
}
