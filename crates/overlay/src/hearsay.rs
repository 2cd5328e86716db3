//! What others say about peers: who is taken into the list, who is not believed to be there, and who may matter later.

use crate::arrivals::Arrivals;
use crate::config::UNPROVEN_MAX;
use crate::ctx::Ctx;
use crate::departed::Departed;
use crate::info::Info;
use crate::links::greet;
use crate::neighbours::{Entry, Neighbours};
use crate::shortlist::Shortlist;

/// See the module.
#[derive(Default)]
pub(crate) struct Hearsay {
    shortlist: Shortlist,
    pub departed: Departed,
    pub arrivals: Arrivals,
}

impl Hearsay {
    /// Takes a new peer into the list and greets it, if it matters; whether it is in the list.
    pub fn take(&mut self, info: Info, neighbours: &mut Neighbours, ctx: &mut Ctx) -> bool {
        let unproven = neighbours.iter().filter(|it| !it.1.is_proven()).count();
        let departed = self.departed.refuses(&info, ctx.now());
        if departed || info.address == neighbours.local().address() || UNPROVEN_MAX <= unproven {
            return false;
        }
        neighbours.insert(Entry::new(info, ctx.now()));
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

    /// Takes in what is said about peers, new ones and neighbours.
    pub fn take_all(&mut self, infos: Vec<Info>, neighbours: &mut Neighbours, ctx: &mut Ctx) {
        for info in infos {
            if neighbours.get(info.address).is_some() {
                neighbours.hear_of(&info, ctx);
            } else {
                self.take(info, neighbours, ctx);
            }
        }
    }

    /// Takes in an introduction. The paper's peers take all new peers, whether they matter or not.
    pub fn introduced(&mut self, infos: Vec<Info>, neighbours: &mut Neighbours, ctx: &mut Ctx) {
        if ctx.config().mutual_introductions {
            return self.take_all(infos, neighbours, ctx);
        }
        let me = neighbours.local().address();
        for info in infos.into_iter().filter(|it| it.address != me) {
            if neighbours.get(info.address).is_none() {
                neighbours.insert(Entry::new(info, ctx.now()));
            }
        }
    }

    /// Looks whether a peer matters by now that did not when it was introduced.
    pub fn look_again(&mut self, neighbours: &mut Neighbours, ctx: &mut Ctx) {
        for (info, since) in self.shortlist.current(ctx.now(), neighbours) {
            if !self.take(info, neighbours, ctx) {
                self.shortlist.put_back(info, since);
            }
        }
    }
}
