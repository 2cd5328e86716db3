//! What `ecumene sim zone` and `ecumene sim mesh` have in common: seeds, kinds of trouble, reports.

use super::seeds::{Budget, Sweep, run_caught, sweep};
use super::{Format, failures, listed, plants, trace};
use crate::{Failure, print};
use clap::{Args as ClapArgs, ValueEnum};
use std::ops::RangeInclusive;
use trial::fault::{Kind, Kinds};
use trial::plants::{PLANTED, Planted};
use trial::{Asked, Options, plan};

/// Which worlds are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Worlds of one zone.
    Zone,
    /// Worlds of several: the fewest and the most.
    Mesh(u32, u32),
}

impl Which {
    /// The name of the command.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zone => "zone",
            Self::Mesh(..) => "mesh",
        }
    }

    /// What is asked of every seed, unless somebody says otherwise.
    const fn asked(self) -> Asked {
        match self {
            Self::Zone => Asked::EVERYTHING,
            Self::Mesh(fewest, most) => Asked { zones: (fewest, most), ..Asked::MESH },
        }
    }

    /// The bugs that are hunted when all are: those that take several zones cannot be found in one.
    fn planted(self) -> Vec<&'static Planted> {
        PLANTED.iter().filter(|it| self != Self::Zone || !it.between).collect()
    }

    /// The option that must be given again for the same worlds.
    fn given(self) -> String {
        match self {
            Self::Mesh(fewest, most) if (fewest, most) != Asked::MESH.zones => {
                let range = if fewest == most { fewest.to_string() } else { format!("{fewest}..{most}") };
                format!(" --zones {range}")
            }
            _ => String::new(),
        }
    }
}

/// What every kind of trial takes.
#[derive(ClapArgs)]
pub struct Trials {
    /// Seeds: 50 means 1 to 50, and 100..149 means 100 to 149 [default: 50, or 100 with --plant].
    #[arg(long, value_name = "N|A..B", value_parser = seeds, conflicts_with = "seed")]
    seeds: Option<RangeInclusive<u64>>,
    /// One seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Also print what was to go wrong, and the last things that happened.
    #[arg(long, requires = "seed")]
    trace: bool,
    /// Kinds of trouble, all of them in every seed; `none`, or `help` to list them [default: each seed draws].
    #[arg(long, value_name = "LIST", value_parser = faults)]
    faults: Option<FaultsArg>,
    /// Switch a fix off and hunt for a seed in which a checker notices: a name, `all`, or `help`.
    #[arg(long, value_name = "NAME", value_parser = plant)]
    plant: Option<PlantArg>,
    /// How announcements wait for disks [default: each seed draws].
    #[arg(long, value_enum)]
    durability: Option<DurabilityArg>,
    /// Begin no seed after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    budget: Option<u64>,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FaultsArg {
    Help,
    Only(Kinds),
}

