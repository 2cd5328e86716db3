//! Who is told of whom: a peer at the edge of a mover's view tells it of those beyond, and both sides hear of each other.

use crate::config::{ANSWER_MAX, Candidates, LIST_MAX, NODES_MAX, Trigger};
use crate::crowd::SLOWEST;
use crate::info::{Info, short};
use crate::list::Entry;
use crate::msg::Msg;
use crate::peer::{Out, Peer};
use crate::rule::Rule;
use machine::{Address, Span, Time};
use space::Position;

/// Somebody introduced who does not matter is kept in mind for so long: then they are introduced again.
const STOCKED: Span = Span::from_secs(2);

/// The most who are kept in mind.
const STOCK_MAX: usize = 16;

/// So many who come within the time between two comparisons of lists are many.
const MANY: u32 = 3;

/// How often lists are compared sooner after that: about as often as they have entries.
const RESTLESS: u32 = 12;

impl Peer {
    /// Tells a mover of those it should know and does not seem to.
    pub(crate) fn introduce(&mut self, mover: Address, old: Position, out: &mut Out) {
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
        if self.config.mutual_introductions {
            self.tell_of_mover(mover, &news, out);
        }
        self.tell_of(mover, news, out);
    }

    /// Those of whom a mover is told are told of the mover, if they do not seem to know it either.
    fn tell_of_mover(&mut self, mover: Address, others: &[Info], out: &mut Out) {
        let (now, Some(mover)) = (self.now, self.list.get(mover).map(|it| it.info)) else { return };
        let lacks = |it: &Address| self.list.get(*it).is_some_and(|it| it.lacks(now, &mover));
        let lacking: Vec<Address> = others.iter().map(|it| it.address).filter(lacks).collect();
        for it in self.say(lacking, Msg::Nodes(vec![mover]), out) {
            self.count_as_told(it, &[mover]);
        }
    }

    /// Tells somebody of others.
    pub(crate) fn tell_of(&mut self, who: Address, others: Vec<Info>, out: &mut Out) {
        if !others.is_empty() && !self.say([who], Msg::Nodes(others.clone()), out).is_empty() {
            self.count_as_told(who, &others);
        }
    }

    /// Somebody was told of others just now.
    pub(crate) fn count_as_told(&mut self, who: Address, others: &[Info]) {
        let now = self.now;
        if let Some(it) = self.list.get_mut(who).filter(|_| self.config.mutual_introductions) {
            it.tell_of(now, others);
        }
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
        self.missing(mover, others, NODES_MAX)
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
            it.told.retain(|it, _| !doubtful.contains(&short(*it)));
        }
        for c in others.iter().filter(|it| doubtful.contains(&it.short())) {
            if let Some(it) = self.list.get_mut(c.address) {
                it.knows.forget(mover);
                it.told.remove(&mover);
            }
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

    /// Whether one should know another, as it looks from here.
    pub(crate) fn should_know(&self, one: &Info, other: &Info) -> bool {
        let mates = self.config.groups && one.group != 0 && one.group == other.group;
        let reach = |it: &Info| self.reach_of(it);
        mates || self.list.matter((one.address, reach(one)), (other.address, reach(other)))
    }

    /// Whether others may be told of somebody: we have heard them ourselves, and lately. Of the dead nobody is told.
    pub(crate) fn is_there(&self, it: &Entry) -> bool {
        let patience = self.config.ping_after.map_or(self.config.silent, |it| it.min(self.config.silent));
        let lately = self.now.since(it.heard) < if it.sparse { patience.times(SLOWEST) } else { patience };
        !it.joining && (!self.config.handshake || it.proven && lately)
    }

    /// Those whom somebody should know and does not, by their own word; the nearest first.
    pub(crate) fn missing_in(&self, address: Address) -> Vec<Info> {
        let other = |it: &(Address, &Entry)| it.0 != address && self.is_there(it.1);
        let others = self.list.iter().filter(other).map(|it| it.1.info).collect();
        self.missing(address, others, ANSWER_MAX)
    }

    /// Those of some whom somebody should know and does not, as far as they were not told lately; the nearest first.
    fn missing(&self, address: Address, others: Vec<Info>, most: usize) -> Vec<Info> {
        let Some(it) = self.list.get(address) else { return Vec::new() };
        let mut missing = others;
        missing.retain(|other| it.lacks(self.now, other) && self.should_know(&it.info, other));
        missing.sort_by_key(|other| (it.info.position.distance_squared(other.position), other.address));
        missing.truncate(most);
        missing
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

    /// Takes in what is said about others.
    pub(crate) fn take_nodes(&mut self, list: Vec<Info>, out: &mut Out) {
        for info in list {
            if self.list.get(info.address).is_some() {
                self.hear_of(&info);
            } else {
                self.take(info, out);
            }
        }
    }

    /// Somebody in the list is said to be there. Of whoever has spoken for themselves hearsay is not believed.
    pub(crate) fn hear_of(&mut self, info: &Info) {
        let spoken =
            self.list.get(info.address).is_some_and(|it| it.met || it.proven && self.config.handshake);
        if !spoken || !self.config.enforces(Rule::NewestWins) {
            self.list.update(info);
        }
    }

    /// Somebody is known from now on: the next moves say so.
    pub(crate) fn say_met(&mut self, who: Address) {
        if self.met.len() < LIST_MAX {
            self.met.push(who);
        }
    }

    /// Somebody came. When several come at once, they may not be the last: lists are compared more often for a while.
    pub(crate) fn stir(&mut self, who: Address) {
        self.say_met(who);
        self.arrivals += 1;
        if MANY <= self.arrivals || 0 < self.restless {
            self.restless = RESTLESS;
        }
    }

    /// Keeps in mind for a while somebody who does not matter: they may come a moment later.
    pub(crate) fn stock(&mut self, info: Info) {
        let oldest = self.stock.iter().min_by_key(|it| (it.1.1, it.0)).map(|it| *it.0);
        if STOCK_MAX <= self.stock.len()
            && !self.stock.contains_key(&info.address)
            && let Some(oldest) = oldest
        {
            self.stock.remove(&oldest);
        }
        self.stock.insert(info.address, (info, self.now));
    }

    /// Looks whether somebody matters by now who did not when they were introduced.
    pub(crate) fn look_into_stock(&mut self, out: &mut Out) {
        let now = self.now;
        self.stock.retain(|address, it| now.since(it.1) < STOCKED && self.list.get(*address).is_none());
        let stocked: Vec<(Info, Time)> = self.stock.values().copied().collect();
        for (info, since) in stocked {
            if !self.take(info, out) {
                self.stock.insert(info.address, (info, since));
            }
        }
    }
}
