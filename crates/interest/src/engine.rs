//! One pass per tick over all observers: find who is near, grade them, send what is due.
//!
//! Everything is an array indexed by [`Slot`]. Per observer a tick costs a handful of instructions for
//! each point in the grid cells its view touches, and some more for each pair that might be due.

use crate::budget::{Bucket, urgency};
use crate::crowd::Crowd;
use crate::memory::{Entry, Memory};
use crate::near::NearList;
use crate::policy::graded;
use crate::recall::Recall;
use crate::{Budget, Policy, Reach, Schedule, Slot};
use machine::Time;
use space::{Distance, Grid, Heading, Position};
use std::cmp::Ordering;

/// How an engine works.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// When updates are due.
    pub schedule: Schedule,
    /// What each observer may get, unless [`Engine::limit`] says otherwise; `None` is no limit.
    pub budget: Option<Budget>,
    /// What an update costs a budget, unless [`Engine::weigh`] says otherwise.
    pub update_bytes: u32,
}

impl Default for Config {
    /// The paper's interval, no budget, updates of about a pose with its frame.
    fn default() -> Self {
        Self { schedule: Schedule::default(), budget: None, update_bytes: 26 }
    }
}

/// One update to send to an observer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// Whose pose to send.
    pub subject: Slot,
    /// How relevant it is, in (0, 1].
    pub relevance: f32,
}

/// What a tick did, summed over all observers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Pairs whose distance was looked at.
    pub examined: u64,
    /// Pairs whose relevance was asked for.
    pub graded: u64,
    /// Updates handed out.
    pub sent: u64,
    /// Updates that were due but did not fit the budget.
    pub deferred: u64,
}

/// Interest management for one crowd. See the crate's example.
///
/// Methods that take a [`Slot`] panic if this engine never gave it out.
#[derive(Clone, Debug)]
pub struct Engine {
    config: Config,
    crowd: Crowd,
    observers: Vec<u32>,
    /// Per slot, its place in `observers`, or [`NOWHERE`].
    seats: Vec<u32>,
    limits: Vec<Limit>,
    memory: Memory,
    recall: Recall,
    grid: Grid,
    /// The reach that the grid's cells are made for.
    grid_reach: Distance,
    near: NearList,
    due: Vec<Pending>,
    updates: Vec<Update>,
    /// When the last tick was.
    ticked: Time,
    /// How many ticks asked the grid.
    ticks: u32,
}

/// The seat of who does not observe.
const NOWHERE: u32 = u32::MAX;

/// With this many observers or fewer, looking at everybody is cheaper than sorting everybody into a grid.
const SCAN_OBSERVERS_MAX: usize = 3;

/// For so many ticks observers keep the order they were sorted into: nobody walks far meanwhile, and who comes in between
/// has the last turn.
const TICKS_IN_LINE: u32 = 32;

/// How many rows of cells observers are sorted into at a time, or a little fewer.
const ROWS_IN_BAND: u32 = 8;

/// Grid cells per reach. Smaller cells fit the circle better, larger ones are fewer to visit.
const CELLS_PER_REACH: u32 = 3;

#[derive(Clone, Copy, Debug)]
struct Limit {
    budget: Option<Budget>,
    bucket: Bucket,
}

/// An update that is due, before the budget had its say.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// Its place in the memory.
    entry: u32,
    relevance: f32,
    urgency: f32,
}

