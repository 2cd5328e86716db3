//! Delays of steps: from a mover's step to its arrival at a peer that has the mover in its list.
//!
//! A run of six hours has some hundred million arrivals, so only every sixteenth step counts. Between two counted steps
//! of a walker lie ten seconds, much longer than any line takes: so only the last one of each walker has to be kept.

use hdrhistogram::Histogram;
use machine::{Address, Span, Time};
use std::cell::RefCell;
use std::rc::Rc;

/// One step in this many counts.
const EVERY: u32 = 16;

/// The longest delay that the histogram distinguishes from longer ones.
const LONGEST: Span = Span::from_secs(60);

/// The last counted step of every walker, and the delays so far. All slots of a run share it.
#[derive(Clone, Debug)]
pub struct Delays(Rc<RefCell<DelayRecords>>);

#[derive(Debug)]
struct DelayRecords {
    /// Number and time of the last counted step, by walker.
    steps: Vec<(u32, Time)>,
    delays: Histogram<u64>,
}

impl Delays {
    /// Delays before the first step of so many walkers.
    pub fn new(walkers: u32) -> Self {
        let delays = Histogram::new_with_bounds(1, LONGEST.as_micros(), 3).expect("these bounds are valid");
        let steps = vec![(0, Time::ZERO); walkers as usize];
        Self(Rc::new(RefCell::new(DelayRecords { steps, delays })))
    }

    /// Returns whether a step counts. Number zero is the first message of a joining peer, and no step.
    pub const fn counts(sequence: u32) -> bool {
        0 < sequence && sequence.is_multiple_of(EVERY)
    }

    /// Notes a counted step of a walker.
    pub fn stepped(&self, now: Time, who: Address, sequence: u32) {
        if let Some(step) = self.0.borrow_mut().steps.get_mut(who.0 as usize) {
            *step = (sequence, now);
        }
    }

    /// Notes that a counted step of a walker arrived at a peer.
    pub fn heard(&self, now: Time, of: Address, sequence: u32) {
        let inner = &mut *self.0.borrow_mut();
        // An arrival of any other step than the last counted one is ignored.
        let step = inner.steps.get(of.0 as usize).filter(|it| it.0 == sequence);
        if let Some((_, at)) = step {
            inner.delays.saturating_record(now.since(*at).as_micros());
        }
    }

    /// The mean and the 99th percentile, in milliseconds.
    pub fn mean_and_p99_ms(&self) -> (f64, f64) {
        let delays = &self.0.borrow().delays;
        if delays.is_empty() {
            return (0.0, 0.0);
        }
        (delays.mean() / 1e3, delays.value_at_quantile(0.99) as f64 / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_heard_after_its_delay() {
        let (delays, walker) = (Delays::new(2), Address(1));
        let at = Time::from_millis;
        assert!(Delays::counts(32) && !Delays::counts(33) && !Delays::counts(0));
        delays.stepped(at(1_000), walker, 16);
        delays.heard(at(1_080), walker, 16);
        delays.heard(at(9_000), walker, 32);
        delays.heard(at(9_000), Address(7), 16);
        let (mean, p99) = delays.mean_and_p99_ms();
        assert!((mean - 80.0).abs() < 0.1 && (p99 - 80.0).abs() < 0.1, "{mean}, {p99}");
    }
}
