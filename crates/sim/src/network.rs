//! Everything between the machines: links, messages on their way, the queue of what will happen.
//!
//! Knows no message type: it carries bytes, and [`crate::Sim`] encodes and decodes at its edge. It never
//! calls a machine; what a machine must hear goes through the queue.

mod faults;

use crate::buffers::{BufferId, Buffers};
use crate::config::GIVE_UP_AFTER;
use crate::counters::{Counters, End};
use crate::flight::Fate;
use crate::happening::{Happening, Notice, Passage, WayId};
use crate::history::{History, Kind};
use crate::link::{Parcel, Way};
use crate::outage::Outage;
use crate::outlet::Offered;
use crate::profile::{Profile, Quirks};
use crate::queue::EventQueue;
use crate::routes::Routes;
use machine::queue::Displaced;
use machine::{Address, Lane, Rng, Span, Time};

/// The name of the links' chance among the streams of a seed. Experiments name their own streams by small
/// numbers or by addresses; without a name that nobody else gives, they would draw the same chance.
const LINKS: u64 = 0xd1b5_4a32_d192_ed03;

/// The network, and the clock that everything shares.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) now: Time,
    pub(crate) queue: EventQueue<Happening>,
    pub(crate) history: History,
    /// Messages to peers to which there was no link that the sender had heard of.
    pub(crate) unlinked: u64,
    /// How many links were cut, by whomever.
    pub(crate) severed: u64,
    /// What links are like that come by themselves, in an open network.
    pub(crate) open: Option<Profile>,
    /// How long a silence kills a link.
    pub(crate) give_up_after: Span,
    /// How many machines there are.
    pub(crate) hosts: u32,
    ways: Vec<Way>,
    routes: Routes,
    buffers: Buffers,
    /// Never drawn from: each way gets the stream of its name, so that traffic on one link does not change
    /// chance on another.
    rng: Rng,
}

/// A message that arrived and decoded.
pub(crate) struct Landed<T> {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) msg: T,
}

