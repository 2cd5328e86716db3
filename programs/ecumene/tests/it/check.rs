//! `ecumene check`.

use crate::{ecumene, refusal, text};
use kosmos_scenario::KosmosScenario;
use serde_json::Value;
use simtest::fault::{FaultKind, FaultKinds};
use simtest::planted_bug::PlantedBug;
use simtest::{RunOptions, RunRequest, plan, run_recorded};
use std::path::PathBuf;

/// A temporary folder of one test, with the histories of a seed in it; removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("ecumene-check-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
        Self(folder)
    }

    fn of(name: &str, seed: u64, asked: &RunRequest) -> Self {
        let it = Self::new(name);
        let options = RunOptions::draw(seed, asked);
        for (file, bytes) in run_recorded(KosmosScenario, options, plan::draw(&options)).1 {
            std::fs::write(it.0.join(file), bytes).expect("a file can be written");
        }
        it
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("temporary folders have plain names")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_history_without_violations_passes() {
    let asked = RunRequest { kinds: FaultKinds::of([FaultKind::Crash]), all_kinds: true, ..RunRequest::ZONE };
    let folder = Folder::of("good", 2, &asked);
    let output = ecumene(&["check", folder.path(), "--strict"]);
    let report = text(&output.stdout);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "{report}");
    assert!(report.starts_with("processes ") && report.ends_with("violations              0\n"), "{report}");

    let output = ecumene(&["check", folder.path(), "--format", "json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    for key in ["processes", "lives", "entries", "records", "actions_asked", "actions_acked", "restarts"] {
        assert!(json[key].as_u64().is_some_and(|it| 0 < it), "{key}: {json}");
    }
    for key in ["lives_torn", "aborted", "failovers", "rolled_back"] {
        assert!(json[key].is_u64(), "{key}: {json}");
    }
    assert_eq!((&json["violations"], &json["around"]), (&Value::Array(vec![]), &Value::Array(vec![])));
    assert_eq!(json["unanswered"], serde_json::json!({}));
}

#[test]
fn a_violation_is_reported_with_the_entries_around_it() {
    let folder = Folder::of("broken", 1, &PlantedBug::by_name("announce-early").unwrap().request());
    let output = ecumene(&["check", folder.path()]);
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert_eq!(text(&output.stderr), "error: the history breaks safe_to_tell\n");
    let marked = report.lines().find(|it| it.starts_with('>')).unwrap();
    assert!(report.contains(" ms: safe_to_tell: ") && marked.contains("Announces"), "{report}");
}

#[test]
fn an_unanswered_action_is_a_violation_if_strict() {
    let folder = Folder::of("unanswered", 1, &PlantedBug::by_name("forget-results").unwrap().request());
    let lenient = ecumene(&["check", folder.path()]);
    assert!(lenient.status.success(), "{}", text(&lenient.stdout));
    let strict = ecumene(&["check", folder.path(), "--strict"]);
    assert_eq!(strict.status.code(), Some(1));
    let report = text(&strict.stdout);
    assert!(report.contains("unanswered: ") && report.contains(" was not told what became of "), "{report}");
    let json: Value =
        serde_json::from_slice(&ecumene(&["check", folder.path(), "--format", "json"]).stdout).unwrap();
    let waits = json["unanswered"].as_object().unwrap();
    assert!(waits.iter().all(|(player, it)| player.parse::<u64>().is_ok() && 0 < it.as_u64().unwrap()));
    assert!(!waits.is_empty(), "{json}");
}

#[test]
fn a_folder_without_readable_histories_is_refused() {
    assert!(refusal(&["check"]).contains("<DIR>"));
    assert!(refusal(&["check", "/no/such/folder"]).starts_with("error: cannot read /no/such/folder: "));
    let folder = Folder::new("empty");
    let path = folder.path();
    assert_eq!(refusal(&["check", path]), format!("error: there are no files *.history in {path}"));
    std::fs::write(folder.0.join("host-1.1.history"), "Dear all, this is no history").unwrap();
    assert_eq!(refusal(&["check", path]), "error: host-1.1.history is damaged at byte 0: this is no history");
}
