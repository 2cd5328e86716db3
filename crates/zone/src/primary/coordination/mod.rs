//! When something may be executed, and what zones must agree on.
//!
//! - `perform`: work is executed at once if nothing is in the way; otherwise it becomes a job.
//! - `jobs`, `attempt`: this zone as the coordinator of an event that needs locks, here or in other zones.
//! - `grants`: this zone as the grantor of locks for events that other zones decide.
//! - `transfers`: objects that change zones.
//! - `post`: what goes from log to log between zones, exactly once.
//! - `due`: letters, timers and thoughts whose time has come.
//!
//! What is executed, and the records of it, are `execution`'s: everything here works on a [`Turn`].

mod attempt;
mod due;
mod grants;
mod jobs;
mod perform;
mod post;
mod transfers;

use super::context::Ctx;
use super::execution::Subject;
use super::turn::Turn;
use crate::core::Core;
use crate::locks::{Claim, Holder, Locks};
use crate::record::Index;
use crate::rule::Rule;
use grants::Grants;
use jobs::Jobs;
use post::Post;
use space::ZoneId;
use std::collections::VecDeque;
use transfers::Transfers;

/// Locks, and all that waits for them or goes to other zones.
#[derive(Default)]
pub(super) struct Coordination {
    locks: Locks,
    /// Waiters that got their locks, and whether one of them is being seen to.
    unblocked: VecDeque<Holder>,
    unblocking: bool,
    jobs: Jobs,
    grants: Grants,
    transfers: Transfers,
    pub(super) post: Post,
}

impl Coordination {
    /// Whether an event for this player or thing is under way.
    pub(super) fn is_busy(&self, subject: Subject) -> bool {
        self.jobs.is_busy(subject)
    }

    /// How many jobs there are, and how many locks are held or wanted.
    pub(super) fn load(&self) -> (usize, usize) {
        let (held, wanted) = self.locks.len();
        (self.jobs.len(), held + wanted)
    }

    /// Holds the locks that outlived a reign: they are in the state.
    pub(super) fn lock_again(&mut self, core: &Core) {
        for (&event, held) in &core.state.abroad.held {
            let claim = Claim { scope: held.scope.clone(), objects: held.objects.clone() };
            self.locks.hold(Holder::Event(event), claim);
        }
        for &object in core.state.abroad.offered.keys() {
            self.lock_transfer(object);
        }
    }

    /// Releases the locks of a holder, and sees to the waiters that got theirs because of it.
    fn unlock(&mut self, turn: &mut Turn<'_>, holder: Holder) {
        let now = turn.cx.world_now();
        self.unblocked.extend(self.locks.release(holder, &turn.cx.core.state.objects, now));
        // A waiter may be over at once, and release its own locks: no recursion for it.
        if std::mem::replace(&mut self.unblocking, true) {
            return;
        }
        while let Some(next) = self.unblocked.pop_front() {
            match next {
                Holder::Event(event) if event.zone == turn.cx.zone() => self.job_granted(turn, event),
                Holder::Event(event) => self.grant_waiting(turn, event),
                Holder::Passage(_) => (),
            }
        }
        self.unblocking = false;
    }

    /// Tells other zones what has become safe to tell them: locks that are granted, and post.
    pub(super) fn send_safe(&mut self, cx: &mut Ctx<'_>, announced: Index) {
        if cx.core.config.is_meshed() {
            let safe = safe_to_post(cx.core, announced);
            self.grants.send(cx, safe);
            self.post.send(cx, safe);
        }
    }

    /// A zone may not have got what was under way to it.
    pub(super) fn post_again(&mut self, cx: &mut Ctx<'_>, zone: ZoneId, announced: Index) {
        let safe = safe_to_post(cx.core, announced);
        self.post.send_again(cx, zone, safe);
    }
}

/// Records up to this may be told to other zones: safe like everything that is announced, and on the own disk. After a
/// full stop a zone may have lost its last moments, but nothing that another zone relies on.
fn safe_to_post(core: &Core, announced: Index) -> Index {
    if core.enforces(Rule::PostAfterSync) { announced.min(core.disk.persisted) } else { announced }
}
