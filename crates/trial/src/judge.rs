//! Somebody who hears everything that happens in a world, and says what is wrong with it.
//!
//! On the simulator the judge listens while the world runs; of real processes it hears what they wrote down (see
//! [`crate::histories`]). It cannot tell the difference.

use crate::check::{Checkers, Fact};
use crate::ledger::{Ledger, Name, Told};
use crate::violation::Violations;
use game::{PlayerId, Rules};
use history::{Entry, What};
use machine::{Address, Span, Time};
use space::{Epoch, Polygon, ZoneId};
use std::collections::BTreeMap;
use std::sync::Arc;
use zone::{Durability, Note, Outcome, Reign, State};

/// What a full stop may undo when disks are written soon after announcing: events of the last moments.
const LOST_MAX: Span = Span::from_millis(100);

/// What it may undo when disks are written when there is time.
const LOST_LAZY_MAX: Span = Span::from_millis(1_100);

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Tally {
    /// Reigns that began with another host than the one before.
    pub failovers: u64,
    /// Hosts that came back.
    pub restarts: u64,
    /// Actions that were refused.
    pub aborted: u64,
    /// Actions whose result arrived.
    pub actions_acked: u64,
    /// Full stops after which announced events were gone, as `batched` allows.
    pub rolled_back: u64,
}

/// What a judge must know of a world before anything happens in it.
#[derive(Clone)]
pub struct About {
    /// Which zone.
    pub zone: ZoneId,
    /// Its region.
    pub region: Polygon,
    /// The game.
    pub rules: Arc<dyn Rules>,
    /// Who may hold a replica.
    pub hosts: Vec<Address>,
    /// How announcements wait for disks.
    pub durability: Durability,
}

impl About {
    /// Nobody can be a backup, so a primary that is alone does as the durability says.
    pub const fn is_single(&self) -> bool {
        self.hosts.len() < 2
    }

    /// How much of what was announced a full stop may undo.
    const fn lost_max(&self) -> Option<Span> {
        match self.durability {
            Durability::Synced => None,
            Durability::Batched => Some(LOST_MAX),
            Durability::Lazy => Some(LOST_LAZY_MAX),
        }
    }
}

/// Whether somebody lives, and since when.
#[derive(Clone, Copy, Debug)]
struct Life {
    since: Time,
    lives: bool,
}

/// What players asked for.
#[derive(Debug, Default)]
struct Asked {
    count: u64,
    /// Actions that each session has asked for and not heard of.
    open: BTreeMap<(Address, PlayerId), u64>,
}

/// Who hears everything.
pub struct Judge {
    /// What really happened.
    pub ledger: Ledger,
    /// What was counted.
    pub tally: Tally,
    /// What was violated.
    pub violations: Violations,
    about: About,
    checkers: Checkers,
    lives: BTreeMap<Address, Life>,
    asked: Asked,
    reigning: Option<Address>,
    /// The highest epoch anybody reigned in, and who did.
    throne: Option<(Epoch, Address)>,
    stranger: Option<(Address, Name)>,
}

impl Judge {
    /// A judge who has heard nothing.
    pub fn new(seed: u64, about: About) -> Self {
        Self {
            ledger: Ledger::default(),
            tally: Tally::default(),
            violations: Violations::new(seed),
            about,
            checkers: Checkers::default(),
            lives: BTreeMap::new(),
            asked: Asked::default(),
            reigning: None,
            throne: None,
            stranger: None,
        }
    }

    /// Hears of something that happened. Times never fall.
    pub fn see(&mut self, entry: &Entry) {
        let (by, now) = (entry.by, entry.time);
        self.violations.now = now;
        match &entry.what {
            What::Started => self.started(by),
            What::Holds(name) => self.holds(by, *name),
            What::Said(note) => self.said(by, note),
            What::Kept(name) => self.ledger.kept(by, *name),
            What::Pictured(name) => self.ledger.pictured(by, *name),
            What::Cut(from) => self.ledger.cut(by, *from),
            What::Reign(zone, reign) => self.named(*zone, *reign),
            What::Crashed => self.died(by, Some(now)),
            What::Stopped => self.died(by, None),
        }
    }

    // Lives.

    fn started(&mut self, by: Address) {
        let now = self.violations.now;
        self.died(by, Some(now)); // Nobody lives twice at once.
        let before = self.lives.insert(by, Life { since: now, lives: true });
        let is_host = self.about.hosts.contains(&by);
        self.tally.restarts += u64::from(is_host && before.is_some());
        // Whoever waited for these answers is gone.
        self.asked.open.retain(|(session, _), _| *session != by);
    }

