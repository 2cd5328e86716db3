//! The dullest correct interest management: every pair, every tick, no grid, no early-out.

use interest::{Budget, Policy, Schedule, Sight, Slot};
use machine::{Span, Time};
use space::{Heading, Position};
use std::collections::BTreeMap;

#[derive(Clone, Copy)]
pub(crate) struct Avatar {
    pub(crate) position: Position,
    pub(crate) heading: Heading,
    pub(crate) bytes: u32,
    pub(crate) observes: bool,
}

/// What a tick did.
#[derive(Default)]
pub(crate) struct Ticked {
    /// Observer, subject and the bits of its relevance, sorted.
    pub(crate) sent: Vec<(Slot, Slot, u32)>,
    pub(crate) deferred: u64,
    /// Pairs that an engine may have to grade.
    pub(crate) not_fresh: u64,
}

struct Due {
    subject: Slot,
    relevance: f32,
    urgency: f32,
}

#[derive(Clone, Copy)]
struct Told {
    last: Time,
    heard: bool,
    /// When it was last found relevant; whether it was due then and not told.
    seen: Time,
    owed: bool,
}

pub(crate) struct Reference {
    pub(crate) avatars: BTreeMap<Slot, Avatar>,
    /// Per observer its budget, what its bucket holds in millionths of a byte, and when it was last filled.
    pub(crate) budgets: BTreeMap<Slot, (Budget, i128, Time)>,
    schedule: Schedule,
    told: BTreeMap<(Slot, Slot), Told>,
    ticked: Time,
}

impl Reference {
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self {
            avatars: BTreeMap::new(),
            budgets: BTreeMap::new(),
            schedule,
            told: BTreeMap::new(),
            ticked: Time::ZERO,
        }
    }

    pub(crate) fn leave(&mut self, slot: Slot) {
        self.avatars.remove(&slot);
        self.told.retain(|pair, _| pair.0 != slot && pair.1 != slot);
    }

    pub(crate) fn stop_observing(&mut self, slot: Slot) {
        self.avatars.get_mut(&slot).unwrap().observes = false;
        self.told.retain(|pair, _| pair.0 != slot);
    }

    /// Who is to be told of whom, sorted.
    pub(crate) fn tick(&mut self, now: Time, policy: &dyn Policy) -> Ticked {
        let observers: Vec<Slot> = self.avatars.iter().filter(|it| it.1.observes).map(|it| *it.0).collect();
        let mut ticked = Ticked::default();
        for observer in observers {
            ticked.not_fresh += self.not_fresh(now, observer);
            let due = self.due(now, observer, policy);
            let count = due.len();
            let chosen = self.affordable(now, observer, due);
            ticked.deferred += (count - chosen.len()) as u64;
            ticked.sent.extend(chosen.into_iter().map(|it| (observer, it.subject, it.relevance.to_bits())));
        }
        for (observer, subject, _) in &ticked.sent {
            self.told.insert((*observer, *subject), Told { last: now, heard: true, seen: now, owed: false });
        }
        ticked.sent.sort();
        self.ticked = now;
        ticked
    }

    /// How many pairs could be due at all: more than a normal interval old, or never told.
    fn not_fresh(&self, now: Time, observer: Slot) -> u64 {
        let is_fresh = |it: &Told| it.heard && now.since(it.last) < self.schedule.normal;
        let others = self.avatars.keys().filter(|&&it| it != observer);
        others.filter(|&&it| !self.told.get(&(observer, it)).is_some_and(is_fresh)).count() as u64
    }

    /// Everybody due, with how urgent they are.
    fn due(&mut self, now: Time, observer: Slot, policy: &dyn Policy) -> Vec<Due> {
        let eye = self.avatars[&observer];
        let mut due = Vec::new();
        for (&subject, avatar) in self.avatars.iter().filter(|it| *it.0 != observer) {
            let sight = Sight::new(observer, eye.position, eye.heading.unit(), subject, avatar.position);
            let relevance = policy.relevance(&sight);
            let pair = (observer, subject);
            if relevance <= 0.0 {
                let forget_after = self.schedule.forget_after.max(self.schedule.normal);
                let at_least = |it: &Told| if it.owed { Span::from_secs(30) } else { Span::ZERO };
                let kept = |it: &Told| now.since(it.seen) < forget_after.max(at_least(it));
                if !self.told.get(&pair).is_some_and(kept) {
                    self.told.remove(&pair);
                }
                continue;
            }
            let told =
                self.told.entry(pair).or_insert(Told { last: now, heard: false, seen: now, owed: true });
            if told.owed && told.seen < self.ticked {
                told.last += self.ticked.since(told.seen);
            }
            let age = now.since(told.last);
            if told.heard && age < self.schedule.normal {
                continue; // Nobody need look: it cannot be due.
            }
            (told.seen, told.owed) = (now, !told.heard || self.schedule.is_due(age, relevance));
            if told.owed {
                let lead = if told.heard { Span::ZERO } else { self.schedule.normal.times(4) };
                let urgency = (age + lead).as_micros() as f32 * relevance;
                due.push(Due { subject, relevance, urgency });
            }
        }
        due
    }

    /// Those of `due` that the observer's budget pays for, most urgent first.
    fn affordable(&mut self, now: Time, observer: Slot, mut due: Vec<Due>) -> Vec<Due> {
        due.sort_by(|a, b| b.urgency.total_cmp(&a.urgency).then(a.subject.cmp(&b.subject)));
        let Some((budget, level, filled)) = self.budgets.get_mut(&observer) else { return due };
        let inflow = i128::from(now.since(*filled).as_micros()) * i128::from(budget.bytes_per_second);
        *level = (*level + inflow).min(i128::from(budget.burst) * 1_000_000);
        *filled = now;
        due.retain(|it| {
            let open = 0 < *level;
            if open {
                *level -= i128::from(self.avatars[&it.subject].bytes) * 1_000_000;
            }
            open
        });
        due
    }
}
