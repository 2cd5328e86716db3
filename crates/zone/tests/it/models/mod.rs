//! Small models of the zone's protocols, searched exhaustively by `stateright`.
//!
//! A model mirrors the rules of the code, not the code: each step names the function that it stands for. There is
//! no time in it. A timer may fire at any moment, a message may wait for ever, and a request
//! to the directory may be carried out long after its sender is gone. Each rule has a switch, and each switch
//! has a test that the model without that rule is rejected: a model that accepts everything proves nothing.
//!
//! `ECUMENE_FULL=1 cargo test -p ecumene-zone --test it` searches the larger bounds.

mod commit;
mod cursor;
mod failover;
mod locks;
mod model_log;
mod transfer;

use stateright::{Checker, Expectation, HasDiscoveries, Model};
use std::fmt::Debug;
use std::hash::Hash;

/// The size of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// A search of a few seconds.
    Small,
    /// More than a million states.
    Full,
}

impl Depth {
    #[expect(clippy::disallowed_methods, reason = "the length of a test run is not part of any world")]
    fn wanted() -> Self {
        if std::env::var("ECUMENE_FULL").is_ok_and(|it| it == "1") { Self::Full } else { Self::Small }
    }
}

/// Searches everything within the model's bounds: no state may break an `always` property, and every `sometimes`
/// property must be found. Returns the number of states.
#[track_caller]
fn check_holds<M>(name: &str, model: M) -> usize
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Debug + PartialEq + Send + Sync,
{
    let checker = model.checker().threads(2).spawn_bfs().join();
    let count = checker.unique_state_count();
    println!("{name}: {count} states, depth {}", checker.max_depth());
    let mut found = checker.discoveries();
    for property in checker.model().properties() {
        let path = found.remove(property.name);
        match property.expectation {
            Expectation::Sometimes => assert!(path.is_some(), "{name}: never found that {}", property.name),
            Expectation::Always | Expectation::Eventually => {
                let path = path.map(|it| print_path(&it.into_actions()));
                assert_eq!(path, None, "{name}: not true that {}", property.name);
            }
        }
    }
    count
}

/// Searches until this property fails, which it must. Returns the length of the shortest path that leads there.
#[track_caller]
fn check_fails<M>(name: &str, model: M, property: &'static str) -> usize
where
    M: Model + Copy + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Debug + PartialEq + Send + Sync,
{
    let mut path =
        find(model, property, None).unwrap_or_else(|| panic!("{name}: always true that {property}"));
    // The checker goes on a little after its first discovery, and keeps the last one.
    while let Some(shorter) = find(model, property, Some(path.len())) {
        path = shorter;
    }
    println!("{name}: after {} steps it is not true that {property}:{}", path.len(), print_path(&path));
    path.len()
}

/// A path, shorter than a given length, after which a property does not hold.
fn find<M>(model: M, property: &'static str, shorter_than: Option<usize>) -> Option<Vec<M::Action>>
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Debug + PartialEq + Send + Sync,
{
    let holds = model.property(property).condition;
    // Why + 1: a state without actions is at depth 1, and the checker does not look at the depth to stop at.
    let depth = shorter_than.map_or(usize::MAX, |it| it + 1);
    let until = HasDiscoveries::AllOf([property].into());
    let checker = model.checker().finish_when(until).target_max_depth(depth).spawn_bfs().join();
    let steps = checker.discovery(property)?.into_vec();
    let end = steps.iter().position(|(state, _)| !holds(checker.model(), state))?;
    Some(steps.into_iter().take(end).filter_map(|(_, action)| action).collect())
}

fn print_path(path: &[impl Debug]) -> String {
    path.iter().map(|it| format!("\n  {it:?}")).collect()
}
