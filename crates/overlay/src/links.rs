//! Who wants to hear whom: two words per link, one from each side, and everybody is told who is wanted by either.

use crate::broken;
use crate::config::{ASKED_MAX, MATES_MAX, NAMES_MAX, Relevance, UNPROVEN_MAX};
use crate::info::Info;
use crate::list::Entry;
use crate::msg::{Knows, Msg};
use crate::peer::{Out, Peer, Purpose};
use crate::rule::Rule;
use machine::{Address, Span};
use space::Distance;

/// Somebody who is gone may have been heard by others with so many moves after the last that we heard. Whoever made more
/// since is not gone.
const AFTERLIFE: u32 = 3;

/// Nobody is greeted or answered more often, whatever they say.
const ANSWER_AGAIN: Span = Span::from_millis(250);

fn farther(reach: Distance, stride: Distance) -> Distance {
    Distance::new(reach.millimetres().saturating_add(stride.millimetres())).unwrap_or(Distance::MAX)
}

impl Peer {
    /// Whether somebody in the list matters to us, or we to them.
    pub(crate) fn is_relevant(&self, address: Address) -> bool {
        let Some(it) = self.list.get(address) else { return false };
        if self.overlooks(address) {
            return false;
        }
        if self.is_mate(&it.info) {
            return true;
        }
        let (mine, theirs) = (self.my_reach(), self.reach_of(&it.info));
        match self.config.relevance {
            Relevance::Mutual => self.list.matter((self.me.address, mine), (address, theirs)),
            Relevance::OneSided => {
                let diagram = self.list.diagram();
                diagram.are_enclosing(self.me.address, address)
                    || diagram.meets(address, self.me.position, mine)
            }
        }
    }

    /// Whether a neighbour that matters is taken for one that does not; never, while the rules are followed.
    pub(crate) fn overlooks(&self, address: Address) -> bool {
        let follows = self.config.enforces(Rule::KeepTouching) && self.config.enforces(Rule::KeepVisible);
        !follows && broken::overlooks(&self.config, &self.me, &self.list, address)
    }

    /// How far newcomers are looked for around us: whoever takes long steps looks as far ahead as the next one.
    pub(crate) fn my_reach(&self) -> Distance {
        farther(self.config.reach(self.me.aoi), self.stride)
    }

    /// The same around somebody else.
    pub(crate) fn reach_of(&self, info: &Info) -> Distance {
        let stride = self.list.get(info.address).map_or(Distance::ZERO, |it| it.stride);
        farther(self.config.reach(info.aoi), stride)
    }

    /// Whether somebody is believed, and may hear of us: they have proven who they are. The paper's peers believe everybody.
    pub(crate) fn trusts(&self, address: Address) -> bool {
        !self.config.handshake || self.list.get(address).is_some_and(|it| it.proven)
    }

    /// Whether somebody proves who they are, now or before.
    pub(crate) fn proves(&mut self, who: &Info, credential: &[u8]) -> bool {
        let same = |it: &Entry| it.proven && (it.info.life, it.info.group) == (who.life, who.group);
        self.list.get(who.address).is_some_and(same) || self.admits(who, credential)
    }

    /// Whether a credential proves who somebody is.
    pub(crate) fn admits(&mut self, who: &Info, credential: &[u8]) -> bool {
        let admitted = !self.config.handshake || self.credentials.admits(who, credential);
        self.refused += u64::from(!admitted);
        admitted
    }

    /// Whether somebody in the list is of our group; if so, that is remembered.
    pub(crate) fn is_known_mate(&mut self, address: Address) -> bool {
        let mate = self.list.get(address).is_some_and(|it| self.is_mate(&it.info));
        if mate && self.trusts(address) && self.mates.insert(address) && MATES_MAX < self.mates.len() {
            self.mates.retain(|it| self.list.get(*it).is_some());
        }
        mate
    }

    pub(crate) fn is_mate(&self, info: &Info) -> bool {
        self.config.groups && self.me.group != 0 && info.group == self.me.group
    }

    /// Whether we matter to somebody in the list, or belong together.
    pub(crate) fn matters_to(&self, address: Address) -> bool {
        let Some(it) = self.list.get(address) else { return false };
        let theirs = self.reach_of(&it.info);
        self.is_mate(&it.info) || self.list.is_met(self.me.address, (it.info.position, theirs))
    }