impl Network {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            now: Time::ZERO,
            queue: EventQueue::new(),
            history: History::new(),
            unlinked: 0,
            severed: 0,
            open: None,
            give_up_after: GIVE_UP_AFTER,
            hosts: 0,
            ways: Vec::new(),
            routes: Routes::new(),
            buffers: Buffers::new(),
            rng: Rng::seeded(seed).fork_named(LINKS),
        }
    }

    /// The way from one address to another, if they were ever linked.
    pub(crate) fn way(&self, from: u32, to: Address) -> Option<WayId> {
        self.routes.find(from, u32::try_from(to.0).ok()?)
    }

    pub(crate) fn counters(&self, way: WayId) -> Counters {
        self.ways[way.index()].counters
    }

    /// Whether the newest link on this way lives.
    pub(crate) fn is_up(&self, way: WayId) -> bool {
        self.ways[way.index()].up
    }

    /// Joins two hosts by a new link and says its number. A link that lives is cut first.
    pub(crate) fn connect(&mut self, a: u32, b: u32, there: Profile, back: Profile) -> u32 {
        let way = self.way(a, address(b)).unwrap_or_else(|| self.add_pair(a, b));
        self.cut(way);
        self.ways[way.index()].open(there);
        self.ways[way.back().index()].open(back);
        self.tell_both(way, Notice::LinkUp);
        self.ways[way.index()].link
    }

    /// Cuts the link that lives on this way, if one does. What waited on it is lost now; what is in flight
    /// finds its link gone when it arrives.
    pub(crate) fn cut(&mut self, way: WayId) {
        if !self.ways[way.index()].up {
            return;
        }
        self.severed += 1;
        self.tell_both(way, Notice::LinkDown);
        for way in [way, way.back()] {
            self.ways[way.index()].up = false;
            self.clear_outlet(way);
            self.clear_outage(way);
        }
    }

    /// Whose machine a notice is for; `None` if it comes to nothing on the way.
    #[inline] // Every input passes here.
    pub(crate) fn addressee(&mut self, notice: Notice) -> Option<u32> {
        match notice {
            Notice::Command { host, .. } | Notice::Wake { host, .. } | Notice::Deadline { host } => {
                Some(host)
            }
            Notice::LinkUp(passage) | Notice::LinkDown(passage) => self.hearer(passage),
            Notice::Arrival { passage, buffer, era } => self.arrive(passage, buffer, era),
        }
    }

    /// The sending end of a way hears that a link is there. Says who that is, and who is at the other end.
    pub(crate) fn hear_up(&mut self, passage: Passage) -> (u32, Address) {
        self.ways[passage.way.index()].heard = passage.link;
        self.note_news(Kind::LinkUp, passage)
    }

    /// The sending end of a way hears that a link is gone. Says who that is, and who was at the other end.
    pub(crate) fn hear_down(&mut self, passage: Passage) -> (u32, Address) {
        self.note_news(Kind::LinkDown, passage)
    }

    /// Sends what `write` encodes to everyone in `to`; it is encoded once. To each it goes over the newest
    /// link that `from` heard of, or nowhere.
    pub(crate) fn send(&mut self, from: u32, to: &[Address], lane: Lane, write: impl FnOnce(&mut Vec<u8>)) {
        let buffer = self.buffers.fill(lane, write);
        let parcel = Parcel { buffer, bytes: self.buffers.bytes(buffer).len(), lane };
        for &peer in to {
            let way = self.way(from, peer).filter(|way| self.ways[way.index()].takes());
            match way {
                Some(way) => self.accept(way, parcel),
                None => self.send_unlinked(from, peer, parcel),
            }
        }
        self.buffers.release(buffer);
    }

    /// A message is handed to its machine: `read` decodes it. Its link may be gone by now: the machine was
    /// late, not the message.
    pub(crate) fn land<T>(
        &mut self,
        passage: Passage,
        buffer: BufferId,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Option<Landed<T>> {
        let Way { from, to, .. } = self.ways[passage.way.index()];
        let Some(msg) = read(self.buffers.bytes(buffer)) else {
            self.conclude(passage, buffer, End::Garbled);
            return None;
        };
        self.conclude(passage, buffer, End::Delivered);
        Some(Landed { from, to, msg })
    }

    /// A message found no machine.
    pub(crate) fn lose(&mut self, passage: Passage, buffer: BufferId) {
        self.conclude(passage, buffer, End::Lost);
    }

    /// The last byte of a message left a link with a rate.
    pub(crate) fn depart(&mut self, passage: Passage) {
        let way = &mut self.ways[passage.way.index()];
        if !way.carries(passage.link) {
            return;
        }
        let outlet = way.extra.as_mut().and_then(|it| it.outlet.as_mut());
        let Some(outlet) = outlet.filter(|it| it.is_due(self.now)) else { return };
        let (departed, next) = outlet.depart(self.now);
        if let Some(at) = next {
            self.queue.push(at, Happening::Departure(passage));
        }
        if let Some(parcel) = departed {
            self.launch(passage, parcel);
        }
    }

    /// A link lost a `Sure` message too often, or the machine at one end.
    pub(crate) fn give_up(&mut self, passage: Passage) {
        if self.ways[passage.way.index()].carries(passage.link) {
            self.cut(passage.way);
        }
    }

    fn add_pair(&mut self, a: u32, b: u32) -> WayId {
        let there = WayId(u32::try_from(self.ways.len()).expect("fewer than 2^31 pairs are linked"));
        for (from, to, way) in [(a, b, there), (b, a, there.back())] {
            let rng = self.rng.fork_named(u64::from(from) << 32 | u64::from(to));
            self.ways.push(Way::new(from, to, rng));
            self.routes.insert(from, to, way);
        }
        there
    }

    fn note_news(&mut self, kind: Kind, passage: Passage) -> (u32, Address) {
        let Way { from, to, .. } = self.ways[passage.way.index()];
        self.history.note_link(kind, self.now, to, from, passage.link);
        (from, address(to))
    }

    /// A message has no link to go over. In an open network it gets one, of whose beginning and end nobody hears: there
    /// are no connections that could say that a peer is gone. Otherwise it is gone, but what was tried is part of the
    /// history.
    #[cold] // Rare, and kept out of `send`, which every message passes.
    fn send_unlinked(&mut self, from: u32, to: Address, parcel: Parcel) {
        let buffer = parcel.buffer;
        let is_there = |it: &u32| *it < self.hosts && *it != from;
        if let (Some(profile), Some(host)) = (self.open, u32::try_from(to.0).ok().filter(is_there)) {
            let way = self.way(from, to).unwrap_or_else(|| self.add_pair(from, host));
            for way in [way, way.back()] {
                let way = &mut self.ways[way.index()];
                // There may be a link of which this end has not heard yet: it will do.
                if !way.up {
                    way.open(profile);
                    way.forgotten = way.link;
                }
                way.heard = way.link;
            }
            return self.accept(way, parcel);
        }
        self.unlinked += 1;
        self.history.note(Kind::Unlinked, self.now, from);
        self.history.note_value(&to);
        self.history.note_bytes(self.buffers.bytes(buffer));
    }

    fn tell_both(&mut self, way: WayId, news: impl Fn(Passage) -> Notice) {
        let link = self.ways[way.index()].link;
        for way in [way, way.back()] {
            self.queue.push(self.now, Happening::Notice(news(Passage { way, link })));
        }
    }

    /// Who hears of a link: the sending end, unless the link was its predecessor's or came without a word.
    fn hearer(&self, passage: Passage) -> Option<u32> {
        let way = &self.ways[passage.way.index()];
        (way.forgotten < passage.link).then_some(way.from)
    }

    /// A message reached the end of its flight. Says to whom, unless it is lost or held back.
    fn arrive(&mut self, passage: Passage, buffer: BufferId, era: u16) -> Option<u32> {
        let way = &self.ways[passage.way.index()];
        if !way.carries(passage.link) {
            self.conclude(passage, buffer, End::Lost);
            return None;
        }
        if way.was_clear_since(era) { Some(way.to) } else { self.arrive_after_cut(passage, buffer, era) }
    }

    /// A machine hands a message to a link that lives.
    fn accept(&mut self, id: WayId, parcel: Parcel) {
        self.buffers.hold(parcel.buffer);
        let way = &mut self.ways[id.index()];
        way.counters.sent.add(parcel.bytes);
        let passage = Passage { way: id, link: way.link };
        match way.extra.as_mut().and_then(|it| it.outlet.as_mut()) {
            None => self.launch(passage, parcel),
            Some(outlet) => {
                let offered = outlet.offer(self.now, parcel);
                self.follow_offer(passage, parcel, offered);
            }
        }
    }

    fn follow_offer(&mut self, passage: Passage, parcel: Parcel, offered: Offered) {
        match offered {
            Offered::Leaves(at) => self.queue.push(at, Happening::Departure(passage)),
            Offered::Waits(displaced) => self.displace(passage, displaced),
            Offered::Refused => {
                self.conclude(passage, parcel.buffer, End::Refused);
                if parcel.lane == Lane::Sure {
                    self.cut(passage.way);
                }
            }
        }
    }

    /// A newer message waits, and these no longer do.
    fn displace(&mut self, passage: Passage, displaced: Displaced<Parcel>) {
        for parcel in displaced.dropped {
            self.conclude(passage, parcel.buffer, End::Refused);
        }
        if let Some(elder) = displaced.replaced {
            self.conclude(passage, elder.buffer, End::Replaced);
        }
    }

    /// A message leaves and flies.
    fn launch(&mut self, passage: Passage, parcel: Parcel) {
        let way = &mut self.ways[passage.way.index()];
        if way.extra.is_some() && parcel.lane != Lane::Sure {
            return self.launch_oddly(passage, parcel);
        }
        match way.flight.fate(self.now, parcel.lane) {
            Fate::Arrives { at, retries } => {
                for _ in 0..retries {
                    way.counters.resent.add(parcel.bytes);
                }
                let (buffer, era) = (parcel.buffer, way.era);
                self.queue.push(at, Happening::Notice(Notice::Arrival { passage, buffer, era }));
            }
            Fate::Lost => self.conclude(passage, parcel.buffer, End::Lost),
            Fate::GivenUp(at) => {
                self.conclude(passage, parcel.buffer, End::Lost);
                self.queue.push(at, Happening::GivingUp(passage));
            }
        }
    }

    /// A `Latest` message leaves over a link that may have quirks or be cut.
    #[inline(never)] // Kept out of `launch`, which every message passes.
    fn launch_oddly(&mut self, passage: Passage, parcel: Parcel) {
        let way = &mut self.ways[passage.way.index()];
        let cut = way.outage().is_some_and(Outage::is_cut);
        let quirks = way.extra.as_ref().map_or(Quirks::NONE, |it| it.quirks);
        // Chance is drawn in a cut, too: healing sooner or later does not shift the draws of what follows.
        let Fate::Arrives { at, .. } = way.flight.fate(self.now, parcel.lane) else {
            return self.conclude(passage, parcel.buffer, End::Lost);
        };
        let (at, second) = (at + way.flight.lateness(quirks), way.flight.second_copy(self.now, quirks));
        if cut {
            return self.conclude(passage, parcel.buffer, End::Lost);
        }
        let arrival = Happening::Notice(Notice::Arrival { passage, buffer: parcel.buffer, era: way.era });
        self.queue.push(at, arrival);
        if let Some(at) = second {
            way.counters.doubled.add(parcel.bytes);
            self.buffers.hold(parcel.buffer);
            self.queue.push(at, arrival);
        }
    }

    fn clear_outlet(&mut self, id: WayId) {
        let way = &mut self.ways[id.index()];
        let passage = Passage { way: id, link: way.link };
        let Some(mut outlet) = way.extra.as_mut().and_then(|it| it.outlet.take()) else { return };
        while let Some(parcel) = outlet.pop() {
            self.conclude(passage, parcel.buffer, End::Lost);
        }
    }

    /// The end of every message, whatever became of it: counted, noted, its buffer let go.
    fn conclude(&mut self, passage: Passage, buffer: BufferId, end: End) {
        let way = &mut self.ways[passage.way.index()];
        let bytes = self.buffers.bytes(buffer);
        way.counters.count(end, bytes.len());
        self.history.note_link(end.into(), self.now, way.from, way.to, passage.link);
        self.history.note_bytes(bytes);
        self.buffers.release(buffer);
    }
}

