//! Somebody who hears everything that happens in a world, and says what is wrong with it.
//!
//! On the simulator the judge listens while the world runs; of real processes it hears what they wrote down (see
//! [`crate::histories`]). It cannot tell the difference.

use crate::check::{self, Chain, Observers};
use crate::court::Court;
use crate::ledger::{Ledger, Name};
use crate::scenario::Count;
use crate::violation::Violations;
use game::{PlayerId, Rules};
use history::{Entry, What};
use machine::{Address, Span, Time};
use space::{Polygon, ZoneId};
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

/// What zones did together, as far as it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Crossings {
    /// Events in which several zones took part.
    pub cross_zone_events: u64,
    /// Objects that changed their owner.
    pub transfers: u64,
    /// Zones that were cut in two.
    pub splits: u64,
    /// Zones that were put together.
    pub merges: u64,
}

/// How a history ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Everything had healed for a while: what was begun long ago must be over.
    Settled,
    /// It was stopped, whatever was under way.
    Stopped,
}

/// What a judge must know of a zone before anything happens in it.
#[derive(Clone)]
pub struct About {
    /// Which zone.
    pub zone: ZoneId,
    /// Its region.
    pub region: Polygon,
    /// The game.
    pub rules: Arc<dyn Rules>,
    /// What its objects hold.
    pub count: Option<Count>,
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
    pub(crate) const fn lost_max(&self) -> Option<Span> {
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
    /// What was counted.
    pub tally: Tally,
    /// What was violated.
    pub violations: Violations,
    courts: BTreeMap<ZoneId, Court>,
    /// The zones of those who may hold a replica.
    zones: BTreeMap<Address, ZoneId>,
    observers: Observers,
    lives: BTreeMap<Address, Life>,
    asked: Asked,
    stranger: Option<(Address, Name)>,
}

impl Judge {
    /// A judge who has heard nothing.
    pub fn new(seed: u64, about: impl IntoIterator<Item = About>) -> Self {
        let courts: BTreeMap<_, _> = about.into_iter().map(|it| (it.zone, Court::new(it))).collect();
        let zones =
            courts.iter().flat_map(|(&zone, it)| it.about.hosts.iter().map(move |&host| (host, zone)));
        Self {
            tally: Tally::default(),
            violations: Violations::new(seed),
            zones: zones.collect(),
            courts,
            observers: Observers::default(),
            lives: BTreeMap::new(),
            asked: Asked::default(),
            stranger: None,
        }
    }

    /// What really happened in a zone.
    ///
    /// # Panics
    ///
    /// If there is no such zone.
    pub fn ledger(&self, zone: ZoneId) -> &Ledger {
        &self.courts.get(&zone).expect("the judge was told of every zone").ledger
    }

    /// How many records were written.
    pub fn records(&self) -> u64 {
        self.courts.values().map(|it| it.ledger.records.len() as u64).sum()
    }

    /// What zones did together.
    pub fn crossings(&self) -> Crossings {
        let sum = |count: fn(&Ledger) -> u64| self.courts.values().map(|it| count(&it.ledger)).sum();
        Crossings {
            cross_zone_events: sum(|it| it.decided),
            transfers: sum(|it| it.departed),
            ..Crossings::default()
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
            What::Kept(name) => self.with_ledger(by, |it| it.kept(by, *name)),
            What::Pictured(name) => self.with_ledger(by, |it| it.pictured(by, *name)),
            What::Cut(from) => self.with_ledger(by, |it| it.cut(by, *from)),
            What::Reign(zone, reign) => self.named(*zone, *reign),
            What::Crashed => self.died(by, Some(now)),
            What::Stopped => self.died(by, None),
        }
    }

    /// The zone that somebody belongs to. Where there is only one, that is everybody's.
    fn zone_of(&self, by: Address) -> Option<ZoneId> {
        let only = || self.courts.keys().next().copied().filter(|_| self.courts.len() == 1);
        self.zones.get(&by).copied().or_else(only)
    }

    fn with_ledger(&mut self, by: Address, act: impl FnOnce(&mut Ledger)) {
        let zone = self.zone_of(by);
        if let Some(court) = zone.and_then(|it| self.courts.get_mut(&it)) {
            act(&mut court.ledger);
        }
    }

    // Lives.

    fn started(&mut self, by: Address) {
        let now = self.violations.now;
        self.died(by, Some(now)); // Nobody lives twice at once.
        let before = self.lives.insert(by, Life { since: now, lives: true });
        let is_host = self.zones.contains_key(&by);
        self.tally.restarts += u64::from(is_host && before.is_some());
        self.observers.started(by);
        // Whoever waited for these answers is gone.
        self.asked.open.retain(|(session, _), _| *session != by);
    }

    /// Somebody is gone, and their memory. Without a time they went by themselves: their disk has everything.
    fn died(&mut self, by: Address, at: Option<Time>) {
        let Some(life) = self.lives.get_mut(&by).filter(|it| it.lives) else { return };
        life.lives = false;
        let zone = self.zone_of(by);
        if let Some(court) = zone.and_then(|it| self.courts.get_mut(&it)) {
            court.died(by, at, &mut self.violations);
        }
    }

    fn holds(&mut self, by: Address, name: Option<Name>) {
        self.look_for_strangers(by, name);
        self.with_ledger(by, |it| it.disk_is(by, name));
    }

    /// A record that nobody wrote is from before this history began.
    fn look_for_strangers(&mut self, by: Address, name: Option<Name>) {
        let court = self.zone_of(by).and_then(|it| self.courts.get(&it));
        let is_known = |it: &Name| court.is_some_and(|court| court.ledger.records.contains_key(it));
        let unknown = name.filter(|it| 0 < it.1 && !is_known(it));
        if let (None, Some(name)) = (self.stranger, unknown) {
            self.stranger = Some((by, name));
        }
    }

    fn named(&mut self, zone: ZoneId, reign: Reign) {
        if let Some(court) = self.courts.get_mut(&zone) {
            court.ledger.reigns.insert(reign.epoch, reign);
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
        self.observers.see(by, note, &mut self.violations);
        let zone = self.zone_of(by);
        if let Some(court) = zone.and_then(|it| self.courts.get_mut(&it)) {
            let took_over = court.said(by, note, &mut self.violations);
            self.tally.failovers += u64::from(took_over);
        }
    }

    fn answered(&mut self, by: Address, player: PlayerId, outcome: &Outcome) {
        self.tally.actions_acked += 1;
        self.tally.aborted += u64::from(*outcome != Outcome::Done);
        if let Some(open) = self.asked.open.get_mut(&(by, player)) {
            *open = open.saturating_sub(1);
        }
    }

    /// A full stop may be forgiven.
    fn pardon(&mut self, host: Address) {
        let since = self.lives.get(&host).map(|it| it.since);
        let court = self.zone_of(host).and_then(|it| self.courts.get_mut(&it));
        let Some(allowed_from) = court.and_then(|it| it.pardon(host, since)) else { return };
        self.observers.roll_back(allowed_from);
        self.tally.rolled_back += 1;
    }

    // The end.

    /// Judges the history that survived; says what each zone comes to, if there was anything to judge.
    pub fn end(&mut self, ending: Ending) -> Vec<State> {
        let chains: Vec<_> = self.courts.values().filter_map(Chain::of).collect();
        check::end(&chains, &self.observers, ending, &mut self.violations)
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
