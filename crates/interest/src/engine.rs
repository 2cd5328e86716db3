//! One pass per tick over all observers: find near subjects, grade them, hand out the updates that are due.
//!
//! Everything is an array indexed by [`Slot`]. Per observer a tick costs a handful of instructions for
//! each point in the grid cells its view touches, and some more for each pair that might be due.

use crate::budget::{BudgetBucket, urgency};
use crate::near::NearList;
use crate::pair_memory::{PairMemory, RememberedPair};
use crate::policy::graded;
use crate::slot_table::SlotTable;
use crate::subject_index::SubjectIndex;
use crate::{Budget, Policy, PolicyReach, Slot, UpdateSchedule};
use machine::{Span, Time};
use space::{Distance, Grid, Heading, Position};
use std::cmp::Ordering;

/// The parameters of an engine.
#[derive(Clone, Copy, Debug)]
pub struct EngineConfig {
    /// Intervals at which updates are due.
    pub schedule: UpdateSchedule,
    /// The budget of each observer, unless [`Engine::limit`] sets another; `None` is no limit.
    pub budget: Option<Budget>,
    /// Bytes that an update costs a budget, unless [`Engine::weigh`] sets another number.
    pub update_bytes: u32,
    /// The least time between two updates of a subject that has not changed ([`Engine::change`]) since the observer got two of
    /// it; low relevance or the budget makes it longer. `None` to send those as often as all others.
    pub unchanged: Option<Span>,
    /// Number of groups of observers, at least 1. Each has ticks of its own ([`Engine::tick_group`]), so that a server need not
    /// send to all its clients in one moment.
    pub groups: usize,
}

impl Default for EngineConfig {
    /// The paper's interval, no budget, updates of about a pose with its frame, also without changes, all observers in one
    /// group.
    fn default() -> Self {
        let schedule = UpdateSchedule::default();
        Self { schedule, budget: None, update_bytes: 26, unchanged: None, groups: 1 }
    }
}

/// One update to send to an observer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// The object whose pose to send.
    pub subject: Slot,
    /// Relevance to the observer, in (0, 1].
    pub relevance: f32,
}

/// Counts of one tick, summed over all observers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TickCounts {
    /// Pairs whose distance was computed.
    pub examined: u64,
    /// Pairs whose relevance the policy computed.
    pub graded: u64,
    /// Updates handed out to observers.
    pub sent: u64,
    /// Updates that were due but did not fit the budget.
    pub deferred: u64,
}

impl std::ops::AddAssign for TickCounts {
    fn add_assign(&mut self, other: Self) {
        self.examined += other.examined;
        self.graded += other.graded;
        self.sent += other.sent;
        self.deferred += other.deferred;
    }
}

/// Interest management for the objects of one zone. See the crate's example.
///
/// Methods that take a [`Slot`] panic if this engine never gave it out.
#[derive(Clone, Debug)]
pub struct Engine {
    config: EngineConfig,
    table: SlotTable,
    groups: Vec<ObserverGroup>,
    /// Per slot, its group and its index there, or [`NOT_OBSERVING`].
    observing: Vec<(u32, u32)>,
    limits: Vec<ObserverLimit>,
    subject_index: SubjectIndex,
    grid: Grid,
    /// The reach for which the size of the grid's cells was chosen.
    grid_reach: Distance,
    near: NearList,
    due: Vec<DueUpdate>,
    updates: Vec<Update>,
    /// Number of ticks of all groups so far.
    ticks: u64,
}

/// Observers that are served in one tick, and what they remember.
#[derive(Clone, Debug, Default)]
struct ObserverGroup {
    observers: Vec<u32>,
    memory: PairMemory,
    /// Time and number of the last tick.
    ticked: (Time, u64),
    /// Number of ticks that used the grid.
    grid_ticks: u32,
}

/// The place of a slot that does not observe.
const NOT_OBSERVING: (u32, u32) = (u32::MAX, u32::MAX);

