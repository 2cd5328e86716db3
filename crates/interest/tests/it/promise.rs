//! What the schedule promises, judged by what was sent and by nothing else: while an observer's bucket has room, no
//! update that is due is left unsent.

use crate::reference::{Reference, Ticked, is_due};
use interest::{Policy, Slot};
use machine::Time;
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct Promise {
    /// When each observer was last told of each subject.
    sent: BTreeMap<(Slot, Slot), Time>,
}

impl Promise {
    /// The owner of `slot` left, or does not observe any more.
    pub(crate) fn forget_observer(&mut self, slot: Slot) {
        self.sent.retain(|pair, _| pair.0 != slot);
    }

    pub(crate) fn forget_subject(&mut self, slot: Slot) {
        self.sent.retain(|pair, _| pair.1 != slot);
    }

    /// Takes down what an engine sent, and looks at everything it did not send. `ticked` says what it could spend.
    pub(crate) fn check(
        &mut self,
        now: Time,
        sent: &[(Slot, Slot, u32)],
        ticked: &Ticked,
        world: &Reference,
        policy: &dyn Policy,
    ) {
        self.sent.extend(sent.iter().map(|it| ((it.0, it.1), now)));
        for (&observer, _) in world.avatars.iter().filter(|it| it.1.observes) {
            let to_observer = sent.iter().filter(|it| it.0 == observer);
            let spent: i128 = to_observer.map(|it| i128::from(world.avatars[&it.1].bytes) * 1_000_000).sum();
            if ticked.purses.get(&observer).is_some_and(|purse| *purse <= spent) {
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
