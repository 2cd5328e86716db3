//! How a peer finds its place: its search is handed on to whoever is nearer, until nobody nearer is known.

use crate::broken;
use crate::config::{HOPS_MAX, UNPROVEN_MAX};
use crate::info::Info;
use crate::list::Entry;
use crate::msg::{Flags, Msg, Search};
use crate::peer::{Event, Out, Peer, Purpose};
use crate::rule::Rule;
use machine::{Address, Span};
use space::Position;

/// A newcomer waits this long for its neighbours' answers.
const SETTLE: Span = Span::from_millis(1_000);

impl Peer {
    pub(crate) fn join(&mut self, position: Position, out: &mut Out) {
        self.left = false;
        self.me.position = position;
        self.list.place_me(self.me.address, position);
        self.seek(out);
    }

    /// Asks for its place, and again until there is an answer.
    pub(crate) fn seek(&mut self, out: &mut Out) {
        if self.ready {
            return;
        }
        self.timers.set(Purpose::Join, self.now + self.config.join_retry);
        self.search(Search::Join, out);
    }

    /// Has itself looked for, from anywhere.
    pub(crate) fn search(&mut self, purpose: Search, out: &mut Out) {
        let credential = self.credentials.show(&self.me);
        let seek = Msg::Seek { who: self.me, purpose, hops: HOPS_MAX, credential };
        self.hand_to(self.rendezvous, seek, out);
    }

    pub(crate) fn on_seek(
        &mut self,
        who: Info,
        purpose: Search,
        hops: u8,
        credential: Vec<u8>,
        out: &mut Out,
    ) {
        if who.address == self.me.address {
            self.found_myself(purpose);
            return;
        }
        // Others hand searches on, so what was proven before proves nothing here.
        if !self.ready || !self.admits(&who, &credential) {
            return;
        }
        let except = (purpose != Search::Check).then_some(who.address);
        match self.nearer(who.position, except) {
            Some(next) if 0 < hops => {
                self.hand_to(next, Msg::Seek { who, purpose, hops: hops - 1, credential }, out);
            }
            _ => self.accept(who, purpose != Search::Join, out),
        }
    }

    /// Whom it hands a search for a place on to; `None` if it knows nobody nearer than itself.
    pub fn next_towards(&self, place: Position) -> Option<Address> {
        self.nearer(place, None)
    }

    /// Whoever is nearer to a place than we are, of those who are in.
    fn nearer(&self, place: Position, except: Option<Address>) -> Option<Address> {
        let here = self.me.position.distance_squared(place);
        let may = |it: &(Address, &Entry)| !it.1.joining && Some(it.0) != except && self.trusts(it.0);
        let away = |it: &(Address, &Entry)| it.1.info.position.distance_squared(place);
        let among = if self.config.enforces(Rule::SearchNearest) { usize::MAX } else { broken::SEARCHED };
        let nearest = self.list.iter().filter(may).take(among).min_by_key(|it| (away(it), it.0))?;
        (away(&nearest) < here).then_some(nearest.0)
    }

    /// Nobody is nearer: whoever seeks is a neighbour of ours.
    fn accept(&mut self, who: Info, again: bool, out: &mut Out) {
        if !self.config.handshake && who.position == self.me.position {
            return; // As in the paper's program: they will try again from elsewhere.
        }
        let known = self.list.get(who.address).is_some();
        if known && self.config.handshake {
            self.hear_of(&who);
        } else if known {
            self.list.update(&who);
        } else {
            self.say_met(who.address);
            self.list.insert(Entry { joining: !again, proven: true, ..Entry::new(who, self.now) });
        }
        let list = self.list.iter().filter(|it| it.0 != who.address && self.is_there(it.1));
        let list: Vec<Info> = if self.config.handshake {
            let mut list: Vec<Info> =
                list.filter(|it| self.should_know(&who, &it.1.info)).map(|it| it.1.info).collect();
            list.sort_by_key(|it| (it.position.distance_squared(who.position), it.address));
            list.truncate(UNPROVEN_MAX - 1);
            list
        } else {
            list.map(|it| it.1.info).collect()
        };
        if self.config.handshake && !known && !self.is_relevant(who.address) {
            self.list.remove(who.address);
        }
        self.hand_to(who.address, Msg::Welcome { from: self.me, list, again }, out);
    }

    pub(crate) fn on_welcome(&mut self, from: Info, list: Vec<Info>, again: bool, out: &mut Out) {
        if again {
            if self.config.handshake && !std::mem::take(&mut self.looking) {
                return; // Nobody asked.
            }
            self.quiet = 0;
            if let Some(every) = self.config.self_lookup {
                self.look_up_after(every);
            }
            let everybody = list.into_iter().chain([from]).collect();
            return self.take_nodes(everybody, out);
        }
        if self.ready {
            return;
        }
        let most = if self.config.handshake { UNPROVEN_MAX } else { usize::MAX };
        let others = [from].into_iter().chain(list).filter(|it| it.address != self.me.address);
        for info in others.take(most) {
            self.list.insert(Entry::new(info, self.now));
        }
        if self.config.handshake && !self.list.is_empty() {
            self.timers.set(Purpose::Settle, self.now + SETTLE);
            let all: Vec<Address> = self.list.iter().map(|it| it.0).collect();
            all.into_iter().for_each(|it| self.greet(it, out));
            return;
        }
        self.get_ready(out);
        let all: Vec<Address> = self.list.iter().map(|it| it.0).collect();
        let (position, before) = (self.me.position, Some(self.me.position));
        let flags = Flags::LIST.with(Flags::WANT, true);
        let (sequence, aoi) = (self.me.sequence, Some(self.me.aoi));
        self.drop_to(all, Msg::Move { sequence, position, before, flags, aoi, met: Vec::new() }, out);
    }

    /// Everybody greeted has answered, or it took too long.
    pub(crate) fn settle(&mut self, out: &mut Out) {
        if !self.ready {
            self.get_ready(out);
        }
    }

    pub(crate) fn get_ready(&mut self, out: &mut Out) {
        self.ready = true;
        self.timers.stop(Purpose::Join);
        self.timers.stop(Purpose::Settle);
        if let Some(every) = self.config.anti_entropy {
            let first = self.now + self.some_of(every);
            self.timers.set(Purpose::Compare, first);
        }
        if let Some(every) = self.config.self_lookup {
            let first = self.now + self.some_of(every);
            self.timers.set(Purpose::Lookup, first);
        }
        out.raise(Event::Ready);
    }

    /// Part of a span, so that not everybody does the same at once.
    pub(crate) fn some_of(&mut self, span: Span) -> Span {
        Span::from_micros(self.rng.below(span.as_micros().max(1)))
    }
}