/// With this many observers of a group or fewer, looking at all slots is cheaper than sorting all slots into a grid.
const SCAN_OBSERVERS_MAX: usize = 3;

/// For so many ticks observers keep the order they were sorted into: none of them walks far meanwhile, and observers
/// that enter in between come last.
const TICKS_PER_SORT: u32 = 32;

/// Rows of cells per band of sorted observers, or a little fewer.
const ROWS_IN_BAND: u32 = 8;

/// Grid cells per reach. Smaller cells fit the circle better, larger ones are fewer to visit.
const CELLS_PER_REACH: u32 = 3;

#[derive(Clone, Copy, Debug)]
struct ObserverLimit {
    budget: Option<Budget>,
    bucket: BudgetBucket,
}

/// An update that is due, before the budget is applied.
#[derive(Clone, Copy, Debug)]
struct DueUpdate {
    /// Index of the pair in the memory.
    entry: u32,
    relevance: f32,
    urgency: f32,
}

impl Engine {
    /// An engine without objects and observers.
    pub fn new(config: EngineConfig) -> Self {
        Self {
            config,
            table: SlotTable::default(),
            groups: vec![ObserverGroup::default(); config.groups.max(1)],
            observing: Vec::new(),
            limits: Vec::new(),
            subject_index: SubjectIndex::default(),
            grid: Grid::new(cell_for(Distance::ZERO)),
            grid_reach: Distance::ZERO,
            near: NearList::default(),
            due: Vec::new(),
            updates: Vec::new(),
            ticks: 0,
        }
    }

    /// Adds an object at `position`: from now on observers may get updates of it.
    pub fn enter(&mut self, position: Position, heading: Heading) -> Slot {
        let slot = self.table.enter(position, heading);
        if self.observing.len() <= slot.index() {
            self.observing.push(NOT_OBSERVING);
            self.limits.push(ObserverLimit::new(None));
            self.groups.iter_mut().for_each(|it| it.memory.add_slot());
        }
        // A slot that is given out again must not inherit the budget of its last owner.
        self.limits[slot.index()] = ObserverLimit::new(self.config.budget);
        self.weigh(slot, self.config.update_bytes);
        slot
    }

    /// Removes the owner of `slot`; it is neither subject nor observer any more. Later calls with this slot do
    /// nothing, until it is given out again.
    pub fn leave(&mut self, slot: Slot) {
        self.stop_observing(slot);
        self.table.leave(slot, self.ticks);
        if self.groups.iter().all(|it| it.observers.is_empty()) {
            // No observer is left who could remember the slot, and a world without observers may never be ticked.
            self.table.recycle(u64::MAX);
        }
    }

    /// Makes the owner of `slot` an observer, which gets updates: in the group that has the fewest.
    pub fn observe(&mut self, slot: Slot) {
        if self.observing[slot.index()] == NOT_OBSERVING && self.table.is_present(slot) {
            let groups = self.groups.iter().enumerate();
            let smallest = groups.min_by_key(|it| it.1.observers.len()).map_or(0, |it| it.0);
            let observers = &mut self.groups[smallest].observers;
            self.observing[slot.index()] = (smallest as u32, observers.len() as u32);
            observers.push(slot.0);
        }
    }

    /// Ends the updates for the owner of `slot`, and forgets which updates it got.
    pub fn stop_observing(&mut self, slot: Slot) {
        let place = std::mem::replace(&mut self.observing[slot.index()], NOT_OBSERVING);
        let Some(group) = self.groups.get_mut(place.0 as usize) else { return };
        group.observers.swap_remove(place.1 as usize);
        if let Some(&moved) = group.observers.get(place.1 as usize) {
            self.observing[moved as usize] = place;
        }
        // An observer that starts again gets all subjects as new.
        group.memory.clear(slot.0);
        if group.observers.is_empty() {
            // A group without observers may never be ticked, so the memory is given back now.
            group.memory.empty();
        }
    }

    /// Number of observers in a group.
    pub fn observers_in(&self, group: usize) -> usize {
        self.groups[group].observers.len()
    }

