//! Fault plans can be read, replayed and shortened.

use kosmos_scenario::KosmosScenario;
use simtest::fault::{FaultKind, FaultKinds};
use simtest::planted_bug::PlantedBug;
use simtest::{RunOptions, plan, run_with, shrink};

#[test]
fn kinds_have_names_that_lead_back() {
    for &kind in FaultKind::ALL {
        assert_eq!(kind.name().parse::<FaultKind>(), Ok(kind));
    }
    let error = "earthquake".parse::<FaultKind>().unwrap_err().to_string();
    assert!(error.contains("\"earthquake\"") && error.contains("clock-step"), "{error}");
    assert_eq!(FaultKinds::ALL.iter().count(), FaultKind::ALL.len());
}

#[test]
fn a_failing_plan_is_shortened_and_still_fails() {
    let planted = PlantedBug::by_name("keep-suffix").unwrap();
    let found = planted.hunt(KosmosScenario, 1..=20).unwrap();
    let fewer = shrink(KosmosScenario, &found);
    assert!(fewer.len() < found.faults.len(), "{} of {}", fewer.len(), found.faults.len());
    let again = run_with(KosmosScenario, found.options, fewer, None);
    assert_eq!(again.violations[0].invariant, found.violations[0].invariant);
}

#[test]
fn a_replayed_plan_gives_the_same_history() {
    let options = RunOptions::draw(7, &simtest::RunRequest::ZONE);
    let [first, second] =
        [None, Some(100)].map(|trace| run_with(KosmosScenario, options, plan::draw(&options), trace));
    assert_eq!(first.history, second.history);
    assert_eq!((first.trace.len(), second.trace.len()), (0, 100));
}
