//! The promise of the schedule, checked on the sent updates alone: while an observer's bucket has room, no
//! update that is due is left unsent.

use crate::reference::{Reference, ReferenceTick, is_due};
use interest::{Policy, Slot};
use machine::Time;
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct ScheduleChecker {
    /// The time of the last update of each pair of observer and subject.
    sent: BTreeMap<(Slot, Slot), Time>,
}

impl ScheduleChecker {
    /// The owner of `slot` left, or does not observe any more.
    pub(crate) fn forget_observer(&mut self, slot: Slot) {
        self.sent.retain(|pair, _| pair.0 != slot);
    }

    pub(crate) fn forget_subject(&mut self, slot: Slot) {
        self.sent.retain(|pair, _| pair.1 != slot);
    }

    /// Records the updates that an engine sent, and checks the pairs that it did not send. `ticked` has the budgets.
    pub(crate) fn check(
        &mut self,
        now: Time,
        sent: &[(Slot, Slot, u32)],
        ticked: &ReferenceTick,
        world: &Reference,
        policy: &dyn Policy,
    ) {
        self.sent.extend(sent.iter().map(|it| ((it.0, it.1), now)));
        for (&observer, _) in world.avatars.iter().filter(|it| it.1.observes) {
            let to_observer = sent.iter().filter(|it| it.0 == observer);
            let spent: i128 = to_observer.map(|it| i128::from(world.avatars[&it.1].bytes) * 1_000_000).sum();
            if ticked.bucket_levels.get(&observer).is_some_and(|level| *level <= spent) {
                continue;
            }
            for &subject in world.avatars.keys().filter(|&&it| it != observer) {
                let relevance = world.relevance(observer, subject, policy);
                let age = self.sent.get(&(observer, subject)).map(|it| now.since(*it));
                let late = 0.0 < relevance && age.is_none_or(|it| is_due(&world.schedule, it, relevance));
                assert!(
                    !late,
                    "at {now}: {observer:?} was last told of {subject:?} {age:?} ago ({relevance})"
                );
            }
        }
    }
}
