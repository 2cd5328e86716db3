//! Small models of the zone's protocols, searched exhaustively by `stateright`.
//!
//! A model mirrors the rules of the code, not the code: each step names the function that it stands for. There is
//! no time in it. Whatever a timer could do may happen at any moment, a message may wait for ever, and a request
//! to the directory may be carried out long after whoever sent it is gone. Each rule has a switch, and each switch
//! has a test that the model without that rule is rejected: a model that accepts everything proves nothing.
//!
//! `ECUMENE_FULL=1 cargo test -p ecumene-zone --test it` searches the larger bounds.

mod cursor;
mod failover;

use stateright::{Checker, Model};
use std::hash::Hash;

/// How much to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// A few seconds.
    Small,
    /// More than a million states.
    Full,
}

impl Depth {
    #[expect(clippy::disallowed_methods, reason = "how long a test may run is not part of any world")]
    fn wanted() -> Self {
        if std::env::var("ECUMENE_FULL").is_ok_and(|it| it == "1") { Self::Full } else { Self::Small }
    }
}

/// Searches everything within the model's bounds; nothing may be found. Returns how many states there are.
#[track_caller]
fn check_holds<M>(name: &str, model: M) -> usize
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + std::fmt::Debug + Hash + Send + Sync + PartialEq,
    M::Action: Clone + std::fmt::Debug + PartialEq + Send + Sync,
{
    let checker = model.checker().threads(2).timeout(std::time::Duration::from_secs(100)).spawn_bfs().join();
    let count = checker.unique_state_count();
    println!("{name}: {count} states, depth {}", checker.max_depth());
    for (property, path) in checker.discoveries() {
        let story: Vec<_> = path.clone().into_actions().iter().map(|it| format!("\n  {it:?}")).collect();
        let end = path.last_state();
        panic!("{name}: \"{property}\" does not hold:{}\n{end:#?}", story.concat());
    }
    count
}

/// Searches until something is found; it must be this property that fails. Returns the shortest story.
#[track_caller]
fn check_fails<M>(name: &str, model: M, property: &'static str) -> usize
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + std::fmt::Debug + Hash + Send + Sync + PartialEq,
    M::Action: Clone + std::fmt::Debug + PartialEq + Send + Sync,
{
    let checker = model.checker().finish_when(stateright::HasDiscoveries::Any).spawn_bfs().join();
    let found = checker.discoveries();
    let Some(path) = found.get(property) else {
        let others: Vec<_> = found.keys().collect();
        panic!(
            "{name}: \"{property}\" should fail; of {} states, these do: {others:?}",
            checker.unique_state_count()
        );
    };
    let story = path.clone().into_actions();
    let lines: Vec<_> = story.iter().map(|it| format!("\n  {it:?}")).collect();
    println!("{name}: \"{property}\" fails after {} steps:{}", story.len(), lines.concat());
    story.len()
}
