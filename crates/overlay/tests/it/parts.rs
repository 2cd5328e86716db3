//! The parts of a peer are used in one direction, as the table in `lib.rs` lists them.

use std::fs;
use std::path::Path;

/// The file with the behaviour without a rule: it knows the parts whose rules it breaks.
const EXCEPTION: &str = "broken";

/// The files of the table, in its order.
fn table() -> Vec<String> {
    let rows = include_str!("../../src/lib.rs").lines().filter_map(|it| it.strip_prefix("//! | `"));
    let files = rows.filter_map(|it| it.split(" | ").next());
    files
        .flat_map(|it| it.split('`').filter(|it| !it.starts_with(',') && !it.is_empty()))
        .map(str::to_owned)
        .collect()
}

/// All lines of a file, or of the files of a folder.
fn lines(path: &Path) -> Vec<String> {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("a folder").map(|it| it.expect("an entry").path());
        return entries.flat_map(|it| lines(&it)).collect();
    }
    fs::read_to_string(path).expect("a file").lines().map(str::to_owned).collect()
}

#[test]
fn parts_use_only_what_stands_below_them() {
    let table = table();
    let place = |name: &str| table.iter().position(|it| it == name);
    let mut seen = 0;
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name == "lib" || name == EXCEPTION {
            continue;
        }
        let here = place(&name).unwrap_or_else(|| panic!("{name} is not in the table of lib.rs"));
        let lines = lines(&path);
        let used = lines.iter().filter_map(|it| it.strip_prefix("use crate::")?.split([':', ';']).next());
        for it in used.filter(|it| *it != EXCEPTION) {
            let below = place(it).unwrap_or_else(|| panic!("{it} is not in the table of lib.rs"));
            assert!(here < below, "{name} uses {it}, which stands above it");
            seen += 1;
        }
    }
    assert!(40 < seen, "{seen} uses were found");
}
