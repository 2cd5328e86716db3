//! The state of one neighbour: its information, and what each part of the peer remembers about it.

use super::knowledge::Knowledge;
use super::life_signs::LifeSigns;
use super::local_peer::stride;
use super::neighbour_link::NeighbourLink;
use super::update_pace::UpdatePace;
use crate::context::PeerContext;
use crate::info::Info;
use crate::msg::{Flags, PeerMove};
use crate::uplink::MessageRateLimit;
use machine::Time;
use space::Distance;

/// Messages of one neighbour that are accepted per second, and at once: three times what a game with twenty moves per
/// second needs.
const MESSAGES_PER_SECOND: u64 = 60;

/// Messages of a new neighbour that are accepted at once: few, so that a peer gains nothing by leaving and coming back.
const FIRST_MESSAGES: u64 = 10;

/// The state of one neighbour. Only `Neighbours` changes its position, together with the diagram.
#[derive(Clone, Debug)]
pub struct NeighbourState {
    pub(super) info: Info,
    /// Length of its last step if that was a long one, otherwise zero.
    pub(super) stride: Distance,
    pub(crate) link: NeighbourLink,
    pub(crate) life_signs: LifeSigns,
    pub(crate) knowledge: Knowledge,
    pub(crate) pace: UpdatePace,
    /// Limits the messages that are accepted from it.
    pub(super) rate_limit: MessageRateLimit,
}

impl NeighbourState {
    pub(crate) fn new(info: Info, now: Time) -> Self {
        Self {
            info,
            stride: Distance::ZERO,
            link: NeighbourLink::new(now),
            life_signs: LifeSigns::new(now),
            knowledge: Knowledge::default(),
            pace: UpdatePace::new(),
            rate_limit: MessageRateLimit::new(MESSAGES_PER_SECOND, MESSAGES_PER_SECOND)
                .with(FIRST_MESSAGES, now),
        }
    }

    /// Newest information about the neighbour.
    pub const fn info(&self) -> &Info {
        &self.info
    }

    /// Returns whether the local peer wants its moves.
    pub const fn want(&self) -> bool {
        self.link.want()
    }

    /// Returns whether it wants the local peer's moves, by its own message.
    pub const fn wanted(&self) -> bool {
        self.link.wanted()
    }

    /// Returns whether it has proven who it is.
    pub const fn is_proven(&self) -> bool {
        self.link.is_proven()
    }

    /// Time of the last message from the neighbour itself.
    pub const fn heard(&self) -> Time {
        self.life_signs.heard()
    }

    /// Returns whether a move of its own ever arrived.
    pub const fn is_met(&self) -> bool {
        self.life_signs.is_met()
    }

    /// Takes in its move; returns whether that was its first. `view` is the view of the local peer.
    pub(super) fn hear_move(&mut self, step: &PeerMove, view: Distance, ctx: &PeerContext) -> bool {
        let before = step.before.filter(|_| ctx.config().swept);
        self.stride = before.map_or(Distance::ZERO, |it| stride(it, step.position, view));
        self.link.hear_move(step.flags.has(Flags::WANT));
        self.knowledge.learn(&step.met);
        self.life_signs.hear_move(ctx.now(), step.flags.has(Flags::SPARSE))
    }

    /// Returns whether it may be introduced to other peers: it is in, has proven itself, and was heard recently. This
    /// keeps departed peers from being passed on.
    pub(crate) fn is_there(&self, ctx: &PeerContext) -> bool {
        let config = ctx.config();
        // A neighbour that is about to be pinged is not vouched for any more.
        let limit = config.ping_after.map_or(config.silent, |it| it.min(config.silent));
        let proven_lately = || self.link.is_proven() && !self.life_signs.is_silent(ctx.now(), limit);
        !self.link.is_joining() && (!config.handshake || proven_lately())
    }

    /// Returns whether a peer should be introduced to it.
    pub(crate) fn lacks(&self, other: &Info, ctx: &PeerContext) -> bool {
        self.knowledge.lacks(ctx.now(), self.info.position, other)
    }

    /// Returns whether it has sent messages of its own: then reports of other peers about it are not believed.
    pub(crate) fn has_spoken(&self, ctx: &PeerContext) -> bool {
        self.is_met() || self.is_proven() && ctx.config().handshake
    }
}
