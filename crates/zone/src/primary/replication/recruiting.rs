//! How a primary that is alone gets a new backup: a replica without a role says how far its log goes, is brought up to
//! date by records or by a snapshot, and is named in the directory.

use super::follower::{Copy, Follower, Mode, Naming};
use super::{Next, Replication};
use crate::config::COPY_BYTES;
use crate::core::Purpose;
use crate::msg::Peer;
use crate::primary::context::Ctx;
use crate::record::Index;
use crate::rule::Rule;
use machine::{Address, Lane, Span};
use serde_bytes::ByteBuf;
use space::Epoch;

/// A recruit that has everything and does not answer for this long is asked again.
const ANSWER_MAX: Span = Span::from_millis(250);

/// A recruit that lacks no more records than this is nearly up to date.
const NEARLY: Index = 64;

impl Replication {
    /// A replica without a role says how far its log goes: the epoch and number of its last record.
    pub(in crate::primary) fn on_standing(
        &mut self,
        cx: &mut Ctx<'_>,
        from: Address,
        last: (Epoch, Index),
        announced: Index,
    ) -> Next {
        match &mut self.mode {
            Mode::Alone => self.recruit(cx, from, last),
            // Our backup has lost its memory, though we heard from it: it acknowledges nothing any more.
            Mode::Paired(follower) | Mode::Naming(follower, Naming::Swapping) if follower.address == from => {
                let timing = cx.core.config.timing;
                follower.heard = follower.heard.min(cx.now() - (timing.patience + timing.beacon));
                return self.lose_follower(cx, announced);
            }
            Mode::Recruiting(follower, copy) if follower.address == from => {
                let unheard = copy.is_none() && ANSWER_MAX < cx.now().since(follower.invited);
                if follower.confirmed || unheard {
                    self.recruit(cx, from, last);
                }
            }
            // It followed, and then gave us up. The swap that would name it has not been sent.
            Mode::Naming(follower, Naming::CatchingUp) if follower.address == from => {
                self.recruit(cx, from, last);
            }
            _ => (),
        }
        Next::Nothing
    }

    fn recruit(&mut self, cx: &mut Ctx<'_>, from: Address, (last, index): (Epoch, Index)) {
        let core = &*cx.core;
        if core.state.head == 0 || core.config.me == from {
            return;
        }
        let keeps = !core.enforces(Rule::DropUnacknowledgedSuffix) && core.log.base() <= index && 0 < index;
        let (at, copy) = if core.log.has(last, index) || keeps {
            (index, None)
        } else {
            let bytes = core.snapshot_bytes();
            (core.state.head, Some(Copy { index: core.state.head, bytes, offset: 0 }))
        };
        let follower = Follower::new(from, at, self.epoch, cx.now());
        if copy.is_none() {
            cx.send_replica(from, Lane::Sure, Peer::Follow { epoch: last, index });
        }
        self.mode = Mode::Recruiting(follower, copy);
        cx.core.wake_after(Purpose::Copy, Span::ZERO);
    }

    /// Sends the next part of a snapshot.
    pub(in crate::primary) fn send_copy(&mut self, cx: &mut Ctx<'_>) {
        let Mode::Recruiting(follower, copy) = &mut self.mode else { return };
        let Some(sent) = copy else { return };
        let end = sent.bytes.len().min(sent.offset + COPY_BYTES);
        let part = Peer::Copy {
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
            cx.core.wake_after(Purpose::Copy, cx.core.config.timing.copy);
        }
    }

    /// Names a follower that is nearly up to date as the backup.
    pub(super) fn seek_name(&mut self, cx: &mut Ctx<'_>, announced: Index) {
        let is_near = |it: &Follower| it.confirmed && cx.core.log.head() <= it.acked + NEARLY;
        if matches!(&self.mode, Mode::Recruiting(follower, None) if is_near(follower))
            && let Mode::Recruiting(follower, _) = std::mem::replace(&mut self.mode, Mode::Alone)
        {
            self.mode = Mode::Naming(follower, Naming::CatchingUp);
        }
        if let Mode::Naming(follower, naming @ Naming::CatchingUp) = &mut self.mode
            && announced <= follower.acked
        {
            *naming = Naming::Swapping;
            self.ask_again(cx, announced);
        }
    }
}
