//! The dullest correct interest management: every pair, every tick, no grid, no early-out. It shares no rule with the
//! engine: grades, intervals and buckets are written out again.

use interest::{Budget, Due, Policy, Schedule, Sight, Slot};
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
    /// What each observer with a budget could spend, in millionths of a byte.
    pub(crate) purses: BTreeMap<Slot, i128>,
}

struct Wanted {
    subject: Slot,
    relevance: f32,
    urgency: f32,
}

#[derive(Clone, Copy)]
struct Told {
    last: Time,
    heard: bool,
    /// How long it was out of view since then while it was owed an update.
    away: Span,
    /// When it was last found relevant; whether it was due then and not told.
    seen: Time,
    owed: bool,
}

pub(crate) struct Reference {
    pub(crate) avatars: BTreeMap<Slot, Avatar>,
    /// Per observer its budget, what its bucket holds in millionths of a byte, and when it was last filled.
    pub(crate) budgets: BTreeMap<Slot, (Budget, i128, Time)>,
    pub(crate) schedule: Schedule,
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
            let wanted = self.wanted(now, observer, policy);
            let count = wanted.len();
            ticked.purses.extend(self.fill(now, observer).map(|it| (observer, it)));
            let chosen = self.affordable(observer, wanted);
            ticked.deferred += (count - chosen.len()) as u64;
            ticked.sent.extend(chosen.into_iter().map(|it| (observer, it.subject, it.relevance.to_bits())));
        }
        for (observer, subject, _) in &ticked.sent {
            let told = Told { last: now, heard: true, away: Span::ZERO, seen: now, owed: false };
            self.told.insert((*observer, *subject), told);
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
    fn wanted(&mut self, now: Time, observer: Slot, policy: &dyn Policy) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        let others: Vec<Slot> = self.avatars.keys().copied().filter(|&it| it != observer).collect();
        for subject in others {
            let (pair, relevance) = ((observer, subject), self.relevance(observer, subject, policy));
            if relevance == 0.0 {
                let forget_after = self.schedule.forget_after.max(self.schedule.normal);
                let at_least = |it: &Told| if it.owed { Span::from_secs(30) } else { Span::ZERO };
                let kept = |it: &Told| now.since(it.seen) < forget_after.max(at_least(it));
                if !self.told.get(&pair).is_some_and(kept) {
                    self.told.remove(&pair);
                }
                continue;
            }
            let newcomer = Told { last: now, heard: false, away: Span::ZERO, seen: now, owed: true };
            let told = self.told.entry(pair).or_insert(newcomer);
            let age = now.since(told.last);
            if told.heard && age < self.schedule.normal {
                continue; // Nobody need look: it cannot be due.
            }
            if told.owed && told.seen < self.ticked {
                told.away = told.away + self.ticked.since(told.seen);
            }
            (told.seen, told.owed) = (now, !told.heard || is_due(&self.schedule, age, relevance));
            if told.owed {
                let lead = if told.heard { 0 } else { 4 * self.schedule.normal.as_micros() };
                let waited = age.as_micros() - told.away.as_micros() + lead;
                wanted.push(Wanted { subject, relevance, urgency: waited as f32 * relevance });
            }
        }
        wanted
    }

    /// What the policy says, as a grade.
    pub(crate) fn relevance(&self, observer: Slot, subject: Slot, policy: &dyn Policy) -> f32 {
        let (eye, avatar) = (self.avatars[&observer], self.avatars[&subject]);
        let sight = Sight::new(observer, eye.position, eye.heading.unit(), subject, avatar.position);
        match policy.relevance(&sight) {
            it if it.is_nan() => 0.0,
            it => it.clamp(0.0, 1.0),
        }
    }

    /// Fills the observer's bucket, if it has one, and says what is in it.
    fn fill(&mut self, now: Time, observer: Slot) -> Option<i128> {
        let (budget, level, filled) = self.budgets.get_mut(&observer)?;
        let inflow = i128::from(now.since(*filled).as_micros()) * i128::from(budget.bytes_per_second);
        *level = (*level + inflow).min(i128::from(budget.burst) * 1_000_000);
        *filled = now;
        Some(*level)
    }

    /// Those of `wanted` that the observer's budget pays for, most urgent first.
    fn affordable(&mut self, observer: Slot, mut wanted: Vec<Wanted>) -> Vec<Wanted> {
        wanted.sort_by(|a, b| b.urgency.total_cmp(&a.urgency).then(a.subject.cmp(&b.subject)));
        let Some((_, level, _)) = self.budgets.get_mut(&observer) else { return wanted };
        wanted.retain(|it| {
            let open = 0 < *level;
            if open {
                *level -= i128::from(self.avatars[&it.subject].bytes) * 1_000_000;
            }
            open
        });
        wanted
    }
}

/// The paper's rule: an update is due when the normal interval ÷ relevance has passed since the last one.
pub(crate) fn is_due(schedule: &Schedule, age: Span, relevance: f32) -> bool {
    let interval = schedule.normal.as_micros() as f64 / f64::from(relevance);
    let age = age.as_micros() as f64;
    match schedule.due {
        Due::AtInterval => interval <= age,
        Due::AfterInterval => interval < age,
    }
}
