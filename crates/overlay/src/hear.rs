//! What a peer does when others move: whoever stands at the edge of a mover's view tells it of those beyond.

use crate::config::{Candidates, Checkers, NAMES_MAX, NODES_MAX, Trigger, UnknownSender};
use crate::info::Info;
use crate::list::Entry;
use crate::msg::{Flags, Msg};
use crate::peer::{Event, Out, Peer};
use machine::Address;
use space::{Distance, Position};

/// Whoever is suddenly farther away than so many views has leapt, and looks for its place anew.
pub(crate) const LEAP: u64 = 4;

/// How long a step was, of those long enough to be told, and at most a few views.
pub(crate) fn stride(before: Position, after: Position, view: Distance) -> Distance {
    let step = before.distance_squared(after).isqrt().min(u64::from(view.millimetres()) * LEAP);
    Distance::new(step as u32).unwrap_or(view)
}

impl Peer {
    pub(crate) fn on_move(
        &mut self,
        from: Address,
        (sequence, position, aoi): (u32, Position, Option<Distance>),
        before: Option<Position>,
        flags: Flags,
        out: &mut Out,
    ) {
        if !self.ready || from == self.me.address {
            return;
        }
        if self.list.get(from).is_none() {
            let aoi = aoi.unwrap_or(self.config.aoi);
            let info = Info { address: from, life: 0, sequence, position, aoi, group: 0 };
            // In the paper a newcomer's first word is how it connects; ours greet.
            if flags.has(Flags::LIST) && !self.config.handshake {
                self.list.insert(Entry::new(info, self.now));
            } else if !self.meet(info, out) {
                return;
            }
        }
        let now = self.now;
        let (most, swept) = (self.me.aoi, self.config.swept);
        let Some(it) = self.list.get_mut(from) else { return };
        if self.config.handshake && !it.proven {
            return; // Their greeting is on its way, or ours.
        }
        (it.heard, it.moved, it.pinged, it.joining) = (now, now, None, false);
        (it.wanted, it.sparse) = (flags.has(Flags::WANT), flags.has(Flags::SPARSE));
        it.stride = before.filter(|_| swept).map_or(Distance::ZERO, |it| stride(it, position, most));
        let moved = Info { sequence, position, aoi: aoi.unwrap_or(it.info.aoi), ..it.info };
        let old = before.unwrap_or(it.info.position);
        if !std::mem::replace(&mut it.met, true) {
            out.raise(Event::Heard(from));
        }
        self.list.update(&moved);
        if flags.has(Flags::LIST) && !self.config.handshake {
            let all = self.list.iter().filter(|it| it.0 != from).map(|it| it.1.info).collect();
            self.drop_to([from], Msg::Nodes(all), out);
        }
        let asks = self
            .list
            .get(from)
            .is_some_and(|it| NAMES_MAX < it.knows.names.len() || it.knows.within.is_some());
        let checks = flags.has(Flags::BOUNDARY) || self.config.checkers == Checkers::Everybody;
        // Whoever is in a crowd asks by itself whom it lacks.
        if checks && !(asks && self.config.crowd.is_some()) {
            self.introduce(from, old, out);
        }
    }

    /// Somebody unknown is heard; whether they are in the list now.
    fn meet(&mut self, info: Info, out: &mut Out) -> bool {
        match self.config.unknown_sender {
            UnknownSender::Drop => false,
            UnknownSender::Insert => {
                self.list.insert(Entry::new(info, self.now));
                true
            }
            UnknownSender::InsertIfRelevant => {
                self.tombs.remove(&info.address); // They speak for themselves.
                if self.take(info, out) {
                    return true;
                }
                self.drop_to([info.address], Msg::Stranger, out);
                false
            }
        }
    }

    /// Tells a mover of those it should know and does not seem to.
    fn introduce(&mut self, mover: Address, old: Position, out: &mut Out) {
        let mut candidates = Vec::new();
        match self.config.candidates {
            Candidates::Enclosing => self.list.diagram().enclosing(self.me.address, &mut candidates),
            Candidates::All => candidates.extend(self.list.iter().map(|it| it.0)),
        }
        candidates.retain(|&it| it != mover && it != self.me.address);
        let news = match self.config.trigger {
            Trigger::Edge => self.entered(mover, old, &candidates),
            Trigger::Level => self.unknown_to(mover, &candidates),
        };
        let news = self.with_new_touch(mover, &candidates, news);
        if news.is_empty() {
            return;
        }
        if self.config.mutual_introductions
            && let Some(mover) = self.list.get(mover).map(|it| it.info)
        {
            self.drop_to(news.iter().map(|it| it.address), Msg::Nodes(vec![mover]), out);
        }
        self.drop_to([mover], Msg::Nodes(news), out);
    }

    /// Those whose regions the mover's view meets now and did not meet before.
    fn entered(&self, mover: Address, old: Position, candidates: &[Address]) -> Vec<Info> {
        let Some(it) = self.list.get(mover).map(|it| it.info) else { return Vec::new() };
        let diagram = self.list.diagram();
        let enters =
            |c: &&Address| diagram.meets(**c, it.position, it.aoi) && !diagram.meets(**c, old, it.aoi);
        candidates.iter().filter(enters).filter_map(|&c| Some(self.list.get(c)?.info)).collect()
    }

    /// Those who matter to the mover and whom it does not seem to know: it has not said so, and was not told lately.
    fn unknown_to(&mut self, mover: Address, candidates: &[Address]) -> Vec<Info> {
        let known = |it: &Address| self.list.get(*it).filter(|it| self.is_there(it)).map(|it| it.info);
        let others: Vec<Info> = candidates.iter().filter_map(known).collect();
        self.doubt(mover, &others);
        self.tell_missing(mover, others, NODES_MAX)
    }

    /// The mover has said whom it knows some time ago. Whoever does not matter to it now will be forgotten, and must be
    /// introduced anew when they matter again.
    fn doubt(&mut self, mover: Address, others: &[Info]) {
        let Some(it) = self.list.get(mover) else { return };
        let is_known = |c: &&Info| it.knows.names.binary_search(&c.short()).is_ok();
        let doubtful = others.iter().filter(is_known).filter(|c| !self.should_know(&it.info, c));
        let doubtful: Vec<u32> = doubtful.map(Info::short).collect();
        if let Some(it) = self.list.get_mut(mover).filter(|_| !doubtful.is_empty()) {
            it.knows.names.retain(|it| !doubtful.contains(it));
        }
    }

    /// And those whose regions newly touch the mover's, as it looks from here.
    fn with_new_touch(&mut self, mover: Address, candidates: &[Address], mut news: Vec<Info>) -> Vec<Info> {
        if !self.config.enclosing_diff {
            return news;
        }
        let mut touches = Vec::new();
        self.list.diagram().enclosing(mover, &mut touches);
        let Some(it) = self.list.get_mut(mover) else { return news };
        let before = std::mem::replace(&mut it.touched, touches.clone());
        for c in touches.into_iter().filter(|it| before.binary_search(it).is_err()) {
            let is_new = candidates.binary_search(&c).is_ok() && news.iter().all(|it| it.address != c);
            news.extend(self.list.get(c).filter(|_| is_new).map(|it| it.info));
        }
        news
    }

    pub(crate) fn on_nodes(&mut self, list: Vec<Info>, out: &mut Out) {
        if !self.ready {
            return;
        }
        if self.config.mutual_introductions {
            return self.take_nodes(list, out);
        }
        for info in list.into_iter().filter(|it| it.address != self.me.address) {
            if self.list.get(info.address).is_none() {
                self.list.insert(Entry::new(info, self.now));
            }
        }
    }
}
