//! The neighbours of the local peer, and one diagram of all places, its own included.
//!
//! A place and its site in the diagram change together or not at all: nothing outside of this module can write either. What
//! each part of the peer remembers about one neighbour is a record of its own in the [`Entry`] (`link`, `signs`, `knowledge`,
//! `pace`), with private fields.

mod entry;
mod knowledge;
mod link;
mod local;
mod pace;
mod relevance;
mod signs;

pub use entry::Entry;
pub(crate) use local::Local;
pub(crate) use pace::Urgency;

use crate::config::{ASKED_MAX, LIST_MAX, NAMES_MAX};
use crate::ctx::Ctx;
use crate::event::Event;
use crate::info::Info;
use crate::msg::{Knows, Step};
use crate::rule::Rule;
use crate::uplink::Bucket;
use machine::Address;
use space::{Distance, Position, Voronoi};
use std::collections::BTreeMap;

/// Hearsay of a peer may be so many moves ahead of its own first word: datagrams overtake each other.
const AHEAD: u32 = 16;

/// See the module.
#[derive(Debug)]
pub(crate) struct Neighbours {
    local: Local,
    entries: BTreeMap<Address, Entry>,
    diagram: Voronoi<Address>,
}

impl Neighbours {
    pub fn new(me: Info) -> Self {
        Self { local: Local::new(me), entries: BTreeMap::new(), diagram: Voronoi::default() }
    }

    pub const fn local(&self) -> &Local {
        &self.local
    }

    /// The diagram of all neighbours and the local peer.
    pub const fn diagram(&self) -> &Voronoi<Address> {
        &self.diagram
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn get(&self, address: Address) -> Option<&Entry> {
        self.entries.get(&address)
    }

    pub fn get_mut(&mut self, address: Address) -> Option<&mut Entry> {
        self.entries.get_mut(&address)
    }

    /// How much is left of what we listen to a neighbour.
    pub fn patience(&mut self, address: Address) -> Option<&mut Bucket> {
        self.entries.get_mut(&address).map(|it| &mut it.patience)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Address, &Entry)> {
        self.entries.iter().map(|(&address, it)| (address, it))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Address, &mut Entry)> {
        self.entries.iter_mut().map(|(&address, it)| (address, it))
    }

    pub fn addresses(&self) -> Vec<Address> {
        self.entries.keys().copied().collect()
    }

    /// Whether there are so many neighbours that some are told less often.
    pub fn is_crowd(&self, ctx: &Ctx) -> bool {
        ctx.config().crowd.is_some_and(|crowd| crowd < self.len())
    }

    /// The local peer is at a place.
    pub fn place(&mut self, position: Position) {
        self.local.place(position);
        self.diagram.put(self.local.address(), position);
    }

    /// The local peer steps to a place; returns where it was.
    pub fn step(&mut self, position: Position, ctx: &Ctx) -> Position {
        self.diagram.put(self.local.address(), position);
        self.local.step(position, ctx)
    }

    /// The local peer sees as far as the number of peers in view allows.
    pub fn adapt_view(&mut self, ctx: &Ctx) {
        let (here, aoi) = (self.local.position(), self.local.info().aoi);
        let seen = |it: &(Address, &Entry)| here.is_within(aoi, it.1.info.position);
        let seen = if ctx.config().crowd.is_some() { self.iter().filter(seen).count() } else { 0 };
        self.local.adapt_view(seen, ctx);
    }

    /// Takes in a new neighbour, unless the list is full.
    pub fn insert(&mut self, entry: Entry) {
        if LIST_MAX <= self.entries.len() {
            return;
        }
        self.diagram.put(entry.info.address, entry.info.position);
        self.entries.insert(entry.info.address, entry);
    }

    /// A neighbour is elsewhere.
    pub fn update(&mut self, info: &Info, ctx: &Ctx) {
        if let Some(it) = self.entries.get_mut(&info.address)
            && (info.is_newer_than(&it.info) || !ctx.enforces(Rule::NewestWins))
        {
            it.info = *info;
            self.diagram.put(info.address, info.position);
        }
    }

    /// A neighbour is said to be elsewhere. Of a neighbour that has spoken for itself hearsay is not believed.
    pub fn hear_of(&mut self, info: &Info, ctx: &Ctx) {
        let spoken = self.get(info.address).is_some_and(|it| it.has_spoken(ctx));
        if !spoken || !ctx.enforces(Rule::NewestWins) {
            self.update(info, ctx);
        }
    }

    /// A neighbour says for the first time itself where it is. What others have said of it may be a little later, but not of
    /// a time that it has not lived.
    pub fn begin(&mut self, info: &Info, ctx: &Ctx) {
        let Some(it) = self.entries.get_mut(&info.address) else { return };
        let latest = (info.life, info.sequence.saturating_add(AHEAD));
        if latest < (it.info.life, it.info.sequence) {
            it.info = *info;
            self.diagram.put(info.address, info.position);
        } else {
            self.update(info, ctx);
        }
    }

    /// A neighbour moves, by its own word. Returns where it was, or `None` if it is not believed: it is unknown, or has not
    /// proven yet who it is.
    #[must_use]
    pub fn hear_move(&mut self, from: Address, step: &Step, ctx: &mut Ctx) -> Option<Position> {
        let handshake = ctx.config().handshake;
        let view = self.local.info().aoi;
        let it = self.entries.get_mut(&from)?;
        if handshake && !it.is_proven() {
            return None; // Its greeting is on its way, or ours.
        }
        let first = it.hear_move(step, view, ctx);
        let before = step.before.unwrap_or(it.info.position);
        let moved = Info {
            sequence: step.sequence,
            position: step.position,
            aoi: step.aoi.unwrap_or(it.info.aoi),
            ..it.info
        };
        if first {
            ctx.raise(Event::Heard(from));
        }
        if first && handshake {
            self.begin(&moved, ctx);
        } else {
            self.update(&moved, ctx);
        }
        Some(before)
    }

    /// Forgets a neighbour, and tells the owner; returns what was known of it.
    pub fn forget(&mut self, address: Address, ctx: &mut Ctx) -> Option<Entry> {
        let entry = self.remove(address)?;
        self.entries.values_mut().for_each(|it| it.knowledge.forget(address));
        ctx.raise(Event::Lost(address));
        Some(entry)
    }

    /// Takes back an insertion, as if it had not been, if the new neighbour does not matter; whether it was.
    pub fn remove_if_irrelevant(&mut self, address: Address, ctx: &Ctx) -> bool {
        let irrelevant = !self.is_relevant(address, ctx);
        if irrelevant {
            self.remove(address);
        }
        irrelevant
    }

    fn remove(&mut self, address: Address) -> Option<Entry> {
        self.diagram.remove(address);
        self.entries.remove(&address)
    }

    /// The short names of all neighbours, if there are not too many; of none otherwise.
    pub fn knows(&self) -> Knows {
        if NAMES_MAX < self.len() {
            return Knows { names: Vec::new(), within: Some(Distance::ZERO) };
        }
        self.knows_nearest()
    }

    /// The short names of all neighbours; of the nearest if there are too many.
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
