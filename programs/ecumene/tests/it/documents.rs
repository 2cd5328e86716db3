//! The documents say what is there: the picture of the crates, every path, every name, the README's code, and plain words.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Words that hide who acts. CONTRIBUTING.md says what to write instead.
const BANNED: [&str; 5] = ["whoever", "somebody", "nobody", "everybody", "anybody"];

/// Files that name the banned words on purpose.
const MAY_NAME_THEM: [&str; 2] = ["CONTRIBUTING.md", "programs/ecumene/tests/it/documents.rs"];

/// Names that users type or read in results, and a bot's line that is part of simulated histories: they stay as they are.
const OLD_NAMES: [&str; 5] = [
    "nobody-asks",
    "one-way cut, nobody hears",
    "\"everybody\"",
    "boundary or everybody",
    "Has anybody seen a map?",
];

/// Names in the documents that are not in our sources: of Rust, its libraries and Linux, and a metric's name as
/// Prometheus has it.
const FOREIGN: [&str; 5] =
    ["AsyncWrite", "CLOCK_MONOTONIC", "HashMap", "HashSet", "ecumene_disk_seconds_count"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All text files of the repository below a folder, by path; not what is built or downloaded.
fn files_below(folder: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(root().join(folder)).expect("the folder is there") {
        let name = entry.expect("the folder can be read").file_name().into_string().expect("names are UTF-8");
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let is_made =
            ["target", "node_modules", "dist", "out", "package-lock.json", "Cargo.lock"].contains(&&*name);
        if is_made || name.starts_with('.') {
            continue;
        }
        if root().join(&path).is_dir() {
            files_below(&path, found);
        } else if let Ok(text) = fs::read_to_string(root().join(&path)) {
            found.insert(path, text);
        }
    }
}

fn files() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    files_below("", &mut found);
    found
}

// The picture.

/// `a · b · c` at the start of a text.
fn listed(text: &str) -> BTreeSet<String> {
    let mut words = text.split_whitespace().peekable();
    let mut list = BTreeSet::new();
    while let Some(word) = words.next() {
        list.insert(word.to_owned());
        if words.next_if_eq(&"·").is_none() {
            break;
        }
    }
    list
}

/// What the picture in ARCHITECTURE.md says: crate by crate, what it uses.
fn drawn() -> BTreeMap<String, BTreeSet<String>> {
    let map = read("ARCHITECTURE.md");
    let block = map.split("```").nth(1).expect("the picture is the first block");
    let mut picture = BTreeMap::new();
    for line in block.lines().filter(|it| !it.trim().is_empty()) {
        // A line that begins a layer has its name first.
        let rest =
            if line.starts_with("  ") { line } else { line.trim_start().split_once(' ').expect("a layer").1 };
        let (names, uses) = rest.split_once('→').map_or((rest, None), |(names, uses)| (names, Some(uses)));
        for name in listed(names) {
            picture.insert(name, uses.map(listed).unwrap_or_default());
        }
    }
    picture
}

/// The Cargo file of every crate, by its folder.
fn cargo_files() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for folder in ["crates", "games", "programs"] {
        for entry in fs::read_dir(root().join(folder)).expect("the folder is there") {
            let name = entry.expect("readable").file_name().into_string().expect("UTF-8");
            let cargo = read(&format!("{folder}/{name}/Cargo.toml"));
            found.insert(name, cargo);
        }
    }
    found
}

/// What the Cargo files say: of each folder, the other folders whose packages it depends on.
fn declared() -> BTreeMap<String, BTreeSet<String>> {
    let cargo_files = cargo_files();
    let package =
        |cargo: &str| cargo.split("name = \"").nth(1).and_then(|it| it.split('"').next()).map(str::to_owned);
    let folders: BTreeMap<String, &String> = cargo_files
        .iter()
        .map(|(folder, cargo)| (package(cargo).expect("a package has a name"), folder))
        .collect();
    let key = |line: &str| line.split(['.', ' ', '=']).next().unwrap_or_default().to_owned();
    let uses = |cargo: &str| {
        let section = cargo.split("\n[").find(|it| it.starts_with("dependencies]")).unwrap_or_default();
        let own = section.lines().filter_map(|it| folders.get(&key(it)).copied());
        own.cloned().collect::<BTreeSet<String>>()
    };
    cargo_files.iter().map(|(folder, cargo)| (folder.clone(), uses(cargo))).collect()
}

