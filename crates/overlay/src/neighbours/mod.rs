//! The neighbours of the local peer, and one diagram of all positions, its own included.
//!
//! A position and its site in the diagram change together or not at all: nothing outside of this module can write
//! either. Each part of the peer keeps what it remembers about one neighbour in a field of its own of
//! [`NeighbourState`] (`link`, `life_signs`, `knowledge`, `pace`).

mod knowledge;
mod life_signs;
mod local_peer;
mod neighbour_link;
mod neighbour_state;
mod relevance;
mod update_pace;

pub(crate) use local_peer::LocalPeer;
pub use neighbour_state::NeighbourState;
pub(crate) use update_pace::Urgency;

use crate::config::{ASKED_MAX, LIST_MAX, NAMES_MAX};
use crate::context::PeerContext;
use crate::event::PeerEvent;
use crate::info::Info;
use crate::msg::{Knows, PeerMove};
use crate::rule::OverlayRule;
use crate::uplink::MessageRateLimit;
use machine::Address;
use space::{Distance, Position, Voronoi};
use std::collections::BTreeMap;

/// Moves by which a report about a peer may be ahead of the peer's own first message: datagrams overtake each other.
const AHEAD: u32 = 16;

/// The local peer, its neighbours and their diagram.
#[derive(Debug)]
pub(crate) struct Neighbours {
    local: LocalPeer,
    entries: BTreeMap<Address, NeighbourState>,
    diagram: Voronoi<Address>,
}

impl Neighbours {
    pub fn new(me: Info) -> Self {
        Self { local: LocalPeer::new(me), entries: BTreeMap::new(), diagram: Voronoi::default() }
    }

    pub const fn local(&self) -> &LocalPeer {
        &self.local
    }

