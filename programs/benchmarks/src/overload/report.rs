//! The report of `ecumene bench overload`, and its table for a terminal.

use super::judgement;
use crate::claims::{self, MeasuredClaim};
use crate::world;
use comfy_table::{Table, presets};
use serde::Serialize;

/// Names of parts.
pub(super) const AFTER: &str = "0.5 x capacity, after";
pub(super) const GREEDY: &str = "one in twenty greedy";
pub(super) const GATHERING: &str = "gathering, at triple pace";
pub(super) const GATHERED: &str = "gathered, at triple pace";

/// The name of the part in which this multiple of the capacity is offered.
pub(super) fn load_name(load: f64) -> String {
    format!("{load} x capacity")
}

/// The result of `ecumene bench overload`.
#[derive(Debug, Serialize)]
pub struct OverloadReport {
    /// Name of the benchmark: always `overload`.
    pub bench: &'static str,
    /// Number of hosts.
    pub hosts: usize,
    /// Number of zones.
    pub zones: u32,
    /// Duration of each phase, in seconds.
    pub seconds: f64,
    /// The most bots that the world serves well; or what was given.
    pub capacity: u32,
    /// Goodput at three times the capacity, as a part of the best; not measured without the loads.
    pub goodput_ratio: Option<f64>,
    /// Slow answers at half of the capacity: after the overload divided by before.
    pub recovery_ratio: Option<f64>,
    /// Jain's index over the served part of what each honest player asked for, beside greedy ones.
    pub fairness: Option<f64>,
    /// One row per phase, in order.
    pub rows: Vec<OverloadRow>,
    /// What must hold, with verdicts.
    pub claims: Vec<MeasuredClaim>,
}

/// The measurement of one phase.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OverloadRow {
    /// Name of the phase.
    pub part: String,
    /// Bots that wanted to be in the world.
    pub offered: usize,
    /// Bots in the world at the end.
    pub in_world: usize,
    /// Bots that waited until the lobby let them in.
    pub queued: usize,
    /// Goodput: actions done or refused by the game per second.
    pub actions_per_second: f64,
    /// Median latency of answers, in milliseconds.
    pub p50_ms: f64,
    /// The same for the slowest in a hundred.
    pub p99_ms: f64,
    /// Ticks per second in which poses came, per bot in the world: ten at most.
    pub pose_rate: f64,
    /// Part of the bots' time in which their zone was late and sent poses more rarely.
    pub slowed: f64,
    /// Actions that were answered "busy".
    pub busy: u64,
    /// Sessions that the world ended, and times that a bot had to enter again.
    pub sessions_lost: u64,
    /// Log-ins that failed, sessions that the world ended, actions without answer.
    pub errors: u64,
    /// Changes of primary or backup in all zones.
    pub failovers: u64,
    /// Jain's index of fairness over honest bots.
    pub fairness: f64,
    /// Cores that all servers together took.
    pub cpu: f64,
    /// Cores that the bots took.
    pub bots_cpu: f64,
    /// The longest time in which the bots' thread came round, in milliseconds.
    pub bots_late_ms: f64,
}

impl OverloadRow {
    /// The row as a line for people who wait.
    pub(super) fn line(&self) -> String {
        let Self { part, in_world, queued, actions_per_second, p50_ms, p99_ms, pose_rate, cpu, .. } = self;
        format!(
            "{part}: {in_world} in the world, {queued} queued, {actions_per_second:.0} actions/s, p50 {p50_ms:.1} ms, \
             p99 {p99_ms:.1} ms, {pose_rate:.1} poses/s, {cpu:.2} cores"
        )
    }
}

/// A report with its ratios and verdicts.
pub(super) fn judged(capacity: u32, seconds: f64, rows: Vec<OverloadRow>) -> OverloadReport {
    let mut report = OverloadReport {
        bench: "overload",
        hosts: world::HOSTS.len(),
        zones: super::ZONES,
        seconds,
        capacity,
        goodput_ratio: judgement::goodput_ratio(&rows),
        recovery_ratio: judgement::recovery(&rows),
        fairness: judgement::row(&rows, GREEDY).map(|it| it.fairness),
        rows,
        claims: Vec::new(),
    };
    report.claims = judgement::claims(&report);
    report
}

/// The report as tables for a terminal.
pub fn table(report: &OverloadReport) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header([
        "part",
        "offered",
        "in world",
        "queued",
        "actions",
        "p50, p99 ms",
        "poses",
        "slowed %",
        "busy",
        "lost",
        "errors",
        "failovers",
        "cores",
        "bots' cores, late ms",
    ]);
    for it in &report.rows {
        table.add_row([
            it.part.clone(),
            it.offered.to_string(),
            it.in_world.to_string(),
            it.queued.to_string(),
            format!("{:.0}", it.actions_per_second),
            format!("{:.1}, {:.1}", it.p50_ms, it.p99_ms),
            format!("{:.1}", it.pose_rate),
            format!("{:.0}", 100.0 * it.slowed),
            it.busy.to_string(),
            it.sessions_lost.to_string(),
            it.errors.to_string(),
            it.failovers.to_string(),
            format!("{:.2}", it.cpu),
            format!("{:.2}, {:.0}", it.bots_cpu, it.bots_late_ms),
        ]);
    }
    let OverloadReport { capacity, hosts, zones, seconds, claims, .. } = report;
    format!(
        "{table}\nActions per second; ticks with poses per bot and second. {zones} zones with backups on {hosts} hosts, {seconds} s \
         each; servers and bots share all cores.\nCapacity: {capacity} bots.\n{}\n",
        claims::table(claims)
    )
}
