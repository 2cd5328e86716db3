//! A game that knows nothing but the public interface has every command, under its own name.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a process is waited for, and its page read"
)]

use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn pebbles(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pebbles")).args(arguments).output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the program speaks UTF-8")
}

fn succeeds(arguments: &[&str]) -> String {
    let output = pebbles(arguments);
    assert!(output.status.success(), "{arguments:?}\n{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn json(arguments: &[&str]) -> Value {
    let said = succeeds(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// A path for this test's folder, which does not exist yet.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("the folder is ours");
    }
    path
}

fn utf8(path: &Path) -> &str {
    path.to_str().expect("paths here are UTF-8")
}

#[test]
fn it_speaks_under_its_own_name() {
    assert_eq!(succeeds(&["--version"]), format!("pebbles {}\n", env!("CARGO_PKG_VERSION")));
    let help = succeeds(&["--help"]);
    assert!(help.starts_with("Pebbles: ") && help.contains("Usage: pebbles <COMMAND>"), "{help}");
    assert!(succeeds(&["sim", "mesh", "--help"]).contains("pebbles sim mesh --zones 2"));
    assert!(succeeds(&["bots", "--help"]).contains("carry, mixed (these in turn) or hostile"));
    let refused = pebbles(&["bots", "--behaviour", "sulk"]);
    let why = "error: no bot is called \"sulk\": there are carry, hostile and mixed\n";
    assert_eq!((refused.status.code(), text(&refused.stderr).as_str()), (Some(2), why));
    // The papers' experiments are commands of the bundled program alone.
    assert_eq!(pebbles(&["lab", "a3"]).status.code(), Some(2));
}

#[test]
fn its_schema_is_its_own() {
    let schema = succeeds(&["schema"]);
    assert!(schema.contains("\"Heap\"") && schema.contains("\nhash "), "{schema}");
    assert!(succeeds(&["schema", "--ts"]).contains("export const NAME = \"Pebbles\";"));
}

#[test]
fn its_configuration_has_its_defaults() {
    let printed = succeeds(&["config", "print"]);
    for line in ["\nhalf = 60\n", "\nzones = 4\n", "`pebbles config print`", "policy = \"a3\""] {
        assert!(printed.contains(line), "{line:?}: {printed}");
    }
    let folder = folder("config");
    std::fs::create_dir_all(&folder).expect("the folder is ours");
    let file = folder.join("printed.toml");
    std::fs::write(&file, printed).expect("the disk has room");
    assert!(succeeds(&["config", "check", "--config", utf8(&file)]).starts_with("good: "));
}

#[test]
fn its_simulated_worlds_hold_together() {
    let report = json(&["sim", "mesh", "--seeds", "5"]);
    assert_eq!((&report["seeds"], &report["violations"]), (&5.into(), &Value::Array(Vec::new())));
    for key in ["cross_zone_events", "transfers", "failovers", "actions_acked"] {
        assert!(0 < report[key].as_u64().expect("a number"), "{key}: {report}");
    }
    let again = json(&["sim", "mesh", "--seeds", "5"]);
    assert_eq!(report["history"], again["history"], "the same seeds give the same history");
    let failover = json(&["sim", "failover", "--samples", "2"]);
    assert_eq!((&failover["lost"], &failover["stuck"]), (&0.into(), &0.into()), "{failover}");
}

/// The text behind a request to a lobby.
fn page(lobby: &str) -> String {
    let mut stream = TcpStream::connect(lobby).expect("the lobby listens");
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer comes");
    answer
}

/// The address of a lobby, once its process has written it into the world's folder.
fn lobby(world: &Path) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let text = std::fs::read_to_string(world.join("seat.json")).unwrap_or_default();
        let found: Option<Value> = serde_json::from_str(&text).ok();
        if let Some(lobby) = found.as_ref().and_then(|it| it["lobby"].as_str()) {
            return lobby.to_owned();
        }
        assert!(Instant::now() < deadline, "no lobby in {}", world.display());
        std::thread::yield_now();
    }
}

/// Three hosts, a directory and ten bots, as processes of this program: the game is played in four zones that meet where
/// its first heap lies.
#[test]
fn its_world_runs_as_processes_of_its_own() {
    let data = folder("demo");
    let (world, history) = (data.join("world"), data.join("history"));
    let demo = Command::new(env!("CARGO_BIN_EXE_pebbles"))
        .args(["demo", "--bots", "10", "--seconds", "5", "--hosts", "3", "--port", "0", "--format", "json"])
        .args(["--data", utf8(&world), "--history", utf8(&history)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let page = page(&lobby(&world));
    assert!(page.contains("<h1>Pebbles</h1>") && page.contains("App::page_folder"), "{page}");
    let output = demo.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("it speaks JSON");
    assert_eq!((&report["clients"], &report["errors"]), (&10.into(), &0.into()), "{report}");
    assert!(0 < report["actions_acked"].as_u64().expect("a number"), "{report}");
    let hosts = |id: u32| world.join(format!("host-{id}.log"));
    assert!((1..=3).all(|it| hosts(it).is_file()), "each host is a process with a log of its own");
    let checked = json(&["check", utf8(&history)]);
    assert_eq!(checked["violations"], Value::Array(Vec::new()), "{checked}");
    assert!(0 < checked["actions_acked"].as_u64().expect("a number"), "{checked}");
}
