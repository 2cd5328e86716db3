//! `docs/game.md` shows only code that compiles and runs: each piece is part of a game that is tested here.

const MANUAL: &str = include_str!("../../../../docs/game.md");
const SOURCES: [&str; 4] = [
    include_str!("../../examples/orchard.rs"),
    include_str!("hive.rs"),
    include_str!("solo.rs"),
    include_str!("../../../../games/pebbles/src/main.rs"),
];

fn trimmed(code: &str) -> String {
    code.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_piece_of_the_manual_is_tested() {
    let sources = SOURCES.map(trimmed);
    let pieces: Vec<_> =
        MANUAL.split("```rust\n").skip(1).map(|it| it.split("```").next().unwrap()).collect();
    assert!(8 < pieces.len(), "the manual shows code");
    for piece in pieces {
        let piece = trimmed(piece);
        assert!(
            sources.iter().any(|source| source.contains(&piece)),
            "docs/game.md shows untested code:\n{piece}"
        );
    }
}

#[test]
fn the_manual_names_every_limit() {
    let config = include_str!("../../src/config.rs");
    let limits = config.lines().filter_map(|line| line.strip_prefix("pub const ")?.split(':').next());
    for limit in limits.filter(|name| !name.starts_with("SOLO_")) {
        assert!(MANUAL.contains(limit), "docs/game.md does not name {limit}");
    }
}
