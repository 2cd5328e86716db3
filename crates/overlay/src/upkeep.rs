//! What is done now and then: the silent are asked and buried, lists are compared, and a peer looks for itself.

use crate::crowd::SLOWEST;
use crate::info::Info;
use crate::msg::{Knows, Msg, Search};
use crate::peer::{Out, Peer, Purpose, Tomb};
use crate::rule::Rule;
use machine::{Address, Span, Timers};

/// After so many searches in a row that found everything as it should be, a peer searches less often.
const QUIET: u32 = 3;

/// How many times less often.
const LESS_OFTEN: u64 = 6;

/// Somebody who was asked whether they are there is asked again after this.
const PING_AGAIN: Span = Span::from_millis(500);

/// How many times more often lists are compared after many have come.
const SOONER: u64 = 8;

/// So many of those beside somebody who is gone are asked to close the gap: few touch more.
const ENCLOSING_MAX: usize = 16;

/// Whoever knows fewer looks for itself after so long.
const LONELY: usize = 3;
const SOON: Span = Span::from_secs(1);

impl Peer {
    /// Asks the silent whether they are there, and buries those who do not answer.
    pub(crate) fn look_for_silent(&mut self, out: &mut Out) {
        let (now, silent, ping_after) = (self.now, self.config.silent, self.config.ping_after);
        let (mut gone, mut asked, mut unanswered) = (Vec::new(), Vec::new(), Vec::new());
        for (address, it) in self.list.iter_mut() {
            let quiet = now.since(it.heard);
            let patient = |span: Span| if it.sparse { span.times(SLOWEST) } else { span };
            if patient(silent) <= quiet && self.config.enforces(Rule::RemoveSilent) {
                gone.push(address);
            } else if ping_after.is_some_and(|after| patient(after) <= quiet)
                && it.pinged.is_none_or(|at| PING_AGAIN <= now.since(at))
            {
                it.pinged = Some(now);
                asked.push(address);
            } else if it.greeted.is_some_and(|at| PING_AGAIN + PING_AGAIN <= now.since(at)) {
                unanswered.push(address);
            }
        }
        gone.into_iter().for_each(|it| self.bury(it, out));
        if !asked.is_empty() {
            self.drop_to(asked, Msg::Ping, out);
        }
        unanswered.into_iter().for_each(|it| self.greet(it, out));
    }

    /// Somebody is gone. Those who touched their region close the gap.
    fn bury(&mut self, address: Address, out: &mut Out) {
        let Some(entry) = self.list.get(address) else { return };
        let (last, beside) = ((entry.info.life, entry.info.sequence), entry.enclosing.clone());
        self.forget(address, out);
        self.raise_tomb(address, last);
        if self.config.repair {
            let me = self.me.address;
            let is_new =
                |it: &Address| *it != me && self.list.get(*it).is_none() && !self.tombs.contains_key(it);
            let strangers: Vec<Address> = beside.into_iter().filter(is_new).collect();
            // Whoever of them matters to us will say so: the gap may not be ours to close.
            strangers.into_iter().for_each(|it| self.say_hello(it, (false, false), Vec::new(), out));
        }
        self.look_up_if_lonely();
    }

    fn raise_tomb(&mut self, address: Address, last: (u32, u32)) {
        if Span::ZERO < self.config.tombstone {
            self.tombs.retain(|_, it| self.now < it.until);
            self.tombs.insert(address, Tomb { last, until: self.now + self.config.tombstone });
        }
    }

    pub(crate) fn on_pong(&mut self, from: Address, who: Info) {
        let now = self.now;
        let known = self.list.get_mut(from).filter(|it| who.address == from && it.info.life == who.life);
        if let Some(it) = known {
            (it.heard, it.pinged) = (now, None);
            self.list.update(&who);
        }
    }

