//! One run from beginning to end: faults, then recovery, then the final check.

use crate::check::{self, BoundedChecker, RecoveryBaseline};
use crate::history_checker::{Crossings, Ending, HistoryCounts};
use crate::plan::{self, Fault};
use crate::run_options::{RunOptions, RunRequest};
use crate::scenario::Scenario;
use crate::simulated_world::SimulatedWorld;
use crate::violation::Violation;
use history::NamedBytes;
use machine::{Span, Time};
use std::collections::BTreeMap;

/// Result of one run of a world.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// Options from which the run was made.
    pub options: RunOptions,
    /// Faults of the run, in order of time.
    pub faults: Vec<Fault>,
    /// Length of the run in simulated time.
    pub simulated: Span,
    /// Number of inputs that reached machines.
    pub events: u64,
    /// History hash: equal for equal runs.
    pub history: u64,
    /// Counts of failovers, restarts and actions.
    pub counts: HistoryCounts,
    /// Counts of what zones did together.
    pub crossings: Crossings,
    /// Broken invariants, the first violation first.
    pub violations: Vec<Violation>,
    /// The last occurrences as text, if a trace was requested.
    pub trace: Vec<String>,
    /// Number of mistakes of the game (`ReplicaEvent::Fault`), its panics among them.
    pub game_faults: usize,
}

/// Draws and runs the world of a seed.
pub fn run(scenario: impl Scenario, seed: u64, request: &RunRequest) -> RunOutcome {
    let options = RunOptions::draw(seed, request);
    run_with(scenario, options, plan::draw(&options), None)
}

/// Runs a world with these faults, keeping the last `trace` occurrences as text.
pub fn run_with(
    scenario: impl Scenario,
    options: RunOptions,
    faults: Vec<Fault>,
    trace: Option<usize>,
) -> RunOutcome {
    let mut world = SimulatedWorld::new(scenario, options);
    if let Some(capacity) = trace {
        world.sim.trace(capacity);
    }
    run_in(&mut world, faults)
}

/// Runs a world with these faults. Also returns the files that real processes would have written in it, by name.
pub fn run_recorded(
    scenario: impl Scenario,
    options: RunOptions,
    faults: Vec<Fault>,
) -> (RunOutcome, Vec<NamedBytes>) {
    let mut world = SimulatedWorld::recorded(scenario, options);
    (run_in(&mut world, faults), world.into_files())
}

/// Runs a new world with these faults; the world can be examined afterwards.
pub fn run_in(world: &mut SimulatedWorld, faults: Vec<Fault>) -> RunOutcome {
    run_faults(world, &faults);
    if !world.monitor.is_violated() {
        recover(world);
    }
    if !world.monitor.is_violated() {
        // A violated history is not checked further: consequences would only hide the cause.
        world.conclude(Ending::Settled);
    }
    outcome(world, faults)
}

fn outcome(world: &SimulatedWorld, faults: Vec<Fault>) -> RunOutcome {
    RunOutcome {
        options: *world.options(),
        faults,
        simulated: world.now().since(Time::ZERO),
        events: world.sim.events(),
        history: world.sim.history(),
        counts: world.monitor.checker.counts,
        crossings: world.monitor.checker.crossings(),
        trace: world.sim.trace_lines().map(str::to_owned).collect(),
        game_faults: world.monitor.game_faults.len(),
        violations: world.monitor.checker.violations.all().to_vec(),
    }
}

/// Interval at which queues are measured.
const LOOK_EVERY: Span = Span::from_millis(1_000);

fn run_faults(world: &mut SimulatedWorld, faults: &[Fault]) {
    // Beginnings and ends, in the order of time; the number keeps faults of one moment apart.
    let mut turns: BTreeMap<(Time, usize, bool), &Fault> = BTreeMap::new();
    for (number, fault) in faults.iter().enumerate() {
        turns.insert((fault.at, number, true), fault);
        turns.insert((fault.at + fault.span, number, false), fault);
    }
    let end = Time::ZERO + world.options().fault_period;
    let mut bounded = BoundedChecker::default();
    let mut next_look = Time::ZERO + LOOK_EVERY;
    for ((at, _, begins), fault) in turns {
        // A fault that outlasts the fault period ends with it, except that a host that is stopped or down comes back in its
        // own time.
        let at = at.min(end);
        while next_look < at && !world.monitor.is_violated() {
            world.run_until(next_look);
            world.examine(|world, out| bounded.look(world, out));
            next_look += LOOK_EVERY;
        }
        world.run_until(at);
        if world.monitor.is_violated() {
            return;
        }
        if begins {
            plan::begin(world, fault);
        } else {
            plan::end(world, fault);
        }
    }
    while next_look < end && !world.monitor.is_violated() {
        world.run_until(next_look);
        world.examine(|world, out| bounded.look(world, out));
        next_look += LOOK_EVERY;
    }
    world.run_until(end);
}

/// Ends the faults that strike at a time. The players play on for a while, then rest, and at the end all replicas and players
/// must agree.
fn recover(world: &mut SimulatedWorld) {
    world.heal();
    let healed = world.now();
    let period = world.options().recovery_period;
    world.run_until(healed + Span::from_micros(period.as_micros() * 3 / 5));
    // Until now players played in the healed world: it must work, not just be quiet.
    world.stop_bots();
    world.run_until(healed + period);
    // What primaries know now, every replica and player must know a second later.
    let baseline = RecoveryBaseline::of(world);
    world.run_until(healed + period + Span::from_millis(1_000));
    if !world.monitor.is_violated() {
        world.examine(|world, out| check::recovery(world, &baseline, out));
    }
}
