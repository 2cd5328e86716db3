//! The newest inputs and faults as text, for debugging.

use machine::{Address, Input, Time};
use std::collections::VecDeque;
use std::fmt::Debug;

/// Keeps the newest lines and forgets older ones.
pub(crate) struct Trace<M, C> {
    lines: VecDeque<String>,
    capacity: usize,
    /// A function pointer, so that only experiments that turn tracing on need `Debug` messages and commands.
    show: fn(&Input<M, C>) -> String,
}

impl<M: Debug, C: Debug> Trace<M, C> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { lines: VecDeque::with_capacity(capacity), capacity, show: |input| format!("{input:?}") }
    }
}

impl<M, C> Trace<M, C> {
    #[cold] // Rarely on, and kept out of what every input passes.
    pub(crate) fn note_input(&mut self, at: Time, address: Address, input: &Input<M, C>) {
        self.note(at, address, &(self.show)(input));
    }

    pub(crate) fn note(&mut self, at: Time, address: Address, what: &str) {
        // The oldest line makes room, so that memory stays bounded.
        if self.lines.len() == self.capacity {
            self.lines.pop_front();
        }
        self.lines.push_back(format!("{at} @{} {what}", address.0));
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }
}
