//! Seeks company, makes offers, and takes those it can pay.

use super::act;
use super::eyes::{Eyes, Other};
use super::legs::Legs;
use crate::config::{PICK_UP_REACH, TRADE_REACH};
use crate::{Action, Avatar, Give, ItemKind, Serial, Shown, Want};
use game::{Bot, Intent, Sight};
use machine::Rng;
use space::{Distance, Polygon};

/// It thinks of a new bargain once in this many decisions.
const OFFERS: u64 = 8;

/// The most coins it gives or asks for.
const COINS_MAX: u64 = 5;

/// It takes what lies about until it carries this many.
const STOCK: usize = 4;

/// How near it goes to others, and to items.
const COMPANY: Distance = Distance::of_metres(2);

const _: () = assert!(COMPANY.millimetres() < PICK_UP_REACH.millimetres());

/// Makes bargains.
pub struct Trade {
    legs: Legs,
}

impl Trade {
    /// One that stays in `world`.
    pub const fn new(world: Polygon) -> Self {
        Self { legs: Legs::new(world) }
    }
}

impl Bot for Trade {
    fn decide(&mut self, sight: &Sight<'_>, rng: &mut Rng, wants: &mut Vec<Intent>) {
        let Some(eyes) = Eyes::open(sight) else { return };
        self.walk(&eyes, rng, wants);
        if let Some(accept) = eyes.others.iter().find_map(|it| accept(&eyes, it)) {
            wants.push(act(&accept));
        } else if rng.below(OFFERS) == 0 {
            wants.extend(offer(&eyes, rng).as_ref().map(act));
        }
    }
}

impl Trade {
    /// Goes to an item if it has nothing to trade with, else to somebody.
    fn walk(&mut self, eyes: &Eyes, rng: &mut Rng, wants: &mut Vec<Intent>) {
        let item = eyes.nearest(|it| matches!(it.shown, Shown::Item(_)));
        let in_reach = item.filter(|it| eyes.here.is_within(PICK_UP_REACH, it.place));
        if let Some(item) = in_reach.filter(|_| eyes.avatar.bag.len() < STOCK) {
            wants.push(act(&Action::PickUp { item: item.name }));
        }
        let item = item.filter(|_| eyes.avatar.bag.is_empty());
        match item.or_else(|| eyes.nearest(Other::is_living_avatar)) {
            Some(goal) => self.legs.go_to(eyes, goal.place, COMPANY, wants),
            None => self.legs.stroll(eyes, rng, wants),
        }
    }
}

/// Accepts an offer, if it is for this bot, near, and can be paid.
fn accept(eyes: &Eyes, from: &Other) -> Option<Action> {
    let Shown::Avatar { offer: Some(offer), .. } = from.shown else { return None };
    let is_for_me = offer.to == eyes.me && eyes.here.is_within(TRADE_REACH, from.place);
    let pay = match offer.want.kind {
        Some(kind) => Some(carried(&eyes.avatar, kind)?),
        None => None,
    };
    let can_pay = is_for_me && offer.want.coins <= eyes.avatar.coins;
    can_pay.then_some(Action::AcceptTrade { from: from.name, offer, pay })
}

fn carried(avatar: &Avatar, kind: ItemKind) -> Option<Serial> {
    avatar.bag.iter().find(|item| item.kind == kind).map(|item| item.serial)
}

/// Offers the nearest a bargain: an item for coins or for another kind of item, or else coins for an item.
fn offer(eyes: &Eyes, rng: &mut Rng) -> Option<Action> {
    let partner = eyes.nearest(Other::is_living_avatar)?;
    let is_near = eyes.here.is_within(TRADE_REACH, partner.place);
    let kind = ItemKind::ALL[rng.below(ItemKind::ALL.len() as u64) as usize];
    let coins = rng.below(COINS_MAX + 1) as u32;
    let (give, want) = match eyes.avatar.bag.last() {
        Some(&item) if rng.coin() => (Give { coins: 0, item: Some(item) }, Want { coins, kind: None }),
        Some(&item) => (Give { coins: 0, item: Some(item) }, Want { coins: 0, kind: Some(kind) }),
        None => {
            (Give { coins: coins.min(eyes.avatar.coins), item: None }, Want { coins: 0, kind: Some(kind) })
        }
    };
    is_near.then_some(Action::OfferTrade { to: partner.name, give, want })
}