    /// Sets the position of the owner of `slot`.
    pub fn place(&mut self, slot: Slot, position: Position) {
        if self.table.is_present(slot) {
            self.table.place(slot, position);
        }
    }

    /// Sets the heading of the owner of `slot`.
    pub fn face(&mut self, slot: Slot, heading: Heading) {
        self.table.facing[slot.index()] = heading.unit();
    }

    /// Notes that the owner of `slot` has changed in a way that its observers cannot foresee.
    pub fn change(&mut self, slot: Slot) {
        let version = &mut self.table.versions[slot.index()];
        *version = version.wrapping_add(1);
    }

    /// Sets the bytes that an update of `slot` costs an observer's budget.
    pub fn weigh(&mut self, slot: Slot, bytes: u32) {
        self.table.bytes[slot.index()] = bytes;
    }

    /// Sets the budget of the observer `slot` from now on. Saved bytes and debts stay, so that the budget may
    /// follow the connection's quality at every tick.
    pub fn limit(&mut self, slot: Slot, budget: Option<Budget>) {
        let limit = &mut self.limits[slot.index()];
        match (limit.budget, budget) {
            (Some(_), Some(budget)) => limit.bucket.fit(budget),
            _ => *limit = ObserverLimit::new(budget),
        }
        limit.budget = budget;
    }

    /// Hands every observer the updates that are due, each at most once. `deliver` is not called for
    /// observers that get nothing.
    pub fn tick<P: Policy + ?Sized>(
        &mut self,
        now: Time,
        policy: &P,
        mut deliver: impl FnMut(Slot, &[Update]),
    ) -> TickCounts {
        let mut counts = TickCounts::default();
        for group in 0..self.groups.len() {
            counts += self.tick_group(group, now, policy, &mut deliver);
        }
        counts
    }

    /// The same for the observers of one group.
    pub fn tick_group<P: Policy + ?Sized>(
        &mut self,
        group: usize,
        now: Time,
        policy: &P,
        mut deliver: impl FnMut(Slot, &[Update]),
    ) -> TickCounts {
        let mut counts = TickCounts::default();
        self.ticks += 1;
        if !self.groups[group].observers.is_empty() {
            let search = self.prepare(group, policy.reach());
            // Taken out, so that the rest of the engine can be used beside it.
            let mut its = std::mem::take(&mut self.groups[group]);
            its.memory.begin_tick();
            for &observer in &its.observers {
                let observer = Slot(observer);
                counts.examined += self.collect_near(observer, search);
                let first = its.memory.open(observer.0);
                self.subject_index.fill(its.memory.entries(), first);
                counts.graded += self.collect_due(now, observer, policy, its.memory.entries(), its.ticked.0);
                counts.deferred += self.choose_updates(now, observer, its.memory.entries());
                self.forget(now, first, &mut its.memory);
                its.memory.close(observer.0, first);
                counts.sent += self.updates.len() as u64;
                if !self.updates.is_empty() {
                    deliver(observer, &self.updates);
                }
            }
            its.ticked = (now, self.ticks);
            self.groups[group] = its;
        }
        // The memory of a group that had no tick since may still name the slots of objects that left.
        let observing = self.groups.iter().filter(|it| !it.observers.is_empty());
        self.table.recycle(observing.map(|it| it.ticked.1).min().unwrap_or(u64::MAX));
        counts
    }

    /// A tick without updates, for an engine that has observers but must be silent: objects that left are
    /// forgotten, so that their slots can be given out again.
    pub fn rest(&mut self) {
        let Self { groups, table, .. } = self;
        for ObserverGroup { observers, memory, .. } in groups {
            memory.begin_tick();
            for &observer in &*observers {
                let first = memory.open(observer);
                memory.keep(first, |entry| table.is_present(Slot(entry.subject)));
                memory.close(observer, first);
            }
        }
        table.recycle(u64::MAX);
    }

