//! The runs of all parts, and their results.

use super::case::{MeshCase, MeshMeasurement, MeshRunEnd, run};
use super::clients::{Habit, LineKind};
use super::ground::{HomeKind, MeshGround, SIDE};
use super::setting::{MeshPart, MeshSetting};
use super::torture::{TortureResult, TortureScenario, play};
use machine::Span;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde::Serialize;
use std::sync::Arc;

/// Delay between the paper's servers, one way: they stood in one room.
const ONE_ROOM: Span = Span::from_micros(100);

/// Simulated length of the runs past the paper.
const LASTS: Span = Span::from_secs(30);

/// Number of clients in the experiments with three servers.
const CLIENTS: u32 = 200;

/// Delays between servers, one way, in milliseconds.
const DISTANCES: [u64; 6] = [0, 5, 10, 25, 50, 100];

/// Shares of clients that live at borders, in per cent.
const SHARES: [u32; 5] = [0, 25, 50, 75, 100];

/// One row of a table.
#[derive(Clone, Debug, Serialize)]
pub struct MeshRow {
    /// Name of the row: where clients live, how far apart servers are, and so on.
    pub name: String,
    /// The number that varies from row to row, for the axis of figures.
    pub at: f64,
    /// Everything that was measured in the run.
    #[serde(flatten)]
    pub measured: MeshMeasurement,
}

/// The results of all parts; their fields are the JSON of the report.
#[derive(Clone, Debug, Serialize)]
pub struct MeshResults {
    /// Name of the experiment, always `mesh`.
    pub experiment: &'static str,
    /// The options of the experiment.
    #[serde(flatten)]
    pub setting: MeshSetting,
    /// Experiment 1: clients anywhere and at borders.
    pub borders: Vec<MeshRow>,
    /// Experiment 2: one server, and three.
    pub servers: Vec<MeshRow>,
    /// Servers ever farther apart; all clients live at borders.
    pub distance: Vec<MeshRow>,
    /// Ever larger shares of clients at borders.
    pub share: Vec<MeshRow>,
    /// Worlds with ever more zones.
    pub scaling: Vec<MeshRow>,
    /// Results of the paper's tests by hand.
    pub torture: Vec<TortureResult>,
}

/// The run that is planned for one row.
struct PlannedCase {
    part: MeshPart,
    name: String,
    at: f64,
    case: MeshCase,
}

/// Number of runs for these options.
pub fn steps(setting: &MeshSetting) -> u64 {
    let torture = if setting.has(MeshPart::Torture) { TortureScenario::ALL.len() } else { 0 };
    (planned(setting).len() + torture) as u64
}

/// Makes all runs on all cores; `done` is called after each.
pub fn measure(setting: &MeshSetting, done: &(dyn Fn() + Sync)) -> MeshResults {
    // The longest first, so that no core waits for another in the end.
    let mut rows: Vec<_> = planned(setting).into_iter().enumerate().collect();
    rows.sort_by_key(|it| std::cmp::Reverse(it.1.case.homes.len()));
    let mut rows: Vec<_> = rows
        .into_par_iter()
        .map(|(number, it)| {
            let measured = run(&it.case);
            done();
            (number, it.part, MeshRow { name: it.name, at: it.at, measured })
        })
        .collect();
    // Back to the order of the report.
    rows.sort_by_key(|it| it.0);
    let scenarios = if setting.has(MeshPart::Torture) { TortureScenario::ALL.as_slice() } else { &[] };
    let torture = scenarios.into_par_iter().map(|&it| {
        let played = play(it, setting.seed);
        done();
        played
    });
    let torture = torture.collect();
    let of = |part| rows.iter().filter(|it| it.1 == part).map(|it| it.2.clone()).collect();
    MeshResults {
        experiment: "mesh",
        setting: setting.clone(),
        borders: of(MeshPart::Borders),
        servers: of(MeshPart::Servers),
        distance: of(MeshPart::Distance),
        share: of(MeshPart::Share),
        scaling: of(MeshPart::Zones),
        torture,
    }
}

fn planned(setting: &MeshSetting) -> Vec<PlannedCase> {
    let all = [borders(setting), servers(setting), distance(setting), share(setting), zones(setting)];
    all.into_iter().flatten().filter(|it| setting.has(it.part)).collect()
}

