//! Everything between the machines: links, messages on their way, the event queue.
//!
//! Knows no message type: it carries bytes, and [`crate::Sim`] encodes and decodes at its edge. It never
//! calls a machine; the inputs of machines go through the queue.

mod faults;

use crate::buffers::{BufferId, Buffers};
use crate::config::GIVE_UP_AFTER;
use crate::counters::{Counters, MessageEnd};
use crate::delay_model::SendOutcome;
use crate::direction::{Direction, LinkMessage};
use crate::history_hash::{HistoryHash, HistoryKind};
use crate::link_rate_limiter::OfferResult;
use crate::outage::Outage;
use crate::profile::{LatestFaults, Profile};
use crate::queue::EventQueue;
use crate::queue_entry::{DirectionId, LinkRef, PendingInput, QueueEntry};
use crate::routes::Routes;
use machine::queue::Displaced;
use machine::{Address, Lane, Rng, Span, Time};

/// The name of the links' random stream among the streams of a seed. Experiments name their own streams by small
/// numbers or by addresses; under one of those names links and experiment would share their draws.
const LINKS: u64 = 0xd1b5_4a32_d192_ed03;

/// The network, and the clock that everything shares.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) now: Time,
    pub(crate) queue: EventQueue<QueueEntry>,
    pub(crate) history: HistoryHash,
    /// Number of messages to peers to which the sender knew no link.
    pub(crate) unlinked: u64,
    /// Number of links cut so far, whatever the cause.
    pub(crate) severed: u64,
    /// The profile of the links that an open network makes by itself; `None` if the network is not open.
    pub(crate) open: Option<Profile>,
    /// Links die after a silence of this length.
    pub(crate) give_up_after: Span,
    /// Number of machines in the simulation.
    pub(crate) hosts: u32,
    directions: Vec<Direction>,
    routes: Routes,
    buffers: Buffers,
    /// Never drawn from: each direction forks the stream of its name, so that traffic on one link does not change
    /// the draws on another.
    rng: Rng,
}

/// A message that arrived and decoded.
pub(crate) struct DecodedMessage<T> {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) msg: T,
}

