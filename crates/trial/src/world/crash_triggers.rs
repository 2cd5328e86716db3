//! Crashes that follow from what replicas raise: a replica gives up, or comes to a step at which it is to die.

use crate::layout::Layout;
use crate::plan::{Trigger, Victim};
use machine::{Address, Span};
use zone::Event;

/// A replica that gave up comes back after this long,
const BACK_AFTER_GIVING_UP: Span = Span::from_millis(500);
/// and what died at a step of a protocol after this long.
const BACK_AFTER_POINT: Span = Span::from_millis(1_000);

/// A crash whose moment has come.
#[derive(Clone, Copy)]
pub enum DueCrash {
    /// The replica gave up.
    GaveUp(Address),
    /// The victim came to the step at which it was to die.
    AtPoint(Victim),
}

impl DueCrash {
    /// How long the victim is away.
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
    triggers: Vec<Trigger>,
    due: Vec<DueCrash>,
}

impl CrashTriggers {
    /// Waits for a step from now on.
    pub fn add(&mut self, trigger: Trigger) {
        self.triggers.push(trigger);
    }

    /// Waits for no step any more. What is due stays due.
    pub fn clear(&mut self) {
        self.triggers.clear();
    }

    /// Looks at what a replica raised.
    pub fn see(&mut self, replica: Address, event: &Event, layout: &Layout) {
        let tripped = self.triggers.extract_if(.., |it| it.trips(replica, event, layout));
        self.due.extend(tripped.map(|it| DueCrash::AtPoint(it.victim())));
        if let Event::Broken(_) = event {
            self.due.push(DueCrash::GaveUp(replica));
        }
    }

    /// Takes the crashes that are due, in the order in which they came up.
    pub fn take_due(&mut self) -> Vec<DueCrash> {
        std::mem::take(&mut self.due)
    }
}
