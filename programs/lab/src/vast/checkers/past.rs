//! Past events that checkers must know: lives of peers, disappearances, divisions of the network.

use machine::{Address, Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The events of a run so far.
#[derive(Debug, Default)]
pub struct PastEvents {
    lives: BTreeMap<Address, PeerLives>,
    /// For each disappearance, its time and the peers that had the vanished one in their lists. Old ones are dropped.
    vanished: VecDeque<(Time, BTreeSet<Address>)>,
    /// Peers that were in another part than most, with the time of that. How long it may last is judged by `whole`.
    outside: BTreeMap<Address, Time>,
    apart: bool,
    mended: Option<Time>,
}

/// The lives of one peer.
#[derive(Clone, Copy, Debug, Default)]
struct PeerLives {
    /// Number of the last life that began.
    last: u32,
    /// True if that life goes on.
    is_there: bool,
    /// Time at which a life ended last.
    ended: Option<Time>,
}

impl PastEvents {
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

    /// Number of the last life of a peer that began.
    pub fn last_life(&self, who: Address) -> u32 {
        self.lives.get(&who).map_or(0, |it| it.last)
    }

    /// Time since the end of this life of a peer; `None` if it goes on. Of several that ended, the last one counts.
    ///
    /// Life 0 stands for an unknown one: moves do not say it.
    pub fn over_since(&self, now: Time, who: Address, life: u32) -> Option<Span> {
        let lives = self.lives.get(&who)?;
        let goes_on = lives.is_there && (life == 0 || life == lives.last);
        lives.ended.filter(|_| !goes_on).map(|it| now.since(it))
    }

    /// Notes peers that are in another part of the overlay than most.
    pub fn torn(&mut self, now: Time, outside: impl IntoIterator<Item = Address>) {
        self.outside.extend(outside.into_iter().map(|it| (it, now)));
    }

    /// Peers with a neighbour that vanished less than `noticed` ago, and peers that were in another part than most less
    /// than `mended` ago.
    pub fn excused(&mut self, now: Time, noticed: Span, mended: Span) -> BTreeSet<Address> {
        while self.vanished.front().is_some_and(|it| noticed <= now.since(it.0)) {
            self.vanished.pop_front();
        }
        self.outside.retain(|_, at| now.since(*at) < mended);
        self.vanished.iter().flat_map(|it| it.1.iter()).chain(self.outside.keys()).copied().collect()
    }

    /// Returns whether the network is not divided, and has not been for `lately`.
    pub fn is_whole(&self, now: Time, lately: Span) -> bool {
        !self.apart && self.mended.is_none_or(|it| lately <= now.since(it))
    }
}