/// The address of a host: addresses are given in order.
pub(crate) const fn address(host: u32) -> Address {
    Address(host as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::LatestKey;

    /// Lets everything in the queue happen.
    fn drain(network: &mut Network) {
        while let Some((now, happening)) = network.queue.pop_until(Time::MAX) {
            network.now = now;
            match happening {
                Happening::Notice(notice) => {
                    network.addressee(notice).into_iter().for_each(|_| hear(network, notice));
                }
                Happening::Departure(passage) => network.depart(passage),
                Happening::GivingUp(passage) => network.give_up(passage),
                Happening::Release(passage) => {
                    network.release(passage).into_iter().for_each(|it| hear(network, it.1));
                }
                Happening::Expiry(passage) => network.expire(passage),
                Happening::Alarm { .. } | Happening::Service { .. } | Happening::Thaw { .. } => (),
            }
        }
    }

    fn hear(network: &mut Network, notice: Notice) {
        match notice {
            Notice::Arrival { passage, buffer, .. } => drop(network.land(passage, buffer, |_| Some(()))),
            Notice::LinkUp(passage) => drop(network.hear_up(passage)),
            Notice::LinkDown(passage) => drop(network.hear_down(passage)),
            Notice::Command { .. } | Notice::Wake { .. } | Notice::Deadline { .. } => (),
        }
    }

    #[test]
    fn every_message_ends_once_and_lets_its_buffer_go() {
        for seed in 0..64 {
            let mut network = Network::new(seed);
            let rough = Profile::new(Span::from_millis(5)).with_loss(0.3).unwrap();
            let slow = rough.with_rate(1_000).unwrap().with_queue_limit(300).with_overhead(4);
            network.connect(0, 1, rough, rough);
            network.connect(0, 2, slow, rough);
            drain(&mut network);
            for turn in 0..40u8 {
                let lane =
                    if turn % 5 == 0 { Lane::Sure } else { Lane::Latest(LatestKey(u64::from(turn % 7))) };
                network.send(0, &[address(1), address(2), address(9)], lane, |out| out.resize(20, turn));
            }
            drain(&mut network);
            let sent: u64 = network.ways.iter().map(|it| it.counters.sent.messages).sum();
            assert_eq!(sent + network.unlinked, 40 * 3, "seed {seed}");
            assert_eq!(network.buffers.held(), 0, "seed {seed}");
            for way in &network.ways {
                let Counters { sent, delivered, garbled, lost, replaced, refused, .. } = way.counters;
                let ends = [delivered, garbled, lost, replaced, refused];
                assert_eq!(sent.messages, ends.iter().map(|it| it.messages).sum::<u64>(), "seed {seed}");
                assert_eq!(sent.bytes, ends.iter().map(|it| it.bytes).sum::<u64>(), "seed {seed}");
            }
        }
    }
}
