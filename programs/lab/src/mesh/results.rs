//! All parts together.

use super::case::{Case, Measured, Until, run};
use super::clients::{Habit, Lines};
use super::ground::{Ground, Place, SIDE};
use super::setting::{Part, Setting};
use super::torture::{Scenario, Tortured, play};
use machine::Span;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde::Serialize;
use std::sync::Arc;

/// The paper's servers stood in one room.
const ONE_ROOM: Span = Span::from_micros(100);

/// How long the runs past the paper are.
const LASTS: Span = Span::from_secs(30);

/// Clients of the experiments with three servers.
const CLIENTS: u32 = 200;

/// Between servers, one way, in milliseconds.
const DISTANCES: [u64; 6] = [0, 5, 10, 25, 50, 100];

/// Clients who live at borders, in per cent.
const SHARES: [u32; 5] = [0, 25, 50, 75, 100];

/// One line of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What it is about: where clients live, how far apart servers are, and so on.
    pub name: String,
    /// What was varied, as a number.
    pub at: f64,
    /// What was measured.
    #[serde(flatten)]
    pub measured: Measured,
}

/// What came of everything.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// Always `mesh`.
    pub experiment: &'static str,
    /// What was asked for.
    #[serde(flatten)]
    pub setting: Setting,
    /// Experiment 1.
    pub borders: Vec<Row>,
    /// Experiment 2.
    pub servers: Vec<Row>,
    /// Servers ever farther apart; all clients live at borders.
    pub distance: Vec<Row>,
    /// Ever more clients at borders.
    pub share: Vec<Row>,
    /// Ever more zones.
    pub scaling: Vec<Row>,
    /// The paper's tests by hand.
    pub torture: Vec<Tortured>,
}

/// What is to be run for one row.
struct Planned {
    part: Part,
    name: String,
    at: f64,
    case: Case,
}

/// How many runs that is.
pub fn steps(setting: &Setting) -> u64 {
    let torture = if setting.has(Part::Torture) { Scenario::ALL.len() } else { 0 };
    (planned(setting).len() + torture) as u64
}

/// Runs everything that was asked for, on all cores; tells of every run that is done.
pub fn measure(setting: &Setting, done: &(dyn Fn() + Sync)) -> Results {
    // The longest first, so that no core waits for another in the end.
    let mut rows: Vec<_> = planned(setting).into_iter().enumerate().collect();
    rows.sort_by_key(|it| std::cmp::Reverse(it.1.case.homes.len()));
    let mut rows: Vec<_> = rows
        .into_par_iter()
        .map(|(number, it)| {
            let measured = run(&it.case);
            done();
            (number, it.part, Row { name: it.name, at: it.at, measured })
        })
        .collect();
    rows.sort_by_key(|it| it.0);
    let scenarios = if setting.has(Part::Torture) { Scenario::ALL.as_slice() } else { &[] };
    let torture = scenarios.into_par_iter().map(|&it| {
        let played = play(it, setting.seed);
        done();
        played
    });
    let torture = torture.collect();
    let of = |part| rows.iter().filter(|it| it.1 == part).map(|it| it.2.clone()).collect();
    Results {
        experiment: "mesh",
        setting: setting.clone(),
        borders: of(Part::Borders),
        servers: of(Part::Servers),
        distance: of(Part::Distance),
        share: of(Part::Share),
        scaling: of(Part::Zones),
        torture,
    }
}

fn planned(setting: &Setting) -> Vec<Planned> {
    let all = [borders(setting), servers(setting), distance(setting), share(setting), zones(setting)];
    all.into_iter().flatten().filter(|it| setting.has(it.part)).collect()
}

fn case(setting: &Setting, ground: &Arc<Ground>, homes: Vec<Place>, until: Until) -> Case {
    Case {
        ground: Arc::clone(ground),
        homes,
        habit: (Habit::Lives, Lines::Various),
        service: setting.service(),
        between: ONE_ROOM,
        until,
        seed: setting.seed,
    }
}

/// Three zones in a row.
fn row_of_three() -> Arc<Ground> {
    Arc::new(Ground::new(3, 1, (SIDE, SIDE)))
}

fn borders(setting: &Setting) -> Vec<Planned> {
    let ground = row_of_three();
    let kinds = [
        ("anywhere", Place::Anywhere),
        ("all within range of a border", Place::NearBorders),
        ("as crowded, but inside", Place::Inside),
    ];
    let plan = |(number, (name, place)): (usize, (&str, Place))| Planned {
        part: Part::Borders,
        name: name.to_owned(),
        at: number as f64,
        case: case(setting, &ground, vec![place; CLIENTS as usize], Until::Events(setting.events)),
    };
    kinds.into_iter().enumerate().map(plan).collect()
}

fn servers(setting: &Setting) -> Vec<Planned> {
    let one = Arc::new(Ground::new(1, 1, (3 * SIDE, SIDE)));
    let three = row_of_three();
    let runs = [100, 150, 200].map(|it| (&one, "one server", it)).into_iter();
    let runs = runs.chain([200, 300, 400].map(|it| (&three, "three servers", it)));
    let plan = |(ground, name, clients): (&Arc<Ground>, &str, u32)| Planned {
        part: Part::Servers,
        name: format!("{name}, {clients} clients"),
        at: f64::from(clients),
        case: case(setting, ground, vec![Place::Anywhere; clients as usize], Until::Events(setting.events)),
    };
    runs.map(plan).collect()
}

fn distance(setting: &Setting) -> Vec<Planned> {
    let ground = row_of_three();
    let plan = |millis: u64| Planned {
        part: Part::Distance,
        name: format!("{millis} ms"),
        at: millis as f64,
        case: Case {
            between: Span::from_millis(millis).max(ONE_ROOM),
            ..case(setting, &ground, vec![Place::NearBorders; CLIENTS as usize], Until::Elapsed(LASTS))
        },
    };
    DISTANCES.map(plan).into()
}

fn share(setting: &Setting) -> Vec<Planned> {
    let ground = row_of_three();
    let plan = |percent: u32| {
        let near = |client: u32| client * percent / 100 != (client + 1) * percent / 100;
        let home = |client| if near(client) { Place::NearBorders } else { Place::FarFromBorders };
        Planned {
            part: Part::Share,
            name: format!("{percent} %"),
            at: f64::from(percent),
            case: case(setting, &ground, (0..CLIENTS).map(home).collect(), Until::Elapsed(LASTS)),
        }
    };
    SHARES.map(plan).into()
}

fn zones(setting: &Setting) -> Vec<Planned> {
    let plan = |&zones: &u32| {
        let side = zones.isqrt();
        let ground = Arc::new(Ground::new(side, side, (SIDE, SIDE)));
        let homes = vec![Place::Anywhere; (zones * setting.clients_per_zone) as usize];
        Planned {
            part: Part::Zones,
            name: if zones == 1 { "1 zone".to_owned() } else { format!("{zones} zones") },
            at: f64::from(zones),
            case: case(setting, &ground, homes, Until::Elapsed(LASTS)),
        }
    };
    setting.zones.iter().map(plan).collect()
}
