//! World time, measured by how long the home takes to echo a move.

use crate::clock::WorldClock;
use machine::{Span, Time};

/// An echo that takes longer is lost.
const ECHO_MAX: Span = Span::from_millis(2_000);

pub(super) struct EchoTimer {
    clock: WorldClock,
    /// When the move was sent whose echo tells the time.
    timed: Time,
    /// Whether that echo is awaited.
    is_timing: bool,
    /// How many echoes are under way.
    under_way: u32,
}

impl EchoTimer {
    pub const fn new() -> Self {
        Self { clock: WorldClock::new(), timed: Time::ZERO, is_timing: false, under_way: 0 }
    }

    /// World time.
    pub fn world(&self, now: Time) -> Time {
        self.clock.now(now)
    }

    /// A zone said `world`, to a question asked at `asked`.
    pub fn learn(&mut self, asked: Time, now: Time, world: Time) {
        self.clock.learn(asked, now, world);
    }

    /// Something other than a move was sent that is echoed too.
    pub const fn sent_other(&mut self) {
        self.under_way += 1;
    }

    /// A move is sent. The time until its echo is taken, but not while others are under way, which look the same. Those
    /// that are lost are not waited for.
    pub fn sent_move(&mut self, now: Time) {
        if self.under_way == 0 || ECHO_MAX < now.since(self.timed) {
            (self.timed, self.is_timing, self.under_way) = (now, true, 0);
        }
        self.under_way += 1;
    }

    /// An echo came: of the newest move, or of one before.
    pub fn heard(&mut self, is_newest: bool, now: Time, world: Time) {
        self.under_way = self.under_way.saturating_sub(1);
        if is_newest && std::mem::take(&mut self.is_timing) {
            self.clock.learn(self.timed, now, world);
        }
    }
}
