//! The results as tables, for a terminal and for the page.

use crate::mesh::case::{MeshMeasurement, TimeStatistics};
use crate::mesh::claims::claims;
use crate::mesh::results::{MeshResults, MeshRow};
use crate::report::Section;

/// All tables as text, for a terminal.
pub fn tables(results: &MeshResults) -> String {
    let mut parts = vec![heading(results)];
    parts.extend(sections(results).iter().map(Section::text));
    parts.push(crate::report::verdicts(claims(results), String::new(), 2).text());
    parts.join("\n\n") + "\n"
}

fn heading(results: &MeshResults) -> String {
    let it = &results.setting;
    format!(
        "Mesh of zone servers: seed {}, {} events, {} µs of a server's time per message in or out; clients 10 to 300 ms away \
         one way, losses up to 0.5 %; every server has a backup beside it",
        it.seed, it.events, it.service_us
    )
}

/// A table for every part that was run, the verdicts aside.
pub(super) fn sections(results: &MeshResults) -> Vec<Section> {
    let parts = [
        timed("Experiment 1: clients at borders", BORDERS, &results.borders, results.setting.events),
        timed("Experiment 2: one server and three", SERVERS, &results.servers, results.setting.events),
        far("Servers far apart, one way; all clients at borders", DISTANCE, &results.distance),
        far("Clients that live within range of a border", SHARE, &results.share),
        scaled("Ever larger worlds", SCALING, &results.scaling),
        tortured(results),
    ];
    parts.into_iter().filter(|it| !it.rows.is_empty()).collect()
}

const BORDERS: &str = "200 clients on three servers. Near borders it is six times as crowded as anywhere; the third line has \
                       that crowd without the borders.";
const SERVERS: &str = "The same world on one server and on three. Times of events are from action to answer, without the \
                       client's line; a lost message costs a round trip of that line.";
const DISTANCE: &str = "The backup of a server always stands beside it.";
const SHARE: &str = "200 clients on three servers.";
const SCALING: &str = "Each zone is a square of 480 m, eight times as wide as players see. A unit of work is an input taken or \
                       a message sent by a server or a backup. In a larger world more zones have neighbours on all sides.";

fn timed(title: &str, note: &str, rows: &[MeshRow], events: u64) -> Section {
    let thousands = (1..=events / 1_000).map(|it| format!("{} events, s", it * 1_000));
    let more =
        ["event, mean ms", "p99", "busiest server", "near borders", "of several zones /s", "failovers"];
    let header = [String::new()].into_iter().chain(thousands).chain(more.map(str::to_owned)).collect();
    let line = |row: &MeshRow| {
        let it = &row.measured;
        let seconds = (0..events as usize / 1_000).map(|number| seconds(it, number));
        let more = [
            format!("{:.1}", it.event_ms.mean),
            format!("{:.1}", it.event_ms.p99),
            format!("{:.0} %", it.busiest_percent),
            format!("{:.0} %", it.near_border_percent),
            format!("{:.1}", it.cross_zone_per_second),
            it.failovers.to_string(),
        ];
        [row.name.clone()].into_iter().chain(seconds).chain(more).collect()
    };
    Section { title: title.to_owned(), note: note.to_owned(), header, rows: rows.iter().map(line).collect() }
}

fn seconds(it: &MeshMeasurement, number: usize) -> String {
    it.seconds.get(number).map_or_else(|| "never".to_owned(), |it| format!("{it:.1}"))
}

fn pair(it: &TimeStatistics) -> String {
    if it.samples == 0 { "–".to_owned() } else { format!("{:.1} / {:.1}", it.p50, it.p99) }
}

fn far(title: &str, note: &str, rows: &[MeshRow]) -> Section {
    let header = [
        "",
        "events /s",
        "within a zone, p50 / p99 ms",
        "of several zones",
        "transfer",
        "of several zones /s",
        "transfers /s",
        "messages per client and s",
        "of these between zones",
    ];
    let line = |row: &MeshRow| {
        let it = &row.measured;
        vec![
            row.name.clone(),
            format!("{:.0}", it.events_per_second),
            pair(&it.local_ms),
            pair(&it.joint_ms),
            pair(&it.transfer_ms),
            format!("{:.1}", it.cross_zone_per_second),
            format!("{:.1}", it.transfers_per_second),
            format!("{:.1}", it.messages.all()),
            format!("{:.1}", it.messages.between_zones),
        ]
    };
    let header = header.map(str::to_owned).into();
    Section { title: title.to_owned(), note: note.to_owned(), header, rows: rows.iter().map(line).collect() }
}

fn scaled(title: &str, note: &str, rows: &[MeshRow]) -> Section {
    let header = [
        "",
        "clients",
        "near borders",
        "down, messages per client and s",
        "up",
        "between zones",
        "to backups",
        "all",
        "units of work",
        "ghosts per zone, mean / most",
        "within a zone, p50 / p99 ms",
        "of several zones",
    ];
    let line = |row: &MeshRow| {
        let (it, messages) = (&row.measured, &row.measured.messages);
        let one = |value: f64| format!("{value:.1}");
        vec![
            row.name.clone(),
            it.clients.to_string(),
            format!("{:.0} %", it.near_border_percent),
            one(messages.down),
            one(messages.up),
            one(messages.between_zones),
            one(messages.backup),
            one(messages.all()),
            one(it.work),
            format!("{:.0} / {}", it.ghosts.0, it.ghosts.1),
            pair(&it.local_ms),
            pair(&it.joint_ms),
        ]
    };
    let header = header.map(str::to_owned).into();
    Section { title: title.to_owned(), note: note.to_owned(), header, rows: rows.iter().map(line).collect() }
}

fn tortured(results: &MeshResults) -> Section {
    let header = ["", "events", "of several zones", "transfers", "violations"].map(str::to_owned).into();
    let rows = results.torture.iter().map(|it| {
        vec![
            it.scenario.name().to_owned(),
            it.events.to_string(),
            it.cross_zone_events.to_string(),
            it.transfers.to_string(),
            it.violations.len().to_string(),
        ]
    });
    let note = "24 players on four zones that meet in a corner, for a minute. All checkers watch.";
    Section {
        title: "The authors' tests by hand".to_owned(),
        note: note.to_owned(),
        header,
        rows: rows.collect(),
    }
}
