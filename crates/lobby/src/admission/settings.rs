//! The settings of admission, with the reason of each default.

use machine::Span;

/// Settings of admission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdmissionSettings {
    /// Whether players wait at all; without it all of them enter at once.
    pub is_on: bool,
    /// The most players who wait. Each takes some two hundred bytes.
    pub queue_max: usize,
    /// The most players in the world at which others are let in; `None`: as many as the hosts carry.
    pub players_max: Option<u32>,
    /// The pace.
    pub pace: PaceSettings,
}

impl Default for AdmissionSettings {
    fn default() -> Self {
        Self { is_on: true, queue_max: 100_000, players_max: None, pace: PaceSettings::default() }
    }
}

/// Settings of the pace at which players enter, in players per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaceSettings {
    /// Players who enter at once while all hosts are calm: a small world never shows its queue.
    pub burst: f64,
    /// The rate at the start, and after a time without a queue. A log-in takes up to 15 ms of processor time, all processes
    /// together: half of one core.
    pub start: f64,
    /// The lowest rate: the queue goes on after any trouble.
    pub least: f64,
    /// The highest rate.
    pub most: f64,
    /// The rate while no host has ever reported: an operator may run hosts that cannot.
    pub unreported: f64,
    /// Change of the rate per second while all hosts are calm and players wait.
    pub growth: f64,
    /// Factor of the rate when a host becomes busy.
    pub shrink: f64,
    /// Thousandths of its time from which on a host counts as busy: then it has no reserve for a lost host.
    pub busy_from: u16,
    /// Thousandths of its time below which a host counts as calm: well below, or admission would open and close in turns.
    pub calm_below: u16,
    /// Lateness below which a host counts as calm: twice what timers usually are.
    pub calm_late: Span,
    /// Time for which all hosts must be calm before players enter again: two reports of each host.
    pub calm_for: Span,
}

impl Default for PaceSettings {
    fn default() -> Self {
        Self {
            burst: 64.0,
            start: 30.0,
            least: 1.0,
            most: 200.0,
            unreported: 5.0,
            growth: 2.0,
            shrink: 0.5,
            busy_from: 800,
            calm_below: 650,
            calm_late: Span::from_millis(40),
            calm_for: Span::from_millis(1_000),
        }
    }
}
