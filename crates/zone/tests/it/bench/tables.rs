//! Runs the tables of `testdata/`, one test per part of the protocol.

use super::world::World;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn sessions() {
    part("sessions");
}

#[test]
fn execution() {
    part("execution");
}

#[test]
fn replication() {
    part("replication");
}

#[test]
fn failover() {
    part("failover");
}

#[test]
fn locking() {
    part("locking");
}

#[test]
fn events() {
    part("events");
}

#[test]
fn transfers() {
    part("transfers");
}

#[test]
fn letters() {
    part("letters");
}

#[test]
fn borders() {
    part("borders");
}

#[allow(clippy::disallowed_methods, reason = "a test may be told by its environment to rewrite files")]
fn is_updating() -> bool {
    std::env::var("UPDATE").is_ok()
}

/// Runs every table of a part.
fn part(name: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name);
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no tables in {}", folder.display());
    for file in files {
        check(&file);
    }
}

/// Runs a table, and compares.
fn check(file: &Path) {
    let expected = fs::read_to_string(file).unwrap();
    let found = run(&expected);
    if is_updating() {
        fs::write(file, &found).unwrap();
        return;
    }
    let differ = expected.lines().zip(found.lines()).position(|(one, other)| one != other);
    let line = differ.map_or(0, |it| it + 1);
    assert!(expected == found, "{} differs at line {line}; UPDATE=1 rewrites it. Found:\n{found}", file.display());
}

/// The table with what happens now.
fn run(text: &str) -> String {
    let mut world = World::new();
    let mut is_begun = false;
    let blocks = text.trim_end().split("\n\n").map(|block| {
        let asked = block.split("----").next().unwrap().trim_matches('\n');
        let steps: Vec<_> = asked.lines().filter(|it| !it.starts_with('#')).collect();
        if steps.is_empty() {
            return asked.to_owned();
        }
        for step in steps {
            if is_begun {
                world.step_line(step);
            } else {
                assert!(world.prepare(step), "no line of a setup: {step}");
            }
        }
        if !std::mem::replace(&mut is_begun, true) {
            world.begin();
        }
        let lines = world.lines();
        let lines = if lines.is_empty() { "nothing".to_owned() } else { lines.join("\n") };
        format!("{asked}\n----\n{lines}")
    });
    format!("{}\n", blocks.collect::<Vec<_>>().join("\n\n"))
}