#[derive(Clone, Copy)]
enum PlantArg {
    Help,
    All,
    One(&'static Planted),
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DurabilityArg {
    Synced,
    Batched,
}

/// Seeds without a choice.
const SEEDS: u64 = 50;
/// Seeds in which a planted bug must show itself.
const HUNT_SEEDS: u64 = 100;

impl Trials {
    fn seeds(&self, or: u64) -> RangeInclusive<u64> {
        self.seed.map(|it| it..=it).or_else(|| self.seeds.clone()).unwrap_or(1..=or)
    }

    /// What is asked of every seed; a planted bug brings its own mixture of trouble.
    fn asked(&self, which: Which, plant: Option<&Planted>) -> Asked {
        let usual = which.asked();
        let mut asked = plant.map_or(usual, |it| Asked { zones: usual.zones, ..it.asked() });
        if let Some(FaultsArg::Only(kinds)) = self.faults {
            asked = Asked { kinds, all_kinds: true, ..asked };
        }
        match self.durability {
            Some(DurabilityArg::Synced) => asked.durability = Some(::zone::Durability::Synced),
            Some(DurabilityArg::Batched) => asked.durability = Some(::zone::Durability::Batched),
            None => (),
        }
        asked
    }

    fn budget(&self) -> Budget {
        Budget::of(self.budget)
    }

    /// The options that were given besides the seeds: with them a seed is the same trial again.
    fn given(&self, which: Which, plant: Option<&Planted>) -> String {
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

/// Runs the command.
pub fn run(args: &Trials, which: Which) -> Result<(), Failure> {
    if args.faults == Some(FaultsArg::Help) {
        return print(&listed(Kind::ALL.iter().map(|it| (it.name(), it.about()))));
    }
    match args.plant {
        Some(PlantArg::Help) => {
            let about: Vec<_> =
                PLANTED.iter().map(|it| (it.name, format!("{} [{}]", it.about, it.kinds()))).collect();
            print(&listed(about.iter().map(|(name, about)| (*name, about.as_str()))))
        }
        Some(PlantArg::All) => hunt(args, which, &which.planted()),
        Some(PlantArg::One(plant)) if args.trace => traced(args, which, Some(plant)),
        Some(PlantArg::One(plant)) => hunt(args, which, &[plant]),
        None if args.trace => traced(args, which, None),
        None => swept(args, which),
    }
}

fn swept(args: &Trials, which: Which) -> Result<(), Failure> {
    let (asked, seeds) = (args.asked(which, None), args.seeds(SEEDS));
    let sweep = sweep(which, &asked, seeds, args.budget());
    let given = args.given(which, None);
    print(&match args.format {
        Format::Table => sweep.table() + &failures::told(&asked, &sweep, &given),
        Format::Json => serde_json::to_string_pretty(&json(&sweep, &given))? + "\n",
    })?;
    match sweep.failed.len() {
        0 => Ok(()),
        failed => Err(anyhow::anyhow!("{failed} of {} seeds broke an invariant", sweep.seeds).into()),
    }
}

fn json(sweep: &Sweep, given: &str) -> serde_json::Value {
    let violations = sweep.violations().map(|it| {
        serde_json::json!({
            "seed": it.seed,
            "invariant": it.invariant,
            "detail": it.detail,
            "millis": it.millis,
            "replay": failures::replay(sweep.sim, it.seed, given),
        })
    });
    let violations: Vec<_> = violations.collect();
    let mut json = serde_json::json!(sweep);
    json["violations"] = violations.into();
    json
}

fn hunt(args: &Trials, which: Which, planted: &[&'static Planted]) -> Result<(), Failure> {
    let asked = |it: &Planted| args.asked(which, Some(it));
    let hunts = plants::hunt(planted, &args.seeds(HUNT_SEEDS), args.budget(), asked);
    let given = |it: &Planted| args.given(which, Some(it));
    print(&match args.format {
        Format::Table => plants::table(&hunts) + &plants::replays(&hunts, which.name(), given),
        Format::Json => serde_json::to_string_pretty(&plants::json(&hunts, which.name()))? + "\n",
    })?;
    let missed: Vec<_> = hunts.iter().filter(|it| it.found.is_none()).map(|it| it.planted.name).collect();
    if missed.is_empty() {
        return Ok(());
    }
    Err(anyhow::anyhow!("not found: {}; try more --seeds", missed.join(", ")).into())
}

/// One seed, with everything there is to know about it. Its exit code is that of the command without `--trace`.
fn traced(args: &Trials, which: Which, plant: Option<&'static Planted>) -> Result<(), Failure> {
    let asked = args.asked(which, plant);
    let seed = *args.seeds(SEEDS).start();
    let options = Options::drawn(seed, &asked);
    let outcome = run_caught(options, plan::drawn(&options), Some(trace::kept(trace::LINES)));
    print(&trace::told(&outcome))?;
    match (outcome.violations.first(), plant) {
        (Some(it), None) => Err(anyhow::anyhow!("seed {seed} broke {}", it.invariant).into()),
        (None, Some(it)) => Err(anyhow::anyhow!("seed {seed} does not show {}", it.name).into()),
        _ => Ok(()),
    }
}

/// A number of seeds, or the first and the last.
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
        "none" => Ok(FaultsArg::Only(Kinds::NONE)),
        list => {
            let kinds: Result<Vec<Kind>, _> = list.split(',').map(|it| it.trim().parse()).collect();
            kinds.map(|it| FaultsArg::Only(Kinds::of(it))).map_err(|error| error.to_string())
        }
    }
}

fn plant(text: &str) -> Result<PlantArg, String> {
    match text {
        "help" => Ok(PlantArg::Help),
        "all" => Ok(PlantArg::All),
        name => Planted::by_name(name)
            .map(PlantArg::One)
            .ok_or_else(|| "there is no planted bug of that name; --plant help lists them".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cli, Command};
    use clap::Parser;

    fn asked(more: &[&str]) -> Trials {
        let cli = Cli::parse_from([&["ecumene", "sim", "zone"], more].concat());
        let Command::Sim(super::super::Sim::Zone(args)) = cli.command else { panic!("that was sim zone") };
        args.trials
    }

    #[test]
    fn seeds_are_a_number_or_a_first_and_a_last() {
        assert_eq!(seeds("50"), Ok(1..=50));
        assert_eq!(seeds("7..7"), Ok(7..=7));
        assert!(["", "0", "9..3", "1..", "a", "-1", "1...3"].iter().all(|it| seeds(it).is_err()));
    }

    #[test]
    fn what_was_given_is_given_again_and_nothing_else() {
        assert_eq!(asked(&["--seeds", "3"]).given(Which::Zone, None), "");
        let args = asked(&["--faults", "pause,crash", "--durability", "synced", "--plant", "no-fence"]);
        let given = " --faults crash,pause --plant no-fence --durability synced";
        assert_eq!(args.given(Which::Zone, Planted::by_name("no-fence")), given);
        assert_eq!(asked(&[]).given(Which::Mesh(2, 8), None), "", "that is what is drawn anyway");
        assert_eq!(asked(&[]).given(Which::Mesh(4, 4), None), " --zones 4");
        assert_eq!(asked(&[]).given(Which::Mesh(2, 3), None), " --zones 2..3");
    }

    /// A seed's draw depends on what was asked for, so a restriction must hold in every seed alike.
    #[test]
    fn named_faults_exist_in_every_seed() {
        let args = asked(&["--faults", "crash,pause"]);
        let (asked, kinds) = (args.asked(Which::Zone, None), Kinds::of([Kind::Crash, Kind::Pause]));
        assert!((1..20).all(|seed| Options::drawn(seed, &asked).kinds == kinds));
        let planted = Planted::by_name("no-fence").unwrap();
        assert_eq!(args.asked(Which::Zone, Some(planted)).kinds, kinds, "and with a planted bug");
    }

    #[test]
    fn a_mesh_tells_what_crossed_its_borders() {
        let which = Which::Mesh(2, 2);
        let asked = asked(&["--faults", "crash-one,mesh-cut"]).asked(which, None);
        let sweep = sweep(which, &asked, 1..=1, Budget::of(None));
        let told = json(&sweep, "");
        let numbers =
            ["cross_zone_events", "transfers", "splits", "merges", "failovers", "aborted", "actions_acked"];
        assert!(numbers.iter().all(|&it| told[it].is_u64()), "{told}");
        assert_eq!((&told["sim"], &told["violations"]), (&"mesh".into(), &serde_json::json!([])));
        assert!(sweep.table().contains("events of several zones"));
    }
}
