//! The checkers of `lab vast`: quiet on ours, loud on the paper's, and each notices when the rule it watches is broken.

use lab::vast::{Case, Options, Protocol, Ran, Walk, case, run};
use machine::{Span, Time};
use overlay::Rule;
use sim::crowd::{Churn, Cut, Division};

/// A small world in which messages get lost, and peers come and go.
fn rough(protocol: Protocol, movement: Walk, seed: u64) -> Case {
    let options =
        Options { protocol, peers: 60, hours: 0.05, loss: 0.05, sample: 8, seed, ..Options::paper(movement) };
    let mut case = case(&options).unwrap();
    case.schedule.churn = Some(Churn { graceful: 0.5, ..Churn::abrupt(Span::from_secs(300)) });
    case
}

fn ran(case: &Case) -> Ran {
    run(case, &|_| ())
}

/// Those who speak.
fn speakers(ran: &Ran) -> Vec<&'static str> {
    ran.violations.iter().map(|it| it.checker).collect()
}

fn assert_noticed(checker: &str, mut case: Case, change: impl FnOnce(&mut Case)) {
    change(&mut case);
    let ran = ran(&case);
    assert!(speakers(&ran).contains(&checker), "{checker} is quiet: {:?}", ran.violations);
}

fn broken(rule: Rule) -> impl Fn(&mut Case) {
    move |case| case.config.broken = Some(rule)
}

#[test]
fn all_are_quiet_on_ours() {
    for seed in 1..=3 {
        for movement in [Walk::Random, Walk::Groups] {
            let ran = ran(&rough(Protocol::Fixed, movement, seed));
            assert_eq!(ran.violations, [], "{movement:?}, seed {seed}");
        }
    }
}

#[test]
fn each_notices_that_the_rule_it_watches_is_broken() {
    let rules = [
        ("lists", Rule::RemoveSilent),
        ("sequence", Rule::NewestWins),
        ("links", Rule::AnnounceWant),
        ("enclosing", Rule::KeepTouching),
        ("view", Rule::KeepVisible),
        ("lean", Rule::RemoveIrrelevant),
        ("routing", Rule::SearchNearest),
        ("accounts", Rule::CountGreetings),
    ];
    for (checker, rule) in rules {
        let mut case = rough(Protocol::Fixed, Walk::Groups, 1);
        case.lasts = Span::from_secs(90);
        assert_noticed(checker, case, broken(rule));
    }
}

/// A network that is divided for a while.
fn divided() -> Case {
    let mut case = rough(Protocol::Fixed, Walk::Groups, 1);
    let (at, lasts) = (Time::from_millis(30_000), Span::from_secs(40));
    (case.schedule.churn, case.lasts) = (None, Span::from_secs(120));
    case.schedule.cuts = vec![Cut { at, lasts, division: Division::Random }];
    case
}

#[test]
fn without_searches_a_divided_network_stays_divided_and_that_is_noticed() {
    assert_eq!(ran(&divided()).violations, []);
    assert_noticed("whole", divided(), |case| case.config.self_lookup = None);
}

#[test]
fn whoever_never_forgets_is_never_right_at_rest() {
    let exact = |rule: Option<Rule>| {
        let mut case = rough(Protocol::Fixed, Walk::Groups, 1);
        (case.schedule.churn, case.lasts) = (None, Span::from_secs(60));
        case.config.broken = rule;
        ran(&case).exact_after
    };
    assert!(exact(None).is_some());
    assert_eq!(exact(Some(Rule::RemoveIrrelevant)), None);
}

#[test]
fn they_are_loud_on_the_papers() {
    let mut case = rough(Protocol::Paper, Walk::Groups, 1);
    case.line = case.line.with_loss(0.0).unwrap();
    case.schedule.churn = None;
    let ran = ran(&case);
    let speakers = speakers(&ran);
    assert!(speakers.contains(&"links") && speakers.contains(&"enclosing"), "{:?}", ran.violations);
    assert!(!speakers.contains(&"accounts") && !speakers.contains(&"sequence"), "{:?}", ran.violations);
}
