//! `ecumene sim`, `ecumene bench zone` and `ecumene schema`.

use crate::{ecumene, refusal, text};
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let output = ecumene(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it speaks JSON")
}

#[test]
fn bad_values_are_refused() {
    let zone = |more: &[&'static str]| refusal(&[&["sim", "zone"], more].concat());
    assert_eq!(
        zone(&["--seeds", "9..3"]),
        "error: invalid value '9..3' for '--seeds <N|A..B>': \
         give how many, such as 50, or the first and the last, such as 100..149"
    );
    assert!(zone(&["--faults", "crash,rain"]).contains("there is no fault called \"rain\"; one of: loss,"));
    assert!(zone(&["--plant", "weeds"]).contains("--plant help lists them"));
    assert!(zone(&["--trace"]).contains("--seed"));
    assert!(zone(&["--seed", "1", "--seeds", "2"]).contains("cannot be used with"));
    assert!(zone(&["--budget", "0"]).contains("1..=1000000"));
    assert!(refusal(&["sim", "failover", "--samples", "0"]).contains("1..=100000"));
    assert!(refusal(&["bench", "zone", "--seconds", "NaN"]).contains("between 0.01 and 3600"));
    assert!(refusal(&["schema", "--out", "x"]).contains("--ts"));
}

#[test]
fn lists_are_printed_on_request() {
    let kinds = text(&ecumene(&["sim", "zone", "--faults", "help"]).stdout);
    assert!(kinds.contains("crash") && kinds.lines().count() == simtest::fault::FaultKind::ALL.len());
    let plants = text(&ecumene(&["sim", "zone", "--plant", "help"]).stdout);
    assert!(
        plants.contains("announce-early") && plants.lines().count() == simtest::planted_bug::PLANTED.len()
    );
}

#[test]
fn the_same_seeds_give_the_same_results_on_any_number_of_cores() {
    let sweep = ["sim", "zone", "--seeds", "1..3", "--faults", "crash,pause", "--format", "json"];
    let (first, second) = (json(&sweep), json(&sweep));
    assert_eq!((&first["seeds"], &first["violations"]), (&3.into(), &Value::Array(Vec::new())));
    for key in ["simulated_seconds", "events", "restarts", "actions_acked"] {
        assert!(first[key].as_f64().is_some_and(|it| 0.0 < it), "{key}");
    }
    for key in ["failovers", "aborted", "rolled_back", "history"] {
        assert!(!first[key].is_null() && first[key] == second[key], "{key}");
    }
}

#[test]
fn a_trace_begins_with_the_planned_faults() {
    let output = ecumene(&["sim", "zone", "--seed", "2", "--trace", "--faults", "crash"]);
    let report = text(&output.stdout);
    assert!(output.status.success(), "{report}");
    for part in ["faults of: crash\n", "what was to go wrong", "last 200 things", "nothing was violated\n"] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn a_planted_bug_is_found_and_its_command_shows_it_again() {
    let hunt = ecumene(&["sim", "zone", "--plant", "announce-early"]);
    let report = text(&hunt.stdout);
    assert!(hunt.status.success(), "{report}");
    let replay = report.lines().find_map(|it| it.strip_prefix("replay: ecumene ")).unwrap();
    let again = ecumene(&replay.split(' ').collect::<Vec<_>>());
    assert!(again.status.success(), "what is hunted for was found");
    assert!(text(&again.stdout).contains("violated at "), "{replay}");
}

#[test]
fn a_planted_bug_that_no_checker_notices_fails() {
    // Without faults the switched-off rule makes no difference.
    let hunt = ecumene(&["sim", "zone", "--plant", "keep-suffix", "--faults", "none", "--seeds", "1"]);
    assert_eq!(hunt.status.code(), Some(1));
    assert_eq!(text(&hunt.stderr), "error: not found: keep-suffix; try more --seeds\n");
}

#[test]
fn a_primary_is_replaced_in_time() {
    let report = json(&["sim", "failover", "--samples", "5", "--format", "json"]);
    assert_eq!((&report["samples"], &report["lost"], &report["doubled"]), (&5.into(), &0.into(), &0.into()));
    let [p50, max] = ["p50_ms", "max_ms"].map(|it| report[it].as_f64().unwrap());
    assert!(100.0 < p50 && p50 <= max && max < 2_000.0, "{report}");
}

#[test]
fn a_zone_is_measured() {
    let report = json(&["bench", "zone", "--seconds", "0.05", "--format", "json"]);
    assert_eq!((&report["bench"], report["rows"].as_array().unwrap().len()), (&"zone".into(), 4));
    let numbers = ["events_per_cpu_second", "bytes_logged_per_event", "bytes_to_backup_per_event"];
    for row in report["rows"].as_array().unwrap() {
        assert!(numbers.iter().all(|&it| row[it].as_f64().is_some_and(|it| 0.0 < it)), "{row}");
    }
    assert!(["bytes_per_player", "bytes_per_object"].iter().all(|&it| 0.0 < report[it].as_f64().unwrap()));
}

#[test]
fn the_schema_is_text_or_typescript() {
    let schema = text(&ecumene(&["schema"]).stdout);
    assert!(schema.contains("Action = enum \"Action\"") && schema.lines().count() == 7, "{schema}");
    assert!(text(&ecumene(&["schema", "--ts"]).stdout).contains("export const NAME = \"Kosmos\";"));
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("schema");
    let output = ecumene(&["schema", "--ts", "--out", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(folder.join("kosmos.ts").is_file() && folder.join("kosmos.vectors.json").is_file());
}
