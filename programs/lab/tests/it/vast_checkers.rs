//! The checkers of `lab vast`: they find nothing in ours and much in the paper's, and each notices when its rule is
//! broken.

use lab::vast::{Protocol, VastCase, VastOptions, VastOutcome, WalkPattern, case, run};
use machine::{Span, Time};
use overlay::OverlayRule;
use sim::crowd::{Churn, Cut, Division};

/// A small world in which messages get lost, and peers join and leave.
fn rough(protocol: Protocol, movement: WalkPattern, seed: u64) -> VastCase {
    let options = VastOptions {
        protocol,
        peers: 60,
        hours: 0.05,
        loss: 0.05,
        sample: 8,
        seed,
        ..VastOptions::paper(movement)
    };
    let mut case = case(&options).unwrap();
    case.schedule.churn = Some(Churn { graceful: 0.5, ..Churn::abrupt(Span::from_secs(300)) });
    case
}

fn run_quietly(case: &VastCase) -> VastOutcome {
    run(case, &|_| ())
}

/// The names of the checkers that found violations.
fn alarmed(outcome: &VastOutcome) -> Vec<&'static str> {
    outcome.violations.iter().map(|it| it.checker).collect()
}

fn assert_noticed(checker: &str, mut case: VastCase, change: impl FnOnce(&mut VastCase)) {
    change(&mut case);
    let outcome = run_quietly(&case);
    assert!(alarmed(&outcome).contains(&checker), "{checker} found nothing: {:?}", outcome.violations);
}

fn broken(rule: OverlayRule) -> impl Fn(&mut VastCase) {
    move |case| case.config.broken = Some(rule)
}

#[test]
fn no_checker_finds_a_violation_in_ours() {
    for seed in 1..=3 {
        for movement in [WalkPattern::Random, WalkPattern::Groups] {
            let outcome = run_quietly(&rough(Protocol::Fixed, movement, seed));
            assert_eq!(outcome.violations, [], "{movement:?}, seed {seed}");
        }
    }
}

#[test]
fn each_checker_notices_that_its_rule_is_broken() {
    let rules = [
        ("lists", OverlayRule::RemoveSilent),
        ("sequence", OverlayRule::NewestWins),
        ("links", OverlayRule::AnnounceWant),
        ("enclosing", OverlayRule::KeepTouching),
        ("view", OverlayRule::KeepVisible),
        ("lean", OverlayRule::RemoveIrrelevant),
        ("routing", OverlayRule::SearchNearest),
        ("accounts", OverlayRule::CountGreetings),
    ];
    for (checker, rule) in rules {
        let mut case = rough(Protocol::Fixed, WalkPattern::Groups, 1);
        case.lasts = Span::from_secs(90);
        assert_noticed(checker, case, broken(rule));
    }
}

/// A network that is divided for a while.
fn divided() -> VastCase {
    let mut case = rough(Protocol::Fixed, WalkPattern::Groups, 1);
    let (at, lasts) = (Time::from_millis(30_000), Span::from_secs(40));
    (case.schedule.churn, case.lasts) = (None, Span::from_secs(120));
    case.schedule.cuts = vec![Cut { at, lasts, division: Division::Random }];
    case
}

#[test]
fn without_searches_a_divided_network_stays_divided_and_that_is_noticed() {
    assert_eq!(run_quietly(&divided()).violations, []);
    assert_noticed("whole", divided(), |case| case.config.self_lookup = None);
}

#[test]
fn lists_without_removals_are_never_right_at_rest() {
    let exact = |rule: Option<OverlayRule>| {
        let mut case = rough(Protocol::Fixed, WalkPattern::Groups, 1);
        (case.schedule.churn, case.lasts) = (None, Span::from_secs(60));
        case.config.broken = rule;
        run_quietly(&case).exact_after
    };
    assert!(exact(None).is_some());
    assert_eq!(exact(Some(OverlayRule::RemoveIrrelevant)), None);
}

#[test]
fn checkers_find_violations_in_the_papers_protocol() {
    let mut case = rough(Protocol::Paper, WalkPattern::Groups, 1);
    case.line = case.line.with_loss(0.0).unwrap();
    case.schedule.churn = None;
    let outcome = run_quietly(&case);
    let alarmed = alarmed(&outcome);
    assert!(alarmed.contains(&"links") && alarmed.contains(&"enclosing"), "{:?}", outcome.violations);
    assert!(!alarmed.contains(&"accounts") && !alarmed.contains(&"sequence"), "{:?}", outcome.violations);
}