/// Everything that a crate uses, directly or not.
fn reached(of: &str, uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut open: Vec<&str> = uses[of].iter().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if all.insert(next.to_owned()) {
            open.extend(uses[next].iter().map(String::as_str));
        }
    }
    all
}

#[test]
fn the_picture_shows_what_the_crates_use() {
    let declared = declared();
    let direct = |name: &String| {
        let uses = &declared[name];
        // What is reached through another crate that is used anyway is left out of the picture.
        let left_out =
            |it: &String| uses.iter().any(|other| other != it && reached(other, &declared).contains(it));
        uses.iter().filter(|it| !left_out(it)).cloned().collect::<BTreeSet<_>>()
    };
    let expected: BTreeMap<_, _> = declared.keys().map(|it| (it.clone(), direct(it))).collect();
    assert_eq!(drawn(), expected, "the picture in ARCHITECTURE.md against the Cargo files");
}

/// A game's program links no other game, and the platform names none.
#[test]
fn the_platform_knows_no_game() {
    let games: BTreeSet<String> = fs::read_dir(root().join("games"))
        .expect("the folder is there")
        .map(|it| it.expect("readable").file_name().into_string().expect("UTF-8"))
        .collect();
    let linked = reached("app", &declared());
    assert!(linked.is_disjoint(&games), "programs/app links {linked:?}");
    let is_platform = |path: &str| {
        let folder =
            ["crates/", "programs/app/", "programs/benchmarks/"].iter().find(|it| path.starts_with(**it));
        folder.is_some() && path.contains("/src/") && path != "programs/app/src/test_program.rs"
    };
    for (path, text) in files().into_iter().filter(|it| is_platform(&it.0)) {
        let shipped = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().to_lowercase();
        let named: Vec<_> = games.iter().filter(|it| shipped.contains(&***it)).collect();
        assert!(named.is_empty(), "{path} names {named:?}");
    }
}

// The dependencies.

#[test]
fn every_dependency_has_its_reason() {
    let page = read("docs/decisions/0002-dependencies.md");
    let rows = page.lines().filter(|it| it.starts_with("| `")).filter_map(|it| it.split('|').nth(1));
    let explained: BTreeSet<String> = rows.flat_map(quoted).collect();
    let cargo = read("Cargo.toml");
    let section =
        cargo.split("\n[").find(|it| it.starts_with("workspace.dependencies]")).expect("the list is there");
    let used =
        section.lines().skip(1).filter_map(|it| it.split_once(" = ")).filter(|it| !it.1.contains("path ="));
    assert_eq!(explained, used.map(|it| it.0.to_owned()).collect(), "docs/decisions/0002 against Cargo.toml");
}

// Names and paths.

/// What stands between backticks on a page, code blocks aside.
fn quoted(page: &str) -> Vec<String> {
    let outside: String = page.split("```").step_by(2).collect();
    outside.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn is_path(it: &str) -> bool {
    let folders = ["crates/", "games/", "programs/", "web/", "docs/", "scripts/"];
    folders.iter().any(|folder| it.starts_with(folder))
        && it.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c))
}

/// A name in code: identifiers joined by `::` or `.`; something in it looks like an identifier and not like a word of English.
fn is_name(it: &str) -> bool {
    let parts: Vec<&str> = it.split("::").flat_map(|it| it.split('.')).collect();
    let is_identifier = |it: &&str| !it.is_empty() && it.chars().all(|c| c.is_alphanumeric() || c == '_');
    let looks = it.contains("::") || it.contains('_') || it.starts_with(char::is_uppercase);
    looks && parts.iter().all(is_identifier)
}

/// A source file without its lines of comment, which may name what is gone.
fn without_comments(text: &str) -> String {
    let is_comment = |it: &&str| ["//", "/*", "*"].iter().any(|mark| it.trim_start().starts_with(mark));
    text.lines().filter(|it| !is_comment(it)).fold(String::new(), |code, line| code + line + "\n")
}

/// Libraries that are used by another name than their folder's.
const LIBRARIES: [(&str, &str); 2] = [("ecumene", "app"), ("bundled", "ecumene")];

