//! The data of the page.

use super::figures::{Drawing, over_time};
use super::map;
use super::table::{self, LINES};
use crate::report::{ExperimentClaim, ReportError, Section};
use crate::vast::claims::{NOTE, claims};
use crate::vast::part::VastMeasurements;
use crate::vast::results::VastResults;
use crate::vast::series::{Series, SummaryNumbers};
use crate::vast::setting::{VastOptions, WalkPattern, case, paper_tables};
use overlay::OverlayMsg;
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything that the template of the page shows.
#[derive(Serialize)]
pub(super) struct VastPage<'a> {
    command: &'a str,
    options: &'a VastOptions,
    runs: usize,
    side_km: f64,
    note: &'static str,
    claims: Vec<ExperimentClaim>,
    /// Means by pattern of walking and protocol.
    means: BTreeMap<&'static str, BTreeMap<&'a str, SummaryNumbers>>,
    walks: Vec<WalkSection<'a>>,
    /// The pattern of walking that the maps show, and the maps.
    mapped: &'static str,
    maps: Vec<MapPage>,
    ablation: Section,
    scaling: Section,
    kinds: Vec<(&'static str, Vec<f64>)>,
    hashes: Vec<(String, u64, &'a str)>,
}

/// The section about one pattern of walking.
#[derive(Serialize)]
struct WalkSection<'a> {
    name: &'static str,
    /// Number of the paper's figure that it repeats.
    figure: Option<u32>,
    paper: Option<(f64, f64, f64)>,
    names: Vec<&'a str>,
    /// Label, the number that the paper prints, and a value for each protocol.
    rows: Vec<(&'static str, String, Vec<String>)>,
    figures: Vec<Drawing>,
}

/// The overlay of one protocol at one moment.
#[derive(Serialize)]
struct MapPage {
    name: String,
    minutes: f64,
    components: usize,
    whole: Drawing,
    close: Drawing,
}

/// Collects the data of the page.
pub(super) fn page<'a>(
    command: &'a str,
    measured: &'a VastMeasurements,
) -> Result<VastPage<'a>, ReportError> {
    let first = &measured.run[0];
    let of = |walk: WalkPattern| measured.run.iter().filter(move |it| it.options().movement == walk);
    let walks = [WalkPattern::Random, WalkPattern::Groups, WalkPattern::Gathering, WalkPattern::Teleport];
    let walks: Vec<WalkPattern> = walks.into_iter().filter(|it| of(*it).next().is_some()).collect();
    // Groups are preferred: in them the paper's overlay falls apart.
    let mapped =
        if walks.contains(&WalkPattern::Groups) { WalkPattern::Groups } else { first.options().movement };
    let mapped_series: Vec<&Series> = in_order(of(mapped)).into_iter().collect();
    let means =
        |walk: &WalkPattern| (walk.name(), of(*walk).map(|it| (it.name.as_str(), it.mean())).collect());
    Ok(VastPage {
        command,
        options: first.options(),
        runs: first.runs.len(),
        side_km: side_metres(first.options()) / 1e3,
        note: NOTE,
        claims: claims(measured),
        means: walks.iter().map(means).collect(),
        walks: walks.iter().map(|it| walk(*it, &in_order(of(*it)))).collect::<Result<_, _>>()?,
        mapped: mapped.name(),
        maps: maps(&mapped_series),
        ablation: table::ablation(&measured.ablation),
        scaling: table::scaling(&measured.scaling),
        kinds: kinds(&mapped_series),
        hashes: measured.run.iter().flat_map(|it| it.runs.iter().map(hash)).collect(),
    })
}

/// Sorts series: the paper's protocol, the same with one rule changed, ours, then all others.
fn in_order<'a>(series: impl Iterator<Item = &'a Series>) -> Vec<&'a Series> {
    let rank = |it: &&Series| ["paper", "paper-insert", "fixed"].iter().position(|name| *name == it.name);
    let mut series: Vec<&Series> = series.collect();
    // The sort is stable: series without a rank keep their order.
    series.sort_by_key(|it| rank(it).unwrap_or(usize::MAX));
    series
}

fn hash(run: &VastResults) -> (String, u64, &str) {
    let it = &run.options;
    (format!("{}, {}", it.name(), it.movement.name()), it.seed, &run.history)
}

fn side_metres(options: &VastOptions) -> f64 {
    case(options).map_or(0.0, |it| f64::from(it.ground.side.millimetres()) / 1e3)
}

fn walk<'a>(walk: WalkPattern, series: &[&'a Series]) -> Result<WalkSection<'a>, ReportError> {
    let rows = LINES.iter().map(|line| {
        let printed = line.printed(series[0]).unwrap_or_default();
        (line.label, printed, series.iter().map(|it| line.with_interval(it)).collect())
    });
    Ok(WalkSection {
        name: walk.name(),
        figure: match walk {
            WalkPattern::Random => Some(3),
            WalkPattern::Groups => Some(4),
            WalkPattern::Gathering | WalkPattern::Teleport => None,
        },
        paper: paper_tables(walk),
        names: series.iter().map(|it| it.name.as_str()).collect(),
        rows: rows.collect(),
        figures: over_time(walk.name(), series)?,
    })
}

/// The maps in the order of time; for each time, those of all protocols beside each other.
fn maps(series: &[&Series]) -> Vec<MapPage> {
    let moments = series.first().map_or(0, |it| it.maps.len());
    let all = (0..moments).flat_map(|moment| series.iter().map(move |it| (*it, moment)));
    all.filter_map(|(it, moment)| map_of(it, moment)).collect()
}

fn map_of(series: &Series, moment: usize) -> Option<MapPage> {
    let case = case(series.options()).ok()?;
    let map = series.maps.get(moment)?;
    let seconds = map.at.as_secs();
    let file = |what: &str| format!("map-{}-{seconds}s{what}", series.name);
    Some(MapPage {
        name: series.name.clone(),
        minutes: seconds as f64 / 60.0,
        components: map::components(&map.dots),
        whole: (file(""), map::whole(&map.dots, case.ground.side, case.config.aoi)),
        close: (file("-close"), map::close(&map.dots, case.config.aoi)),
    })
}

/// Bytes per second and peer by kind of message, for each protocol, in the first run.
fn kinds(series: &[&Series]) -> Vec<(&'static str, Vec<f64>)> {
    let of = |kind: usize| series.iter().map(|it| it.runs[0].by_kind[kind].1).collect::<Vec<f64>>();
    let rows = OverlayMsg::KINDS.iter().enumerate().map(|(kind, name)| (*name, of(kind)));
    rows.filter(|it| it.1.iter().any(|bytes| 0.0 < *bytes)).collect()
}

impl VastPage<'_> {
    /// All drawings with the names of their files.
    pub(super) fn drawings(&self) -> Vec<(String, String)> {
        let figures = self.walks.iter().flat_map(|it| &it.figures);
        let maps = self.maps.iter().flat_map(|it| [&it.whole, &it.close]);
        figures.chain(maps).map(|(name, svg)| (format!("{name}.svg"), svg.clone())).collect()
    }
}
