//! The options that `ecumene sim zone` and `ecumene sim mesh` share: seeds, kinds of faults, planted bugs, reports.

use super::seeds::{Sweep, TimeBudget, run_caught, sweep};
use super::{failures, listed, plants, trace};
use crate::command::{CommandError, OutputFormat, print};
use crate::program::Program;
use clap::{Args, ValueEnum};
use simtest::fault::{FaultKind, FaultKinds};
use simtest::planted_bug::{PLANTED, PlantedBug};
use simtest::{RunOptions, RunRequest, plan};
use std::ops::RangeInclusive;

/// The kind of simulated worlds that a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorldKind {
    /// Worlds of one zone each.
    Zone,
    /// Worlds of several zones: the fewest and the most.
    Mesh(u32, u32),
}

impl WorldKind {
    /// The name of the command: `zone` or `mesh`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zone => "zone",
            Self::Mesh(..) => "mesh",
        }
    }

    /// The default constraints on what a seed may draw.
    const fn asked(self) -> RunRequest {
        match self {
            Self::Zone => RunRequest::ZONE,
            Self::Mesh(fewest, most) => RunRequest { zones: (fewest, most), ..RunRequest::MESH },
        }
    }

    /// The bugs of `--plant all`. Bugs that need several zones cannot be found in one.
    fn planted(self) -> Vec<&'static PlantedBug> {
        PLANTED.iter().filter(|it| self != Self::Zone || !it.between).collect()
    }

    /// The `--zones` option that a replay must repeat; empty for the default.
    fn given(self) -> String {
        match self {
            Self::Mesh(fewest, most) if (fewest, most) != RunRequest::MESH.zones => {
                let range = if fewest == most { fewest.to_string() } else { format!("{fewest}..{most}") };
                format!(" --zones {range}")
            }
            _ => String::new(),
        }
    }
}

/// Arguments of both `ecumene sim zone` and `ecumene sim mesh`.
#[derive(Args)]
pub struct SeedArgs {
    /// Seeds: 50 means 1 to 50, and 100..149 means 100 to 149 [default: 50, or 100 with --plant].
    #[arg(long, value_name = "N|A..B", value_parser = seeds, conflicts_with = "seed")]
    seeds: Option<RangeInclusive<u64>>,
    /// Run only this seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Also print the planned faults, and the last lines of the trace.
    #[arg(long, requires = "seed")]
    trace: bool,
    /// Kinds of faults, all of them in every seed; `none`, or `help` to list them [default: each seed draws].
    #[arg(long, value_name = "LIST", value_parser = faults)]
    faults: Option<FaultsArg>,
    /// Switch a rule of the protocol off and search for a seed in which a checker notices: a name, `all`, or `help`.
    #[arg(long, value_name = "NAME", value_parser = plant)]
    plant: Option<PlantArg>,
    /// Durability of announced records: synced or batched disk writes [default: each seed draws].
    #[arg(long, value_enum)]
    durability: Option<DurabilityArg>,
    /// Start no further seed after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    budget: Option<u64>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FaultsArg {
    Help,
    Only(FaultKinds),
}

