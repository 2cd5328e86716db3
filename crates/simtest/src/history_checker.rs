//! Runs all checkers on the history of a world.
//!
//! On the simulator it sees entries while the world runs; of real processes it sees what they wrote down (see
//! [`crate::histories`]). It cannot tell the difference.

use crate::check::{self, PlayerCheckers, SurvivingLog};
use crate::record_tracker::{RecordName, RecordTracker};
use crate::scenario::Count;
use crate::violation::Violations;
use crate::zone_history::ZoneHistory;
use game::{HostedGame, PlayerId};
use history::{Entry, EntryKind};
use machine::{Address, Span, Time};
use space::{Epoch, Polygon, ZoneId};
use std::collections::BTreeMap;
use std::sync::Arc;
use zone::{Durability, Leadership, Note, Outcome, Suspect, ZoneState};

/// Longest time that a full stop may undo when disks are written soon after announcing (`batched`).
const LOST_MAX: Span = Span::from_millis(100);

/// Longest time that it may undo when disks are written at leisure (`lazy`).
const LOST_LAZY_MAX: Span = Span::from_millis(1_100);

/// Counts of what happened in a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct HistoryCounts {
    /// Changes of primary to another host than the one before.
    pub failovers: u64,
    /// Hosts that came back after a crash or a stop.
    pub restarts: u64,
    /// Actions that were not done: refused, busy or fault.
    pub aborted: u64,
    /// Actions whose result reached their player.
    pub actions_acked: u64,
    /// Full stops after which announced events were gone, as `batched` allows.
    pub rolled_back: u64,
}

/// Counts of what zones did together, from their records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Crossings {
    /// Events in which several zones took part.
    pub cross_zone_events: u64,
    /// Objects that changed their owner.
    pub transfers: u64,
    /// Zones that were cut in two.
    pub splits: u64,
    /// Zones that were merged into one.
    pub merges: u64,
}

/// State of a world at the end of its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// No fault had struck for a while: what began long ago must be over.
    Settled,
    /// The world was stopped, whatever was under way.
    Stopped,
}

/// Constants of a zone that the checkers need.
#[derive(Clone)]
pub struct ZoneSpec {
    /// Number of the specified zone.
    pub zone: ZoneId,
    /// Region in which the zone decides.
    pub region: Polygon,
    /// Rules of the game, for the replay.
    pub rules: Arc<dyn HostedGame>,
    /// Counts the goods in an object; `None` if the game conserves nothing.
    pub count: Option<Count>,
    /// Addresses of the hosts that may hold a replica.
    pub hosts: Vec<Address>,
    /// True if announcements wait for disks.
    pub durability: Durability,
}

impl ZoneSpec {
    /// Returns whether no host can be a backup: then a primary that is alone does as the durability says.
    pub const fn is_single(&self) -> bool {
        self.hosts.len() < 2
    }

    /// Longest time before a full stop whose announcements it may undo.
    pub(crate) const fn lost_max(&self) -> Option<Span> {
        match self.durability {
            Durability::Synced => None,
            Durability::Batched => Some(LOST_MAX),
            Durability::Lazy => Some(LOST_LAZY_MAX),
        }
    }
}

/// Start of a process, and whether it still runs.
#[derive(Clone, Copy, Debug)]
struct ProcessUptime {
    since: Time,
    lives: bool,
}

/// Actions that players asked for.
#[derive(Debug, Default)]
struct PlayerActions {
    count: u64,
    /// Number of unanswered actions of each session.
    open: BTreeMap<(Address, PlayerId), u64>,
}

/// Sees every entry of a history, and collects what the checkers find.
pub struct HistoryChecker {
    /// Counts of failovers, restarts and actions so far.
    pub counts: HistoryCounts,
    /// Violations that the checkers have found.
    pub violations: Violations,
    histories: BTreeMap<ZoneId, ZoneHistory>,
    /// The zone of each host that may hold a replica.
    zone_by_host: BTreeMap<Address, ZoneId>,
    player_checkers: PlayerCheckers,
    lives: BTreeMap<Address, ProcessUptime>,
    actions: PlayerActions,
    unknown_record: Option<(Address, RecordName)>,
}