    /// Decides how to find near subjects, and sorts the slots into the grid if that helps.
    fn prepare(&mut self, group: usize, reach: PolicyReach) -> NearSearch {
        match reach {
            PolicyReach::Within(reach) if SCAN_OBSERVERS_MAX < self.groups[group].observers.len() => {
                // The cell size follows the policy, which may change between ticks.
                if self.grid_reach != reach {
                    (self.grid, self.grid_reach) = (Grid::new(cell_for(reach)), reach);
                }
                if self.groups[group].grid_ticks.is_multiple_of(TICKS_PER_SORT) {
                    self.sort_observers(group, reach);
                }
                let its = &mut self.groups[group];
                its.grid_ticks = its.grid_ticks.wrapping_add(1);
                self.grid.rebuild(&self.table.xs, &self.table.ys);
                NearSearch::Grid(reach)
            }
            PolicyReach::Within(reach) => NearSearch::All(radius_squared(reach)),
            PolicyReach::Everywhere => NearSearch::All(f32::INFINITY),
        }
    }

    /// Sorts the observers into bands of some rows of cells, and along these. Neighbours then come one after the other,
    /// and the data that one of them read is still in the processor's cache for the next. In bands of one row, each
    /// cell would be read anew for each of the seven rows from which it is in reach.
    fn sort_observers(&mut self, group: usize, reach: Distance) {
        let Self { table, groups, observing, .. } = self;
        let observers = &mut groups[group].observers;
        let band = cell_for(reach).millimetres().ilog2() + ROWS_IN_BAND.ilog2();
        observers
            .sort_unstable_by_key(|&it| (table.ys[it as usize] >> band.min(31), table.xs[it as usize], it));
        for (index, &observer) in observers.iter().enumerate() {
            observing[observer as usize] = (group as u32, index as u32);
        }
    }

    /// Collects the subjects within reach of `observer`; returns the number of slots looked at.
    fn collect_near(&mut self, observer: Slot, search: NearSearch) -> u64 {
        let origin = (self.table.xs[observer.index()], self.table.ys[observer.index()]);
        let near = &mut self.near;
        near.clear();
        match search {
            NearSearch::All(within) => {
                near.collect(origin, within, &self.table.xs, &self.table.ys, |it| it as u32);
                self.table.xs.len() as u64
            }
            NearSearch::Grid(reach) => {
                let (grid, within) = (&self.grid, radius_squared(reach));
                let mut examined = 0;
                grid.for_each_run(origin.0, origin.1, reach, |run| {
                    examined += run.len() as u64;
                    let (xs, ys, order) =
                        (&grid.xs()[run.clone()], &grid.ys()[run.clone()], &grid.order()[run]);
                    near.collect(origin, within, xs, ys, |it| order[it]);
                });
                examined
            }
        }
    }

    /// Grades the subjects that could be due and collects those that are; returns the number of graded ones.
    /// `entries` are the observer's memory, `ticked` is the time of its last tick.
    fn collect_due<P: Policy + ?Sized>(
        &mut self,
        now: Time,
        observer: Slot,
        policy: &P,
        entries: &mut Vec<RememberedPair>,
        ticked: Time,
    ) -> u64 {
        let facing = self.table.facing[observer.index()];
        let EngineConfig { schedule, unchanged, .. } = self.config;
        let mut count = 0;
        self.due.clear();
        for near in self.near.as_slice() {
            // Empty slots are points in the grid, too.
            if near.subject == observer.0 || !self.table.is_present(Slot(near.subject)) {
                continue;
            }
            let known = self.subject_index.find(near.subject, entries);
            // No relevance could make this pair due, so the policy need not grade it.
            if known.is_some_and(|it| entries[it].told() && schedule.is_fresh(now.since(entries[it].last))) {
                continue;
            }
            count += 1;
            let relevance = graded(policy.relevance(&near.view(observer, facing)));
            if relevance == 0.0 {
                continue;
            }
            let place = known.unwrap_or_else(|| {
                entries.push(RememberedPair::newcomer(near.subject, now));
                entries.len() - 1
            });
            let entry = &mut entries[place];
            if entry.owed() && entry.seen < ticked {
                // It waits only while it is in view, so that a subject that comes and goes does not overtake one that
                // stays. The observer's last update of it ages all the same: that decides what is due.
                entry.add_time_away(ticked.since(entry.seen));
            }
            let age = now.since(entry.last);
            let is_unchanged = unchanged.is_some_and(|it| age < it)
                && entry.is_known_well(self.table.versions[near.subject as usize]);
            let is_due = !entry.told() || schedule.is_due(age, relevance) && !is_unchanged;
            entry.mark_seen(now, is_due);
            if is_due {
                let urgency = urgency(&schedule, entry.waited(now), relevance, entry.told());
                self.due.push(DueUpdate { entry: place as u32, relevance, urgency });
            }
        }
        count
    }