    /// Somebody is gone, and their memory. Without a time they went by themselves: their disk has everything.
    fn died(&mut self, by: Address, at: Option<Time>) {
        let Some(life) = self.lives.get_mut(&by).filter(|it| it.lives) else { return };
        life.lives = false;
        self.checkers.see(Fact::Gone(by), &self.ledger, &self.about, &mut self.violations);
        self.ledger.forget(by, at);
    }

    fn holds(&mut self, by: Address, name: Option<Name>) {
        self.look_for_strangers(by, name);
        self.ledger.disk_is(by, name);
    }

    /// A record that nobody wrote is from before this history began.
    fn look_for_strangers(&mut self, by: Address, name: Option<Name>) {
        let unknown = name.filter(|it| 0 < it.1 && !self.ledger.records.contains_key(it));
        if let (None, Some(name)) = (self.stranger, unknown) {
            self.stranger = Some((by, name));
        }
    }

    fn named(&mut self, zone: ZoneId, reign: Reign) {
        if zone == self.about.zone {
            self.ledger.reigns.insert(reign.epoch, reign);
        }
    }

    // Notes.

    fn said(&mut self, by: Address, note: &Note) {
        match note {
            Note::Reigns { .. } => self.pardon(by),
            Note::Replaced { epoch, index } => self.look_for_strangers(by, Some((*epoch, *index))),
            Note::Entered { player } => {
                // Their earlier session is over.
                self.asked.open.retain(|it, _| it.0 == by || it.1 != *player);
            }
            Note::Asked { player, .. } => {
                self.asked.count += 1;
                *self.asked.open.entry((by, *player)).or_default() += 1;
            }
            Note::Answered { player, outcome, .. } => self.answered(by, *player, outcome),
            _ => (),
        }
        self.checkers.see(Fact::Said(by, note), &self.ledger, &self.about, &mut self.violations);
        self.ledger.hear(self.violations.now, by, note);
        if let Note::Reigns { epoch, .. } = note {
            self.tally.failovers += u64::from(self.reigning.is_some_and(|it| it != by));
            self.reigning = Some(by);
            self.throne = self.throne.max(Some((*epoch, by)));
        }
    }

    fn answered(&mut self, by: Address, player: PlayerId, outcome: &Outcome) {
        self.tally.actions_acked += 1;
        self.tally.aborted += u64::from(*outcome != Outcome::Done);
        if let Some(open) = self.asked.open.get_mut(&(by, player)) {
            *open = open.saturating_sub(1);
        }
    }

    /// After a full stop, a world that does not sync before it tells may have lost its last moments: what everybody
    /// who knew it took to the grave.
    fn pardon(&mut self, host: Address) {
        let Some(&last) = self.ledger.memory.get(&host) else { return };
        let Some((first, told)) = self.ledger.lost(last) else { return };
        let Some(allowed_from) = self.pardoned_from(host, first, told) else { return };
        self.ledger.roll_back(last, first.1);
        self.checkers.roll_back(allowed_from);
        self.tally.rolled_back += 1;
    }

    /// Since when announcements may be undone, if the loss of this one is forgivable.
    fn pardoned_from(&self, host: Address, lost: Name, told: Told) -> Option<Time> {
        let lost_max = self.about.lost_max()?;
        // Whoever is alone has it on disk before it speaks, and whoever was there when it was told should know it.
        let owed = told.alone && !self.about.is_single();
        let was_there = self.lives.get(&host).is_some_and(|it| it.since <= told.time);
        let known = self.ledger.memory.values().any(|&it| self.ledger.holds(it, lost));
        if owed || was_there || known {
            return None;
        }
        let knew = self.ledger.former.iter().filter(|it| self.ledger.holds(it.last, lost));
        let stopped = knew.filter_map(|it| it.killed).max()?;
        let allowed_from = stopped - lost_max;
        (allowed_from <= told.time).then_some(allowed_from)
    }

    // The end.

    /// Judges the history that survived; says what it comes to, if there was anything to judge.
    pub fn end(&mut self) -> Option<State> {
        let (_, host) = self.throne?;
        let last = self.ledger.last_of(host)?;
        self.checkers.end(last, &self.ledger, &self.about, &mut self.violations)
    }

    /// Somebody came with a record that nobody wrote: the history does not begin with the world.
    pub const fn stranger(&self) -> Option<(Address, Name)> {
        self.stranger
    }

    /// How many actions players asked for.
    pub const fn asked(&self) -> u64 {
        self.asked.count
    }

    /// How many actions each player asked for and never heard of, in a session that did not end.
    pub fn unanswered(&self) -> BTreeMap<PlayerId, u64> {
        let mut players = BTreeMap::new();
        for (&(_, player), &open) in self.asked.open.iter().filter(|it| 0 < *it.1) {
            *players.entry(player).or_default() += open;
        }
        players
    }
}
