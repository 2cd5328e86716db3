//! What a peer does when it moves: it throws out who does not matter any more, and tells the others.

use crate::config::Relevance;
use crate::msg::{Flags, Msg};
use crate::peer::{Out, Peer};
use machine::Address;
use space::{Neighbour, Position};

impl Peer {
    pub(crate) fn travel(&mut self, position: Position, out: &mut Out) {
        if !self.ready {
            return;
        }
        let before = self.me.position;
        self.me.sequence += 1;
        self.me.position = position;
        self.list.place_me(self.me.address, position);
        self.look_for_silent(out);
        let mut neighbours = Vec::new();
        let reach = self.config.reach(self.me.aoi);
        self.list.diagram().neighbours(self.me.address, reach, &mut neighbours);
        self.prune(&neighbours, out);
        self.tell(&neighbours, before, out);
    }

    /// Throws out who has not mattered for a while.
    fn prune(&mut self, neighbours: &[Neighbour<Address>], out: &mut Out) {
        let mut idle: Vec<Address> = Vec::new();
        let others: Vec<Address> = self.list.iter().map(|it| it.0).collect();
        for address in others {
            let matters = neighbours.binary_search_by_key(&address, |it| it.key).is_ok()
                || self.config.relevance == Relevance::Mutual && self.matters_to(address);
            let (now, grace) = (self.now, self.config.grace);
            let Some(it) = self.list.get_mut(address) else { continue };
            if matters {
                (it.want, it.idle_since) = (true, None);
                continue;
            }
            let since = *it.idle_since.get_or_insert(now);
            it.want = now.since(since) < grace;
            let bound = self.config.relevance == Relevance::Mutual && it.wanted;
            if !it.want && !bound {
                idle.push(address);
            }
        }
        idle.into_iter().for_each(|it| self.forget(it, out));
    }

    fn tell(&mut self, neighbours: &[Neighbour<Address>], before: Position, out: &mut Out) {
        let mut audiences: [Vec<Address>; 4] = Default::default();
        for (address, it) in self.list.iter() {
            let found = neighbours.binary_search_by_key(&address, |it| it.key).ok();
            let boundary = found.is_some_and(|at| neighbours[at].boundary);
            audiences[usize::from(boundary) + 2 * usize::from(it.want)].push(address);
        }
        let before = (!self.config.handshake).then_some(before);
        for (number, audience) in audiences.into_iter().enumerate() {
            let flags = Flags::default().with(Flags::BOUNDARY, number & 1 == 1);
            let flags = flags.with(Flags::WANT, number & 2 == 2);
            let (sequence, position) = (self.me.sequence, self.me.position);
            if !audience.is_empty() {
                self.drop_to(audience, Msg::Move { sequence, position, before, flags, aoi: None }, out);
            }
        }
    }
}
