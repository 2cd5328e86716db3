//! Several measurements of a row become one.

use crate::row::{Figures, Row};

/// One row for each system and number of clients, in the order in which they were first measured. Each figure is the
/// median over the rounds; the notes are those of all rounds.
pub fn medians(samples: &[Row]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for sample in samples {
        let is_same = |it: &&Row| (it.system, it.clients) == (sample.system, sample.clients);
        if rows.iter().any(|it| is_same(&it)) {
            continue;
        }
        let same: Vec<&Row> = samples.iter().filter(is_same).collect();
        let mut notes = Vec::new();
        for note in same.iter().flat_map(|it| &it.notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        rows.push(Row { figures: median_figures(&same), notes, ..*sample });
    }
    rows
}

fn median_figures(rows: &[&Row]) -> Figures {
    let of = |figure: fn(&Figures) -> f64| median(rows.iter().map(|it| figure(&it.figures)).collect());
    Figures {
        visible: of(|it| it.visible),
        moves: of(|it| it.moves),
        updates: of(|it| it.updates),
        cpu_us: of(|it| it.cpu_us),
        packets_down: of(|it| it.packets_down),
        packets_up: of(|it| it.packets_up),
        bytes_down: of(|it| it.bytes_down),
        bytes_up: of(|it| it.bytes_up),
        ping_p50_ms: of(|it| it.ping_p50_ms),
        ping_p99_ms: of(|it| it.ping_p99_ms),
        age_p50_ms: of(|it| it.age_p50_ms),
        age_p99_ms: of(|it| it.age_p99_ms),
    }
}

/// The middle value, or the mean of the two in the middle; NaN if there is none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match (values.get(values.len().saturating_sub(1) / 2), values.get(values.len() / 2)) {
        (Some(low), Some(high)) => f64::midpoint(*low, *high),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::System;

    #[test]
    fn rows_of_one_system_and_size_become_one() {
        let sample = |system, clients, cpu_us, note: &str| Row {
            system,
            clients,
            figures: Figures { cpu_us, ..Figures::default() },
            notes: vec![note.to_owned()],
        };
        let samples = [
            sample(System::Udp, 100, 3.0, "a"),
            sample(System::Ws, 100, 9.0, "b"),
            sample(System::Udp, 100, 1.0, "a"),
            sample(System::Udp, 100, 2.0, "c"),
            sample(System::Ws, 100, 8.0, "b"),
        ];
        let rows = medians(&samples);
        let seen: Vec<_> = rows.iter().map(|it| (it.system, it.figures.cpu_us, it.notes.join(" "))).collect();
        assert_eq!(seen, [(System::Udp, 2.0, "a c".to_owned()), (System::Ws, 8.5, "b".to_owned())]);
    }
}
