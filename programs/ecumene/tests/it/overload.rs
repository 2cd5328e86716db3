//! `ecumene bench overload` with few bots: its shape, and what becomes of bots that come and go. Times are not judged here.

use super::{ecumene, refusal, text};
use serde_json::Value;

#[test]
fn bots_come_and_go_and_every_claim_has_a_verdict() {
    let output = ecumene(&[
        "bench",
        "overload",
        "--capacity",
        "20",
        "--parts",
        "load,greed",
        "--seconds",
        "1",
        "--format",
        "json",
    ]);
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    assert_eq!((&report["bench"], &report["capacity"]), (&"overload".into(), &20.into()));
    let rows = report["rows"].as_array().expect("there are rows");
    let column = |name: &str| rows.iter().map(|it| it[name].clone()).collect::<Vec<Value>>();
    assert_eq!(column("offered"), [10, 20, 30, 40, 60, 10, 20].map(Value::from));
    // So few bots are all let in, stay in, and leave when they are told to.
    assert_eq!(column("in_world"), column("offered"), "{report:#}");
    for count in ["queued", "sessions_lost", "errors", "failovers"] {
        assert_eq!(column(count), [0; 7].map(Value::from), "{count}");
    }
    // One of the twenty is greedy: it alone asks for 60 actions per second.
    let usual = rows[1]["actions_per_second"].as_f64().expect("a number");
    let greedy = rows[6]["actions_per_second"].as_f64().expect("a number");
    assert!(usual < greedy, "{usual} {greedy}");
    let claims = report["claims"].as_array().expect("there are claims");
    assert_eq!(claims.len(), 7);
    let all_hold = claims.iter().all(|it| it["holds"] == true);
    assert_eq!(output.status.success(), all_hold, "{}", text(&output.stderr));
}

#[test]
fn impossible_crowds_are_refused() {
    let refused = refusal(&["bench", "overload", "--step", "300", "--bots-max", "200"]);
    assert_eq!(refused, "error: --bots-max must not be below --step");
    assert!(refusal(&["bench", "overload", "--parts", "everything"]).contains("load, greed, gather"));
}