    /// The diagram of all neighbours and the local peer.
    pub const fn diagram(&self) -> &Voronoi<Address> {
        &self.diagram
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn get(&self, address: Address) -> Option<&NeighbourState> {
        self.entries.get(&address)
    }

    pub fn get_mut(&mut self, address: Address) -> Option<&mut NeighbourState> {
        self.entries.get_mut(&address)
    }

    /// The rate limit of a neighbour's messages.
    pub fn rate_limit(&mut self, address: Address) -> Option<&mut MessageRateLimit> {
        self.entries.get_mut(&address).map(|it| &mut it.rate_limit)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Address, &NeighbourState)> {
        self.entries.iter().map(|(&address, it)| (address, it))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Address, &mut NeighbourState)> {
        self.entries.iter_mut().map(|(&address, it)| (address, it))
    }

    pub fn addresses(&self) -> Vec<Address> {
        self.entries.keys().copied().collect()
    }

    /// Returns whether there are so many neighbours that some are sent fewer steps.
    pub fn is_crowd(&self, ctx: &PeerContext) -> bool {
        ctx.config().crowd.is_some_and(|crowd| crowd < self.len())
    }

    /// Puts the local peer at a position, without a step.
    pub fn place(&mut self, position: Position) {
        self.local.place(position);
        self.diagram.put(self.local.address(), position);
    }

    /// The local peer steps to a position; returns the position before.
    pub fn step(&mut self, position: Position, ctx: &PeerContext) -> Position {
        self.diagram.put(self.local.address(), position);
        self.local.step(position, ctx)
    }

    /// Adapts the view of the local peer to the number of peers in view.
    pub fn adapt_view(&mut self, ctx: &PeerContext) {
        let (here, aoi) = (self.local.position(), self.local.info().aoi);
        let seen = |it: &(Address, &NeighbourState)| here.is_within(aoi, it.1.info.position);
        let seen = if ctx.config().crowd.is_some() { self.iter().filter(seen).count() } else { 0 };
        self.local.adapt_view(seen, ctx);
    }

    /// Adds a new neighbour, unless the list is full.
    pub fn insert(&mut self, entry: NeighbourState) {
        if LIST_MAX <= self.entries.len() {
            return;
        }
        self.diagram.put(entry.info.address, entry.info.position);
        self.entries.insert(entry.info.address, entry);
    }

    /// Takes in information about a neighbour, if it is newer.
    pub fn update(&mut self, info: &Info, ctx: &PeerContext) {
        if let Some(it) = self.entries.get_mut(&info.address)
            && (info.is_newer_than(&it.info) || !ctx.enforces(OverlayRule::NewestWins))
        {
            it.info = *info;
            self.diagram.put(info.address, info.position);
        }
    }

    /// Takes in a report of another peer about a neighbour, unless the neighbour has sent messages of its own.
    pub fn hear_of(&mut self, info: &Info, ctx: &PeerContext) {
        let spoken = self.get(info.address).is_some_and(|it| it.has_spoken(ctx));
        if !spoken || !ctx.enforces(OverlayRule::NewestWins) {
            self.update(info, ctx);
        }
    }

    /// Takes in a neighbour's first own message. Reports of other peers may be a little newer than it; if they are much
    /// newer, they were lies, and the neighbour's own message replaces them.
    pub fn begin(&mut self, info: &Info, ctx: &PeerContext) {
        let Some(it) = self.entries.get_mut(&info.address) else { return };
        let latest = (info.life, info.sequence.saturating_add(AHEAD));
        if latest < (it.info.life, it.info.sequence) {
            it.info = *info;
            self.diagram.put(info.address, info.position);
        } else {
            self.update(info, ctx);
        }
    }

    /// Takes in a move of a neighbour. Returns its position before, or `None` if the move is not believed: the sender
    /// is unknown, or has not proven yet who it is.
    #[must_use]
    pub fn hear_move(&mut self, from: Address, step: &PeerMove, ctx: &mut PeerContext) -> Option<Position> {
        let handshake = ctx.config().handshake;
        let view = self.local.info().aoi;
        let it = self.entries.get_mut(&from)?;
        if handshake && !it.is_proven() {
            return None; // A greeting is on its way, from it or to it; the next moves will be believed.
        }
        let first = it.hear_move(step, view, ctx);
        // Read before the update below replaces it.
        let before = step.before.unwrap_or(it.info.position);
        let moved = Info {
            sequence: step.sequence,
            position: step.position,
            aoi: step.aoi.unwrap_or(it.info.aoi),
            ..it.info
        };
        if first {
            ctx.raise(PeerEvent::Heard(from));
        }
        if first && handshake {
            self.begin(&moved, ctx);
        } else {
            self.update(&moved, ctx);
        }
        Some(before)
    }

    /// Removes a neighbour and tells the owner; returns its state.
    pub fn forget(&mut self, address: Address, ctx: &mut PeerContext) -> Option<NeighbourState> {
        let entry = self.remove(address)?;
        // Other neighbours will remove it, too: it must be introduced to them anew if it comes back.
        self.entries.values_mut().for_each(|it| it.knowledge.forget(address));
        ctx.raise(PeerEvent::Lost(address));
        Some(entry)
    }

    /// Takes an insertion back, without an event, if the new neighbour is irrelevant. Returns whether it did.
    pub fn remove_if_irrelevant(&mut self, address: Address, ctx: &PeerContext) -> bool {
        let irrelevant = !self.is_relevant(address, ctx);
        if irrelevant {
            self.remove(address);
        }
        irrelevant
    }

    fn remove(&mut self, address: Address) -> Option<NeighbourState> {
        self.diagram.remove(address);
        self.entries.remove(&address)
    }

    /// Short names of all neighbours; in a crowd, where there are too many, of none.
    pub fn knows(&self) -> Knows {
        if NAMES_MAX < self.len() {
            return Knows { names: Vec::new(), within: Some(Distance::ZERO) };
        }
        self.knows_nearest()
    }

    /// Short names of all neighbours; if there are too many, of the nearest.
    pub fn knows_nearest(&self) -> Knows {
        let away = |it: &Info| it.position.distance_squared(self.local.position());
        let mut infos: Vec<&Info> = self.iter().map(|it| &it.1.info).collect();
        let mut within = None;
        if ASKED_MAX < infos.len() {
            infos.sort_by_key(|it| (away(it), it.address));
            infos.truncate(ASKED_MAX);
            let farthest = infos.last().map_or(0, |it| away(it));
            within = Some(Distance::new(farthest.isqrt() as u32).unwrap_or(Distance::MAX));
        }
        let mut names: Vec<u32> = infos.into_iter().map(Info::short).collect();
        names.sort_unstable();
        Knows { names, within }
    }
}
