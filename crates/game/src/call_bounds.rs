//! The bounds of one call of the game: how many steps it may take, and how deep its own calls may nest.
//!
//! Both are checked where the game asks something of its transaction. A call that exceeds one ends there, as if it had panicked.

use crate::config::{STACK_MAX, STEPS_MAX};

/// Bytes that cost one step to read or write.
const BYTES_PER_STEP: usize = 64;

/// What ends a call of the game in the middle. It is thrown as a panic, without the panic's message.
pub(crate) struct BoundExceeded;

/// How far a call of the game has got, compared with its bounds.
#[derive(Debug)]
pub(crate) struct CallBounds {
    steps: u64,
    /// An address on the stack at the beginning of the call.
    base: usize,
}

impl CallBounds {
    /// The bounds of a call that begins here.
    pub(crate) fn begin() -> Self {
        Self { steps: 0, base: stack_address() }
    }

    /// The call begins here: nothing of it is on the stack yet.
    pub(crate) fn restart_stack(&mut self) {
        self.base = stack_address();
    }

    /// Counts the steps of a function of the transaction. Returns the fault if a bound is exceeded.
    pub(crate) fn count(&mut self, function: &str, steps: u64) -> Option<String> {
        self.steps = self.steps.saturating_add(steps);
        if STEPS_MAX < self.steps {
            return Some(format!(
                "tx.{function}: one event takes at most {STEPS_MAX} steps; does it loop? Spread real work over letters or timers"
            ));
        }
        // The stack may grow in either direction.
        if STACK_MAX < self.base.abs_diff(stack_address()) {
            let kib = STACK_MAX / 1024;
            return Some(format!(
                "tx.{function}: the game's functions are nested {kib} KiB deep; does one call itself without end?"
            ));
        }
        None
    }
}

/// The steps that this many bytes cost to read or write.
pub(crate) const fn byte_steps(bytes: usize) -> u64 {
    (bytes / BYTES_PER_STEP) as u64
}

/// An address near the top of the stack.
#[inline(never)]
fn stack_address() -> usize {
    let here = 0_u8;
    std::hint::black_box(&raw const here).addr()
}
