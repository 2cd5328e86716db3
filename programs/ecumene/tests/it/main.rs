//! Tests of the command line as a user calls it.

mod check;
mod documents;
mod hostile;
mod overload;
mod processes;
mod sim;

use std::process::{Command, Output};

fn ecumene(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ecumene")).args(arguments).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the command line speaks UTF-8")
}

/// The message of a refused call, which must be one line on standard error with exit code 2.
fn refusal(arguments: &[&str]) -> String {
    let output = ecumene(arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    said.trim_end().to_owned()
}

#[test]
fn bad_values_get_one_line_and_exit_code_2() {
    let lab = |more: &[&'static str]| refusal(&[&["lab", "a3"], more].concat());
    assert_eq!(lab(&["--runs", "0"]), "error: --runs must lie between 1 and 1000, not 0");
    assert_eq!(lab(&["--minutes", "NaN"]), "error: --minutes must lie between 0.05 and 1440, not NaN");
    assert_eq!(lab(&["--world", "-3"]), "error: --world must lie between 1 and 1000000, not -3");
    assert_eq!(
        lab(&["--avatars", "25,many"]),
        "error: invalid value 'many' for '--avatars <AVATARS>': invalid digit found in string"
    );
    assert_eq!(
        lab(&["--setting", "guessed"]),
        "error: invalid value 'guessed' for '--setting <SETTING>' [possible values: stated, fitted]"
    );
    assert_eq!(
        lab(&["--speed", "fast"]),
        "error: invalid value 'fast' for '--speed <SPEED>': \
         give the slowest and the fastest in metres per second, such as 1-2"
    );
    assert!(lab(&["--angle", "400"]).contains("a view angle must lie between 0 and 360 degrees, not 400"));
    assert!(lab(&["--critical", "130"]).contains("must not exceed the view distance"));
    assert!(lab(&["--world", "1", "--speed", "1000", "--pause", "0"]).contains("in less than a second"));
    assert!(lab(&["--strict", "--sizes", "wire"]).contains("--strict judges the paper's claims"));
    assert!(refusal(&["bench", "interest", "--avatars", "0"]).contains("10..=1000000"));
    assert!(refusal(&["lob"]).starts_with("error: unrecognized subcommand 'lob'"));
}

#[test]
fn help_is_not_an_error() {
    let help = ecumene(&["lab", "a3", "--help"]);
    assert!(help.status.success());
    assert!(text(&help.stdout).contains("Examples:"));
}

#[test]
fn the_experiment_speaks_json_with_the_promised_shape() {
    let output =
        ecumene(&["lab", "a3", "--avatars", "25,30", "--minutes", "0.5", "--runs", "1", "--format", "json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&json["experiment"], &json["setting"], &json["seed"]),
        (&"a3".into(), &"fitted".into(), &1.into())
    );
    let rows = json["rows"].as_array().unwrap();
    let policies: Vec<&str> = rows[..5].iter().map(|it| it["policy"].as_str().unwrap()).collect();
    assert_eq!(policies, ["none", "circle", "circle-attenuated", "field-of-view", "a3"]);
    assert_eq!((&rows[0]["paper_average"], &rows[0]["paper_maximum"]), (&9221.into(), &9400.into()));
    assert!(rows[5]["paper_average"].is_null(), "the paper has no row for 30 avatars");
    for measure in ["average", "maximum"] {
        assert!(rows.iter().all(|it| it[measure].as_f64().is_some_and(|it| 0.0 < it)));
        let savings = json["savings"][measure].as_object().unwrap();
        let names: Vec<&str> = savings.keys().map(String::as_str).collect();
        assert_eq!(names, ["circle", "circle-attenuated", "field-of-view", "none"]);
    }
}

#[test]
fn the_mesh_is_the_same_for_one_seed_and_speaks_json() {
    let run = || {
        ecumene(&["lab", "mesh", "--parts", "zones", "--zones", "1,4", "--clients", "5", "--format", "json"])
    };
    let output = run();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["experiment"], &json["service_us"]), (&"mesh".into(), &200.into()));
    let rows = json["scaling"].as_array().unwrap();
    assert_eq!(rows.iter().map(|it| it["clients"].as_u64().unwrap()).collect::<Vec<_>>(), [5, 20]);
    assert_eq!(rows[0]["messages"]["between_zones"].as_f64(), Some(0.0));
    for part in ["down", "up", "between_zones", "backup"] {
        assert!(rows[1]["messages"][part].as_f64().is_some_and(|it| 0.0 < it), "{part}");
    }
    assert!(rows.iter().all(|it| it["violations"] == serde_json::json!([])));
    assert!(json["borders"].as_array().unwrap().is_empty(), "that part was not selected");
    assert_eq!(output.stdout, run().stdout);
    let refused = ecumene(&["lab", "mesh", "--zones", "5"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("squares of whole numbers"));
}

#[test]
fn strict_fails_when_a_claim_does_not_come_out() {
    let stated =
        ["lab", "a3", "--setting", "stated", "--avatars", "25", "--minutes", "1", "--runs", "1", "--strict"];
    let output = ecumene(&stated);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("error: does not come out: A³ saves of none, average"));
    let output = ecumene(&["lab", "a3", "--avatars", "25,30", "--minutes", "1", "--runs", "1", "--strict"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("give --avatars that the paper has"),
        "the paper has no 30 avatars"
    );
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let run =
        ["lab", "a3", "--avatars", "2", "--minutes", "0.05", "--runs", "1", "--out", "/dev/null/report"];
    let output = ecumene(&run);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.starts_with("error: cannot write /dev/null/report; choose another place with --out: "),
        "{said}"
    );
    assert!(output.stdout.is_empty(), "the check comes before the work, not after");
}

#[test]
fn benchmarks_speak_json() {
    let output = ecumene(&["bench", "sim", "--events", "20000", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["bench"], &json["events"]), (&"sim".into(), &20000.into()));
    let output = ecumene(&["bench", "interest", "--avatars", "100", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["bench"], "interest");
    let row = &json["rows"][0];
    assert_eq!((&row["avatars"], &row["allocations_per_tick"]), (&100.into(), &0.0.into()));
    let numbers = ["visible", "pairs_per_observer_tick", "ns_per_observer_tick", "updates_per_second"];
    for key in numbers.into_iter().chain(["all_pairs_ns_per_observer_tick"]) {
        assert!(row[key].as_f64().is_some_and(|it| 0.0 < it), "{key}");
    }
}
