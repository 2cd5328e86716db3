//! `ecumene sim zone`.

use super::seed_args::{self, SeedArgs, WorldKind};
use crate::command::CommandError;
use crate::program::Program;
use clap::Args;

/// Arguments of `ecumene sim zone`.
#[derive(Args)]
#[command(after_help = "\
Each seed is a world of its own: three hosts with disks, a directory, players, and faults at random times. Then the
faults end, and the world must recover. Checkers read the history; the exit code is 1 if one of them finds a
violation. The same seed and options give the same history on every computer.

Examples:
  ecumene sim zone                                  fifty seeds
  ecumene sim zone --seeds 1000..1999 --budget 600  a thousand others, or as many as fit into ten minutes
  ecumene sim zone --faults crash,pause             only these kinds of faults, in every seed
  ecumene sim zone --faults help                    list the kinds of faults
  ecumene sim zone --seed 7 --trace                 the faults of one seed, and the last lines of its trace
  ecumene sim zone --plant announce-early           switch a rule of the protocol off: do the checkers notice?
  ecumene sim zone --plant all                      the same with every planted bug that shows in one zone

More: docs/sim.md")]
pub struct SimZoneArgs {
    #[command(flatten)]
    pub(super) seed_args: SeedArgs,
}

pub fn run(program: &Program, args: &SimZoneArgs) -> Result<(), CommandError> {
    seed_args::run(program, &args.seed_args, WorldKind::Zone)
}
