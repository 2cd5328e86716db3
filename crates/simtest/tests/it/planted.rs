//! Each planted bug is noticed. (`ecumene sim zone --plant all` looks at more seeds.)

use crate::tier::is_full;
use kosmos_scenario::KosmosScenario;
use simtest::histories::read_files;
use simtest::planted_bug::{PLANTED, PlantedBug};
use simtest::{Violation, check, run_recorded};
use std::ops::RangeInclusive;

/// Bugs that show seldom, and the first seed in which each did when this was written: most days the hunt begins there.
const SELDOM: [(&str, u64); 5] = [
    ("ack-while-swapping", 30),
    ("backup-forgets", 70),
    ("keep-tail", 39),
    ("mesh-unfenced", 45),
    ("abroad-unsynced", 24),
];

fn seeds(planted: &PlantedBug) -> RangeInclusive<u64> {
    let seldom = SELDOM.iter().find(|it| it.0 == planted.name && !is_full());
    seldom.map_or(1, |it| it.1)..=100
}

/// Violations in the simulator are found in files, too, except by those checkers that look into living machines. And
/// no checker is blind: each is the first to notice something.
#[test]
fn every_planted_bug_is_noticed() {
    let mut blind = check::ALL.to_vec();
    for planted in PLANTED.iter().filter(|it| !it.between) {
        let found = planted.hunt(KosmosScenario, seeds(planted));
        let found = found.unwrap_or_else(|| panic!("no checker noticed {} in 100 seeds", planted.name));
        let (live, files) = run_recorded(KosmosScenario, found.options, found.faults);
        let read = read_files(files).unwrap().check(&KosmosScenario).unwrap();
        let by = first(&live.violations);
        assert_eq!(by, first(&found.violations), "{}", planted.name);
        if !by.is_some_and(|it| check::LIVING.contains(&it)) {
            assert_eq!(first(&read.violations), by, "{}", planted.name);
            assert!(read.place.is_some_and(|it| 0 < it), "{}", planted.name);
        }
        // Files do not tell that no player can play again, but they tell which players wait for an answer.
        assert!(planted.name != "forget-results" || !read.unanswered.is_empty());
        blind.retain(|it| Some(*it) != by);
    }
    assert!(blind.is_empty(), "{blind:?} noticed nothing");
}

/// The same with several zones. Their checkers are also tested one by one with scripted logs.
#[test]
fn every_planted_bug_between_zones_is_noticed() {
    for planted in PLANTED.iter().filter(|it| it.between) {
        let found = planted.hunt(KosmosScenario, seeds(planted));
        assert!(found.is_some(), "no checker noticed {} in 100 seeds", planted.name);
    }
}

fn first(violations: &[Violation]) -> Option<&'static str> {
    violations.first().map(|it| it.invariant)
}

#[test]
fn names_of_planted_bugs_are_unique() {
    let mut names: Vec<_> = PLANTED.iter().map(|it| it.name).collect();
    names.sort_unstable();
    names.dedup();
    assert!(SELDOM.iter().all(|it| names.contains(&it.0)));
    let mut planted: Vec<_> = PLANTED.iter().map(|it| it.rule).collect();
    planted.sort_unstable();
    let rules = [&zone::Rule::OF_A_ZONE[..], &zone::Rule::BETWEEN_ZONES[..]].concat();
    assert_eq!((names.len(), planted), (rules.len(), rules), "each rule is broken by one planted bug");
}