    pub(crate) fn leave(&mut self, out: &mut Out) {
        let mut beside = Vec::new();
        self.list.diagram().enclosing(self.me.address, &mut beside);
        let infos = beside.iter().filter_map(|&it| Some(self.list.get(it)?.info)).collect();
        let all: Vec<Address> = self.list.iter().map(|it| it.0).filter(|&it| self.trusts(it)).collect();
        self.drop_to(all, Msg::Leave(infos), out);
        (self.ready, self.left, self.timers) = (false, true, Timers::new());
    }

    pub(crate) fn on_leave(&mut self, from: Address, list: Vec<Info>, out: &mut Out) {
        let Some(entry) = self.list.get(from) else { return };
        let last = (entry.info.life, u32::MAX); // They said so themselves.
        let trusted = self.trusts(from);
        self.forget(from, out);
        self.raise_tomb(from, last);
        if trusted {
            self.on_nodes(list, out);
        }
    }

    /// Compares the list with the next neighbour's.
    pub(crate) fn compare(&mut self, out: &mut Out) {
        let Some(every) = self.config.anti_entropy else { return };
        self.arrivals = 0;
        let every = if 0 < self.restless { Span::from_micros(every.as_micros() / SOONER) } else { every };
        self.restless = self.restless.saturating_sub(1);
        self.timers.set(Purpose::Compare, self.now + every);
        let trusted = || self.list.iter().map(|it| it.0).filter(|&it| self.trusts(it));
        let Some(next) = trusted().find(|&it| self.compared < it).or_else(|| trusted().next()) else {
            return;
        };
        self.compared = next;
        let mut enclosing = Vec::new();
        self.list.diagram().enclosing(self.me.address, &mut enclosing);
        let knows = self.knows_nearest();
        self.drop_to([next], Msg::Sum { knows, enclosing }, out);
    }

    pub(crate) fn on_sum(&mut self, from: Address, mut knows: Knows, enclosing: Vec<Address>, out: &mut Out) {
        knows.names.sort_unstable();
        let Some(it) = self.list.get_mut(from).filter(|_| self.ready) else { return };
        it.knows = knows;
        if !enclosing.is_empty() {
            it.enclosing = enclosing;
            it.enclosing.truncate(ENCLOSING_MAX);
        }
        let missing = self.missing_in(from);
        self.tell_of(from, missing, out);
    }

    /// Whoever knows hardly anybody looks for itself soon.
    fn look_up_if_lonely(&mut self) {
        let soon = self.now + SOON;
        if self.list.len() < LONELY && self.timers.at(Purpose::Lookup).is_some_and(|at| soon < at) {
            self.timers.set(Purpose::Lookup, soon);
        }
    }

    /// Looks whether it is known where it is, by way of somebody anywhere; and again soon, if there is no answer.
    pub(crate) fn look_up(&mut self, purpose: Search, out: &mut Out) {
        let Some(every) = self.config.self_lookup else { return };
        if std::mem::replace(&mut self.looking, true) {
            self.quiet = 0; // The last search got lost: something may be wrong.
        }
        self.look_up_after(Span::from_micros(every.as_micros() / 2));
        self.search(purpose, out);
    }

    /// The next search comes after about this.
    pub(crate) fn look_up_after(&mut self, about: Span) {
        let early = self.some_of(Span::from_micros(about.as_micros() * 2 / 5));
        let next = self.now + Span::from_micros(about.as_micros() * 4 / 5) + early;
        self.timers.set(Purpose::Lookup, next);
    }

    /// A search for oneself came home: whoever is near knows us.
    pub(crate) fn found_myself(&mut self, purpose: Search) {
        if purpose != Search::Check || !std::mem::take(&mut self.looking) {
            return;
        }
        self.quiet = self.quiet.saturating_add(1);
        if let Some(every) = self.config.self_lookup {
            self.look_up_after(if QUIET <= self.quiet { every.times(LESS_OFTEN) } else { every });
        }
    }
}
