//! The report as Markdown.

use crate::report::{RatedRow, Report};
use crate::row::{Ratios, Row};
use std::fmt::Write as _;

const COLUMNS: [&str; 10] = [
    "clients",
    "system",
    "visible",
    "updates",
    "CPU µs",
    "CPU µs per update",
    "packets down, up",
    "bytes down, up",
    "round trip p50, p99 ms",
    "move to arrival p50, p99 ms",
];

/// The whole report.
pub fn markdown(report: &Report) -> String {
    let mut text = line(COLUMNS.map(str::to_owned));
    text += &line(COLUMNS.map(|_| "---".to_owned()));
    report.rows.iter().for_each(|it| text += &line(cells(it)));
    text += &format!(
        "\nPer client and second where it is not a time; in brackets: divided by plain UDP with as many clients. {} s per row, \
         median of {} round(s), {} ticks per second (Ecumene has none).\n",
        report.seconds, report.rounds, report.hz
    );
    if !report.ecumene_to_renet.is_empty() {
        text += "\n| clients | Ecumene divided by renet | CPU | CPU per update | updates | bytes down | packets down |\n";
        text += "|---|---|---|---|---|---|---|\n";
    }
    for it in &report.ecumene_to_renet {
        let Ratios { cpu, cpu_per_update, updates, bytes_down, packets_down, .. } = it.ratios;
        let _ = writeln!(
            text,
            "| {} | {} | {cpu:.2} | {cpu_per_update:.2} | {updates:.2} | {bytes_down:.2} | {packets_down:.2} |",
            it.clients,
            it.system.title(),
        );
    }
    let behind = report.rows.iter().map(|it| &it.row).filter(|it| !it.notes.is_empty());
    let behind: Vec<String> = behind
        .map(|it| format!("{}, {} clients: {}", it.system.title(), it.clients, it.notes.join("; ")))
        .collect();
    text += &list("Fell behind, so that the figures are not those of the whole workload:", &behind);
    text + &list("Could not be measured:", &report.failures)
}

/// One row, for a reader who waits.
pub fn progress(row: &Row) -> String {
    let it = &row.figures;
    let notes = row.notes.iter().fold(String::new(), |text, note| text + "; " + note);
    format!(
        "{:>5} {:<17} {:>4.1} visible {:>4.1} moves {:>4.0} updates {:>5.0} CPU µs, round trip {:.1}, {:.1} ms{notes}",
        row.clients,
        row.system.title(),
        it.visible,
        it.moves,
        it.updates,
        it.cpu_us,
        it.ping_p50_ms,
        it.ping_p99_ms,
    )
}

fn cells(rated: &RatedRow) -> [String; 10] {
    let (it, ratios) = (&rated.row.figures, rated.to_floor.as_ref());
    let one = |digits: usize, value: f64, ratio: fn(&Ratios) -> f64| {
        let ratio = ratios.map_or(String::new(), |it| format!(" ({})", ratio_text(ratio(it))));
        format!("{value:.digits$}{ratio}")
    };
    let two = |digits: usize, values: [f64; 2], ratio: fn(&Ratios) -> [f64; 2]| {
        if values.iter().all(|it| it.is_nan()) {
            return "–".to_owned();
        }
        let [first, second] = values.map(|it| format!("{it:.digits$}"));
        let ratios = ratios.map_or(String::new(), |it| {
            let [first, second] = ratio(it).map(ratio_text);
            format!(" ({first}, {second})")
        });
        format!("{first}, {second}{ratios}")
    };
    [
        rated.row.clients.to_string(),
        rated.row.system.title().to_owned(),
        format!("{:.1}", it.visible),
        one(0, it.updates, |it| it.updates),
        one(0, it.cpu_us, |it| it.cpu),
        one(2, rated.cpu_us_per_update, |it| it.cpu_per_update),
        two(1, [it.packets_down, it.packets_up], |it| [it.packets_down, it.packets_up]),
        two(0, [it.bytes_down, it.bytes_up], |it| [it.bytes_down, it.bytes_up]),
        two(1, [it.ping_p50_ms, it.ping_p99_ms], |it| [it.ping_p50, it.ping_p99]),
        two(1, [it.age_p50_ms, it.age_p99_ms], |it| [it.age_p50, it.age_p99]),
    ]
}

/// A ratio with two digits below ten.
fn ratio_text(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

fn line(cells: [String; 10]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn list(title: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    items.iter().fold(format!("\n{title}\n\n"), |text, it| text + "- " + it + "\n")
}
