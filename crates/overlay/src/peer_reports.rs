//! Reports of other peers about peers: which of them enter the list, which are not believed, and which may matter
//! later.

use crate::arrivals::Arrivals;
use crate::config::UNPROVEN_MAX;
use crate::context::PeerContext;
use crate::departed_peers::DepartedPeers;
use crate::info::Info;
use crate::links::greet;
use crate::neighbours::{NeighbourState, Neighbours};
use crate::shortlist::Shortlist;

/// The memory of one peer about reported peers.
#[derive(Default)]
pub(crate) struct PeerReports {
    shortlist: Shortlist,
    pub departed: DepartedPeers,
    pub arrivals: Arrivals,
}

impl PeerReports {
    /// Adds a reported peer to the list and greets it, if it is relevant. Returns whether it is in the list.
    pub fn take(&mut self, info: Info, neighbours: &mut Neighbours, ctx: &mut PeerContext) -> bool {
        // A peer that invents others must not fill the list with them.
        let unproven = neighbours.iter().filter(|it| !it.1.is_proven()).count();
        let departed = self.departed.refuses(&info, ctx.now());
        if departed || info.address == neighbours.local().address() || UNPROVEN_MAX <= unproven {
            return false;
        }
        // Why insert first: only with its region in the diagram can the peer be judged.
        neighbours.insert(NeighbourState::new(info, ctx.now()));
        if neighbours.remove_if_irrelevant(info.address, ctx) {
            self.shortlist.add(info, ctx.now());
            return false;
        }
        self.shortlist.remove(info.address);
        self.arrivals.add(info.address);
        if ctx.config().handshake {
            greet(neighbours, info.address, ctx);
        }
        true
    }

    /// Takes in reports about peers, neighbours among them.
    pub fn take_all(&mut self, infos: Vec<Info>, neighbours: &mut Neighbours, ctx: &mut PeerContext) {
        for info in infos {
            if neighbours.get(info.address).is_some() {
                neighbours.hear_of(&info, ctx);
            } else {
                self.take(info, neighbours, ctx);
            }
        }
    }

    /// Takes in an introduction. The paper's peers add every new peer, relevant or not.
    pub fn introduced(&mut self, infos: Vec<Info>, neighbours: &mut Neighbours, ctx: &mut PeerContext) {
        if ctx.config().mutual_introductions {
            return self.take_all(infos, neighbours, ctx);
        }
        let me = neighbours.local().address();
        for info in infos.into_iter().filter(|it| it.address != me) {
            if neighbours.get(info.address).is_none() {
                neighbours.insert(NeighbourState::new(info, ctx.now()));
            }
        }
    }

    /// Judges the peers of the shortlist again: one that was irrelevant when it was introduced may be relevant by now.
    pub fn reconsider_shortlist(&mut self, neighbours: &mut Neighbours, ctx: &mut PeerContext) {
        for (info, since) in self.shortlist.current(ctx.now(), neighbours) {
            if !self.take(info, neighbours, ctx) {
                self.shortlist.put_back(info, since);
            }
        }
    }
}
