//! The results as CSV, for other programs.

use crate::a3::{A3Parameters, A3Results};
use std::fmt::Write as _;

/// All rows of the results, one line each.
pub fn rows_csv(results: &A3Results) -> String {
    let mut text = String::from(
        "setting,seed,world,view,critical,critical_of_circle,angle,speed_min,speed_max,pause,check_ms,sizes,runs,seconds,\
         avatars,policy,average,average_spread,maximum,\
         average_with_headers,maximum_with_headers,paper_average,paper_maximum\n",
    );
    let parameters = parameters(results);
    for row in &results.rows {
        let real = |it: Option<f64>| it.map_or(String::new(), |it| format!("{it:.1}"));
        let whole = |it: Option<u32>| it.map_or(String::new(), |it| it.to_string());
        let _ = writeln!(
            text,
            "{parameters},{},{},{:.1},{:.1},{:.1},{},{},{},{}",
            row.avatars,
            row.policy,
            row.average,
            row.average_spread,
            row.maximum,
            real(row.average_with_headers),
            real(row.maximum_with_headers),
            whole(row.paper_average),
            whole(row.paper_maximum),
        );
    }
    text
}

fn parameters(results: &A3Results) -> String {
    let A3Parameters {
        runs,
        seconds,
        world,
        view,
        critical,
        critical_of_circle,
        angle,
        speed,
        pause,
        check_ms,
        sizes,
        ..
    } = &results.options;
    let (setting, seed, (slowest, fastest)) = (results.setting, results.seed, speed);
    format!(
        "{setting},{seed},{world},{view},{critical},{critical_of_circle},{angle},{slowest},{fastest},{pause},{check_ms},{sizes},{runs},{seconds}"
    )
}

/// The quality per policy and band, one line each.
pub fn quality_csv(results: &A3Results) -> String {
    let mut text =
        String::from("policy,band,samples,unknown_percent,age_mean_ms,age_p99_ms,error_mean_m,error_p99_m\n");
    for row in &results.quality {
        for band in &row.bands {
            let _ = writeln!(
                text,
                "{},{},{},{:.3},{:.1},{},{:.4},{:.3}",
                row.policy,
                band.band,
                band.samples,
                band.unknown_percent,
                band.age_mean_ms,
                band.age_p99_ms,
                band.error_mean_m,
                band.error_p99_m,
            );
        }
    }
    text
}
