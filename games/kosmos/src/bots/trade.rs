//! A bot that seeks other avatars, makes offers, and accepts those it can pay.

use super::act;
use super::bot_surroundings::{BotSurroundings, NearbyObject};
use super::bot_walk::BotWalk;
use crate::config::{PICK_UP_REACH, TRADE_REACH};
use crate::{Action, Avatar, Give, ItemKind, Serial, Shown, Want};
use game::{Bot, BotView, Intent};
use machine::Rng;
use space::{Distance, Polygon};

/// It makes a new offer once in this many decisions.
const OFFERS: u64 = 8;

/// The most coins it gives or asks for.
const COINS_MAX: u64 = 5;

/// It picks items up until it carries this many.
const STOCK: usize = 4;

/// The distance to other avatars, and to items, at which it stops.
const COMPANY: Distance = Distance::of_metres(2);

const _: () = assert!(COMPANY.millimetres() < PICK_UP_REACH.millimetres());

/// A bot that makes bargains.
pub struct TradeBot {
    walk_state: BotWalk,
}

impl TradeBot {
    /// A bot that stays in `world`.
    pub const fn new(world: Polygon) -> Self {
        Self { walk_state: BotWalk::new(world) }
    }
}

impl Bot for TradeBot {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        let Some(view) = BotSurroundings::open(sight) else { return };
        self.walk(&view, rng, intents);
        if let Some(accept) = view.within(TRADE_REACH).find_map(|it| accept(&view, &it)) {
            intents.push(act(&accept));
        } else if rng.below(OFFERS) == 0 {
            intents.extend(offer(&view, rng).as_ref().map(act));
        }
    }
}

impl TradeBot {
    /// Goes to an item if its bag is empty, else to another avatar.
    fn walk(&mut self, view: &BotSurroundings<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        let item = view.nearest(|it| matches!(it.shown, Shown::Item(_)));
        let in_reach = item.as_ref().filter(|it| view.here.is_within(PICK_UP_REACH, it.place));
        if let Some(item) = in_reach.filter(|_| view.avatar.bag.len() < STOCK) {
            intents.push(act(&Action::PickUp { item: item.name }));
        }
        let item = item.filter(|_| view.avatar.bag.is_empty());
        match item.or_else(|| view.nearest(NearbyObject::is_living_avatar)) {
            Some(goal) => self.walk_state.go_to(view, goal.place, COMPANY, intents),
            None => self.walk_state.stroll(view, rng, intents),
        }
    }
}

/// Accepts the offer of an avatar in reach, if it is for this bot and can be paid.
fn accept(view: &BotSurroundings<'_>, from: &NearbyObject) -> Option<Action> {
    let Shown::Avatar { offer: Some(offer), .. } = from.shown else { return None };
    let pay = match offer.want.kind {
        Some(kind) => Some(carried(&view.avatar, kind)?),
        None => None,
    };
    let is_for_me = offer.to == view.me && offer.want.coins <= view.avatar.coins;
    is_for_me.then_some(Action::AcceptTrade { from: from.name, offer, pay })
}

fn carried(avatar: &Avatar, kind: ItemKind) -> Option<Serial> {
    avatar.bag.iter().find(|item| item.kind == kind).map(|item| item.serial)
}

/// Offers the nearest avatar a bargain: an item for coins or for another kind of item, or else coins for an item.
fn offer(view: &BotSurroundings<'_>, rng: &mut Rng) -> Option<Action> {
    let partner = view.nearest(NearbyObject::is_living_avatar)?;
    let is_near = view.here.is_within(TRADE_REACH, partner.place);
    let kind = ItemKind::ALL[rng.below(ItemKind::ALL.len() as u64) as usize];
    let coins = rng.below(COINS_MAX + 1) as u32;
    let (give, want) = match view.avatar.bag.last() {
        Some(&item) if rng.coin() => (Give { coins: 0, item: Some(item) }, Want { coins, kind: None }),
        Some(&item) => (Give { coins: 0, item: Some(item) }, Want { coins: 0, kind: Some(kind) }),
        None => {
            (Give { coins: coins.min(view.avatar.coins), item: None }, Want { coins: 0, kind: Some(kind) })
        }
    };
    is_near.then_some(Action::OfferTrade { to: partner.name, give, want })
}