/// Whether one of the files that define (or extend) a type, trait, module or crate also defines a member of that name.
fn is_member(owner: &str, member: &str, sources: &BTreeMap<String, String>) -> bool {
    let owner = LIBRARIES.iter().find(|it| it.0 == owner).map_or(owner, |it| it.1);
    let defines = |path: &str, text: &str| {
        let is_module = path.ends_with(&format!("/{owner}.rs")) || path.contains(&format!("/{owner}/"));
        is_module || text.lines().any(|it| is_definition_of(it, owner))
    };
    let has = |text: &str| text.lines().any(|it| defines_member(it, member));
    sources.iter().any(|(path, text)| defines(path, text) && has(text))
        || sources.keys().any(|it| it.contains(&format!("/{owner}/")) && it.contains(&format!("/{member}.")))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|it: char| !it.is_alphanumeric() && it != '_').filter(|it| !it.is_empty())
}

fn is_definition_of(line: &str, name: &str) -> bool {
    let mut before = "";
    for word in words(line) {
        let defines = ["struct", "enum", "trait", "mod", "type", "class", "interface", "union", "for"]
            .contains(&before);
        if word == name && (defines || line.trim_start().starts_with("impl")) {
            return true;
        }
        before = word;
    }
    false
}

/// Whether a line defines a function, type, module or constant of this name, passes one on, or defines a field, a variant or
/// a method of TypeScript.
fn defines_member(line: &str, name: &str) -> bool {
    const KEYWORDS: [&str; 12] = [
        "fn",
        "const",
        "static",
        "type",
        "struct",
        "enum",
        "trait",
        "mod",
        "class",
        "function",
        "interface",
        "union",
    ];
    let mut before = "";
    for word in words(line) {
        if word == name && KEYWORDS.contains(&before) {
            return true;
        }
        before = word;
    }
    if line.starts_with("pub use ") && words(line).any(|it| it == name) {
        return true;
    }
    // Fields and variants stand one level deep; what stands deeper is a parameter or a value.
    let depth = line.len() - line.trim_start().len();
    let is_modifier = |it: &&str| {
        ["pub", "crate", "super", "in", "private", "readonly", "static", "async", "get"].contains(it)
    };
    if !(1..=4).contains(&depth) || words(line).find(|it| !is_modifier(it)) != Some(name) {
        return false;
    }
    let rest = line.split_once(name).map_or("", |it| it.1).trim_start();
    let is_field = rest.starts_with(':') && !rest.starts_with("::") || rest.starts_with(['?', '=']);
    let is_variant =
        name.starts_with(char::is_uppercase) && (rest.is_empty() || rest.starts_with([',', '(', '{']));
    let is_method =
        rest.starts_with(['(', '<']) && (rest.ends_with('{') || rest.ends_with(';')) && depth == 2;
    is_field || is_variant || is_method
}

#[test]
fn a_comment_a_parameter_or_a_call_defines_nothing() {
    for line in [
        "    recalled: DiskContents,",
        "    Recalled { contents: u8 },",
        "    pub(in crate::zone) fn recalled() {",
        "  recalled(x: number): void {",
    ] {
        let name = if line.contains("Recalled") { "Recalled" } else { "recalled" };
        assert!(defines_member(line, name), "{line}");
    }
    for line in [
        "        recalled: DiskContents,",
        "    recalled(1);",
        "    let it = core.recalled();",
        "use core::recalled;",
    ] {
        assert!(!defines_member(line, "recalled"), "{line}");
    }
    assert_eq!(without_comments("// recalled\nfn other() {}\n"), "fn other() {}\n");
}