impl HistoryChecker {
    /// A checker of these zones, before the first entry.
    pub fn new(seed: u64, spec: impl IntoIterator<Item = ZoneSpec>) -> Self {
        let histories: BTreeMap<_, _> = spec.into_iter().map(|it| (it.zone, ZoneHistory::new(it))).collect();
        let zone_by_host =
            histories.iter().flat_map(|(&zone, it)| it.spec.hosts.iter().map(move |&host| (host, zone)));
        Self {
            counts: HistoryCounts::default(),
            violations: Violations::new(seed),
            zone_by_host: zone_by_host.collect(),
            histories,
            player_checkers: PlayerCheckers::default(),
            lives: BTreeMap::new(),
            actions: PlayerActions::default(),
            unknown_record: None,
        }
    }

    /// Records of a zone, and the replicas that hold them.
    ///
    /// # Panics
    ///
    /// If there is no such zone.
    pub fn tracker(&self, zone: ZoneId) -> &RecordTracker {
        &self.histories.get(&zone).expect("every zone has a specification").tracker
    }

    /// Number of records written in all zones.
    pub fn records(&self) -> u64 {
        self.histories.values().map(|it| it.tracker.records.len() as u64).sum()
    }

    /// Counts of what zones did together.
    pub fn crossings(&self) -> Crossings {
        let sum =
            |count: fn(&RecordTracker) -> u64| self.histories.values().map(|it| count(&it.tracker)).sum();
        Crossings {
            cross_zone_events: sum(|it| it.decided),
            transfers: sum(|it| it.departed),
            ..Crossings::default()
        }
    }

    /// Checks the next entry. Times never fall.
    pub fn see(&mut self, entry: &Entry) {
        let (by, now) = (entry.by, entry.time);
        self.violations.now = now;
        match &entry.what {
            EntryKind::Started => self.started(by),
            EntryKind::Holds(name) => self.holds(by, *name),
            EntryKind::Said(note) => self.take_note(by, note),
            EntryKind::Kept(name) => self.with_tracker(by, |it| it.disk_stored(by, *name)),
            EntryKind::Pictured(name) => self.with_tracker(by, |it| it.snapshot_stored(by, *name)),
            EntryKind::Cut(from) => self.with_tracker(by, |it| it.disk_cut(by, *from)),
            EntryKind::Leadership(zone, leadership) => self.leadership_changed(*zone, *leadership),
            EntryKind::Suspects(zone, epoch, suspects) => self.suspects_named(*zone, *epoch, suspects),
            EntryKind::Crashed => self.died(by, Some(now)),
            EntryKind::Stopped => self.died(by, None),
        }
    }

    /// The zone of a process. Where there is only one zone, all processes count as its own.
    fn zone_of(&self, by: Address) -> Option<ZoneId> {
        let only = || self.histories.keys().next().copied().filter(|_| self.histories.len() == 1);
        self.zone_by_host.get(&by).copied().or_else(only)
    }

    fn with_tracker(&mut self, by: Address, act: impl FnOnce(&mut RecordTracker)) {
        let zone = self.zone_of(by);
        if let Some(history) = zone.and_then(|it| self.histories.get_mut(&it)) {
            act(&mut history.tracker);
        }
    }

    // Lives.

    fn started(&mut self, by: Address) {
        let now = self.violations.now;
        self.died(by, Some(now)); // A process does not live twice at once: the earlier life was killed.
        let before = self.lives.insert(by, ProcessUptime { since: now, lives: true });
        // Players start anew, too, but only hosts count as restarts.
        let is_host = self.zone_by_host.contains_key(&by);
        self.counts.restarts += u64::from(is_host && before.is_some());
        self.player_checkers.started(by);
        // Players that waited for these answers are gone.
        self.actions.open.retain(|(session, _), _| *session != by);
    }

    /// Ends a life, and its memory. Without a time the process stopped by itself: its disk has everything.
    fn died(&mut self, by: Address, at: Option<Time>) {
        let Some(life) = self.lives.get_mut(&by).filter(|it| it.lives) else { return };
        life.lives = false;
        let zone = self.zone_of(by);
        if let Some(history) = zone.and_then(|it| self.histories.get_mut(&it)) {
            history.died(by, at, &mut self.violations);
        }
    }

