//! `ecumene sim mesh`.

use super::seed_args::{self, SeedArgs, WorldKind};
use crate::command::CommandError;
use crate::program::Program;
use clap::Args;

/// Arguments of `ecumene sim mesh`.
#[derive(Args)]
#[command(after_help = "\
Each seed is a world of its own, cut into zones at random. Every zone has a replica on each of three hosts; a fault of
a host hits all replicas on it. Players cross borders, trade and fight across them, and hosts die at every step of
locks, decisions and transfers. Then the faults end, and the world must recover. Checkers read the history of every
zone, and of all zones together: one owner per object, each action once, each event wholly or not at all, nothing lost
in between. The exit code is 1 if a checker finds a violation. The same seed and options give the same history on
every computer.

Examples:
  ecumene sim mesh                                  fifty seeds of 2 to 8 zones
  ecumene sim mesh --zones 2                        two zones: the easiest to understand
  ecumene sim mesh --seeds 1000..1499 --budget 900  five hundred others, or as many as fit into a quarter of an hour
  ecumene sim mesh --faults point,mesh-cut          only these kinds of faults, in every seed
  ecumene sim mesh --faults help                    list the kinds of faults
  ecumene sim mesh --seed 7 --trace                 the faults of one seed, and the last lines of its trace
  ecumene sim mesh --format json                    for programs

More: docs/sim.md")]
pub struct SimMeshArgs {
    #[command(flatten)]
    seed_args: SeedArgs,
    /// Number of zones: 4 means four, and 2..8 lets each seed draw between two and eight.
    #[arg(long, value_name = "N|A..B", value_parser = zones, default_value = "2..8")]
    zones: (u32, u32),
}

pub fn run(program: &Program, args: &SimMeshArgs) -> Result<(), CommandError> {
    let (fewest, most) = args.zones;
    seed_args::run(program, &args.seed_args, WorldKind::Mesh(fewest, most))
}

/// The most zones of a simulated world: more take longer and show nothing new.
const ZONES_MAX: u32 = 32;

/// Parses a number of zones, or the fewest and the most.
fn zones(text: &str) -> Result<(u32, u32), String> {
    let number = |it: &str| it.trim().parse::<u32>().ok();
    let range = match text.split_once("..") {
        Some((fewest, most)) => number(fewest).zip(number(most)),
        None => number(text).map(|it| (it, it)),
    };
    range
        .filter(|&(fewest, most)| 2 <= fewest && fewest <= most && most <= ZONES_MAX)
        .ok_or_else(|| format!("give how many, such as 4, or a range such as 2..8; from 2 to {ZONES_MAX}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_a_number_or_a_range() {
        assert_eq!((zones("4"), zones("2..8")), (Ok((4, 4)), Ok((2, 8))));
        assert!(["", "0", "1", "1..3", "5..4", "33", "2..99", "x"].iter().all(|it| zones(it).is_err()));
    }
}
