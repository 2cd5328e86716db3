//! What happened that a checker must know of: lives, disappearances, divisions of the network.

use machine::{Address, Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What happened so far.
#[derive(Debug, Default)]
pub struct Past {
    lives: BTreeMap<Address, Lives>,
    /// Who knew somebody who vanished, and when that was. Those long ago are forgotten.
    vanished: VecDeque<(Time, BTreeSet<Address>)>,
    /// Who was in another part than most, and when they were last seen there: it is up to `whole` how long that lasts.
    outside: BTreeMap<Address, Time>,
    apart: bool,
    mended: Option<Time>,
}

/// Somebody's lives.
#[derive(Clone, Copy, Debug, Default)]
struct Lives {
    /// The last one that began.
    last: u32,
    /// Whether it goes on.
    is_there: bool,
    /// When the last one that ended did.
    ended: Option<Time>,
}

impl Past {
    pub fn joined(&mut self, who: Address, life: u32) {
        let lives = self.lives.entry(who).or_default();
        (lives.last, lives.is_there) = (life, true);
    }

    pub fn left(&mut self, now: Time, who: Address, knew: BTreeSet<Address>) {
        let lives = self.lives.entry(who).or_default();
        (lives.is_there, lives.ended) = (false, Some(now));
        self.vanished.push_back((now, knew));
    }

    pub const fn divided(&mut self, now: Time, apart: bool) {
        if self.apart && !apart {
            self.mended = Some(now);
        }
        self.apart = apart;
    }

    /// The last life of somebody that began.
    pub fn last_life(&self, who: Address) -> u32 {
        self.lives.get(&who).map_or(0, |it| it.last)
    }

    /// How long ago this life of somebody ended; `None` if it goes on. Of several that ended, the last one counts.
    ///
    /// Life 0 stands for one that is not known: whoever moves says nothing of it.
    pub fn over_since(&self, now: Time, who: Address, life: u32) -> Option<Span> {
        let lives = self.lives.get(&who)?;
        let goes_on = lives.is_there && (life == 0 || life == lives.last);
        lives.ended.filter(|_| !goes_on).map(|it| now.since(it))
    }

    /// These are in another part of the overlay than most.
    pub fn torn(&mut self, now: Time, outside: impl IntoIterator<Item = Address>) {
        self.outside.extend(outside.into_iter().map(|it| (it, now)));
    }

    /// Those who knew somebody who vanished less than `noticed` ago, or were in another part than most less than `mended`
    /// ago.
    pub fn stirred(&mut self, now: Time, noticed: Span, mended: Span) -> BTreeSet<Address> {
        while self.vanished.front().is_some_and(|it| noticed <= now.since(it.0)) {
            self.vanished.pop_front();
        }
        self.outside.retain(|_, at| now.since(*at) < mended);
        self.vanished.iter().flat_map(|it| it.1.iter()).chain(self.outside.keys()).copied().collect()
    }

    /// Whether the network is not divided, and has not been lately.
    pub fn is_whole(&self, now: Time, lately: Span) -> bool {
        !self.apart && self.mended.is_none_or(|it| lately <= now.since(it))
    }
}
