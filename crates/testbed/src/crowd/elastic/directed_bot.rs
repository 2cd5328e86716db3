//! A bot of the game that follows orders to the whole crowd: to gather in one place, to ask for too much.

use game::{Bot, BotView, Intent};
use machine::{Rng, Span, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// One bot in this many becomes greedy when the crowd is told so.
const GREEDY_ONE_IN: usize = 20;

/// Interval between two actions of a greedy bot: 60 per second, as many messages as a host reads from one player.
const GREEDY_PACE: Span = Span::from_micros(1_000_000 / 60);

/// Number of times as often that a gathered bot decides.
const GATHERED_TIMES: u64 = 3;

/// An order to all bots of a crowd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrowdOrder {
    /// Play as usual.
    #[default]
    Usual,
    /// Go to one place, and decide three times as often as usual.
    Gather,
    /// One bot in twenty asks for 60 actions per second, the others play as usual.
    Greed,
}

/// The order to a crowd, which its bots follow from their next decision on.
#[derive(Debug, Default)]
pub(in crate::crowd) struct CrowdOrders(AtomicU8);

impl CrowdOrders {
    pub(super) fn give(&self, order: CrowdOrder) {
        self.0.store(order as u8, Ordering::Relaxed);
    }

    fn order(&self) -> CrowdOrder {
        let number = self.0.load(Ordering::Relaxed);
        let all = [CrowdOrder::Usual, CrowdOrder::Gather, CrowdOrder::Greed];
        all.into_iter().find(|it| *it as u8 == number).unwrap_or_default()
    }
}

/// Returns whether the bot of this number becomes greedy when the crowd is told so.
pub(super) const fn is_greedy(number: usize) -> bool {
    number % GREEDY_ONE_IN == GREEDY_ONE_IN - 1
}

/// A bot with the orders that it follows.
pub(in crate::crowd) struct DirectedBot {
    /// Number of the bot within its crowd.
    pub(in crate::crowd) number: usize,
    /// The bot of the game.
    pub(in crate::crowd) usual: Box<dyn Bot>,
    /// The same bot for a world as small as the meeting place, which it therefore walks to and stays in.
    pub(in crate::crowd) gathered: Option<Box<dyn Bot>>,
    /// An encoded action that the bot may perform at any time.
    pub(in crate::crowd) action: Vec<u8>,
    pub(in crate::crowd) orders: Arc<CrowdOrders>,
    /// When a greedy bot decides as usual next.
    pub(in crate::crowd) next_usual: Time,
}

/// The average time between two decisions of a greedy bot's usual self.
const USUAL_PACE: Span = Span::from_millis(300);

impl DirectedBot {
    fn is_greedy_now(&self) -> bool {
        is_greedy(self.number) && self.orders.order() == CrowdOrder::Greed
    }

    fn decide_greedily(&mut self, sight: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        intents.push(Intent::Act(self.action.clone()));
        // It also walks on: an avatar that does nothing but act would soon stand at the world's edge.
        if self.next_usual <= sight.now {
            self.next_usual = sight.now + USUAL_PACE;
            self.usual.decide(sight, rng, intents);
        }
    }
}

impl Bot for DirectedBot {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        if self.is_greedy_now() {
            return self.decide_greedily(sight, rng, intents);
        }
        match &mut self.gathered {
            Some(gathered) if self.orders.order() == CrowdOrder::Gather => {
                gathered.decide(sight, rng, intents)
            }
            _ => self.usual.decide(sight, rng, intents),
        }
    }

    fn pace(&self, usual: Span) -> Span {
        match self.orders.order() {
            CrowdOrder::Gather => Span::from_micros(usual.as_micros() / GATHERED_TIMES),
            CrowdOrder::Greed if is_greedy(self.number) => GREEDY_PACE,
            CrowdOrder::Usual | CrowdOrder::Greed => usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::{Epoch, ObjectId, ZoneId};
    use std::collections::BTreeMap;

    const USUAL: Span = Span::from_millis(300);

    /// A bot that performs an action of one byte whenever it decides.
    struct Acting(u8);

    impl Bot for Acting {
        fn decide(&mut self, _: &BotView<'_>, _: &mut Rng, intents: &mut Vec<Intent>) {
            intents.push(Intent::Act(vec![self.0]));
        }
    }

    /// The first bytes of the actions of a bot in ten seconds at its own pace.
    fn actions(number: usize, tell: impl Fn(&CrowdOrders)) -> BTreeMap<u8, usize> {
        let orders = Arc::<CrowdOrders>::default();
        tell(&orders);
        let (usual, gathered) = (Box::new(Acting(1)), Some(Box::new(Acting(2)) as Box<dyn Bot>));
        let mut bot =
            DirectedBot { number, usual, gathered, action: vec![3], orders, next_usual: Time::ZERO };
        let (mut now, mut rng, mut count) = (Time::ZERO, Rng::seeded(1), BTreeMap::new());
        let me = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: 1 };
        while now < Time::from_millis(10_000) {
            let (objects, mut intents) = (BTreeMap::new(), Vec::new());
            bot.decide(&BotView { now, me, objects: &objects, unanswered: 0 }, &mut rng, &mut intents);
            for intent in intents {
                let Intent::Act(action) = intent else { panic!("it only acts") };
                *count.entry(action[0]).or_insert(0) += 1;
            }
            now += bot.pace(USUAL);
        }
        count
    }

    #[test]
    fn bots_follow_the_orders_to_their_crowd() {
        assert_eq!(actions(0, |_| ()), BTreeMap::from([(1, 34)]));
        assert_eq!(actions(0, |it| it.give(CrowdOrder::Gather)), BTreeMap::from([(2, 100)]));
    }

    #[test]
    fn one_in_twenty_is_greedy() {
        let greedy = |number| actions(number, |it| it.give(CrowdOrder::Greed));
        let count = (0..40).filter(|it| greedy(*it).contains_key(&3)).count();
        assert_eq!(count, 2);
        assert_eq!(greedy(0), BTreeMap::from([(1, 34)]), "the others play as usual");
        let acted = greedy(19);
        assert!((599..=601).contains(&acted[&3]), "{acted:?}");
        assert!((30..=34).contains(&acted[&1]), "it also plays: {acted:?}");
    }
}