impl Network {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            now: Time::ZERO,
            queue: EventQueue::new(),
            history: HistoryHash::new(),
            unlinked: 0,
            severed: 0,
            open: None,
            give_up_after: GIVE_UP_AFTER,
            hosts: 0,
            directions: Vec::new(),
            routes: Routes::new(),
            buffers: Buffers::new(),
            rng: Rng::seeded(seed).fork_named(LINKS),
        }
    }

    /// The direction from one address to another, if the two were ever linked.
    pub(crate) fn direction(&self, from: u32, to: Address) -> Option<DirectionId> {
        self.routes.find(from, u32::try_from(to.0).ok()?)
    }

    pub(crate) fn counters(&self, direction: DirectionId) -> Counters {
        self.directions[direction.index()].counters
    }

    /// True if the newest link on this direction is up.
    pub(crate) fn is_up(&self, direction: DirectionId) -> bool {
        self.directions[direction.index()].up
    }

    /// Joins two hosts by a new link and returns its number. A link that is up is cut first.
    pub(crate) fn connect(&mut self, a: u32, b: u32, there: Profile, back: Profile) -> u32 {
        let direction = self.direction(a, address(b)).unwrap_or_else(|| self.add_pair(a, b));
        // Both ends then get `LinkDown` of the old link before `LinkUp` of the new one.
        self.cut(direction);
        self.directions[direction.index()].open(there);
        self.directions[direction.back().index()].open(back);
        self.notify_both(direction, PendingInput::LinkUp);
        self.directions[direction.index()].link
    }

    /// Cuts the link that is up on this direction, if there is one. Messages that wait to leave are lost now; those
    /// in flight find their link gone when they arrive.
    pub(crate) fn cut(&mut self, direction: DirectionId) {
        if !self.directions[direction.index()].up {
            return;
        }
        self.severed += 1;
        self.notify_both(direction, PendingInput::LinkDown);
        for direction in [direction, direction.back()] {
            self.directions[direction.index()].up = false;
            self.clear_limiter(direction);
            self.clear_outage(direction);
        }
    }

    /// The host whose machine gets the input; `None` if the network loses or holds it.
    #[inline] // Every input passes here.
    pub(crate) fn addressee(&mut self, pending: PendingInput) -> Option<u32> {
        match pending {
            PendingInput::Command { host, .. }
            | PendingInput::Wake { host, .. }
            | PendingInput::Deadline { host } => Some(host),
            PendingInput::LinkUp(link_ref) | PendingInput::LinkDown(link_ref) => self.listener(link_ref),
            PendingInput::Arrival { link_ref, buffer, era } => self.arrive(link_ref, buffer, era),
        }
    }

    /// The machine at the sending end learns that a link is up. Returns its host, and the address of the other end.
    pub(crate) fn note_link_up(&mut self, link_ref: LinkRef) -> (u32, Address) {
        self.directions[link_ref.direction.index()].known_link = link_ref.link;
        self.note_link_news(HistoryKind::LinkUp, link_ref)
    }

    /// The machine at the sending end learns that a link is gone. Returns its host, and the address of the other end.
    pub(crate) fn note_link_down(&mut self, link_ref: LinkRef) -> (u32, Address) {
        self.note_link_news(HistoryKind::LinkDown, link_ref)
    }

    /// Sends the message that `write` encodes to each address in `to`; it is encoded once. To each it goes over the
    /// newest link that `from` knows, or nowhere.
    pub(crate) fn send(&mut self, from: u32, to: &[Address], lane: Lane, write: impl FnOnce(&mut Vec<u8>)) {
        let buffer = self.buffers.fill(lane, write);
        let message = LinkMessage { buffer, bytes: self.buffers.bytes(buffer).len(), lane };
        for &peer in to {
            let direction =
                self.direction(from, peer).filter(|direction| self.directions[direction.index()].can_send());
            match direction {
                Some(direction) => self.accept(direction, message),
                None => self.send_unlinked(from, peer, message),
            }
        }
        // The hold of `fill` ends here; each accepted copy holds the buffer for itself.
        self.buffers.release(buffer);
    }

    /// Decodes a message for its machine by `read`. The link may be gone by now: the message arrived in time, but
    /// the machine was frozen or busy.
    pub(crate) fn receive<T>(
        &mut self,
        link_ref: LinkRef,
        buffer: BufferId,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Option<DecodedMessage<T>> {
        let Direction { from, to, .. } = self.directions[link_ref.direction.index()];
        let Some(msg) = read(self.buffers.bytes(buffer)) else {
            self.conclude(link_ref, buffer, MessageEnd::Garbled);
            return None;
        };
        self.conclude(link_ref, buffer, MessageEnd::Delivered);
        Some(DecodedMessage { from, to, msg })
    }

    /// A message arrived at a host without a machine.
    pub(crate) fn lose(&mut self, link_ref: LinkRef, buffer: BufferId) {
        self.conclude(link_ref, buffer, MessageEnd::Lost);
    }

    /// The last byte of a message left a link with a rate.
    pub(crate) fn depart(&mut self, link_ref: LinkRef) {
        let direction = &mut self.directions[link_ref.direction.index()];
        // The link was replaced or cut meanwhile: this entry is stale.
        if !direction.carries(link_ref.link) {
            return;
        }
        let limiter = direction.extras.as_mut().and_then(|it| it.limiter.as_mut());
        // A change of the rate may have sent this message off sooner; then this departure is stale.
        let Some(limiter) = limiter.filter(|it| it.is_due(self.now)) else { return };
        let (departed, next) = limiter.depart(self.now);
        if let Some(at) = next {
            self.queue.push(at, QueueEntry::Departure(link_ref));
        }
        if let Some(message) = departed {
            self.launch(link_ref, message);
        }
    }

    /// Cuts a link that lost a `Sure` message too often, or the machine at one end.
    pub(crate) fn give_up(&mut self, link_ref: LinkRef) {
        if self.directions[link_ref.direction.index()].carries(link_ref.link) {
            self.cut(link_ref.direction);
        }
    }

    fn add_pair(&mut self, a: u32, b: u32) -> DirectionId {
        let there =
            DirectionId(u32::try_from(self.directions.len()).expect("fewer than 2^31 pairs are linked"));
        for (from, to, direction) in [(a, b, there), (b, a, there.back())] {
            let rng = self.rng.fork_named(u64::from(from) << 32 | u64::from(to));
            self.directions.push(Direction::new(from, to, rng));
            self.routes.insert(from, to, direction);
        }
        there
    }

    fn note_link_news(&mut self, kind: HistoryKind, link_ref: LinkRef) -> (u32, Address) {
        let Direction { from, to, .. } = self.directions[link_ref.direction.index()];
        self.history.note_link(kind, self.now, to, from, link_ref.link);
        (from, address(to))
    }

    /// Sends a message without a link. An open network makes a link for it, without `LinkUp` and later `LinkDown`: like
    /// datagrams, it cannot say that a peer is gone. Otherwise the message is lost, but the try is part of the history.
    #[cold] // Rare, and kept out of `send`, which every message passes.
    fn send_unlinked(&mut self, from: u32, to: Address, message: LinkMessage) {
        let buffer = message.buffer;
        let is_there = |it: &u32| *it < self.hosts && *it != from;
        if let (Some(profile), Some(host)) = (self.open, u32::try_from(to.0).ok().filter(is_there)) {
            let direction = self.direction(from, to).unwrap_or_else(|| self.add_pair(from, host));
            for direction in [direction, direction.back()] {
                let direction = &mut self.directions[direction.index()];
                // A link that is up but not yet known to this end is used as it is: opening another would cut it.
                if !direction.up {
                    direction.open(profile);
                    direction.forgotten = direction.link;
                }
                direction.known_link = direction.link;
            }
            return self.accept(direction, message);
        }
        self.unlinked += 1;
        self.history.note(HistoryKind::Unlinked, self.now, from);
        self.history.note_value(&to);
        self.history.note_bytes(self.buffers.bytes(buffer));
    }

    fn notify_both(&mut self, direction: DirectionId, news: impl Fn(LinkRef) -> PendingInput) {
        let link = self.directions[direction.index()].link;
        for direction in [direction, direction.back()] {
            self.queue.push(self.now, QueueEntry::Input(news(LinkRef { direction, link })));
        }
    }

    /// The host that gets news of a link: the sending end, unless the link belonged to the machine before it or was
    /// made by an open network.
    fn listener(&self, link_ref: LinkRef) -> Option<u32> {
        let direction = &self.directions[link_ref.direction.index()];
        (direction.forgotten < link_ref.link).then_some(direction.from)
    }

    /// A message reaches the far end. Returns the host there, unless the message is lost or held by an outage.
    fn arrive(&mut self, link_ref: LinkRef, buffer: BufferId, era: u16) -> Option<u32> {
        let direction = &self.directions[link_ref.direction.index()];
        if !direction.carries(link_ref.link) {
            self.conclude(link_ref, buffer, MessageEnd::Lost);
            return None;
        }
        if direction.was_clear_since(era) {
            Some(direction.to)
        } else {
            self.arrive_after_cut(link_ref, buffer, era)
        }
    }

    /// A machine hands a message to a link that is up.
    fn accept(&mut self, id: DirectionId, message: LinkMessage) {
        // Each copy of a message holds the buffer until it ends.
        self.buffers.hold(message.buffer);
        let direction = &mut self.directions[id.index()];
        direction.counters.sent.add(message.bytes);
        let link_ref = LinkRef { direction: id, link: direction.link };
        match direction.extras.as_mut().and_then(|it| it.limiter.as_mut()) {
            None => self.launch(link_ref, message),
            Some(limiter) => {
                let offer = limiter.offer(self.now, message);
                self.follow_offer(link_ref, message, offer);
            }
        }
    }

    fn follow_offer(&mut self, link_ref: LinkRef, message: LinkMessage, offer: OfferResult) {
        match offer {
            OfferResult::Leaves(at) => self.queue.push(at, QueueEntry::Departure(link_ref)),
            OfferResult::Waits(displaced) => self.displace(link_ref, displaced),
            OfferResult::Refused => {
                self.conclude(link_ref, message.buffer, MessageEnd::Refused);
                // Without this message the stream of `Sure` messages has a gap, so the link must end.
                if message.lane == Lane::Sure {
                    self.cut(link_ref.direction);
                }
            }
        }
    }

    /// Ends the messages that made way for a newer one in the queue.
    fn displace(&mut self, link_ref: LinkRef, displaced: Displaced<LinkMessage>) {
        for message in displaced.dropped {
            self.conclude(link_ref, message.buffer, MessageEnd::Refused);
        }
        if let Some(elder) = displaced.replaced {
            self.conclude(link_ref, elder.buffer, MessageEnd::Replaced);
        }
    }

    /// A message leaves: draws its arrival, or ends it.
    fn launch(&mut self, link_ref: LinkRef, message: LinkMessage) {
        let direction = &mut self.directions[link_ref.direction.index()];
        if direction.extras.is_some() && message.lane != Lane::Sure {
            return self.launch_with_faults(link_ref, message);
        }
        match direction.delay_model.outcome(self.now, message.lane) {
            SendOutcome::Arrives { at, retries } => {
                // The tries are drawn at once, so they are counted when the message leaves.
                for _ in 0..retries {
                    direction.counters.resent.add(message.bytes);
                }
                let (buffer, era) = (message.buffer, direction.era);
                self.queue.push(at, QueueEntry::Input(PendingInput::Arrival { link_ref, buffer, era }));
            }
            SendOutcome::Lost => self.conclude(link_ref, message.buffer, MessageEnd::Lost),
            SendOutcome::GivenUp(at) => {
                self.conclude(link_ref, message.buffer, MessageEnd::Lost);
                self.queue.push(at, QueueEntry::GivingUp(link_ref));
            }
        }
    }

    /// A `Latest` message leaves over a link that may double or delay it, or be cut.
    #[inline(never)] // Kept out of `launch`, which every message passes.
    fn launch_with_faults(&mut self, link_ref: LinkRef, message: LinkMessage) {
        let direction = &mut self.directions[link_ref.direction.index()];
        let cut = direction.outage().is_some_and(Outage::is_cut);
        let latest_faults = direction.extras.as_ref().map_or(LatestFaults::NONE, |it| it.latest_faults);
        // The draws are made in a cut, too: healing sooner or later does not shift the draws of later messages.
        let SendOutcome::Arrives { at, .. } = direction.delay_model.outcome(self.now, message.lane) else {
            return self.conclude(link_ref, message.buffer, MessageEnd::Lost);
        };
        let (at, second) = (
            at + direction.delay_model.lateness(latest_faults),
            direction.delay_model.second_copy(self.now, latest_faults),
        );
        // After all draws: see above.
        if cut {
            return self.conclude(link_ref, message.buffer, MessageEnd::Lost);
        }
        let arrival =
            QueueEntry::Input(PendingInput::Arrival { link_ref, buffer: message.buffer, era: direction.era });
        self.queue.push(at, arrival);
        if let Some(at) = second {
            direction.counters.doubled.add(message.bytes);
            self.buffers.hold(message.buffer);
            self.queue.push(at, arrival);
        }
    }

    fn clear_limiter(&mut self, id: DirectionId) {
        let direction = &mut self.directions[id.index()];
        let link_ref = LinkRef { direction: id, link: direction.link };
        let Some(mut limiter) = direction.extras.as_mut().and_then(|it| it.limiter.take()) else { return };
        while let Some(message) = limiter.pop() {
            self.conclude(link_ref, message.buffer, MessageEnd::Lost);
        }
    }

    /// Ends a message, whatever its end: counts it, notes it in the history, releases its buffer.
    fn conclude(&mut self, link_ref: LinkRef, buffer: BufferId, end: MessageEnd) {
        let direction = &mut self.directions[link_ref.direction.index()];
        let bytes = self.buffers.bytes(buffer);
        direction.counters.count(end, bytes.len());
        self.history.note_link(end.into(), self.now, direction.from, direction.to, link_ref.link);
        self.history.note_bytes(bytes);
        self.buffers.release(buffer);
    }
}

