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

#[derive(Clone, Copy)]
struct Told {
    last: Time,
    heard: bool,
}

pub(crate) struct Reference {
    pub(crate) avatars: BTreeMap<Slot, Avatar>,
    pub(crate) budgets: BTreeMap<Slot, (Budget, f64, Time)>,
    schedule: Schedule,
    told: BTreeMap<(Slot, Slot), Told>,
}

impl Reference {
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self { avatars: BTreeMap::new(), budgets: BTreeMap::new(), schedule, told: BTreeMap::new() }
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
    pub(crate) fn tick(&mut self, now: Time, policy: &dyn Policy) -> Vec<(Slot, Slot)> {
        let observers: Vec<Slot> = self.avatars.iter().filter(|it| it.1.observes).map(|it| *it.0).collect();
        let mut sent = Vec::new();
        for observer in observers {
            let due = self.due(now, observer, policy);
            sent.extend(self.affordable(now, observer, due).into_iter().map(|subject| (observer, subject)));
        }
        for pair in &sent {
            self.told.insert(*pair, Told { last: now, heard: true });
        }
        sent.sort();
        sent
    }

    /// Everybody due, with how urgent they are.
    fn due(&mut self, now: Time, observer: Slot, policy: &dyn Policy) -> Vec<(f32, Slot)> {
        let eye = self.avatars[&observer];
        let mut due = Vec::new();
        for (&subject, avatar) in self.avatars.iter().filter(|it| *it.0 != observer) {
            let sight = Sight::new(observer, eye.position, eye.heading.unit(), subject, avatar.position);
            let relevance = policy.relevance(&sight);
            let pair = (observer, subject);
            if relevance <= 0.0 {
                let kept = |it: &Told| it.heard && now.since(it.last) < self.schedule.forget_after;
                if !self.told.get(&pair).is_some_and(kept) {
                    self.told.remove(&pair);
                }
                continue;
            }
            let told = *self.told.entry(pair).or_insert(Told { last: now, heard: false });
            let age = now.since(told.last);
            if !told.heard || self.schedule.is_due(age, relevance) {
                let lead = if told.heard { Span::ZERO } else { Span::from_secs(10) };
                due.push(((age + lead).as_micros() as f32 * relevance, subject));
            }
        }
        due
    }

    /// Those of `due` that the observer's budget pays for, most urgent first.
    fn affordable(&mut self, now: Time, observer: Slot, mut due: Vec<(f32, Slot)>) -> Vec<Slot> {
        due.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let Some((budget, level, filled)) = self.budgets.get_mut(&observer) else {
            return due.into_iter().map(|it| it.1).collect();
        };
        let inflow = now.since(*filled).as_micros() as f64 * f64::from(budget.bytes_per_second) / 1e6;
        *level = (*level + inflow).min(f64::from(budget.burst));
        *filled = now;
        let mut chosen = Vec::new();
        for (_, subject) in due {
            if *level <= 0.0 {
                break;
            }
            *level -= f64::from(self.avatars[&subject].bytes);
            chosen.push(subject);
        }
        chosen
    }
}
