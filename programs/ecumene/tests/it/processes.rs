//! Worlds of real processes, as an operator starts, breaks and ends them. Timeouts are long and no duration is checked,
//! because a busy computer may be slow.

use crate::{ecumene, text};
use serde_json::Value;
use std::path::PathBuf;

/// A path for this test's folder, which does not exist yet.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("the folder is ours");
    }
    path
}

fn succeeds(arguments: &[&str]) -> String {
    let output = ecumene(arguments);
    assert!(output.status.success(), "{arguments:?}\n{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn json(arguments: &[&str]) -> Value {
    let said = succeeds(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// Kill -9 of the primary's host, a freeze, a world without directory, a hand-over, kill -9 of all processes: 50 bots
/// play on, and no acknowledged action is lost or done twice.
#[test]
fn bots_play_on_whatever_happens_to_the_servers() {
    let data = folder("chaos");
    let path = data.to_str().expect("paths here are UTF-8");
    let report = json(&["chaos", "--data", path, "--bots", "50"]);
    assert_eq!(report["violations"], Value::Array(Vec::new()), "{report}");
    assert_eq!(report["errors"], 0, "{report}");
    assert_eq!(report["troubles"], 5);
    // A kill, a freeze and a hand-over each make another host decide.
    assert!(3 <= report["failovers"].as_u64().expect("a number"), "{report}");
    assert!(5 <= report["restarts"].as_u64().expect("a number"), "{report}");
    assert!(50 <= report["reconnects"].as_u64().expect("a number"), "{report}");
    let checked = json(&["check", data.join("history").to_str().expect("UTF-8"), "--strict"]);
    assert_eq!(checked["violations"], Value::Array(Vec::new()), "{checked}");
}

/// The same over WebSocket, where all messages share one ordered stream.
#[test]
fn bots_play_on_over_web_socket() {
    let data = folder("chaos-socket");
    let path = data.to_str().expect("paths here are UTF-8");
    let trouble = ["--trouble", "kill,everything"];
    let report = json(&[&["chaos", "--data", path, "--bots", "30", "--web-socket"][..], &trouble].concat());
    assert_eq!((&report["violations"], &report["errors"]), (&Value::Array(Vec::new()), &Value::from(0)));
}

/// A world that was stopped in good order continues from the same state after a restart.
#[test]
fn a_demo_ends_by_itself_and_goes_on_where_it_was() {
    let data = folder("demo");
    let (world, history) = (data.join("world"), data.join("history"));
    let (world, history) = (world.to_str().expect("UTF-8"), history.to_str().expect("UTF-8"));
    let demo =
        ["demo", "--data", world, "--history", history, "--port", "0", "--bots", "6", "--seconds", "3"];
    for _ in 0..2 {
        let report = json(&demo);
        assert_eq!((&report["clients"], &report["errors"]), (&Value::from(6), &Value::from(0)), "{report}");
    }
    let report = json(&[&demo[..], &["--in-process"]].concat());
    assert_eq!(report["errors"], 0, "{report}");
    // One unbroken history of three runs: nothing was lost in between.
    let checked = json(&["check", history]);
    assert_eq!(checked["violations"], Value::Array(Vec::new()), "{checked}");
    assert_eq!(checked["rolled_back"], 0, "{checked}");
}

/// A world for two players: the other bots wait in the queue until the end, which is no error.
#[test]
fn bots_wait_in_the_queue_of_a_full_world() {
    let data = folder("queue");
    std::fs::create_dir_all(&data).expect("the folder is ours");
    let config = data.join("queue.toml");
    std::fs::write(&config, "[lobby]\nplayers_max = 2\n").expect("the disk has room");
    let (config, world) = (config.to_str().expect("UTF-8"), data.join("world"));
    let world = ["--data", world.to_str().expect("UTF-8"), "--hosts", "1", "--zones", "1"];
    let play = ["demo", "--config", config, "--port", "0", "--in-process", "--bots", "6", "--seconds", "1"];
    let report = json(&[&play[..], &world].concat());
    let counts = ["clients", "in_world", "queued", "errors"].map(|it| report[it].as_u64());
    assert_eq!(counts, [Some(2), Some(2), Some(4), Some(0)], "{report}");
}

#[test]
fn impossible_calls_are_refused_in_one_line() {
    let refusal = |arguments: &[&str]| crate::refusal(arguments);
    assert!(refusal(&["demo", "--in-process", "--kill-host-after", "3"]).contains("--kill-host-after"));
    assert!(refusal(&["demo", "--seconds", "5", "--kill-host-after", "9"]).contains("not before"));
    assert!(refusal(&["bots", "--behaviour", "sulk"]).contains("wander"));
    assert!(refusal(&["host", "--id", "0"]).contains("numbered from 1"));
    assert!(refusal(&["host", "--config", "nowhere.toml"]).contains("cannot read nowhere.toml"));
    let here = env!("CARGO_MANIFEST_DIR");
    assert!(refusal(&["demo", "--fresh", "--data", here]).contains("is not a world"));
    assert!(refusal(&["chaos", "--data", here]).contains("not a world of this command"));
    assert!(text(&ecumene(&["config", "print"]).stdout).contains("durability = \"batched\""));
    // No lobby listens there.
    let away = ecumene(&["bots", "--lobby", "127.0.0.1:1", "--count", "1", "--seconds", "1"]);
    assert_eq!(away.status.code(), Some(1));
    assert!(text(&away.stderr).contains("is a world running at 127.0.0.1:1?"), "{}", text(&away.stderr));
}

/// Six zones on three hosts: bots walk from zone to zone while the host with the most primaries is killed.
#[test]
fn bots_cross_borders_while_a_host_dies() {
    let (data, history) = (folder("cross"), folder("cross-history"));
    let (data, history) = (data.to_str().expect("UTF-8"), history.to_str().expect("UTF-8"));
    let report = json(&[
        "demo",
        "--zones",
        "6",
        "--bots",
        "60",
        "--behaviour",
        "cross",
        "--seconds",
        "12",
        "--kill-host-after",
        "5",
        "--port",
        "0",
        "--data",
        data,
        "--history",
        history,
    ]);
    assert_eq!(report["errors"], 0, "{report}");
    assert!(10 <= report["transfers"].as_u64().expect("a number"), "{report}");
    assert!(1 <= report["failovers"].as_u64().expect("a number"), "{report}");
    let checked = json(&["check", history]);
    assert_eq!(checked["violations"], Value::Array(Vec::new()), "{checked}");
}

/// All troubles of `ecumene chaos` in a world of six zones.
#[test]
fn bots_play_on_across_borders_whatever_happens_to_the_servers() {
    let data = folder("chaos-zones");
    let path = data.to_str().expect("paths here are UTF-8");
    let report = json(&["chaos", "--data", path, "--bots", "60", "--zones", "6"]);
    assert_eq!(report["violations"], Value::Array(Vec::new()), "{report}");
    assert_eq!(report["errors"], 0, "{report}");
    assert!(6 <= report["failovers"].as_u64().expect("a number"), "{report}");
}