fn case(
    setting: &MeshSetting,
    ground: &Arc<MeshGround>,
    homes: Vec<HomeKind>,
    until: MeshRunEnd,
) -> MeshCase {
    MeshCase {
        ground: Arc::clone(ground),
        homes,
        habit: (Habit::Lives, LineKind::Various),
        service: setting.service(),
        between: ONE_ROOM,
        until,
        seed: setting.seed,
    }
}

/// A world of three zones in a row.
fn row_of_three() -> Arc<MeshGround> {
    Arc::new(MeshGround::new(3, 1, (SIDE, SIDE)))
}

fn borders(setting: &MeshSetting) -> Vec<PlannedCase> {
    let ground = row_of_three();
    let kinds = [
        ("anywhere", HomeKind::Anywhere),
        ("all within range of a border", HomeKind::NearBorders),
        ("as crowded, but inside", HomeKind::Inside),
    ];
    let plan = |(number, (name, place)): (usize, (&str, HomeKind))| PlannedCase {
        part: MeshPart::Borders,
        name: name.to_owned(),
        at: number as f64,
        case: case(setting, &ground, vec![place; CLIENTS as usize], MeshRunEnd::Events(setting.events)),
    };
    kinds.into_iter().enumerate().map(plan).collect()
}

fn servers(setting: &MeshSetting) -> Vec<PlannedCase> {
    let one = Arc::new(MeshGround::new(1, 1, (3 * SIDE, SIDE)));
    let three = row_of_three();
    let runs = [100, 150, 200].map(|it| (&one, "one server", it)).into_iter();
    let runs = runs.chain([200, 300, 400].map(|it| (&three, "three servers", it)));
    let plan = |(ground, name, clients): (&Arc<MeshGround>, &str, u32)| PlannedCase {
        part: MeshPart::Servers,
        name: format!("{name}, {clients} clients"),
        at: f64::from(clients),
        case: case(
            setting,
            ground,
            vec![HomeKind::Anywhere; clients as usize],
            MeshRunEnd::Events(setting.events),
        ),
    };
    runs.map(plan).collect()
}

fn distance(setting: &MeshSetting) -> Vec<PlannedCase> {
    let ground = row_of_three();
    let plan = |millis: u64| PlannedCase {
        part: MeshPart::Distance,
        name: format!("{millis} ms"),
        at: millis as f64,
        case: MeshCase {
            between: Span::from_millis(millis).max(ONE_ROOM),
            ..case(
                setting,
                &ground,
                vec![HomeKind::NearBorders; CLIENTS as usize],
                MeshRunEnd::Elapsed(LASTS),
            )
        },
    };
    DISTANCES.map(plan).into()
}

fn share(setting: &MeshSetting) -> Vec<PlannedCase> {
    let ground = row_of_three();
    let plan = |percent: u32| {
        // Spreads the share evenly over the clients: the count of near ones rises by one wherever this is true.
        let near = |client: u32| client * percent / 100 != (client + 1) * percent / 100;
        let home = |client| if near(client) { HomeKind::NearBorders } else { HomeKind::FarFromBorders };
        PlannedCase {
            part: MeshPart::Share,
            name: format!("{percent} %"),
            at: f64::from(percent),
            case: case(setting, &ground, (0..CLIENTS).map(home).collect(), MeshRunEnd::Elapsed(LASTS)),
        }
    };
    SHARES.map(plan).into()
}

fn zones(setting: &MeshSetting) -> Vec<PlannedCase> {
    let plan = |&zones: &u32| {
        let side = zones.isqrt();
        let ground = Arc::new(MeshGround::new(side, side, (SIDE, SIDE)));
        let homes = vec![HomeKind::Anywhere; (zones * setting.clients_per_zone) as usize];
        PlannedCase {
            part: MeshPart::Zones,
            name: if zones == 1 { "1 zone".to_owned() } else { format!("{zones} zones") },
            at: f64::from(zones),
            case: case(setting, &ground, homes, MeshRunEnd::Elapsed(LASTS)),
        }
    };
    setting.zones.iter().map(plan).collect()
}
