//! A bot that breaks every rule, for tests of the world's answer, which is to refuse and go on.

use super::act;
use crate::{Action, Give, Item, ItemKind, Offer, Serial, Want};
use game::{Bot, BotView, Intent, WORLD};
use machine::Rng;
use space::{Epoch, Heading, ObjectId, VELOCITY_MAX, Velocity, ZoneId};

/// The most bytes of its noise, and the letters of its longest texts.
const NOISE_MAX: u64 = 4_096;

/// A bot that sends nonsense. It has no memory, and goes on when it is dead.
pub struct HostileBot;

impl Bot for HostileBot {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        let victim = any_object(sight, rng);
        intents.push(match rng.below(10) {
            0 => Intent::Act((0..rng.below(NOISE_MAX)).map(|_| rng.next_u64() as u8).collect()),
            1 => Intent::Act(Vec::new()),
            2 => Intent::Steer(too_fast(rng), Heading(rng.next_u64() as u16)),
            3 => act(&Action::Say { text: "A".repeat(rng.below(NOISE_MAX) as usize) }),
            4 => act(&Action::PickUp { item: victim }),
            5 => act(&Action::Drop { slot: rng.next_u64() as u8 }),
            6 => act(&Action::Fire { heading: Heading(rng.next_u64() as u16) }),
            7 => act(&Action::OfferTrade { to: victim, give: unowned_goods(rng), want: Want::default() }),
            8 => trailing_bytes(),
            _ => act(&Action::AcceptTrade {
                from: victim,
                offer: Offer { to: sight.me, give: unowned_goods(rng), want: Want::default() },
                pay: None,
            }),
        });
    }
}

/// Any object in sight, its own avatar, the world itself, or an object that does not exist.
fn any_object(sight: &BotView<'_>, rng: &mut Rng) -> ObjectId {
    let draw = |rng: &mut Rng| rng.next_u64() as u32;
    match rng.below(4) {
        0 => ObjectId { zone: ZoneId(draw(rng)), epoch: Epoch(draw(rng)), counter: draw(rng) },
        1 => WORLD,
        2 => sight.me,
        _ => {
            let index = rng.below(sight.objects.len().max(1) as u64) as usize;
            sight.objects.keys().nth(index).copied().unwrap_or(WORLD)
        }
    }
}

fn too_fast(rng: &mut Rng) -> Velocity {
    let most = i64::from(VELOCITY_MAX);
    Velocity::new(rng.between(-most, most) as i32, rng.between(-most, most) as i32).unwrap_or(Velocity::ZERO)
}

/// Goods that it does not have.
fn unowned_goods(rng: &mut Rng) -> Give {
    let item = Item { serial: Serial(WORLD), kind: ItemKind::Gem };
    Give { coins: rng.next_u64() as u32, item: rng.coin().then_some(item) }
}

/// A valid action with a byte too many.
fn trailing_bytes() -> Intent {
    let mut bytes = postcard::to_stdvec(&Action::WithdrawOffer).unwrap_or_default();
    bytes.push(0);
    Intent::Act(bytes)
}