    /// Takes somebody new into the list, if they matter; whether they are in it.
    pub(crate) fn take(&mut self, info: Info, out: &mut Out) -> bool {
        let buried = self.tombs.get(&info.address).is_some_and(|it| {
            let (life, sequence) = it.last;
            (info.life, info.sequence) <= (life, sequence.saturating_add(AFTERLIFE)) && self.now < it.until
        });
        let unproven = self.list.iter().filter(|it| !it.1.proven).count();
        if buried || info.address == self.me.address || UNPROVEN_MAX <= unproven {
            return false;
        }
        self.list.insert(Entry::new(info, self.now));
        if !self.is_relevant(info.address) {
            self.list.remove(info.address);
            self.stock(info);
            return false;
        }
        self.stock.remove(&info.address);
        self.stir(info.address);
        if self.config.handshake {
            self.greet(info.address, out);
        }
        true
    }

    /// The short names of everybody in the list, if there are not too many; of nobody otherwise.
    fn knows(&self) -> Knows {
        if NAMES_MAX < self.list.len() {
            return Knows { names: Vec::new(), within: Some(Distance::ZERO) };
        }
        self.knows_nearest()
    }

    /// The short names of everybody in the list; of the nearest if there are too many.
    pub(crate) fn knows_nearest(&self) -> Knows {
        let away = |it: &Info| it.position.distance_squared(self.me.position);
        let mut infos: Vec<&Info> = self.list.iter().map(|it| &it.1.info).collect();
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

    /// Says that we want to hear somebody.
    pub(crate) fn greet(&mut self, address: Address, out: &mut Out) {
        let Some(it) = self.list.get_mut(address) else { return };
        it.greeted = Some(self.now);
        let want = it.want;
        self.say_hello(address, (want, false), Vec::new(), out);
    }

    /// Says who we are, whether we want to hear somebody, and whether that is an answer.
    pub(crate) fn say_hello(
        &mut self,
        to: Address,
        (want, answer): (bool, bool),
        nodes: Vec<Info>,
        out: &mut Out,
    ) {
        let (who, knows) = (self.me, self.knows());
        let credential = self.credentials.show(&who);
        let hello = Msg::Hello { who, want, answer, knows, nodes: nodes.clone(), credential };
        if self.hand_to(to, hello, out) && !nodes.is_empty() {
            self.count_as_told(to, &nodes);
        }
    }

    pub(crate) fn on_hello(
        &mut self,
        who: Info,
        (want, answer): (bool, bool),
        mut knows: Knows,
        nodes: Vec<Info>,
        out: &mut Out,
    ) {
        self.tombs.remove(&who.address);
        knows.names.sort_unstable();
        if let Some(it) = self.list.get(who.address) {
            let spoken = it.met || it.proven;
            if spoken && who.life < it.info.life {
                return; // A word of an earlier life, late.
            }
            if spoken {
                self.list.update(&who);
            } else {
                self.list.begin(&who);
            }
        } else if who.address == self.me.address {
            return;
        } else {
            self.list.insert(Entry::new(who, self.now));
            if !want && !self.is_relevant(who.address) {
                self.list.remove(who.address);
                return;
            }
            self.say_met(who.address);
        }
        let wanted_here = self.is_relevant(who.address);
        let now = self.now;
        let Some(it) = self.list.get_mut(who.address) else { return };
        (it.wanted, it.want, it.heard, it.pinged, it.proven) = (want, wanted_here, now, None, true);
        it.idle_since = (!wanted_here).then_some(now);
        it.knows = knows;
        if answer {
            it.greeted = None;
        } else if it.answered.is_none_or(|at| ANSWER_AGAIN <= now.since(at)) {
            it.answered = Some(now);
            let nodes = self.missing_in(who.address);
            self.say_hello(who.address, (wanted_here, true), nodes, out);
        }
        self.take_nodes(nodes, out);
        let settling = self.timers.at(Purpose::Settle).is_some();
        if !self.ready && settling && self.list.iter().all(|it| it.1.greeted.is_none()) {
            self.get_ready(out);
        }
    }

    /// Somebody does not want to hear us and does not know us.
    pub(crate) fn on_stranger(&mut self, from: Address, out: &mut Out) {
        let now = self.now;
        let Some(it) = self.list.get_mut(from) else { return };
        it.wanted = false;
        let lately = it.greeted.is_some_and(|at| now.since(at) < ANSWER_AGAIN);
        if !self.is_relevant(from) {
            self.forget(from, out);
        } else if self.config.handshake && !lately {
            self.greet(from, out); // We want to hear them: they must know.
        }
    }
}
