//! Where a reactor's processor time goes: of one turn in sixteen, the time of each stage is measured.

use cpu_time::ThreadTime;
use machine::stage::{self, Stage};
use std::cell::RefCell;
use std::time::Duration;

/// One turn in this many is measured, and counts for all of them: to read the thread's clock costs a third of a microsecond, and
/// a message passes several stages.
const TURNS_PER_SAMPLE: u64 = 16;

struct StageClock {
    turns: u64,
    /// The stage under way and when it began, while a turn is measured.
    current: Option<(Stage, ThreadTime)>,
    spent: [Duration; Stage::ALL.len()],
}

thread_local! {
    static CLOCK: RefCell<StageClock> =
        const { RefCell::new(StageClock { turns: 0, current: None, spent: [Duration::ZERO; Stage::ALL.len()] }) };
}

impl StageClock {
    /// Ends the stage under way, and begins another. Returns the first; [`Stage::Wait`] while nothing is measured.
    fn switch(&mut self, next: Stage) -> Stage {
        let Some((stage, began)) = &mut self.current else { return Stage::Wait };
        let now = ThreadTime::now();
        let ended = std::mem::replace(stage, next);
        self.spent[ended as usize] += now.duration_since(*began);
        *began = now;
        ended
    }

    /// A turn begins. What came before, back to the beginning of a turn that is measured, was waiting.
    fn begin_turn(&mut self) {
        if self.current.is_some() {
            self.switch(Stage::Wait);
            self.current = None;
            self.publish();
        }
        self.turns += 1;
        if self.turns.is_multiple_of(TURNS_PER_SAMPLE) {
            self.current = Some((Stage::Receive, ThreadTime::now()));
        }
    }

    fn publish(&mut self) {
        for (stage, spent) in Stage::ALL.into_iter().zip(&mut self.spent) {
            let micros = std::mem::take(spent).as_nanos() as u64 * TURNS_PER_SAMPLE / 1_000;
            metrics::counter!("ecumene_cpu_microseconds_total", "stage" => stage.name()).increment(micros);
        }
    }
}

/// Measures the stages of this thread from now on.
pub(super) fn start() {
    stage::listen(|stage| CLOCK.with_borrow_mut(|it| it.switch(stage)));
}

/// A turn begins.
pub(super) fn begin_turn() {
    CLOCK.with_borrow_mut(StageClock::begin_turn);
}

/// A turn ends: the reactor waits.
pub(super) fn end_turn() {
    CLOCK.with_borrow_mut(|it| it.switch(Stage::Wait));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_turn_in_sixteen_is_measured_with_the_waiting_after_it() {
        let mut clock = StageClock { turns: 0, current: None, spent: [Duration::ZERO; Stage::ALL.len()] };
        let mut measured = 0;
        for _ in 0..64 {
            clock.begin_turn();
            measured += u64::from(clock.current.is_some());
            assert_eq!(clock.switch(Stage::Zone) == Stage::Receive, clock.current.is_some());
            clock.switch(Stage::Wait);
        }
        assert_eq!(measured, 64 / TURNS_PER_SAMPLE);
    }
}
