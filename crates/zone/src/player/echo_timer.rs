//! World time, estimated from the time that the home takes to echo a move.

use crate::clock::WorldClock;
use machine::{Span, Time};

/// An echo that takes longer than this counts as lost.
const ECHO_MAX: Span = Span::from_millis(2_000);

pub(super) struct EchoTimer {
    clock: WorldClock,
    /// Own time at which the timed move was sent.
    timed: Time,
    /// Whether its echo has not come yet.
    is_timing: bool,
    /// Number of echoes under way.
    under_way: u32,
}

impl EchoTimer {
    pub const fn new() -> Self {
        Self { clock: WorldClock::new(), timed: Time::ZERO, is_timing: false, under_way: 0 }
    }

    pub fn world(&self, now: Time) -> Time {
        self.clock.now(now)
    }

    /// A zone answered with its time `world`, to a question asked at `asked`.
    pub fn learn(&mut self, asked: Time, now: Time, world: Time) {
        self.clock.learn(asked, now, world);
    }

    /// A message other than a move was sent that is echoed too.
    pub const fn sent_other(&mut self) {
        self.under_way += 1;
    }

    /// A move is sent. Its round trip is timed unless other echoes are under way, which look the same. Lost ones do not
    /// count for ever.
    pub fn sent_move(&mut self, now: Time) {
        if self.under_way == 0 || ECHO_MAX < now.since(self.timed) {
            (self.timed, self.is_timing, self.under_way) = (now, true, 0);
        }
        self.under_way += 1;
    }

    /// An echo came, of the newest move or of an earlier one.
    pub fn heard(&mut self, is_newest: bool, now: Time, world: Time) {
        // Echoes of moves that were given up may still come: never below zero.
        self.under_way = self.under_way.saturating_sub(1);
        if is_newest && std::mem::take(&mut self.is_timing) {
            self.clock.learn(self.timed, now, world);
        }
    }
}
