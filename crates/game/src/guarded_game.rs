//! A game whose calls are surrounded by a guard: a watchdog's note of the call, or a test's fault.

use crate::{Call, CallError, CallOutput, Draft, HostedGame, MigrateError, Objects, PlayerId, Scope, Viewer};
use machine::Time;
use space::{Distance, Motion, Position};
use std::sync::Arc;

/// Surrounds the calls of a game.
pub trait CallGuard: Send + Sync {
    /// Runs one call of the game.
    fn within<T>(&self, call: impl FnOnce() -> T) -> T;

    /// An event is about to run.
    fn before_event(&self, call: &Call<'_>) {
        let _ = call;
    }
}

/// A game with a guard around its calls.
pub struct GuardedGame<G> {
    rules: Arc<dyn HostedGame>,
    guard: Arc<G>,
}

impl<G: CallGuard> GuardedGame<G> {
    /// Puts a guard around the calls of a game.
    pub const fn new(rules: Arc<dyn HostedGame>, guard: Arc<G>) -> Self {
        Self { rules, guard }
    }
}

impl<G: CallGuard> HostedGame for GuardedGame<G> {
    fn name(&self) -> &'static str {
        self.rules.name()
    }

    fn range(&self) -> Distance {
        self.rules.range()
    }

    fn schema(&self) -> u64 {
        self.rules.schema()
    }

    fn world(&self) -> Option<Vec<u8>> {
        self.guard.within(|| self.rules.world())
    }

    fn entrance(&self, player: PlayerId) -> Position {
        self.guard.within(|| self.rules.entrance(player))
    }

    fn scope(&self, objects: &dyn Objects, now: Time, call: Call<'_>) -> Result<Scope, CallError> {
        self.guard.within(|| self.rules.scope(objects, now, call))
    }

    fn run(&self, draft: &mut Draft<'_>, call: Call<'_>) -> Result<CallOutput, CallError> {
        self.guard.before_event(&call);
        self.guard.within(|| self.rules.run(draft, call))
    }

    fn allows(&self, mover: &[u8], before: &Motion, after: &Motion) -> Result<(), CallError> {
        self.guard.within(|| self.rules.allows(mover, before, after))
    }

    fn show(&self, object: &[u8], to: Viewer) -> Option<Vec<u8>> {
        self.guard.within(|| self.rules.show(object, to))
    }

    fn class(&self, avatar: &[u8]) -> u8 {
        self.guard.within(|| self.rules.class(avatar))
    }

    fn grades(&self) -> bool {
        self.rules.grades()
    }

    fn relevance(&self, observer: &[u8], subject: &[u8], graded: f32) -> f32 {
        self.guard.within(|| self.rules.relevance(observer, subject, graded))
    }

    fn thinks(&self, object: &[u8]) -> bool {
        self.guard.within(|| self.rules.thinks(object))
    }

    fn migrate(&self, schema: u64, state: &[u8]) -> Result<Vec<u8>, MigrateError> {
        self.guard.within(|| self.rules.migrate(schema, state))
    }
}