    /// Turns the pairs that are due into updates, as far as the budget goes; returns the number that did not fit.
    fn choose_updates(&mut self, now: Time, observer: Slot, entries: &mut [RememberedPair]) -> u64 {
        self.updates.clear();
        let ObserverLimit { budget, bucket } = &mut self.limits[observer.index()];
        if let Some(budget) = *budget {
            bucket.fill(budget, now);
            let bytes_of = |it: &DueUpdate| self.table.bytes[entries[it.entry as usize].subject as usize];
            if let Some(fitting) = bucket.fitting_at_most(self.due.iter().map(bytes_of)) {
                sort_first(&mut self.due, fitting, |a, b| {
                    // Equal urgency is decided by slot, so that the order never depends on the sorting algorithm.
                    let by_name = entries[a.entry as usize].subject.cmp(&entries[b.entry as usize].subject);
                    b.urgency.total_cmp(&a.urgency).then(by_name)
                });
            }
        }
        for pending in &self.due {
            let entry = &mut entries[pending.entry as usize];
            // An empty bucket lets no other update leave in this tick, either.
            if budget.is_some() && !bucket.take(self.table.bytes[entry.subject as usize]) {
                break;
            }
            entry.mark_sent(now, self.table.versions[entry.subject as usize]);
            self.updates.push(Update { subject: Slot(entry.subject), relevance: pending.relevance });
        }
        (self.due.len() - self.updates.len()) as u64
    }

    /// Drops the remembered pairs from `first` on that are no longer needed.
    fn forget(&self, now: Time, first: usize, memory: &mut PairMemory) {
        let schedule = self.config.schedule;
        memory.keep(first, |entry| {
            !schedule.is_forgotten(now.since(entry.seen), entry.owed())
                && self.table.is_present(Slot(entry.subject))
        });
    }
}

/// Brings the first `count` to the front, sorted. In a crowd thousands are due and a handful fits: to sort them all
/// would cost more than everything else.
fn sort_first<T>(items: &mut [T], count: usize, order: impl Fn(&T, &T) -> Ordering) {
    let count = count.min(items.len());
    if 0 < count && count < items.len() {
        items.select_nth_unstable_by(count - 1, &order);
    }
    items[..count].sort_unstable_by(order);
}

/// The way to find near subjects.
#[derive(Clone, Copy)]
enum NearSearch {
    /// Look at all slots, and keep those within this squared distance.
    All(f32),
    /// Look at the grid's cells within this reach.
    Grid(Distance),
}

impl ObserverLimit {
    fn new(budget: Option<Budget>) -> Self {
        Self {
            budget,
            bucket: BudgetBucket::full(budget.unwrap_or(Budget { bytes_per_second: 0, burst: 0 })),
        }
    }
}

fn cell_for(reach: Distance) -> Distance {
    Distance::new((reach.millimetres() / CELLS_PER_REACH).max(1)).expect("a part of a distance is a distance")
}

/// The square of `reach`, a little enlarged: this only sorts out subjects that cannot be relevant, the policy decides.
fn radius_squared(reach: Distance) -> f32 {
    let radius = reach.millimetres() as f32;
    radius * radius * (1.0 + 1e-5)
}
