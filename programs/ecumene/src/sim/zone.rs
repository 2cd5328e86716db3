//! `ecumene sim zone`.

use super::trials::{self, Trials, Which};
use crate::Failure;
use clap::Args as ClapArgs;

/// What `ecumene sim zone` takes.
#[derive(ClapArgs)]
#[command(after_help = "\
Each seed is a world of its own: three hosts with disks, a directory, players, and a draw of what goes wrong and
when. After the trouble everything heals and the world must recover. Checkers watch all the time; the exit code
is 1 if one of them found anything. The same seed and options give the same history on every machine.

Examples:
  ecumene sim zone                                  fifty seeds
  ecumene sim zone --seeds 1000..1999 --budget 600  a thousand others, or as many as fit into ten minutes
  ecumene sim zone --faults crash,pause             only these kinds of trouble, in every seed
  ecumene sim zone --faults help                    which kinds there are
  ecumene sim zone --seed 7 --trace                 what went wrong in one seed, and what happened last
  ecumene sim zone --plant announce-early           switch a fix off: do the checkers notice?
  ecumene sim zone --plant all                      the same with every fix

More: docs/sim.md")]
pub struct Args {
    #[command(flatten)]
    pub(super) trials: Trials,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    trials::run(&args.trials, Which::Zone)
}