#[derive(Clone, Copy)]
enum PlantArg {
    Help,
    All,
    One(&'static PlantedBug),
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DurabilityArg {
    Synced,
    Batched,
}

/// Number of seeds of a sweep by default.
const SEEDS: u64 = 50;
/// Number of seeds in which a planted bug must be found by default.
const HUNT_SEEDS: u64 = 100;

impl SeedArgs {
    fn seeds(&self, default_count: u64) -> RangeInclusive<u64> {
        self.seed.map(|it| it..=it).or_else(|| self.seeds.clone()).unwrap_or(1..=default_count)
    }

    /// The constraints on what a seed may draw; a planted bug brings its own mixture of faults.
    fn asked(&self, which: WorldKind, plant: Option<&PlantedBug>) -> RunRequest {
        let defaults = which.asked();
        let mut asked = plant.map_or(defaults, |it| RunRequest { zones: defaults.zones, ..it.request() });
        if let Some(FaultsArg::Only(kinds)) = self.faults {
            asked = RunRequest { kinds, all_kinds: true, ..asked };
        }
        match self.durability {
            Some(DurabilityArg::Synced) => asked.durability = Some(::zone::Durability::Synced),
            Some(DurabilityArg::Batched) => asked.durability = Some(::zone::Durability::Batched),
            None => (),
        }
        asked
    }

    fn budget(&self) -> TimeBudget {
        TimeBudget::of(self.budget)
    }

    /// The options besides the seeds that a replay must repeat, because a seed's draws depend on them.
    fn given(&self, which: WorldKind, plant: Option<&PlantedBug>) -> String {
        let mut given = which.given();
        if let Some(FaultsArg::Only(kinds)) = self.faults {
            given += &format!(" --faults {kinds}");
        }
        if let Some(plant) = plant {
            given += &format!(" --plant {}", plant.name);
        }
        if let Some(durability) = self.durability.and_then(|it| it.to_possible_value()) {
            given += &format!(" --durability {}", durability.get_name());
        }
        given
    }
}

/// Runs `ecumene sim zone` or `ecumene sim mesh`.
pub fn run(program: &Program, args: &SeedArgs, which: WorldKind) -> Result<(), CommandError> {
    if args.faults == Some(FaultsArg::Help) {
        return print(&listed(FaultKind::ALL.iter().map(|it| (it.name(), it.about()))));
    }
    match args.plant {
        Some(PlantArg::Help) => {
            let about: Vec<_> =
                PLANTED.iter().map(|it| (it.name, format!("{} [{}]", it.about, it.kinds()))).collect();
            print(&listed(about.iter().map(|(name, about)| (*name, about.as_str()))))
        }
        Some(PlantArg::All) => run_hunt(program, args, which, &which.planted()),
        Some(PlantArg::One(plant)) if args.trace => run_traced(program, args, which, Some(plant)),
        Some(PlantArg::One(plant)) => run_hunt(program, args, which, &[plant]),
        None if args.trace => run_traced(program, args, which, None),
        None => run_sweep(program, args, which),
    }
}

fn run_sweep(program: &Program, args: &SeedArgs, which: WorldKind) -> Result<(), CommandError> {
    let (asked, seeds) = (args.asked(which, None), args.seeds(SEEDS));
    let sweep = sweep(program, which, &asked, seeds, args.budget());
    let given = args.given(which, None);
    print(&match args.format {
        OutputFormat::Table => sweep.table() + &failures::describe_failures(program, &asked, &sweep, &given),
        OutputFormat::Json => serde_json::to_string_pretty(&json(program, &sweep, &given))? + "\n",
    })?;
    match sweep.failed.len() {
        0 => Ok(()),
        failed => Err(anyhow::anyhow!("{failed} of {} seeds broke an invariant", sweep.seeds).into()),
    }
}

fn json(program: &Program, sweep: &Sweep, given: &str) -> serde_json::Value {
    let violations = sweep.violations().map(|it| {
        serde_json::json!({
            "seed": it.seed,
            "invariant": it.invariant,
            "detail": it.detail,
            "millis": it.millis,
            "replay": failures::replay(program, sweep.sim, it.seed, given),
        })
    });
    let violations: Vec<_> = violations.collect();
    let mut json = serde_json::json!(sweep);
    json["violations"] = violations.into();
    json
}

fn run_hunt(
    program: &Program,
    args: &SeedArgs,
    which: WorldKind,
    planted: &[&'static PlantedBug],
) -> Result<(), CommandError> {
    let asked = |it: &PlantedBug| args.asked(which, Some(it));
    let hunts = plants::hunt(program, planted, &args.seeds(HUNT_SEEDS), args.budget(), asked);
    let given = |it: &PlantedBug| args.given(which, Some(it));
    print(&match args.format {
        OutputFormat::Table => plants::table(&hunts) + &plants::replays(program, &hunts, which.name(), given),
        OutputFormat::Json => serde_json::to_string_pretty(&plants::json(&hunts, which.name()))? + "\n",
    })?;
    let missed: Vec<_> = hunts.iter().filter(|it| it.found.is_none()).map(|it| it.planted.name).collect();
    if missed.is_empty() {
        return Ok(());
    }
    Err(anyhow::anyhow!("not found: {}; try more --seeds", missed.join(", ")).into())
}

/// Runs one seed and prints its plan and trace. The exit code is that of the command without `--trace`.
fn run_traced(
    program: &Program,
    args: &SeedArgs,
    which: WorldKind,
    plant: Option<&'static PlantedBug>,
) -> Result<(), CommandError> {
    let asked = args.asked(which, plant);
    let seed = *args.seeds(SEEDS).start();
    let options = RunOptions::draw(seed, &asked);
    let outcome = run_caught(
        &program.scenario(),
        options,
        plan::draw(&options),
        Some(trace::trace_length(trace::LINES)),
    );
    print(&trace::describe_outcome(&outcome))?;
    match (outcome.violations.first(), plant) {
        (Some(it), None) => Err(anyhow::anyhow!("seed {seed} broke {}", it.invariant).into()),
        // With a planted bug a violation is the expected result, so its absence is the failure.
        (None, Some(it)) => Err(anyhow::anyhow!("seed {seed} does not show {}", it.name).into()),
        _ => Ok(()),
    }
}

/// Parses a number of seeds, or the first and the last.
fn seeds(text: &str) -> Result<RangeInclusive<u64>, String> {
    let number = |it: &str| it.trim().parse::<u64>().ok();
    let range = match text.split_once("..") {
        Some((first, last)) => number(first).zip(number(last)),
        None => number(text).map(|count| (1, count)),
    };
    range
        .filter(|(first, last)| first <= last)
        .map(|(first, last)| first..=last)
        .ok_or_else(|| "give how many, such as 50, or the first and the last, such as 100..149".into())
}

fn faults(text: &str) -> Result<FaultsArg, String> {
    match text {
        "help" => Ok(FaultsArg::Help),
        "none" => Ok(FaultsArg::Only(FaultKinds::NONE)),
        list => {
            let kinds: Result<Vec<FaultKind>, _> = list.split(',').map(|it| it.trim().parse()).collect();
            kinds.map(|it| FaultsArg::Only(FaultKinds::of(it))).map_err(|error| error.to_string())
        }
    }
}

fn plant(text: &str) -> Result<PlantArg, String> {
    match text {
        "help" => Ok(PlantArg::Help),
        "all" => Ok(PlantArg::All),
        name => PlantedBug::by_name(name)
            .map(PlantArg::One)
            .ok_or_else(|| "there is no planted bug of that name; --plant help lists them".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, CliCommand};
    use crate::test_program::test_program;
    use clap::Parser;

    fn parsed(more: &[&str]) -> SeedArgs {
        let cli = Cli::parse_from([&["ecumene", "sim", "zone"], more].concat());
        let CliCommand::Sim(super::super::SimCommand::Zone(args)) = cli.command else {
            panic!("that was sim zone")
        };
        args.seed_args
    }

    #[test]
    fn seeds_are_a_number_or_a_first_and_a_last() {
        assert_eq!(seeds("50"), Ok(1..=50));
        assert_eq!(seeds("7..7"), Ok(7..=7));
        assert!(["", "0", "9..3", "1..", "a", "-1", "1...3"].iter().all(|it| seeds(it).is_err()));
    }

    #[test]
    fn a_replay_repeats_the_options_that_were_given() {
        assert_eq!(parsed(&["--seeds", "3"]).given(WorldKind::Zone, None), "");
        let args = parsed(&["--faults", "pause,crash", "--durability", "synced", "--plant", "no-fence"]);
        let given = " --faults crash,pause --plant no-fence --durability synced";
        assert_eq!(args.given(WorldKind::Zone, PlantedBug::by_name("no-fence")), given);
        assert_eq!(parsed(&[]).given(WorldKind::Mesh(2, 8), None), "", "it is the default");
        assert_eq!(parsed(&[]).given(WorldKind::Mesh(4, 4), None), " --zones 4");
        assert_eq!(parsed(&[]).given(WorldKind::Mesh(2, 3), None), " --zones 2..3");
    }

    /// A seed's draws depend on the options, so a restriction must hold in every seed alike.
    #[test]
    fn named_faults_exist_in_every_seed() {
        let args = parsed(&["--faults", "crash,pause"]);
        let (asked, kinds) =
            (args.asked(WorldKind::Zone, None), FaultKinds::of([FaultKind::Crash, FaultKind::Pause]));
        assert!((1..20).all(|seed| RunOptions::draw(seed, &asked).kinds == kinds));
        let planted = PlantedBug::by_name("no-fence").unwrap();
        assert_eq!(args.asked(WorldKind::Zone, Some(planted)).kinds, kinds, "and with a planted bug");
    }

    #[test]
    fn the_report_of_a_mesh_counts_border_crossings() {
        let which = WorldKind::Mesh(2, 2);
        let asked = parsed(&["--faults", "crash-one,mesh-cut"]).asked(which, None);
        let program = &test_program();
        let sweep = sweep(program, which, &asked, 1..=1, TimeBudget::of(None));
        let report = json(program, &sweep, "");
        let numbers =
            ["cross_zone_events", "transfers", "splits", "merges", "failovers", "aborted", "actions_acked"];
        assert!(numbers.iter().all(|&it| report[it].is_u64()), "{report}");
        assert_eq!((&report["sim"], &report["violations"]), (&"mesh".into(), &serde_json::json!([])));
        assert!(sweep.table().contains("events of several zones"));
    }
}
