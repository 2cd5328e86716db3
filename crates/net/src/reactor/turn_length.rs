//! How long the turns of a reactor are at least.

use machine::{Span, Time};

/// Least time from the start of one turn to the next under load. It is too short for any player to notice, and makes one batch
/// of what would be many wakes.
const BUSY: Span = Span::from_millis(5);

/// The same while few packets arrive: then sleeping and waking cost more than the work of a turn.
const LIGHT: Span = Span::from_millis(10);

/// The same for a host without players, to whom nothing is urgent.
const QUIET: Span = Span::from_millis(20);

/// Packets per second from which a reactor is busy: about 300 players who walk.
const BUSY_FROM: u64 = 3_200;

/// Interval over which packets are counted.
const WINDOW: Span = Span::from_millis(200);

/// Chooses the length of turns by the packets that arrive.
#[derive(Debug)]
pub(super) struct TurnLength {
    began: Time,
    /// Packets that had arrived when the interval began.
    packets: u64,
    is_busy: bool,
}

impl TurnLength {
    pub fn new(now: Time) -> Self {
        Self { began: now, packets: 0, is_busy: false }
    }

    /// The length of the turn that began at `now`. `packets` is the number that have arrived so far.
    pub fn after(&mut self, now: Time, packets: u64, is_quiet: bool) -> Span {
        let counted = now.since(self.began);
        if WINDOW <= counted {
            self.is_busy = BUSY_FROM * counted.as_micros() <= (packets - self.packets) * 1_000_000;
            (self.began, self.packets) = (now, packets);
        }
        match (is_quiet, self.is_busy) {
            (true, _) => QUIET,
            (false, true) => BUSY,
            (false, false) => LIGHT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_shorter_while_many_packets_arrive() {
        let mut length = TurnLength::new(Time::ZERO);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        assert_eq!(length.after(at(0), 0, true), QUIET);
        assert_eq!(length.after(at(10), 500, false), LIGHT); // A moment is no load yet.
        assert_eq!(length.after(at(200), 700, false), BUSY); // 3,500 per second.
        assert_eq!(length.after(at(300), 701, false), BUSY);
        assert_eq!(length.after(at(400), 1_300, false), LIGHT); // 3,000 per second.
        assert_eq!(length.after(at(600), 2_000, true), QUIET);
    }
}