#[test]
fn every_path_and_name_in_the_documents_is_there() {
    let mut sources = files();
    let pages: BTreeMap<String, String> =
        sources.clone().into_iter().filter(|it| it.0.ends_with(".md")).collect();
    sources.retain(|path, _| path.ends_with(".rs") || path.ends_with(".ts"));
    sources.remove("programs/ecumene/tests/it/documents.rs");
    sources.values_mut().for_each(|it| *it = without_comments(it));
    let all: BTreeSet<&str> = sources.values().flat_map(|it| words(it)).collect();
    let crates = declared();
    let mut missing = BTreeSet::new();
    for (page, text) in &pages {
        // The changelog names what was there once.
        if page == "CHANGELOG.md" {
            continue;
        }
        for quote in quoted(text) {
            if is_path(&quote) {
                let there = quote.trim_end_matches('/');
                if !root().join(there).exists() {
                    missing.insert(format!("{page}: {quote}"));
                }
            } else if is_name(&quote)
                && !FOREIGN.contains(&&*quote)
                && (page == "ARCHITECTURE.md" || page.starts_with("docs/"))
            {
                let parts: Vec<&str> = quote.split("::").flat_map(|it| it.split('.')).collect();
                let known = parts
                    .iter()
                    .all(|it| all.contains(it) || crates.contains_key(*it) || is_file(it, &sources));
                let fits = parts
                    .windows(2)
                    .all(|it| is_member(it[0], it[1], &sources) || it[1] == "ts" || it[1] == "rs");
                if !(known && fits || is_file(&quote, &sources)) {
                    missing.insert(format!("{page}: {quote}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "named in documents, and not in the sources:\n{missing:#?}");
}

/// Whether a quoted text such as `primary/turn.rs` is the end of a source file's path, or a folder.
fn is_file(it: &str, sources: &BTreeMap<String, String>) -> bool {
    sources.keys().any(|path| path.ends_with(&format!("/{it}")) || path.contains(&format!("/{it}/")))
}

#[test]
fn file_names_in_the_map_exist() {
    let sources = files();
    let ends = [".rs", ".ts", ".toml", ".txt"];
    let is_file_name =
        |it: &String| ends.iter().any(|end| it.ends_with(end)) && !it.contains(['*', ' ']) && !is_path(it);
    let map = read("ARCHITECTURE.md");
    let missing: Vec<_> =
        quoted(&map).into_iter().filter(is_file_name).filter(|it| !is_file(it, &sources)).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names {missing:?}");
}

#[test]
fn links_between_the_documents_lead_somewhere() {
    let mut missing = Vec::new();
    for (page, text) in files().into_iter().filter(|it| it.0.ends_with(".md")) {
        let folder = Path::new(&page).parent().expect("a page has a folder").to_owned();
        for link in text.split("](").skip(1).filter_map(|it| it.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if !target.is_empty() && !link.starts_with("http") && !root().join(&folder).join(target).exists()
            {
                missing.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The game in the README is the one that is tested.
#[test]
fn the_code_in_the_readme_is_that_of_the_example() {
    let readme = read("README.md");
    let code =
        readme.split("```rust\n").nth(1).and_then(|it| it.split("```").next()).expect("the README has code");
    let example = read("crates/game/examples/torches.rs");
    for part in code.split("    // …\n\n") {
        assert!(
            example.contains(part),
            "README.md shows other code than crates/game/examples/torches.rs:\n{part}"
        );
    }
}

/// The scenario on the page about simulated worlds is the one that is tested.
#[test]
fn the_code_about_scenarios_is_that_of_the_test() {
    let page = read("docs/sim.md");
    let tests = ["orchard.rs", "orchard/pickers.rs"].map(|it| read(&format!("crates/simtest/tests/it/{it}")));
    for block in page.split("```rust\n").skip(1).filter_map(|it| it.split("```").next()) {
        assert!(
            tests.iter().any(|it| it.contains(block)),
            "docs/sim.md shows other code than the test:\n{block}"
        );
    }
}

/// Each page of the documentation says at its top for whom it is.
#[test]
fn each_page_says_for_whom_it_is() {
    for (page, text) in files().into_iter().filter(|it| it.0.starts_with("docs/") && it.0.ends_with(".md")) {
        let top: Vec<&str> = text.lines().filter(|it| !it.is_empty()).take(2).collect();
        let is_decision = page.starts_with("docs/decisions/");
        assert!(is_decision || top[1].starts_with("*For "), "{page} begins with {top:?}");
    }
}

#[test]
fn sentences_say_who_acts() {
    let mut found = Vec::new();
    for (path, text) in files() {
        if MAY_NAME_THEM.contains(&&*path) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            // Also inside names such as `in_a_crowd_nobody_sends`.
            let lower =
                OLD_NAMES.iter().fold(line.to_owned(), |line, it| line.replace(it, "")).to_lowercase();
            let mut parts = lower.split(|it: char| !it.is_alphabetic());
            if let Some(word) = parts.find(|it| BANNED.contains(it)) {
                found.push(format!("{path}:{}: {word}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "say who acts instead (see CONTRIBUTING.md):\n{found:#?}");
}
