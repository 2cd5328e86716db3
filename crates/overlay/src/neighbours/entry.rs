//! One neighbour: what is known of it, and what each part of the peer remembers about it.

use super::knowledge::Knowledge;
use super::link::Link;
use super::local::stride;
use super::pace::Pace;
use super::signs::Signs;
use crate::ctx::Ctx;
use crate::info::Info;
use crate::msg::{Flags, Step};
use crate::uplink::Bucket;
use machine::Time;
use space::Distance;

/// So many messages of one neighbour are heard per second, and so many at once: three times what a game with twenty moves per
/// second needs.
const PATIENCE: u64 = 60;

/// So many are heard at once of a new neighbour: one that leaves and comes back is not heard more than others.
const FIRST_WORDS: u64 = 10;

/// A neighbour. Its place is changed by `Neighbours` only, together with the diagram.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(super) info: Info,
    /// How long its last step was, if it was a long one.
    pub(super) stride: Distance,
    pub(crate) link: Link,
    pub(crate) signs: Signs,
    pub(crate) knowledge: Knowledge,
    pub(crate) pace: Pace,
    /// How much we listen to it.
    pub(super) patience: Bucket,
}

impl Entry {
    pub(crate) fn new(info: Info, now: Time) -> Self {
        Self {
            info,
            stride: Distance::ZERO,
            link: Link::new(now),
            signs: Signs::new(now),
            knowledge: Knowledge::default(),
            pace: Pace::new(),
            patience: Bucket::new(PATIENCE, PATIENCE).with(FIRST_WORDS, now),
        }
    }

    /// The neighbour, as last heard.
    pub const fn info(&self) -> &Info {
        &self.info
    }

    /// Whether it matters to the local peer.
    pub const fn want(&self) -> bool {
        self.link.want()
    }

    /// Whether the local peer matters to it, by its own word.
    pub const fn wanted(&self) -> bool {
        self.link.wanted()
    }

    /// Whether it has proven who it is.
    pub const fn is_proven(&self) -> bool {
        self.link.is_proven()
    }

    /// When it was heard last, itself.
    pub const fn heard(&self) -> Time {
        self.signs.heard()
    }

    /// Whether it was ever heard to move, itself.
    pub const fn is_met(&self) -> bool {
        self.signs.is_met()
    }

    /// It moves, by its own word; whether that is the first time. `view` is how far the local peer sees.
    pub(super) fn hear_move(&mut self, step: &Step, view: Distance, ctx: &Ctx) -> bool {
        let before = step.before.filter(|_| ctx.config().swept);
        self.stride = before.map_or(Distance::ZERO, |it| stride(it, step.position, view));
        self.link.hear_move(step.flags.has(Flags::WANT));
        self.knowledge.learn(&step.met);
        self.signs.hear_move(ctx.now(), step.flags.has(Flags::SPARSE))
    }

    /// Whether others may be told of it: it is in, and we have heard it ourselves, and lately. Of departed peers no other peer
    /// is told.
    pub(crate) fn is_there(&self, ctx: &Ctx) -> bool {
        let config = ctx.config();
        let patience = config.ping_after.map_or(config.silent, |it| it.min(config.silent));
        let proven_lately = || self.link.is_proven() && !self.signs.is_silent(ctx.now(), patience);
        !self.link.is_joining() && (!config.handshake || proven_lately())
    }

    /// Whether it should be told of a peer.
    pub(crate) fn lacks(&self, other: &Info, ctx: &Ctx) -> bool {
        self.knowledge.lacks(ctx.now(), self.info.position, other)
    }

    /// Whether it has spoken for itself: then hearsay about it is not believed.
    pub(crate) fn has_spoken(&self, ctx: &Ctx) -> bool {
        self.is_met() || self.is_proven() && ctx.config().handshake
    }
}
