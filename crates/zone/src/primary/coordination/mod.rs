//! Coordination: when work may be executed, and how zones agree on events that touch several of them.
//!
//! - `action_pace`: how much one player may ask of a primary, by what each action costs.
//! - `perform`: work is executed at once if nothing is in the way; otherwise it becomes a job.
//! - `jobs`, `attempt`: this zone as the coordinator of an event that needs locks, here or in other zones.
//! - `grants`: this zone as the grantor of locks for events that other zones decide.
//! - `transfers`: objects that change zones.
//! - `post`: items that go from log to log between zones, exactly once.
//! - `due`: letters, timers and thoughts whose time has come.
//!
//! `execution` executes work and writes its records: everything here works on a [`Turn`].

mod action_pace;
mod attempt;
mod due;
mod grants;
mod jobs;
mod perform;
mod post;
mod transfers;

use super::context::PrimaryContext;
use super::execution::WorkKey;
use super::turn::Turn;
use crate::core::Core;
use crate::locks::{LockClaim, LockHolder, Locks};
use crate::record::Index;
use crate::rule::Rule;
pub(super) use action_pace::ActionCost;
use action_pace::ActionPace;
use grants::Grants;
use jobs::Jobs;
use post::PostDelivery;
use space::ZoneId;
use std::collections::VecDeque;
use transfers::Transfers;

/// The locks of this zone, the work that waits for them, and the exchange with other zones.
#[derive(Default)]
pub(super) struct Coordination {
    locks: Locks,
    /// Waiting holders that got their locks, and whether `unlock` is working through them.
    unblocked: VecDeque<LockHolder>,
    unblocking: bool,
    jobs: Jobs,
    grants: Grants,
    transfers: Transfers,
    pub(super) post: PostDelivery,
    pub(super) pace: ActionPace,
}

impl Coordination {
    /// Returns whether a job for this player, letter, timer or object is under way.
    pub(super) fn is_busy(&self, key: WorkKey) -> bool {
        self.jobs.is_busy(key)
    }

    /// The number of jobs, and of locks that are held or waited for.
    pub(super) fn load(&self) -> (usize, usize) {
        let (held, wanted) = self.locks.len();
        (self.jobs.len(), held + wanted)
    }

    /// Takes the locks that an earlier primary granted or needed: they are in the state, and outlive it.
    pub(super) fn restore_locks(&mut self, core: &Core) {
        for (&event, grant) in &core.state.mesh.grants {
            let claim = LockClaim { scope: grant.scope.clone(), objects: grant.objects.clone() };
            self.locks.hold(LockHolder::Event(event), claim);
        }
        for &object in core.state.mesh.offered.keys() {
            self.lock_transfer(object);
        }
    }

    /// Releases the locks of a holder, and resumes the waiting holders that got theirs because of it.
    fn unlock(&mut self, turn: &mut Turn<'_>, holder: LockHolder) {
        let now = turn.cx.world_now();
        self.unblocked.extend(self.locks.release(holder, &turn.cx.core.state.objects, now));
        // A holder that is resumed may end at once and release its own locks. The loop below then goes on with those it
        // frees: no recursion, whose depth would grow with the queue.
        if std::mem::replace(&mut self.unblocking, true) {
            return;
        }
        while let Some(next) = self.unblocked.pop_front() {
            match next {
                LockHolder::Event(event) if event.zone == turn.cx.zone() => self.job_granted(turn, event),
                LockHolder::Event(event) => self.grant_waiting(turn, event),
                // Transfers never wait: they are refused instead.
                LockHolder::Transfer(_) => (),
            }
        }
        self.unblocking = false;
    }

    /// Sends other zones the grants and post items whose records have become settled.
    pub(super) fn send_settled(&mut self, cx: &mut PrimaryContext<'_>, announced: Index) {
        if cx.core.config.is_meshed() {
            let settled = last_settled(cx.core, announced);
            self.grants.send(cx, settled);
            self.post.send(cx, settled);
        }
    }

    /// Sends a zone again the post items that may have been lost on their way.
    pub(super) fn post_again(&mut self, cx: &mut PrimaryContext<'_>, zone: ZoneId, announced: Index) {
        let settled = last_settled(cx.core, announced);
        self.post.send_again(cx, zone, settled);
    }
}

/// The last settled record, which other zones may be told of: it is announced, and on this primary's own disk. After a full stop
/// a zone may have lost its last moments, but nothing that another zone relies on.
fn last_settled(core: &Core, announced: Index) -> Index {
    if core.enforces(Rule::PostAfterSync) { announced.min(core.disk.persisted) } else { announced }
}