impl Engine {
    /// An engine with nobody in it.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            crowd: Crowd::default(),
            observers: Vec::new(),
            seats: Vec::new(),
            limits: Vec::new(),
            memory: Memory::default(),
            recall: Recall::default(),
            grid: Grid::new(cell_for(Distance::ZERO)),
            grid_reach: Distance::ZERO,
            near: NearList::default(),
            due: Vec::new(),
            updates: Vec::new(),
            ticked: Time::ZERO,
            ticks: 0,
        }
    }

    /// Somebody enters at `position`: from now on observers may hear of them.
    pub fn enter(&mut self, position: Position, heading: Heading) -> Slot {
        let slot = self.crowd.enter(position, heading);
        if self.seats.len() <= slot.index() {
            self.seats.push(NOWHERE);
            self.limits.push(Limit::new(None));
            self.memory.add_slot();
        }
        self.limits[slot.index()] = Limit::new(self.config.budget);
        self.weigh(slot, self.config.update_bytes);
        slot
    }

    /// The owner of `slot` leaves; it is neither subject nor observer any more. Whatever is said of the
    /// slot after that does nothing, until it is given out again.
    pub fn leave(&mut self, slot: Slot) {
        self.stop_observing(slot);
        self.crowd.leave(slot);
        if self.observers.is_empty() {
            // Nobody remembers anybody, and a world without observers may never be ticked.
            self.crowd.recycle();
        }
    }

    /// The owner of `slot` wants updates.
    pub fn observe(&mut self, slot: Slot) {
        if self.seats[slot.index()] == NOWHERE && self.crowd.is_present(slot) {
            self.seats[slot.index()] = self.observers.len() as u32;
            self.observers.push(slot.0);
        }
    }

    /// The owner of `slot` wants no updates any more, and forgets what it was told.
    pub fn stop_observing(&mut self, slot: Slot) {
        let seat = std::mem::replace(&mut self.seats[slot.index()], NOWHERE);
        if seat != NOWHERE {
            self.observers.swap_remove(seat as usize);
            if let Some(&moved) = self.observers.get(seat as usize) {
                self.seats[moved as usize] = seat;
            }
        }
        self.memory.clear(slot.0);
        if self.observers.is_empty() {
            // A world without observers may never be ticked: what they remembered is given back now.
            self.memory.empty();
        }
    }

    /// Moves `slot`.
    pub fn place(&mut self, slot: Slot, position: Position) {
        if self.crowd.is_present(slot) {
            self.crowd.place(slot, position);
        }
    }

    /// Turns `slot`.
    pub fn face(&mut self, slot: Slot, heading: Heading) {
        self.crowd.facing[slot.index()] = heading.unit();
    }

    /// Says what an update of `slot` costs an observer's budget.
    pub fn weigh(&mut self, slot: Slot, bytes: u32) {
        self.crowd.bytes[slot.index()] = bytes;
    }

    /// Says what the observer `slot` may get from now on. What it saved or owes stays, so that a limit may
    /// follow the line's quality at every tick.
    pub fn limit(&mut self, slot: Slot, budget: Option<Budget>) {
        let limit = &mut self.limits[slot.index()];
        match (limit.budget, budget) {
            (Some(_), Some(budget)) => limit.bucket.fit(budget),
            _ => *limit = Limit::new(budget),
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
    ) -> Tally {
        let search = self.prepare(policy.reach());
        let mut tally = Tally::default();
        self.memory.turn();
        for turn in 0..self.observers.len() {
            let observer = Slot(self.observers[turn]);
            tally.examined += self.gather(observer, search);
            let first = self.memory.open(observer.0);
            self.recall.fill(self.memory.entries(), first);
            tally.graded += self.judge(now, observer, policy);
            tally.deferred += self.choose(now, observer);
            self.forget(now, first);
            self.memory.close(observer.0, first);
            tally.sent += self.updates.len() as u64;
            if !self.updates.is_empty() {
                deliver(observer, &self.updates);
            }
        }
        self.crowd.recycle();
        self.ticked = now;
        tally
    }

    /// A tick in which nobody is told anything, for an engine that has observers but must be silent: who left is
    /// forgotten, so that their slots can be given out again.
    pub fn rest(&mut self) {
        self.memory.turn();
        for &observer in &self.observers {
            let first = self.memory.open(observer);
            self.memory.keep(first, |entry| self.crowd.is_present(Slot(entry.subject)));
            self.memory.close(observer, first);
        }
        self.crowd.recycle();
    }

    /// Decides how to find who is near, and sorts the crowd if that helps.
    fn prepare(&mut self, reach: Reach) -> Search {
        match reach {
            Reach::Within(reach) if SCAN_OBSERVERS_MAX < self.observers.len() => {
                if self.grid_reach != reach {
                    (self.grid, self.grid_reach) = (Grid::new(cell_for(reach)), reach);
                }
                if self.ticks.is_multiple_of(TICKS_IN_LINE) {
                    self.line_up(reach);
                }
                self.ticks = self.ticks.wrapping_add(1);
                self.grid.rebuild(&self.crowd.xs, &self.crowd.ys);
                Search::Grid(reach)
            }
            Reach::Within(reach) => Search::All(radius_squared(reach)),
            Reach::Everywhere => Search::All(f32::INFINITY),
        }
    }

    /// Sorts the observers into bands of some rows of cells, and along these. Neighbours then come one after the other, and
    /// what one of them looked at is still in the processor's cache for the next. In bands of one row, everything would be
    /// looked at anew in each of the seven rows from which it is seen.
    fn line_up(&mut self, reach: Distance) {
        let Self { crowd, observers, seats, .. } = self;
        let band = cell_for(reach).millimetres().ilog2() + ROWS_IN_BAND.ilog2();
        observers
            .sort_unstable_by_key(|&it| (crowd.ys[it as usize] >> band.min(31), crowd.xs[it as usize], it));
        for (seat, &observer) in observers.iter().enumerate() {
            seats[observer as usize] = seat as u32;
        }
    }

    /// Collects everybody within reach of `observer`; gives how many were looked at.
    fn gather(&mut self, observer: Slot, search: Search) -> u64 {
        let eye = (self.crowd.xs[observer.index()], self.crowd.ys[observer.index()]);
        let near = &mut self.near;
        near.clear();
        match search {
            Search::All(within) => {
                near.collect(eye, within, &self.crowd.xs, &self.crowd.ys, |it| it as u32);
                self.crowd.xs.len() as u64
            }
            Search::Grid(reach) => {
                let (grid, within) = (&self.grid, radius_squared(reach));
                let mut examined = 0;
                grid.for_each_run(eye.0, eye.1, reach, |run| {
                    examined += run.len() as u64;
                    let (xs, ys, order) =
                        (&grid.xs()[run.clone()], &grid.ys()[run.clone()], &grid.order()[run]);
                    near.collect(eye, within, xs, ys, |it| order[it]);
                });
                examined
            }
        }
    }

    /// Grades whoever could be due and collects those who are; gives how many were graded.
    fn judge<P: Policy + ?Sized>(&mut self, now: Time, observer: Slot, policy: &P) -> u64 {
        let facing = self.crowd.facing[observer.index()];
        let schedule = self.config.schedule;
        let entries = self.memory.entries();
        let mut count = 0;
        self.due.clear();
        for near in self.near.as_slice() {
            if near.subject == observer.0 || !self.crowd.is_present(Slot(near.subject)) {
                continue;
            }
            let known = self.recall.find(near.subject, entries);
            if known.is_some_and(|it| entries[it].heard && schedule.is_fresh(now.since(entries[it].last))) {
                continue;
            }
            count += 1;
            let relevance = graded(policy.relevance(&near.sight(observer, facing)));
            if relevance == 0.0 {
                continue;
            }
            let place = known.unwrap_or_else(|| {
                entries.push(Entry::newcomer(near.subject, now));
                entries.len() - 1
            });
            let entry = &mut entries[place];
            if entry.owed && entry.seen < self.ticked {
                // It waits only while it is in view, so that who comes and goes does not overtake who stays. What the
                // observer knows of it grows old all the same: that decides what is due.
                entry.stay_away(self.ticked.since(entry.seen));
            }
            let age = now.since(entry.last);
            (entry.seen, entry.owed) = (now, !entry.heard || schedule.is_due(age, relevance));
            if entry.owed {
                let urgency = urgency(&schedule, entry.waited(now), relevance, entry.heard);
                self.due.push(Pending { entry: place as u32, relevance, urgency });
            }
        }
        count
    }

    /// Turns what is due into updates, as far as the budget goes; gives how many did not fit.
    fn choose(&mut self, now: Time, observer: Slot) -> u64 {
        self.updates.clear();
        let entries = self.memory.entries();
        let Limit { budget, bucket } = &mut self.limits[observer.index()];
        if let Some(budget) = *budget {
            bucket.fill(budget, now);
            let bytes_of = |it: &Pending| self.crowd.bytes[entries[it.entry as usize].subject as usize];
            if let Some(fitting) = bucket.fitting_at_most(self.due.iter().map(bytes_of)) {
                bring_forward(&mut self.due, fitting, |a, b| {
                    let by_name = entries[a.entry as usize].subject.cmp(&entries[b.entry as usize].subject);
                    b.urgency.total_cmp(&a.urgency).then(by_name)
                });
            }
        }
        for pending in &self.due {
            let entry = &mut entries[pending.entry as usize];
            if budget.is_some() && !bucket.take(self.crowd.bytes[entry.subject as usize]) {
                break;
            }
            entry.tell(now);
            self.updates.push(Update { subject: Slot(entry.subject), relevance: pending.relevance });
        }
        (self.due.len() - self.updates.len()) as u64
    }

    /// Drops the memories from `first` on that are no longer worth keeping.
    fn forget(&mut self, now: Time, first: usize) {
        let schedule = self.config.schedule;
        self.memory.keep(first, |entry| {
            !schedule.is_forgotten(now.since(entry.seen), entry.owed)
                && self.crowd.is_present(Slot(entry.subject))
        });
    }
}

