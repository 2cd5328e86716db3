//! Actions that hang their primary, and the watchdog of its host.
//!
//! The machine that hangs is lost in the middle of an input, as a thread that never comes back is: nothing of that input becomes
//! true. The watchdog writes the action into the zone's entry and starts the replica again from its disk.

#![allow(clippy::disallowed_types, reason = "no machine has it: the game of a replica must be `Sync`")]

use game::{Call, CallGuard};
use machine::Address;
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zone::{CallSlot, Suspect};

/// Unwinds out of a machine whose call of the game hangs.
pub struct CallHangs;

#[derive(Default)]
struct PoisonState {
    armed: bool,
    /// The replicas without which nothing announced is lost: others do not hang.
    safe: BTreeSet<Address>,
    hung: Option<(Address, Suspect)>,
}

/// Decides which action hangs. Shared by a world and the games of its replicas.
#[derive(Default)]
pub struct Poison(Mutex<PoisonState>);

impl Poison {
    fn state(&self) -> MutexGuard<'_, PoisonState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next action that any primary executes hangs.
    pub fn arm(&self) {
        self.state().armed = true;
    }

    /// No action hangs any more.
    pub fn disarm(&self) {
        self.state().armed = false;
    }

    /// Whether an action is to hang.
    pub fn is_armed(&self) -> bool {
        self.state().armed
    }

    /// Says which replicas may hang now.
    pub fn set_safe(&self, safe: BTreeSet<Address>) {
        self.state().safe = safe;
    }

    /// Takes the replica that hangs, with the action in which it does.
    pub fn take_hung(&self) -> Option<(Address, Suspect)> {
        self.state().hung.take()
    }

    fn strikes(&self, replica: Address, work: Suspect) -> bool {
        let mut state = self.state();
        let strikes = state.armed && state.safe.contains(&replica);
        if strikes {
            state.armed = false;
            state.hung = Some((replica, work));
        }
        strikes
    }
}

/// The guard around the game of one replica.
pub struct PoisonGuard {
    pub poison: Arc<Poison>,
    pub replica: Address,
    pub calls: Arc<CallSlot>,
}

impl CallGuard for PoisonGuard {
    fn within<T>(&self, call: impl FnOnce() -> T) -> T {
        call()
    }

    fn before_event(&self, call: &Call<'_>) {
        if let (Call::Act { .. }, Some(work)) = (call, self.calls.work())
            && self.poison.strikes(self.replica, work)
        {
            resume_unwind(Box::new(CallHangs));
        }
    }
}
