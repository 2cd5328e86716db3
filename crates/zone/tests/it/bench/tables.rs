//! Runs the tables of `testdata/`, one test per part of the protocol.

use super::world::BenchWorld;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The parts of the protocol, in the order in which `docs/protocol.md` leads through them.
const PARTS: [&str; 9] = [
    "execution",
    "sessions",
    "replication",
    "failover",
    "events",
    "locking",
    "transfers",
    "letters",
    "borders",
];

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

/// The guide has a row for every table, and no other rows; the list of pages counts them.
#[test]
fn every_table_is_in_the_guide() {
    let guide = fs::read_to_string(root().join("../../docs/protocol.md")).unwrap();
    let rows = guide.lines().filter(|it| it.starts_with("| `"));
    let named =
        rows.flat_map(|it| it.split('|').nth(1).unwrap().split(", ").map(|it| it.trim().replace('`', "")));
    let there = PARTS.iter().flat_map(|part| {
        let name = move |file: PathBuf| format!("{part}/{}", file.file_name().unwrap().to_string_lossy());
        files(part).into_iter().map(name)
    });
    let there: BTreeSet<String> = there.collect();
    assert_eq!(named.collect::<BTreeSet<_>>(), there);
    let pages = fs::read_to_string(root().join("../../docs/README.md")).unwrap();
    assert!(pages.contains(&format!("{} tables", there.len())), "docs/README.md counts the tables");
}

/// The guide names functions and types that exist.
#[test]
fn every_name_in_the_guide_is_in_the_sources() {
    let guide = fs::read_to_string(root().join("../../docs/protocol.md")).unwrap();
    let mut sources = String::new();
    read_all(&root().join("src"), &mut sources);
    let words: BTreeSet<&str> = sources.split(|it: char| !it.is_alphanumeric() && it != '_').collect();
    let cells = guide.lines().filter(|it| it.starts_with("| `")).filter_map(|it| it.split('|').nth(3));
    let names = cells.flat_map(|it| it.split('`').skip(1).step_by(2)).flat_map(|it| it.split("::"));
    let missing: Vec<_> = names.filter(|it| !words.contains(it)).collect();
    assert!(missing.is_empty(), "docs/protocol.md names {missing:?}");
}

fn read_all(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(&path, text);
        } else {
            text.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "a test may be told by its environment to rewrite files")]
fn is_updating() -> bool {
    std::env::var("UPDATE").is_ok()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The files with the tables of a part, sorted.
fn files(part: &str) -> Vec<PathBuf> {
    let folder = root().join("testdata").join(part);
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no tables in {}", folder.display());
    files
}

/// Runs every table of a part.
fn part(name: &str) {
    assert!(PARTS.contains(&name));
    files(name).iter().for_each(|it| check(it));
}

/// Runs a table, and compares its lines with those in the file.
fn check(file: &Path) {
    let expected = fs::read_to_string(file).unwrap();
    let opening = expected.lines().take_while(|it| it.starts_with("# ")).count();
    assert!((1..=4).contains(&opening), "{} must say first what it shows and why", file.display());
    let found = run(&expected);
    if is_updating() {
        fs::write(file, &found).unwrap();
        return;
    }
    let differ = expected.lines().zip(found.lines()).position(|(one, other)| one != other);
    let line = differ.map_or(0, |it| it + 1);
    assert!(
        expected == found,
        "{} differs at line {line}; UPDATE=1 rewrites it. Found:\n{found}",
        file.display()
    );
}

/// Runs a table, and returns its text with the lines that the steps cause now.
fn run(text: &str) -> String {
    let mut world = BenchWorld::new();
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
