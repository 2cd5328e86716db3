//! Golden files and tables in `testdata/`. `UPDATE=1 cargo test` rewrites them.

use std::fs;
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

#[allow(clippy::disallowed_methods, reason = "a test may be told by its environment to rewrite files")]
fn is_updating() -> bool {
    std::env::var("UPDATE").is_ok()
}

/// Fails unless the file `name` holds `found`.
pub fn golden(name: &str, found: &str) {
    if is_updating() {
        fs::write(path(name), found).unwrap();
    }
    let expected = fs::read_to_string(path(name)).unwrap_or_default();
    let differ = expected.lines().zip(found.lines()).position(|(one, other)| one != other);
    assert!(
        expected == found,
        "testdata/{name} differs at line {differ:?}; UPDATE=1 rewrites it. Found:\n{found}"
    );
}

/// Runs a table: blocks of comments and commands, each with its expected output after `----`.
pub fn table(name: &str, mut run: impl FnMut(&[&str]) -> String) {
    let text = fs::read_to_string(path(name)).unwrap();
    let blocks = text.split("\n\n").map(|block| {
        let input = block.split("----").next().unwrap().trim_matches('\n');
        let commands: Vec<_> = input.lines().filter(|line| !line.starts_with('#')).collect();
        if commands.is_empty() {
            input.to_owned()
        } else {
            format!("{input}\n----\n{}", run(&commands).trim_end())
        }
    });
    golden(name, &format!("{}\n", blocks.collect::<Vec<_>>().join("\n\n")));
}
