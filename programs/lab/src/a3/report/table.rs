//! The results as tables for a terminal.

use super::verdict::{finding, misfit, savings_beside, verdicts};
use crate::a3::{A3Results, A3Row};
use comfy_table::{CellAlignment, Table, presets};

/// All tables as text, for a terminal.
pub fn tables(results: &A3Results) -> String {
    let parameters = &results.options;
    let mut parts = vec![heading(results)];
    let title = |what: &str, of: &str| format!("{what}, {of}");
    let beside = match (parameters.sizes, parameters.comparable) {
        ("wire", _) => "bytes/s of payload (with headers)",
        (_, true) => "bytes/s: ours (the paper's)",
        (_, false) => "bytes/s",
    };
    parts.push(section(
        &title("Average", beside),
        traffic(results, |it| (it.average, it.paper_average.map(f64::from).or(it.average_with_headers))),
    ));
    parts.push(section(
        &title("Maximum, the largest second of all runs", beside),
        traffic(results, |it| (it.maximum, it.paper_maximum.map(f64::from).or(it.maximum_with_headers))),
    ));
    if !savings_beside(results).is_empty() {
        parts.push(section("What A³ saves of each, %: ours (the paper's)", savings(results)));
    }
    if !verdicts(results).is_empty() {
        parts.push(section("The paper's claims", claims(results)));
    }
    if let Some(points) = misfit(results) {
        parts.push(format!(
            "Root mean square difference from the paper's average savings: {points:.2} points"
        ));
    }
    if results.together.iter().any(|it| it.correlation.is_some()) {
        let title =
            "Measured on the same walks? Correlation, over the avatar counts, of shares of all traffic";
        parts.push(section(title, together(results)));
    }
    parts.push(section(
        "What the saving costs: age of knowledge (ms) and error (m), mean / 99th percentile",
        quality(results),
    ));
    parts.push(section(
        "After turning round: ms until what is in view is known, mean / 99th percentile",
        turns(results),
    ));
    parts.push(finding(results));
    parts.join("\n\n") + "\n"
}

fn heading(results: &A3Results) -> String {
    let parameters = &results.options;
    format!(
        "A³, setting {}: square {} m, view {} m, critical {} m ({} m for the attenuated circle), angle {}°, walking {} to {} m/s, pauses to {} s, \
         checked every {} ms, {} runs of {} s, seed {}, sizes {}",
        results.setting,
        parameters.world,
        parameters.view,
        parameters.critical,
        parameters.critical_of_circle,
        parameters.angle,
        parameters.speed.0,
        parameters.speed.1,
        parameters.pause,
        parameters.check_ms,
        parameters.runs,
        parameters.seconds,
        results.seed,
        parameters.sizes,
    )
}

fn section(title: &str, table: Table) -> String {
    format!("{title}\n{table}")
}

fn new_table<T: Into<String>>(header: impl IntoIterator<Item = T>) -> Table {
    let mut table = Table::new();
    let header: Vec<String> = header.into_iter().map(Into::into).collect();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header(header);
    table
}

/// Aligns numbers to the right, so that their digits line up.
fn align(mut table: Table) -> Table {
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

fn policies(results: &A3Results) -> impl Iterator<Item = &str> {
    results.quality.iter().map(|it| it.policy.as_str())
}

fn traffic(results: &A3Results, of: impl Fn(&A3Row) -> (f64, Option<f64>)) -> Table {
    let mut table = new_table(["avatars"].into_iter().chain(policies(results)));
    let columns = results.quality.len();
    // `chunks` panics at zero, which an empty list of candidates would give.
    for rows in results.rows.chunks(columns.max(1)) {
        let cell = |row: &A3Row| match of(row) {
            (ours, Some(beside)) => format!("{ours:.0} ({beside:.0})"),
            (ours, None) => format!("{ours:.0}"),
        };
        table.add_row([rows[0].avatars.to_string()].into_iter().chain(rows.iter().map(cell)));
    }
    align(table)
}

fn savings(results: &A3Results) -> Table {
    let mut table = new_table(["policy", "average", "maximum"]);
    for it in savings_beside(results) {
        let cell = |(ours, paper): (f64, Option<f64>)| match paper {
            Some(paper) => format!("{ours:.2} ({paper:.2})"),
            None => format!("{ours:.2}"),
        };
        table.add_row([it.policy, cell(it.average), cell(it.maximum)]);
    }
    align(table)
}

fn claims(results: &A3Results) -> Table {
    let mut table = new_table(["claim", "paper", "ours", "may differ by", "verdict"]);
    for it in verdicts(results) {
        let verdict = if it.holds { "holds" } else { "does not come out" };
        let number = |value: f64| format!("{value:.2}");
        table.add_row([
            it.claim,
            number(it.paper),
            number(it.ours),
            format!("±{}", it.tolerance),
            verdict.into(),
        ]);
    }
    align(table)
}

fn together(results: &A3Results) -> Table {
    let mut table = new_table(["policies", "ours", "paper"]);
    for it in &results.together {
        let number = |value: Option<f64>| value.map_or(String::from("–"), |it| format!("{it:.2}"));
        let names = format!("{} and {}", it.policy, it.other);
        table.add_row([names, number(it.correlation), number(it.paper_correlation)]);
    }
    align(table)
}

fn quality(results: &A3Results) -> Table {
    let bands = results.quality.iter().take(1).flat_map(|it| it.bands.iter().map(|it| it.band));
    let mut table = new_table(["relevance (A³)"].into_iter().chain(policies(results)));
    for (band, name) in bands.enumerate() {
        let of = |row: &crate::a3::QualityRow| {
            let it = &row.bands[band];
            if it.samples == 0 {
                return String::from("–");
            }
            if it.unknown_percent == 100.0 {
                return String::from("never known");
            }
            let known = format!(
                "{:.0} / {} ms\n{:.3} / {:.2} m",
                it.age_mean_ms, it.age_p99_ms, it.error_mean_m, it.error_p99_m
            );
            if it.unknown_percent < 0.05 {
                known
            } else {
                format!("{known}\n{:.1} % unknown", it.unknown_percent)
            }
        };
        table.add_row([name.to_owned()].into_iter().chain(results.quality.iter().map(of)));
    }
    align(table)
}

fn turns(results: &A3Results) -> Table {
    let mut table = new_table(["policy", "turns", "close by", "everything in view"]);
    for row in &results.turns {
        let waits = |it: &crate::a3::WaitStatistics| format!("{:.0} / {}", it.mean_ms, it.p99_ms);
        table.add_row([row.policy.clone(), row.turns.to_string(), waits(&row.close), waits(&row.all)]);
    }
    align(table)
}
