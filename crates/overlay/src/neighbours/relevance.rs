//! Relevance: which peers should know each other, in the diagram of the local peer.

use super::Neighbours;
use crate::broken;
use crate::config::Relevance;
use crate::context::PeerContext;
use crate::info::Info;
use crate::rule::OverlayRule;
use machine::Address;
use space::{Distance, Position};

impl Neighbours {
    /// Returns whether a neighbour is relevant to the local peer, or the local peer to it.
    pub fn is_relevant(&self, address: Address, ctx: &PeerContext) -> bool {
        let Some(it) = self.get(address) else { return false };
        if self.overlooks(address, ctx) {
            return false;
        }
        if self.is_group_member(it.info(), ctx) {
            return true;
        }
        let (mine, theirs) = (self.local.reach(ctx), self.reach_of(it.info(), ctx));
        match ctx.config().relevance {
            Relevance::Mutual => self.matter((self.local.address(), mine), (address, theirs)),
            Relevance::OneSided => {
                self.diagram.are_enclosing(self.local.address(), address)
                    || self.diagram.meets(address, self.local.position(), mine)
            }
        }
    }

    /// Returns whether a relevant neighbour is treated as irrelevant; never true while the rules are followed.
    pub fn overlooks(&self, address: Address, ctx: &PeerContext) -> bool {
        let follows = ctx.enforces(OverlayRule::KeepTouching) && ctx.enforces(OverlayRule::KeepVisible);
        !follows && broken::overlooks(ctx.config(), self, address)
    }

    /// Returns whether the local peer is relevant to a neighbour, or belongs to its group.
    pub fn matters_to(&self, address: Address, ctx: &PeerContext) -> bool {
        let Some(it) = self.get(address) else { return false };
        let theirs = self.reach_of(it.info(), ctx);
        self.is_group_member(it.info(), ctx)
            || self.is_met(self.local.address(), (it.info().position, theirs))
    }

    /// Returns whether one peer should know another.
    pub fn should_know(&self, one: &Info, other: &Info, ctx: &PeerContext) -> bool {
        let same_group = ctx.config().groups && one.group != 0 && one.group == other.group;
        let reach = |it: &Info| self.reach_of(it, ctx);
        same_group || self.matter((one.address, reach(one)), (other.address, reach(other)))
    }

    /// Returns whether a peer belongs to the local peer's group.
    pub fn is_group_member(&self, info: &Info, ctx: &PeerContext) -> bool {
        let group = self.local.info().group;
        ctx.config().groups && group != 0 && info.group == group
    }

    /// Returns whether a peer is believed and may be sent moves: it has proven who it is. The paper's peers trust every
    /// peer.
    pub fn trusts(&self, address: Address, ctx: &PeerContext) -> bool {
        !ctx.config().handshake || self.get(address).is_some_and(|it| it.is_proven())
    }

    /// Distance within which newcomers are looked for around a peer.
    fn reach_of(&self, info: &Info, ctx: &PeerContext) -> Distance {
        let stride = self.get(info.address).map_or(Distance::ZERO, |it| it.stride);
        ctx.config().reach_with(info.aoi, stride)
    }

    /// Returns whether two peers of the diagram are relevant to each other: their regions touch, the region of one
    /// meets the view of the other, or they stand within view of each other.
    fn matter(&self, (a, sees_a): (Address, Distance), (b, sees_b): (Address, Distance)) -> bool {
        let (Some(at_a), Some(at_b)) = (self.diagram.place(a), self.diagram.place(b)) else { return false };
        at_a.is_within(sees_a.max(sees_b), at_b)
            || self.diagram.are_enclosing(a, b)
            || self.is_met(b, (at_a, sees_a))
            || self.is_met(a, (at_b, sees_b))
    }

    /// Returns whether a peer's region meets the view of another one. A point where it does is nearer to the former
    /// than to the latter, so the two are at most two views apart: that cheap test comes first and rules most pairs
    /// out.
    fn is_met(&self, who: Address, (viewer, sees): (Position, Distance)) -> bool {
        let twice = u64::from(sees.millimetres()) * 2;
        let near = self.diagram.place(who).is_some_and(|it| it.distance_squared(viewer) <= twice.pow(2));
        near && self.diagram.meets(who, viewer, sees)
    }
}
