//! Crashes that follow from what replicas raise: a replica gives up, or reaches a step at which it is to die.

use crate::layout::Layout;
use crate::plan::{CrashTrigger, Victim};
use machine::{Address, Span};
use zone::ReplicaEvent;

/// Downtime of a replica that gave up.
const BACK_AFTER_GIVING_UP: Span = Span::from_millis(500);
/// Downtime of a victim that died at a step of a protocol.
const BACK_AFTER_POINT: Span = Span::from_millis(1_000);

/// A crash that is to happen now.
#[derive(Clone, Copy)]
pub enum DueCrash {
    /// The replica reported that it cannot go on.
    GaveUp(Address),
    /// The victim reached the step at which it was to die.
    AtPoint(Victim),
}

impl DueCrash {
    /// Time until the victim restarts.
    pub const fn back_after(self) -> Span {
        match self {
            Self::GaveUp(_) => BACK_AFTER_GIVING_UP,
            Self::AtPoint(_) => BACK_AFTER_POINT,
        }
    }
}

/// The triggers that wait for a step, and the crashes that are due.
#[derive(Default)]
pub struct CrashTriggers {
    triggers: Vec<CrashTrigger>,
    due: Vec<DueCrash>,
}

impl CrashTriggers {
    /// Adds a trigger that waits for its step.
    pub fn add(&mut self, trigger: CrashTrigger) {
        self.triggers.push(trigger);
    }

    /// Removes all triggers that still wait. Crashes that are due stay due.
    pub fn clear(&mut self) {
        self.triggers.clear();
    }

    /// Checks every trigger against an event that a replica raised.
    pub fn see(&mut self, replica: Address, event: &ReplicaEvent, layout: &Layout) {
        let tripped = self.triggers.extract_if(.., |it| it.trips(replica, event, layout));
        self.due.extend(tripped.map(|it| DueCrash::AtPoint(it.victim())));
        if let ReplicaEvent::Broken(_) = event {
            // It gave up by itself, so no safety check can spare it.
            self.due.push(DueCrash::GaveUp(replica));
        }
    }

    /// Takes the crashes that are due, in the order in which they came up.
    pub fn take_due(&mut self) -> Vec<DueCrash> {
        std::mem::take(&mut self.due)
    }
}
