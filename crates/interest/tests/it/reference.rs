//! The simplest correct interest management: every pair, every tick, no grid, no early-out. It shares no rule with the
//! engine: grades, intervals and buckets are written out again.

use interest::{Budget, DueRule, Policy, Slot, SubjectView, UpdateSchedule};
use machine::{Span, Time};
use space::{Heading, Position};
use std::collections::BTreeMap;

#[derive(Clone, Copy)]
pub(crate) struct ReferenceAvatar {
    pub(crate) position: Position,
    pub(crate) heading: Heading,
    pub(crate) bytes: u32,
    pub(crate) observes: bool,
}

/// The expected result of a tick.
#[derive(Default)]
pub(crate) struct ReferenceTick {
    /// Observer, subject and the bits of its relevance, sorted.
    pub(crate) sent: Vec<(Slot, Slot, u32)>,
    pub(crate) deferred: u64,
    /// Pairs that an engine may have to grade.
    pub(crate) not_fresh: u64,
    /// The bucket level of each observer with a budget, in millionths of a byte.
    pub(crate) bucket_levels: BTreeMap<Slot, i128>,
}

struct DueSubject {
    subject: Slot,
    relevance: f32,
    urgency: f32,
}

#[derive(Clone, Copy)]
struct PairState {
    last: Time,
    heard: bool,
    /// The time out of view since then while it was owed an update.
    away: Span,
    /// Time when it was last found relevant; `owed` if it was due then and not sent.
    seen: Time,
    owed: bool,
}

pub(crate) struct Reference {
    pub(crate) avatars: BTreeMap<Slot, ReferenceAvatar>,
    /// Per observer its budget, what its bucket holds in millionths of a byte, and when it was last filled.
    pub(crate) budgets: BTreeMap<Slot, (Budget, i128, Time)>,
    pub(crate) schedule: UpdateSchedule,
    told: BTreeMap<(Slot, Slot), PairState>,
    ticked: Time,
}

impl Reference {
    pub(crate) fn new(schedule: UpdateSchedule) -> Self {
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

    /// The updates that are to be sent, sorted.
    pub(crate) fn tick(&mut self, now: Time, policy: &dyn Policy) -> ReferenceTick {
        let observers: Vec<Slot> = self.avatars.iter().filter(|it| it.1.observes).map(|it| *it.0).collect();
        let mut ticked = ReferenceTick::default();
        for observer in observers {
            ticked.not_fresh += self.not_fresh(now, observer);
            let due_subjects = self.due_subjects(now, observer, policy);
            let count = due_subjects.len();
            ticked.bucket_levels.extend(self.fill(now, observer).map(|it| (observer, it)));
            let chosen = self.affordable(observer, due_subjects);
            ticked.deferred += (count - chosen.len()) as u64;
            ticked.sent.extend(chosen.into_iter().map(|it| (observer, it.subject, it.relevance.to_bits())));
        }
        for (observer, subject, _) in &ticked.sent {
            let told = PairState { last: now, heard: true, away: Span::ZERO, seen: now, owed: false };
            self.told.insert((*observer, *subject), told);
        }
        ticked.sent.sort();
        self.ticked = now;
        ticked
    }

    /// Number of pairs that could be due at all: more than a normal interval old, or never sent.
    fn not_fresh(&self, now: Time, observer: Slot) -> u64 {
        let is_fresh = |it: &PairState| it.heard && now.since(it.last) < self.schedule.normal;
        let others = self.avatars.keys().filter(|&&it| it != observer);
        others.filter(|&&it| !self.told.get(&(observer, it)).is_some_and(is_fresh)).count() as u64
    }

    /// All subjects that are due, with their urgency.
    fn due_subjects(&mut self, now: Time, observer: Slot, policy: &dyn Policy) -> Vec<DueSubject> {
        let mut due_subjects = Vec::new();
        let others: Vec<Slot> = self.avatars.keys().copied().filter(|&it| it != observer).collect();
        for subject in others {
            let (pair, relevance) = ((observer, subject), self.relevance(observer, subject, policy));
            if relevance == 0.0 {
                let forget_after = self.schedule.forget_after.max(self.schedule.normal);
                let at_least = |it: &PairState| if it.owed { Span::from_secs(30) } else { Span::ZERO };
                let kept = |it: &PairState| now.since(it.seen) < forget_after.max(at_least(it));
                if !self.told.get(&pair).is_some_and(kept) {
                    self.told.remove(&pair);
                }
                continue;
            }
            let newcomer = PairState { last: now, heard: false, away: Span::ZERO, seen: now, owed: true };
            let told = self.told.entry(pair).or_insert(newcomer);
            let age = now.since(told.last);
            if told.heard && age < self.schedule.normal {
                continue; // Too fresh to be due, whatever its relevance.
            }
            if told.owed && told.seen < self.ticked {
                told.away = told.away + self.ticked.since(told.seen);
            }
            (told.seen, told.owed) = (now, !told.heard || is_due(&self.schedule, age, relevance));
            if told.owed {
                let lead = if told.heard { 0 } else { 4 * self.schedule.normal.as_micros() };
                let waited = age.as_micros() - told.away.as_micros() + lead;
                due_subjects.push(DueSubject { subject, relevance, urgency: waited as f32 * relevance });
            }
        }
        due_subjects
    }

    /// The policy's relevance as a number from 0 to 1.
    pub(crate) fn relevance(&self, observer: Slot, subject: Slot, policy: &dyn Policy) -> f32 {
        let (eye, avatar) = (self.avatars[&observer], self.avatars[&subject]);
        let view = SubjectView::new(observer, eye.position, eye.heading.unit(), subject, avatar.position);
        match policy.relevance(&view) {
            it if it.is_nan() => 0.0,
            it => it.clamp(0.0, 1.0),
        }
    }

    /// Fills the observer's bucket, if it has one, and returns its level.
    fn fill(&mut self, now: Time, observer: Slot) -> Option<i128> {
        let (budget, level, filled) = self.budgets.get_mut(&observer)?;
        let inflow = i128::from(now.since(*filled).as_micros()) * i128::from(budget.bytes_per_second);
        *level = (*level + inflow).min(i128::from(budget.burst) * 1_000_000);
        *filled = now;
        Some(*level)
    }

    /// The subjects that the observer's budget pays for, most urgent first.
    fn affordable(&mut self, observer: Slot, mut due_subjects: Vec<DueSubject>) -> Vec<DueSubject> {
        due_subjects.sort_by(|a, b| b.urgency.total_cmp(&a.urgency).then(a.subject.cmp(&b.subject)));
        let Some((_, level, _)) = self.budgets.get_mut(&observer) else { return due_subjects };
        due_subjects.retain(|it| {
            let open = 0 < *level;
            if open {
                *level -= i128::from(self.avatars[&it.subject].bytes) * 1_000_000;
            }
            open
        });
        due_subjects
    }
}

/// The paper's rule: an update is due when the normal interval ÷ relevance has passed since the last one.
pub(crate) fn is_due(schedule: &UpdateSchedule, age: Span, relevance: f32) -> bool {
    let interval = schedule.normal.as_micros() as f64 / f64::from(relevance);
    let age = age.as_micros() as f64;
    match schedule.due {
        DueRule::AtInterval => interval <= age,
        DueRule::AfterInterval => interval < age,
    }
}