    fn holds(&mut self, by: Address, name: Option<RecordName>) {
        self.note_unknown_record(by, name);
        self.with_tracker(by, |it| it.set_disk(by, name));
    }

    /// Notes a record that no process of this history wrote: it is from before the history began.
    fn note_unknown_record(&mut self, by: Address, name: Option<RecordName>) {
        let history = self.zone_of(by).and_then(|it| self.histories.get(&it));
        let is_known =
            |it: &RecordName| history.is_some_and(|history| history.tracker.records.contains_key(it));
        let unknown = name.filter(|it| 0 < it.1 && !is_known(it));
        if let (None, Some(name)) = (self.unknown_record, unknown) {
            self.unknown_record = Some((by, name));
        }
    }

    fn leadership_changed(&mut self, zone: ZoneId, leadership: Leadership) {
        if let Some(history) = self.histories.get_mut(&zone) {
            history.tracker.leaderships.insert(leadership.epoch, leadership);
        }
    }

    /// Takes in the suspects of an epoch as it begins: a watchdog may add others later, of which its primary does not know.
    fn suspects_named(&mut self, zone: ZoneId, epoch: Epoch, suspects: &[Suspect]) {
        if let Some(history) = self.histories.get_mut(&zone)
            && !history.tracker.leaderships.contains_key(&epoch)
        {
            history.tracker.suspects.insert(epoch, suspects.iter().copied().collect());
        }
    }

    // Notes.

    fn take_note(&mut self, by: Address, note: &Note) {
        match note {
            Note::Leads { .. } => self.allow_rollback(by),
            Note::Replaced { epoch, index } => self.note_unknown_record(by, Some((*epoch, *index))),
            Note::Entered { player } => {
                // The player's earlier session, at another address, is over.
                self.actions.open.retain(|it, _| it.0 == by || it.1 != *player);
            }
            Note::Asked { player, .. } => {
                self.actions.count += 1;
                *self.actions.open.entry((by, *player)).or_default() += 1;
            }
            Note::Answered { player, outcome, .. } => self.answered(by, *player, outcome),
            _ => (),
        }
        self.player_checkers.see(by, note, &mut self.violations);
        let zone = self.zone_of(by);
        if let Some(history) = zone.and_then(|it| self.histories.get_mut(&it)) {
            let took_over = history.take_note(by, note, &mut self.violations);
            self.counts.failovers += u64::from(took_over);
        }
    }

    fn answered(&mut self, by: Address, player: PlayerId, outcome: &Outcome) {
        self.counts.actions_acked += 1;
        self.counts.aborted += u64::from(*outcome != Outcome::Done);
        if let Some(open) = self.actions.open.get_mut(&(by, player)) {
            *open = open.saturating_sub(1);
        }
    }

    /// Allows a full stop to undo what only dead replicas held, before the new primary is checked.
    fn allow_rollback(&mut self, host: Address) {
        let since = self.lives.get(&host).map(|it| it.since);
        let history = self.zone_of(host).and_then(|it| self.histories.get_mut(&it));
        let Some(allowed_from) = history.and_then(|it| it.allow_rollback(host, since)) else { return };
        self.player_checkers.roll_back(allowed_from);
        self.counts.rolled_back += 1;
    }

    // The end.

    /// Checks the history that survived. Returns the state of each zone by the reference, if there is any.
    pub fn end(&mut self, ending: Ending) -> Vec<ZoneState> {
        let logs: Vec<_> = self.histories.values().filter_map(SurvivingLog::of).collect();
        check::end(&logs, &self.player_checkers, ending, &mut self.violations)
    }

    /// The first record that no process of this history wrote, and the replica that has it: the history does not begin
    /// with the world.
    pub const fn unknown_record(&self) -> Option<(Address, RecordName)> {
        self.unknown_record
    }

    /// Number of actions that players asked for.
    pub const fn actions_asked(&self) -> u64 {
        self.actions.count
    }

    /// Number of actions that each player never got a result of, in sessions that did not end.
    pub fn unanswered(&self) -> BTreeMap<PlayerId, u64> {
        let mut players = BTreeMap::new();
        for (&(_, player), &open) in self.actions.open.iter().filter(|it| 0 < *it.1) {
            *players.entry(player).or_default() += open;
        }
        players
    }
}