/// Brings the first `count` to the front, sorted. In a crowd thousands are due and a handful fits: to sort them all
/// would cost more than everything else.
fn bring_forward<T>(items: &mut [T], count: usize, order: impl Fn(&T, &T) -> Ordering) {
    let count = count.min(items.len());
    if 0 < count && count < items.len() {
        items.select_nth_unstable_by(count - 1, &order);
    }
    items[..count].sort_unstable_by(order);
}

/// How to find who is near.
#[derive(Clone, Copy)]
enum Search {
    /// Look at everybody, and keep those within this squared distance.
    All(f32),
    /// Ask the grid.
    Grid(Distance),
}

impl Limit {
    fn new(budget: Option<Budget>) -> Self {
        Self { budget, bucket: Bucket::full(budget.unwrap_or(Budget { bytes_per_second: 0, burst: 0 })) }
    }
}

fn cell_for(reach: Distance) -> Distance {
    Distance::new((reach.millimetres() / CELLS_PER_REACH).max(1)).expect("a part of a distance is a distance")
}

/// The square of `reach`, a little enlarged: this only sorts out who cannot matter, the policy decides.
fn radius_squared(reach: Distance) -> f32 {
    let radius = reach.millimetres() as f32;
    radius * radius * (1.0 + 1e-5)
}
