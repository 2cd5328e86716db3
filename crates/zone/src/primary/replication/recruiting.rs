//! Recruiting: a primary that is alone gets a new backup. A replica without a role says where its log ends, is brought
//! up to date by records or by a snapshot, and is named in the directory.

use super::follower::{Follower, NamingStage, OutgoingSnapshot, ReplicationMode};
use super::{FollowUp, Replication};
use crate::config::COPY_BYTES;
use crate::core::ReplicaTimer;
use crate::msg::BetweenReplicas;
use crate::primary::context::PrimaryContext;
use crate::record::Index;
use crate::rule::Rule;
use machine::{Address, Lane, Span};
use serde_bytes::ByteBuf;
use space::Epoch;

/// A recruit that was invited and does not answer for this long is invited again.
const ANSWER_MAX: Span = Span::from_millis(250);

/// A recruit that lacks no more records than this is nearly up to date: from then on announcements wait for it.
const NEARLY: Index = 64;

impl Replication {
    /// A replica without a role says where its log ends: epoch and number of its last record.
    pub(in crate::primary) fn on_log_end(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        from: Address,
        last: (Epoch, Index),
        announced: Index,
    ) -> FollowUp {
        match &mut self.mode {
            ReplicationMode::Alone => self.recruit(cx, from, last),
            // The backup restarted and lost its role: it will acknowledge nothing any more, though it was just heard.
            ReplicationMode::Paired(follower) | ReplicationMode::Naming(follower, NamingStage::Swapping)
                if follower.address == from =>
            {
                let timing = cx.core.config.timing;
                follower.heard = follower.heard.min(cx.now() - (timing.patience + timing.beacon));
                return self.lose_follower(cx, announced);
            }
            // The same recruit again: it restarted, or it missed the invitation. Not while a snapshot is on its way.
            ReplicationMode::Recruiting(follower, copy) if follower.address == from => {
                let unheard = copy.is_none() && ANSWER_MAX < cx.now().since(follower.invited);
                if follower.confirmed || unheard {
                    self.recruit(cx, from, last);
                }
            }
            // The follower lost its role again. The swap that would name it was not sent, so it may begin anew.
            ReplicationMode::Naming(follower, NamingStage::CatchingUp) if follower.address == from => {
                self.recruit(cx, from, last);
            }
            _ => (),
        }
        FollowUp::Nothing
    }

    fn recruit(&mut self, cx: &mut PrimaryContext<'_>, from: Address, (last, index): (Epoch, Index)) {
        let core = &*cx.core;
        // Nothing to copy before the first record.
        if core.state.head == 0 || core.config.me == from {
            return;
        }
        let keeps = !core.enforces(Rule::DropUnacknowledgedSuffix) && core.log.base() <= index && 0 < index;
        // If the recruit's last record is in our log, its whole log is a beginning of ours, and records are enough.
        // Otherwise it has records that were never safe, or too old ones: a snapshot replaces everything.
        let (at, copy) = if core.log.has(last, index) || keeps {
            (index, None)
        } else {
            let bytes = core.snapshot_bytes();
            (core.state.head, Some(OutgoingSnapshot { index: core.state.head, bytes, offset: 0 }))
        };
        let follower = Follower::new(from, at, self.epoch, cx.now());
        if copy.is_none() {
            cx.send_replica(from, Lane::Sure, BetweenReplicas::Follow { epoch: last, index });
        }
        self.mode = ReplicationMode::Recruiting(follower, copy);
        cx.core.wake_after(ReplicaTimer::Copy, Span::ZERO);
    }

    /// Sends the next part of a snapshot. The one after it follows after a pause.
    pub(in crate::primary) fn send_snapshot_part(&mut self, cx: &mut PrimaryContext<'_>) {
        let ReplicationMode::Recruiting(follower, copy) = &mut self.mode else { return };
        let Some(sent) = copy else { return };
        let end = sent.bytes.len().min(sent.offset + COPY_BYTES);
        let part = BetweenReplicas::Copy {
            index: sent.index,
            offset: sent.offset as u32,
            total: sent.bytes.len() as u32,
            bytes: ByteBuf::from(sent.bytes[sent.offset..end].to_vec()),
        };
        cx.send_replica(follower.address, Lane::Sure, part);
        sent.offset = end;
        follower.invited = cx.now();
        if end == sent.bytes.len() {
            *copy = None;
        } else {
            cx.core.wake_after(ReplicaTimer::Copy, cx.core.config.timing.copy);
        }
    }

    /// Makes announcements wait for a follower that is nearly up to date; names it as the backup once it has everything
    /// that was announced.
    pub(super) fn name_if_ready(&mut self, cx: &mut PrimaryContext<'_>, announced: Index) {
        let is_near = |it: &Follower| it.confirmed && cx.core.log.head() <= it.acked + NEARLY;
        if matches!(&self.mode, ReplicationMode::Recruiting(follower, None) if is_near(follower))
            && let ReplicationMode::Recruiting(follower, _) =
                std::mem::replace(&mut self.mode, ReplicationMode::Alone)
        {
            self.mode = ReplicationMode::Naming(follower, NamingStage::CatchingUp);
        }
        if let ReplicationMode::Naming(follower, naming @ NamingStage::CatchingUp) = &mut self.mode
            && announced <= follower.acked
        {
            // From here on the directory may name the follower, and it has everything that was announced.
            *naming = NamingStage::Swapping;
            self.request_swap(cx, announced);
        }
    }
}
