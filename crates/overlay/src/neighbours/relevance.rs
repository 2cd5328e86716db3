//! Which peers matter to each other, as it looks from here.

use super::Neighbours;
use crate::broken;
use crate::config::Relevance;
use crate::ctx::Ctx;
use crate::info::Info;
use crate::rule::Rule;
use machine::Address;
use space::{Distance, Position};

impl Neighbours {
    /// Whether a neighbour matters to us, or we to it.
    pub fn is_relevant(&self, address: Address, ctx: &Ctx) -> bool {
        let Some(it) = self.get(address) else { return false };
        if self.overlooks(address, ctx) {
            return false;
        }
        if self.is_mate(it.info(), ctx) {
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

    /// Whether a neighbour that matters is taken for one that does not; never, while the rules are followed.
    pub fn overlooks(&self, address: Address, ctx: &Ctx) -> bool {
        let follows = ctx.enforces(Rule::KeepTouching) && ctx.enforces(Rule::KeepVisible);
        !follows && broken::overlooks(ctx.config(), self, address)
    }

    /// Whether we matter to a neighbour, or belong to its group.
    pub fn matters_to(&self, address: Address, ctx: &Ctx) -> bool {
        let Some(it) = self.get(address) else { return false };
        let theirs = self.reach_of(it.info(), ctx);
        self.is_mate(it.info(), ctx) || self.is_met(self.local.address(), (it.info().position, theirs))
    }

    /// Whether one peer should know another, as it looks from here.
    pub fn should_know(&self, one: &Info, other: &Info, ctx: &Ctx) -> bool {
        let mates = ctx.config().groups && one.group != 0 && one.group == other.group;
        let reach = |it: &Info| self.reach_of(it, ctx);
        mates || self.matter((one.address, reach(one)), (other.address, reach(other)))
    }

    /// Whether a peer is of our group.
    pub fn is_mate(&self, info: &Info, ctx: &Ctx) -> bool {
        let group = self.local.info().group;
        ctx.config().groups && group != 0 && info.group == group
    }

    /// Whether a peer is believed, and may hear of us: it has proven who it is. The paper's peers believe every peer.
    pub fn trusts(&self, address: Address, ctx: &Ctx) -> bool {
        !ctx.config().handshake || self.get(address).is_some_and(|it| it.is_proven())
    }

    /// How far newcomers are looked for around a peer.
    fn reach_of(&self, info: &Info, ctx: &Ctx) -> Distance {
        let stride = self.get(info.address).map_or(Distance::ZERO, |it| it.stride);
        ctx.config().reach_with(info.aoi, stride)
    }

    /// Whether two of the diagram matter to each other: their regions touch, the one's region meets what the other sees, or
    /// they stand within view of each other.
    fn matter(&self, (a, sees_a): (Address, Distance), (b, sees_b): (Address, Distance)) -> bool {
        let (Some(at_a), Some(at_b)) = (self.diagram.place(a), self.diagram.place(b)) else { return false };
        at_a.is_within(sees_a.max(sees_b), at_b)
            || self.diagram.are_enclosing(a, b)
            || self.is_met(b, (at_a, sees_a))
            || self.is_met(a, (at_b, sees_b))
    }

    /// Whether a peer's region meets what another one of the diagram sees. Where it does is nearer to the former than to the
    /// latter, so the two are at most two views apart: most are farther, and need no second look.
    fn is_met(&self, who: Address, (viewer, sees): (Position, Distance)) -> bool {
        let twice = u64::from(sees.millimetres()) * 2;
        let near = self.diagram.place(who).is_some_and(|it| it.distance_squared(viewer) <= twice.pow(2));
        near && self.diagram.meets(who, viewer, sees)
    }
}
