//! One trial from beginning to end: trouble, then calm, then judgement.

use crate::check::{self, Agreement, Bounded};
use crate::judge::{Crossings, Ending, Tally};
use crate::options::{Asked, Options};
use crate::plan::{self, Fault};
use crate::scenario::Scenario;
use crate::violation::Violation;
use crate::world::World;
use history::NamedBytes;
use machine::{Span, Time};
use std::collections::BTreeMap;

/// What came of a trial.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The trial.
    pub options: Options,
    /// What went wrong in it.
    pub faults: Vec<Fault>,
    /// How long it was, in simulated time.
    pub simulated: Span,
    /// How many inputs reached machines.
    pub events: u64,
    /// The hash of the history.
    pub history: u64,
    /// What was counted.
    pub tally: Tally,
    /// What zones did together.
    pub crossings: Crossings,
    /// What was violated, the first violation first.
    pub violations: Vec<Violation>,
    /// The last things that happened, if they were asked for.
    pub trace: Vec<String>,
    /// Mistakes of the game that were caught.
    pub game_faults: usize,
}

/// Runs the trial of a seed.
pub fn run(scenario: impl Scenario, seed: u64, asked: &Asked) -> Outcome {
    let options = Options::drawn(seed, asked);
    run_with(scenario, options, plan::drawn(&options), None)
}

/// Runs a trial with these faults, keeping the last `trace` things that happened.
pub fn run_with(
    scenario: impl Scenario,
    options: Options,
    faults: Vec<Fault>,
    trace: Option<usize>,
) -> Outcome {
    let mut world = World::new(scenario, options);
    if let Some(capacity) = trace {
        world.sim.trace(capacity);
    }
    run_in(&mut world, faults)
}

/// Runs a trial with these faults. Also gives the files that real processes would have written in it, by name.
pub fn run_recorded(
    scenario: impl Scenario,
    options: Options,
    faults: Vec<Fault>,
) -> (Outcome, Vec<NamedBytes>) {
    let mut world = World::recorded(scenario, options);
    (run_in(&mut world, faults), world.into_files())
}

/// Runs a trial with these faults in a new world, which can be looked at afterwards.
pub fn run_in(world: &mut World, faults: Vec<Fault>) -> Outcome {
    trouble(world, &faults);
    if !world.monitor.is_violated() {
        recover(world);
    }
    if !world.monitor.is_violated() {
        world.conclude(Ending::Settled);
    }
    outcome(world, faults)
}

fn outcome(world: &World, faults: Vec<Fault>) -> Outcome {
    Outcome {
        options: *world.options(),
        faults,
        simulated: world.now().since(Time::ZERO),
        events: world.sim.events(),
        history: world.sim.history(),
        tally: world.monitor.judge.tally,
        crossings: world.monitor.judge.crossings(),
        trace: world.sim.trace_lines().map(str::to_owned).collect(),
        game_faults: world.monitor.faults_of_game.len(),
        violations: world.monitor.judge.violations.all().to_vec(),
    }
}

/// How often queues are looked at.
const LOOK_EVERY: Span = Span::from_millis(1_000);

fn trouble(world: &mut World, faults: &[Fault]) {
    // Beginnings and ends, in the order of time.
    let mut turns: BTreeMap<(Time, usize, bool), &Fault> = BTreeMap::new();
    for (number, fault) in faults.iter().enumerate() {
        turns.insert((fault.at, number, true), fault);
        turns.insert((fault.at + fault.span, number, false), fault);
    }
    let end = Time::ZERO + world.options().trouble;
    let mut bounded = Bounded::default();
    let mut next_look = Time::ZERO + LOOK_EVERY;
    for ((at, _, begins), fault) in turns {
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

/// Everything heals; the players go on for a while, then rest, and everybody must agree.
fn recover(world: &mut World) {
    world.heal();
    let healed = world.now();
    let calm = world.options().calm;
    world.run_until(healed + Span::from_micros(calm.as_micros() * 3 / 5));
    world.calm();
    world.run_until(healed + calm);
    let agreement = Agreement::of(world);
    world.run_until(healed + calm + Span::from_millis(1_000));
    if !world.monitor.is_violated() {
        world.examine(|world, out| check::recovery(world, &agreement, out));
    }
}
