//! What a peer does when it moves: it throws out who does not matter any more, and tells the others.

use crate::config::{MET_MAX, NAMES_MAX, Relevance};
use crate::info::short;
use crate::msg::{Flags, Msg, Search};
use crate::peer::{Out, Peer};
use crate::rule::Rule;
use crate::uplink::Weight;
use machine::Address;
use space::{Distance, Neighbour, Position};

/// Whoever is suddenly farther away than so many views has leapt, and looks for its place anew.
const LEAP: u64 = 4;

/// How long a step was, of those long enough to be told, and at most a few views.
pub(crate) fn stride(before: Position, after: Position, view: Distance) -> Distance {
    let step = before.distance_squared(after).isqrt().min(u64::from(view.millimetres()) * LEAP);
    Distance::new(step as u32).unwrap_or(view)
}

impl Peer {
    pub(crate) fn travel(&mut self, position: Position, out: &mut Out) {
        if !self.ready {
            return;
        }
        let before = std::mem::replace(&mut self.me.position, position);
        self.me.sequence += 1;
        self.list.place_me(self.me.address, position);
        self.stride = self.long_step(before).unwrap_or(Distance::ZERO);
        self.look_for_silent(out);
        self.look_into_stock(out);
        self.adapt_view();
        self.stepped = self.now;
        let mut neighbours = Vec::new();
        self.list.diagram().neighbours(self.me.address, self.my_reach(), &mut neighbours);
        self.prune(&neighbours, out);
        self.tell(&neighbours, before, out);
        self.ask_around(&neighbours, out);
        let leap = u64::from(self.me.aoi.millimetres()) * LEAP;
        if self.config.handshake && leap.pow(2) < before.distance_squared(position) {
            self.look_up(Search::Leap, out);
        }
    }

    /// How long the step from there was, if others should know.
    fn long_step(&self, before: Position) -> Option<Distance> {
        let step = stride(before, self.me.position, self.me.aoi);
        let long = self.config.buffer.millimetres() / 2 < step.millimetres();
        (self.config.swept && long).then_some(step)
    }

    /// Throws out who has not mattered for a while.
    fn prune(&mut self, neighbours: &[Neighbour<Address>], out: &mut Out) {
        let mut idle: Vec<Address> = Vec::new();
        let others: Vec<Address> = self.list.iter().map(|it| it.0).collect();
        for address in others {
            let mate = self.is_known_mate(address);
            let matters = mate
                || neighbours.binary_search_by_key(&address, |it| it.key).is_ok()
                || self.config.relevance == Relevance::Mutual && self.matters_to(address);
            let matters = matters && !self.overlooks(address);
            let (now, grace) = (self.now, self.config.grace);
            let Some(it) = self.list.get_mut(address) else { continue };
            if matters {
                (it.want, it.idle_since) = (true, None);
                continue;
            }
            let since = *it.idle_since.get_or_insert(now);
            // Whoever came by mistake goes at once.
            let young = since.since(it.since) < grace;
            it.want = !young && now.since(since) < grace;
            let bound = self.config.relevance == Relevance::Mutual && it.wanted;
            if !it.want && !bound && self.config.enforces(Rule::RemoveIrrelevant) {
                idle.push(address);
            }
        }
        idle.into_iter().for_each(|it| self.forget(it, out));
    }

    /// The short names of some of those met since the last move. In a crowd nobody is named: whoever is in one asks by itself
    /// whom it lacks.
    fn newly_met(&mut self) -> Vec<u32> {
        if !self.config.handshake || NAMES_MAX < self.list.len() {
            self.met.clear();
        }
        let (list, mut named) = (&self.list, Vec::new());
        self.met.retain(|&it| match list.get(it) {
            Some(entry) if entry.proven && named.len() < MET_MAX => {
                named.push(short(it));
                false
            }
            // Whoever has not answered yet is named later, and whoever is gone again never.
            known => known.is_some(),
        });
        named
    }

    fn tell(&mut self, neighbours: &[Neighbour<Address>], before: Position, out: &mut Out) {
        let mut audiences: [Vec<Address>; 8] = Default::default();
        let audience = self.audience(neighbours);
        for (address, sparse) in audience {
            let found = neighbours.binary_search_by_key(&address, |it| it.key).ok();
            let boundary = found.is_some_and(|at| neighbours[at].boundary);
            let Some(it) = self.list.get(address) else { continue };
            let number = usize::from(boundary) + 2 * usize::from(it.want) + 4 * usize::from(sparse);
            audiences[number].push(address);
        }
        let before = (!self.config.handshake || self.stride != Distance::ZERO).then_some(before);
        let (aoi, met) = (self.announced_view(), self.newly_met());
        let (sequence, position) = (self.me.sequence, self.me.position);
        for (number, audience) in audiences.into_iter().enumerate().filter(|it| !it.1.is_empty()) {
            let flags = Flags::default().with(Flags::BOUNDARY, number & 1 != 0);
            let flags = flags
                .with(Flags::WANT, number & 2 != 0 && self.config.enforces(Rule::AnnounceWant))
                .with(Flags::SPARSE, number & 4 != 0);
            let weight = if number & 4 == 0 { Weight::First } else { Weight::Second };
            let step = Msg::Move { sequence, position, before, flags, aoi, met: met.clone() };
            let told = self.drop_with(weight, audience, step, out);
            if self.config.crowd.is_none() {
                continue;
            }
            for address in told {
                if let Some(it) = self.list.get_mut(address) {
                    (it.told_at, it.told_sparse) = (self.now, flags.has(Flags::SPARSE));
                }
            }
        }
    }
}
