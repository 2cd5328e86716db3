//! Measures how long the world cannot be played in when a primary is lost.
//!
//! A sample is a world without other faults, three hosts ten milliseconds apart. Its players act all the time. At a
//! random moment the primary is killed, frozen, or cut off in one direction, and the time is taken until a player hears
//! the result of an action *sent after the fault*: only then can players play again. All checkers watch.

use crate::fault::FaultKinds;
use crate::history_checker::Ending;
use crate::run_options::RunOptions;
use crate::scenario::Scenario;
use crate::simulated_world::SimulatedWorld;
use crate::violation::Violation;
use machine::{Rng, Span, Time};
use node::NodeCommand;
use zone::{Alone, BrokenRules, Durability, PlayerCommand, ReplicaStatus};

/// Ways to lose a primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PrimaryLoss {
    /// The primary's process is killed.
    Kill,
    /// The primary's process is stopped for ten seconds.
    Freeze,
    /// The backup no longer hears the primary; all other machines do.
    Mute,
    /// The primary no longer hears its backup; all other machines do.
    Deaf,
    /// No machine hears the primary, and it hears all of them.
    Silent,
}

impl PrimaryLoss {
    /// Every way to lose a primary.
    pub const ALL: [Self; 5] = [Self::Kill, Self::Freeze, Self::Mute, Self::Deaf, Self::Silent];

    /// Name of the loss in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Freeze => "freeze",
            Self::Mute => "one-way cut, backup does not hear",
            Self::Deaf => "one-way cut, primary does not hear",
            Self::Silent => "one-way cut, nobody hears",
        }
    }
}

/// Result of one loss of a primary.
#[derive(Clone, Debug)]
pub struct FailoverSample {
    /// The way in which the primary was lost.
    pub loss: PrimaryLoss,
    /// From the fault to the first result of an action sent after it; `None` if there was none within ten seconds.
    pub until_played: Option<Span>,
    /// Violations that the checkers found.
    pub violations: Vec<Violation>,
}

/// Number of players per world.
const PLAYERS: u32 = 20;
/// Interval of each player's actions: so short that waiting for the next action is no part of the time.
const ACT_EVERY: Span = Span::from_millis(100);
/// Time after the fault within which a player must be answered.
const WAIT_MAX: Span = Span::from_millis(10_000);
/// Time by which the world is founded, has a backup, and is full of players.
const WARM: Time = Time::from_millis(4_000);

/// Takes one sample from the world of a seed.
///
/// # Panics
///
/// If the scenario has no everyday action.
pub fn sample(scenario: impl Scenario, seed: u64, loss: PrimaryLoss) -> FailoverSample {
    let mut rng = Rng::seeded(seed).fork_named(0xfa11);
    let action = scenario.everyday_action().expect("players need something to do");
    let mut world = SimulatedWorld::new(scenario, options(seed));
    let at = WARM + Span::from_millis(rng.below(1_000));
    acting(&mut world, &action, at);
    let Some(before) = lose(&mut world, loss) else {
        return FailoverSample {
            loss,
            until_played: None,
            violations: world.monitor.checker.violations.into_vec(),
        };
    };
    let until_played = wait(&mut world, &action, at, &before);
    world.heal();
    let healed = world.now();
    // Long enough for a frozen primary to go on, so that the checkers see how it fits in again.
    world.run_until(healed + Span::from_millis(12_000));
    if !world.monitor.is_violated() {
        world.conclude(Ending::Stopped);
    }
    FailoverSample { loss, until_played, violations: world.monitor.checker.violations.into_vec() }
}

fn options(seed: u64) -> RunOptions {
    RunOptions {
        seed,
        zones: 1,
        players: PLAYERS,
        fault_period: Span::from_millis(10_000),
        recovery_period: Span::from_millis(10_000),
        kinds: FaultKinds::NONE,
        durability: Durability::Batched,
        host_delay: Span::from_millis(10),
        player_delay: Span::from_millis(20),
        budget: None,
        faults: 0,
        broken_rules: BrokenRules::NONE,
    }
}

/// Lets every player act now and then, once the world is warm and up to a time.
fn acting(world: &mut SimulatedWorld, action: &[u8], to: Time) {
    let mut next = WARM;
    while next < to {
        world.run_until(next);
        act(world, action);
        next += ACT_EVERY;
    }
    world.run_until(to);
}

fn act(world: &mut SimulatedWorld, action: &[u8]) {
    let now = world.now();
    for address in world.player_addresses() {
        world.sim.command(now, address, NodeCommand::Client(PlayerCommand::Act(action.to_vec())));
    }
}

/// Loses the primary, if there is one with a backup. Returns the number of the last action of each player.
fn lose(world: &mut SimulatedWorld, loss: PrimaryLoss) -> Option<Vec<u64>> {
    let zone = world.layout().zones().next()?;
    let (host, replica) = world.primary(zone)?;
    let ReplicaStatus::Primary(_, Alone::No) = replica.status() else { return None };
    let backup = world.directory.leadership(zone)?.backup?;
    match loss {
        // Dead for longer than the sample waits: a restart must not end the outage.
        PrimaryLoss::Kill => world.crash(host, Span::from_millis(20_000)),
        PrimaryLoss::Freeze => world.sim.freeze(host, world.now() + Span::from_millis(10_000)),
        PrimaryLoss::Mute => world.cut(host, backup),
        PrimaryLoss::Deaf => world.cut(backup, host),
        PrimaryLoss::Silent => {
            let others = world.layout().replicas().filter(|&it| it != host);
            for other in others.chain(world.player_addresses()).collect::<Vec<_>>() {
                world.cut(host, other);
            }
        }
    }
    Some(world.players().map(|(_, it)| it.last_action()).collect())
}

/// Waits until a player hears the result of an action sent after the fault.
fn wait(world: &mut SimulatedWorld, action: &[u8], fault: Time, before: &[u64]) -> Option<Span> {
    // Answers from before the fault are of no interest.
    world.monitor.answers.clear();
    let mut next = fault;
    while next < fault + WAIT_MAX && !world.monitor.is_violated() {
        act(world, action);
        next += ACT_EVERY;
        world.run_until(next);
        let new = |it: &&(Time, game::PlayerId, u64)| {
            // Players are numbered from 1.
            before.get(it.1.0 as usize - 1).is_some_and(|&last| last < it.2)
        };
        if let Some((at, ..)) = world.monitor.answers.iter().find(new) {
            return Some(at.since(fault));
        }
    }
    None
}
