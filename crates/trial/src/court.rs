//! What a judge knows of one zone.

use crate::check::{Checkers, Fact};
use crate::judge::About;
use crate::ledger::{Ledger, Name, Told};
use crate::violation::Violations;
use machine::{Address, Time};
use space::Epoch;
use zone::Note;

/// One zone's part of a history, and those who watch it.
pub struct Court {
    /// What really happened.
    pub ledger: Ledger,
    /// The zone.
    pub about: About,
    checkers: Checkers,
    reigning: Option<Address>,
    /// The highest epoch anybody reigned in, and who did.
    throne: Option<(Epoch, Address)>,
}

impl Court {
    pub fn new(about: About) -> Self {
        let (ledger, checkers) = (Ledger::default(), Checkers::default());
        Self { ledger, about, checkers, reigning: None, throne: None }
    }

    /// A replica says something. Whether it reigns from now on where another did.
    pub fn said(&mut self, by: Address, note: &Note, out: &mut Violations) -> bool {
        self.checkers.see(Fact::Said(by, note), &self.ledger, &self.about, out);
        self.ledger.hear(out.now, by, note);
        let Note::Reigns { epoch, .. } = note else { return false };
        self.throne = self.throne.max(Some((*epoch, by)));
        self.reigning.replace(by).is_some_and(|it| it != by)
    }

    /// A replica is gone, and its memory. Without a time it went by itself: its disk has everything.
    pub fn died(&mut self, by: Address, at: Option<Time>, out: &mut Violations) {
        self.checkers.see(Fact::Gone(by), &self.ledger, &self.about, out);
        self.ledger.forget(by, at);
    }

    /// After a full stop, a world that does not sync before it tells may have lost its last moments: what everybody
    /// who knew it took to the grave. Says since when announcements may be undone, if there is something to forgive.
    pub fn pardon(&mut self, host: Address, alive_since: Option<Time>) -> Option<Time> {
        let &last = self.ledger.memory.get(&host)?;
        let (first, told) = self.ledger.lost(last)?;
        let was_there = alive_since.is_some_and(|it| it <= told.time);
        let allowed_from = self.pardoned_from(first, told).filter(|_| !was_there)?;
        self.ledger.roll_back(last, first.1);
        Some(allowed_from)
    }

    /// Since when announcements may be undone, if the loss of this one is forgivable.
    fn pardoned_from(&self, lost: Name, told: Told) -> Option<Time> {
        let lost_max = self.about.lost_max()?;
        // Whoever is alone has it on disk before it speaks, and whoever was there when it was told should know it.
        let owed = told.alone && !self.about.is_single();
        let known = self.ledger.memory.values().any(|&it| self.ledger.holds(it, lost));
        if owed || known {
            return None;
        }
        let knew = self.ledger.former.iter().filter(|it| self.ledger.holds(it.last, lost));
        let stopped = knew.filter_map(|it| it.killed).max()?;
        let allowed_from = stopped - lost_max;
        (allowed_from <= told.time).then_some(allowed_from)
    }

    /// The last record of the history that survived, if there was any.
    pub fn survivor(&self) -> Option<Name> {
        let (_, host) = self.throne?;
        self.ledger.last_of(host)
    }
}
