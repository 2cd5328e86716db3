//! Who wants to hear whom: two words per link, one from each side, and everybody is told who is wanted by either.

use crate::config::{NODES_MAX, Relevance};
use crate::info::Info;
use crate::list::Entry;
use crate::msg::Msg;
use crate::peer::{Out, Peer};
use machine::Address;

impl Peer {
    /// Whether somebody in the list matters to us, or we to them.
    pub(crate) fn is_relevant(&self, address: Address) -> bool {
        let Some(it) = self.list.get(address) else { return false };
        if self.is_mate(&it.info) {
            return true;
        }
        let (mine, theirs) = (self.config.reach(self.me.aoi), self.config.reach(it.info.aoi));
        match self.config.relevance {
            Relevance::Mutual => self.list.matter((self.me.address, mine), (address, theirs)),
            Relevance::OneSided => {
                let diagram = self.list.diagram();
                diagram.are_enclosing(self.me.address, address)
                    || diagram.meets(address, self.me.position, mine)
            }
        }
    }

    fn is_mate(&self, info: &Info) -> bool {
        self.config.groups && self.me.group != 0 && info.group == self.me.group
    }

    /// Whether we matter to somebody in the list, or belong together.
    pub(crate) fn matters_to(&self, address: Address) -> bool {
        let Some(it) = self.list.get(address) else { return false };
        let theirs = self.config.reach(it.info.aoi);
        self.is_mate(&it.info) || self.list.diagram().meets(self.me.address, it.info.position, theirs)
    }

    /// Whether one should know another, as it looks from here.
    pub(crate) fn should_know(&self, one: &Info, other: &Info) -> bool {
        let mates = self.config.groups && one.group != 0 && one.group == other.group;
        let reach = |it: &Info| self.config.reach(it.aoi);
        mates || self.list.matter((one.address, reach(one)), (other.address, reach(other)))
    }

    /// Takes somebody new into the list, if they matter; whether they are in it.
    pub(crate) fn take(&mut self, info: Info, out: &mut Out) -> bool {
        let buried = self.tombs.get(&info.address).is_some_and(|it| info.life <= it.0 && self.now < it.1);
        if buried || info.address == self.me.address {
            return false;
        }
        self.list.insert(Entry::new(info, self.now));
        if !self.is_relevant(info.address) {
            self.list.remove(info.address);
            return false;
        }
        if self.config.handshake {
            self.greet(info.address, out);
        }
        true
    }

    /// Takes in what is said about others.
    pub(crate) fn take_nodes(&mut self, list: Vec<Info>, out: &mut Out) {
        for info in list {
            if self.list.get(info.address).is_some() {
                self.list.update(&info);
            } else {
                self.take(info, out);
            }
        }
    }

    /// The short names of everybody in the list.
    pub(crate) fn knows(&self) -> Vec<u32> {
        let mut knows: Vec<u32> = self.list.iter().map(|it| it.1.info.short()).collect();
        knows.sort_unstable();
        knows
    }

    /// Says that we want to hear somebody.
    pub(crate) fn greet(&mut self, address: Address, out: &mut Out) {
        let Some(it) = self.list.get_mut(address) else { return };
        it.greeted = Some(self.now);
        let (who, want, knows) = (self.me, it.want, self.knows());
        let hello = Msg::Hello { who, want, answer: false, knows, nodes: Vec::new() };
        self.hand_to(address, hello, out);
    }

    pub(crate) fn on_hello(
        &mut self,
        who: Info,
        (want, answer): (bool, bool),
        knows: Vec<u32>,
        nodes: Vec<Info>,
        out: &mut Out,
    ) {
        self.tombs.remove(&who.address);
        if self.list.get(who.address).is_some() {
            self.list.update(&who);
        } else if who.address == self.me.address {
            return;
        } else {
            self.list.insert(Entry::new(who, self.now));
            if !want && !self.is_relevant(who.address) {
                self.list.remove(who.address);
                return;
            }
        }
        let wanted_here = self.is_relevant(who.address);
        let now = self.now;
        let Some(it) = self.list.get_mut(who.address) else { return };
        (it.wanted, it.want, it.heard, it.pinged) = (want, wanted_here, now, None);
        it.idle_since = (!wanted_here).then_some(now);
        it.knows = knows;
        it.knows.sort_unstable();
        if answer {
            it.greeted = None;
        } else {
            let nodes = self.missing_in(who.address);
            let (want, knows) = (wanted_here, self.knows());
            let hello = Msg::Hello { who: self.me, want, answer: true, knows, nodes };
            self.hand_to(who.address, hello, out);
        }
        self.take_nodes(nodes, out);
        if !self.ready && self.list.iter().all(|it| it.1.greeted.is_none()) {
            self.get_ready(out);
        }
    }

    /// Those whom somebody should know and does not, by their own word; the nearest first.
    pub(crate) fn missing_in(&self, address: Address) -> Vec<Info> {
        let Some(it) = self.list.get(address) else { return Vec::new() };
        let unknown = |other: &&Entry| {
            let info = &other.info;
            info.address != address && !other.joining && it.knows.binary_search(&info.short()).is_err()
        };
        let others = self.list.iter().map(|it| it.1).filter(unknown);
        let mut missing: Vec<Info> =
            others.map(|it| it.info).filter(|other| self.should_know(&it.info, other)).collect();
        missing.sort_by_key(|other| (it.info.position.distance_squared(other.position), other.address));
        missing.truncate(NODES_MAX);
        missing
    }

    /// Somebody does not want to hear us and does not know us.
    pub(crate) fn on_stranger(&mut self, from: Address, out: &mut Out) {
        let Some(it) = self.list.get_mut(from) else { return };
        it.wanted = false;
        if !self.is_relevant(from) {
            self.forget(from, out);
        } else if self.config.handshake {
            self.greet(from, out); // We want to hear them: they must know.
        }
    }
}