/// The address of a host. Addresses are given in order, so the number of the host is enough.
pub(crate) const fn address(host: u32) -> Address {
    Address(host as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::LatestKey;

    /// Processes everything in the queue.
    fn drain(network: &mut Network) {
        while let Some((now, entry)) = network.queue.pop_until(Time::MAX) {
            network.now = now;
            match entry {
                QueueEntry::Input(pending) => {
                    network.addressee(pending).into_iter().for_each(|_| consume(network, pending));
                }
                QueueEntry::Departure(link_ref) => network.depart(link_ref),
                QueueEntry::GivingUp(link_ref) => network.give_up(link_ref),
                QueueEntry::Release(link_ref) => {
                    network.release(link_ref).into_iter().for_each(|it| consume(network, it.1));
                }
                QueueEntry::Expiry(link_ref) => network.expire(link_ref),
                QueueEntry::Alarm { .. } | QueueEntry::Service { .. } | QueueEntry::Thaw { .. } => (),
            }
        }
    }

    fn consume(network: &mut Network, pending: PendingInput) {
        match pending {
            PendingInput::Arrival { link_ref, buffer, .. } => {
                let _ = network.receive(link_ref, buffer, |_| Some(()));
            }
            PendingInput::LinkUp(link_ref) => drop(network.note_link_up(link_ref)),
            PendingInput::LinkDown(link_ref) => drop(network.note_link_down(link_ref)),
            PendingInput::Command { .. } | PendingInput::Wake { .. } | PendingInput::Deadline { .. } => (),
        }
    }

    #[test]
    fn every_message_ends_once_and_releases_its_buffer() {
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
            let sent: u64 = network.directions.iter().map(|it| it.counters.sent.messages).sum();
            assert_eq!(sent + network.unlinked, 40 * 3, "seed {seed}");
            assert_eq!(network.buffers.held(), 0, "seed {seed}");
            for direction in &network.directions {
                let Counters { sent, delivered, garbled, lost, replaced, refused, .. } = direction.counters;
                let ends = [delivered, garbled, lost, replaced, refused];
                assert_eq!(sent.messages, ends.iter().map(|it| it.messages).sum::<u64>(), "seed {seed}");
                assert_eq!(sent.bytes, ends.iter().map(|it| it.bytes).sum::<u64>(), "seed {seed}");
            }
        }
    }
}
