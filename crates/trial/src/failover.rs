//! How long nobody can play when a primary is lost.
//!
//! A sample is a world without other trouble, three hosts ten milliseconds apart. Its players act all the time. At a
//! random moment the primary is killed, frozen, or cut off in one direction, and the time is taken until a player hears
//! the result of an action *sent after the fault*: only then can somebody play again. All checkers watch.

use crate::fault::Kinds;
use crate::judge::Ending;
use crate::options::Options;
use crate::scenario::Scenario;
use crate::violation::Violation;
use crate::world::World;
use machine::{Rng, Span, Time};
use node::NodeCommand;
use zone::{Alone, BrokenRules, Durability, Standing, Want};

/// How a primary is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// Its process dies.
    Kill,
    /// Its process is stopped for ten seconds.
    Freeze,
    /// Its backup no longer hears it; everybody else does.
    Mute,
    /// It no longer hears its backup; everybody else does.
    Deaf,
    /// Nobody hears it, and it hears everybody.
    Silent,
}

impl Loss {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Kill, Self::Freeze, Self::Mute, Self::Deaf, Self::Silent];

    /// Its name.
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

/// What one loss led to.
#[derive(Clone, Debug)]
pub struct Sample {
    /// How the primary was lost.
    pub loss: Loss,
    /// From the fault to the first result of an action sent after it; `None` if there was none within ten seconds.
    pub until_played: Option<Span>,
    /// What the checkers found.
    pub violations: Vec<Violation>,
}

/// Players per world.
const PLAYERS: u32 = 20;
/// Each acts this often, so that waiting for somebody to act is no part of the time.
const ACT_EVERY: Span = Span::from_millis(100);
/// How long after the fault somebody may play again at the latest.
const WAIT_MAX: Span = Span::from_millis(10_000);
/// The world is founded, protected and full of players by then.
const WARM: Time = Time::from_millis(4_000);

/// Takes one sample.
///
/// # Panics
///
/// If the scenario has no everyday action.
pub fn sample(scenario: impl Scenario, seed: u64, loss: Loss) -> Sample {
    let mut rng = Rng::seeded(seed).fork_named(0xfa11);
    let action = scenario.everyday_action().expect("players need something to do");
    let mut world = World::new(scenario, options(seed));
    let at = WARM + Span::from_millis(rng.below(1_000));
    acting(&mut world, &action, at);
    let Some(before) = lose(&mut world, loss) else {
        return Sample { loss, until_played: None, violations: world.monitor.judge.violations.into_vec() };
    };
    let until_played = wait(&mut world, &action, at, &before);
    world.heal();
    let healed = world.now();
    world.run_until(healed + Span::from_millis(12_000));
    if !world.monitor.is_violated() {
        world.conclude(Ending::Stopped);
    }
    Sample { loss, until_played, violations: world.monitor.judge.violations.into_vec() }
}

fn options(seed: u64) -> Options {
    Options {
        seed,
        zones: 1,
        players: PLAYERS,
        trouble: Span::from_millis(10_000),
        calm: Span::from_millis(10_000),
        kinds: Kinds::NONE,
        durability: Durability::Batched,
        host_delay: Span::from_millis(10),
        player_delay: Span::from_millis(20),
        budget: None,
        faults: 0,
        plants: BrokenRules::NONE,
    }
}

/// Lets every player act now and then, once the world is warm and up to a time.
fn acting(world: &mut World, action: &[u8], to: Time) {
    let mut next = WARM;
    while next < to {
        world.run_until(next);
        act(world, action);
        next += ACT_EVERY;
    }
    world.run_until(to);
}

fn act(world: &mut World, action: &[u8]) {
    let now = world.now();
    for address in world.player_addresses() {
        world.sim.command(now, address, NodeCommand::Client(Want::Act(action.to_vec())));
    }
}

/// Loses the primary, if there is one with a backup. Says which action each player sent last.
fn lose(world: &mut World, loss: Loss) -> Option<Vec<u64>> {
    let zone = world.layout().zones().next()?;
    let (host, replica) = world.primary(zone)?;
    let Standing::Primary(_, Alone::No) = replica.standing() else { return None };
    let backup = world.service.reign(zone)?.backup?;
    match loss {
        Loss::Kill => world.crash(host, Span::from_millis(20_000)),
        Loss::Freeze => world.sim.freeze(host, world.now() + Span::from_millis(10_000)),
        Loss::Mute => world.cut(host, backup),
        Loss::Deaf => world.cut(backup, host),
        Loss::Silent => {
            let others = world.layout().replicas().filter(|&it| it != host);
            for other in others.chain(world.player_addresses()).collect::<Vec<_>>() {
                world.cut(host, other);
            }
        }
    }
    Some(world.players().map(|(_, it)| it.last_action()).collect())
}

/// Waits until somebody hears the result of an action sent after the fault.
fn wait(world: &mut World, action: &[u8], fault: Time, before: &[u64]) -> Option<Span> {
    world.monitor.answers.clear();
    let mut next = fault;
    while next < fault + WAIT_MAX && !world.monitor.is_violated() {
        act(world, action);
        next += ACT_EVERY;
        world.run_until(next);
        let new = |it: &&(Time, game::PlayerId, u64)| {
            before.get(it.1.0 as usize - 1).is_some_and(|&last| last < it.2)
        };
        if let Some((at, ..)) = world.monitor.answers.iter().find(new) {
            return Some(at.since(fault));
        }
    }
    None
}
