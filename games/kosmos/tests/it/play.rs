//! Long play of many bots in one world: nothing is lost, nothing doubled, no bot stuck, and one seed has one
//! history.

use crate::test_world::avatar;
use game::config::MESSAGE_MAX;
use game::{Bot, BotView, Intent, Solo, VisibleObject, WORLD};
use kosmos::config::COINS_AT_START;
use kosmos::{Action, Avatar, Item, ItemKind, Kosmos, Refusal, Serial, State, bots, conserved};
use machine::{Rng, Span};
use space::{ObjectId, Polygon, Position};
use std::collections::{BTreeMap, BTreeSet};

/// The time between two decisions of a bot.
const PAUSE: Span = Span::from_millis(200);

struct LongPlay {
    solo: Solo<Kosmos>,
    world: Polygon,
    rng: Rng,
    bots: BTreeMap<ObjectId, Box<dyn Bot>>,
    done: BTreeMap<String, u32>,
    refused: BTreeMap<Refusal, u32>,
    /// Number of messages that no platform would hand to the game.
    garbage: u32,
}

impl LongPlay {
    /// A small world, so that bots meet.
    fn new(seed: u64) -> Self {
        let corner = |metres| Position::from_metres(metres, metres).unwrap();
        let world = Polygon::rectangle(corner(-60.0), corner(60.0)).unwrap();
        let mut solo = Solo::in_region(Kosmos::new(world.clone()), seed, &world);
        solo.advance(Span::from_millis(15));
        let (bots, done, refused) = Default::default();
        Self { solo, world, rng: Rng::seeded(seed), bots, done, refused, garbage: 0 }
    }

    fn join(&mut self, kind: &str) {
        let (_, avatar) = self.solo.join(kind);
        self.bots.insert(avatar, bots::by_name(kind, &self.world).expect("it is in the list"));
    }

    fn leave(&mut self, avatar: ObjectId) {
        self.bots.remove(&avatar);
        self.solo.leave(avatar);
    }

    fn step(&mut self) {
        let names: Vec<_> = self.bots.keys().copied().collect();
        // All bots decide on what they see now, and then act one after the other, as over a network.
        let wants: Vec<_> = names.into_iter().map(|me| (me, self.wants(me))).collect();
        for (me, want) in wants.into_iter().flat_map(|(me, wants)| wants.into_iter().map(move |it| (me, it)))
        {
            self.carry_out(me, want);
        }
        self.solo.advance(PAUSE);
    }

    fn wants(&mut self, me: ObjectId) -> Vec<Intent> {
        let sight = self.solo.sight(me).into_iter().map(|(name, shown)| {
            let (motion, shown) = (self.solo.motion(name).unwrap(), postcard::to_stdvec(&shown).unwrap());
            (name, VisibleObject { motion, shown })
        });
        let objects = sight.collect();
        let mut wants = Vec::new();
        let sight = BotView { now: self.solo.now(), me, objects: &objects, unanswered: 0 };
        self.bots.get_mut(&me).unwrap().decide(&sight, &mut self.rng, &mut wants);
        wants
    }

    fn carry_out(&mut self, me: ObjectId, want: Intent) {
        let (what, verdict) = match want {
            Intent::Steer(velocity, heading) => ("Steer".to_owned(), self.solo.steer(me, velocity, heading)),
            Intent::Act(bytes) if MESSAGE_MAX < bytes.len() => return self.garbage += 1,
            Intent::Act(bytes) => match postcard::take_from_bytes::<Action>(&bytes) {
                Ok((action, [])) => (kind(&action), self.solo.act(me, &action)),
                _ => return self.garbage += 1,
            },
        };
        match verdict {
            Ok(()) => *self.done.entry(what).or_default() += 1,
            Err(refusal) => *self.refused.entry(refusal).or_default() += 1,
        }
    }

    fn states(&self) -> impl Iterator<Item = State> {
        self.solo.objects().map(|it| self.solo.get(it).unwrap())
    }

    fn goods(&self) -> (u64, BTreeSet<Serial>) {
        total(self.states())
    }

    fn slain(&self) -> u64 {
        let tallies =
            self.states().filter_map(|it| if let State::World(it) = it { Some(it.slain) } else { None });
        tallies.sum()
    }

    /// The number of NPCs, and of nests.
    fn npcs(&self) -> usize {
        self.states().filter(|it| matches!(it, State::Npc(_) | State::Nest(_))).count()
    }
}

/// All coins and all serials of a world. No serial may occur twice.
fn total(states: impl Iterator<Item = State>) -> (u64, BTreeSet<Serial>) {
    let (mut coins, mut items) = (0, BTreeSet::new());
    for goods in states.map(|it| conserved(&it)) {
        coins += goods.coins;
        for serial in goods.items {
            assert!(items.insert(serial), "{serial:?} is there twice");
        }
    }
    (coins, items)
}

fn kind(action: &Action) -> String {
    let text = format!("{action:?}");
    text.split([' ', '{']).next().unwrap_or_default().to_owned()
}

/// Plays for two minutes with `kinds` of bots, some of which come and go, and checks all goods at every step.
fn play(seed: u64, kinds: &[&str]) -> LongPlay {
    let mut play = LongPlay::new(seed);
    for kind in kinds.iter().cycle().take(4 * kinds.len()) {
        play.join(kind);
    }
    let (_, mut items) = play.goods();
    let (first_items, npcs) = (items.len() as u64, play.npcs());
    for step in 0..600 {
        play.step();
        if step % 50 == 49 {
            let oldest = *play.bots.keys().next().unwrap();
            play.leave(oldest);
            play.join(kinds[step / 50 % kinds.len()]);
            // A letter on its way is in no object: let it arrive before goods are counted.
            play.solo.advance(Span::from_millis(5));
        }
        let (_, now) = play.goods();
        assert!(items.is_subset(&now), "seed {seed}, step {step}: lost {:?}", items.difference(&now));
        items = now;
    }
    play.solo.advance(Span::from_millis(5));
    assert_eq!(items.len() as u64, first_items + play.slain(), "seed {seed}: items come from the slain");
    assert!(npcs.abs_diff(play.npcs()) <= 1, "seed {seed}: NPCs");
    play
}

#[test]
fn nothing_is_lost_or_doubled_in_long_play() {
    for seed in 0..4 {
        println!("seed {seed}");
        let play = play(seed, &bots::NAMES);
        println!("{:?}\n{:?}\n{} slain", play.done, play.refused, play.slain());
        for what in ["Steer", "Fire", "PickUp", "Drop", "OfferTrade", "AcceptTrade", "Say"] {
            assert!(play.done.contains_key(what), "seed {seed}: no bot did {what}");
        }
        assert!(
            play.refused.contains_key(&Refusal::Gone),
            "seed {seed}: no two bots reached for the same item"
        );
        assert!(!play.refused.contains_key(&Refusal::TooFast), "seed {seed}: bots keep to the speed");
        assert_eq!(play.garbage, 0);
    }
}

#[test]
#[should_panic(expected = "is there twice")]
fn an_item_on_the_ground_and_in_a_bag_is_noticed() {
    let item = Item { serial: Serial(WORLD), kind: ItemKind::Gem };
    let carrier = Avatar { bag: vec![item], ..avatar("ann") };
    total([State::Item(item), State::Avatar(carrier)].into_iter());
}

#[test]
fn coins_are_those_of_the_players_present() {
    let mut play = LongPlay::new(11);
    for kind in ["trade", "trade", "trade", "gather", "gather", "trade"] {
        play.join(kind);
    }
    for _ in 0..1_000 {
        play.step();
        assert_eq!(play.goods().0, u64::from(COINS_AT_START) * play.bots.len() as u64);
    }
    assert!(play.done.contains_key("AcceptTrade"), "{:?}", play.done);
}

#[test]
fn hostile_bots_do_no_harm_to_others() {
    let play = play(5, &["hostile", "gather", "hostile", "trade"]);
    println!("{:?}\n{:?}\n{} garbage", play.done, play.refused, play.garbage);
    assert!(0 < play.garbage);
    for refusal in [Refusal::TooFast, Refusal::Gone, Refusal::TooLong, Refusal::NoSuchSlot, Refusal::Cooldown]
    {
        assert!(play.refused.contains_key(&refusal), "{refusal:?}");
    }
}

#[test]
fn bots_stay_in_the_world() {
    let mut play = LongPlay::new(3);
    for kind in bots::NAMES.iter().cycle().take(20) {
        play.join(kind);
    }
    for step in 0..1_000 {
        play.step();
        for &avatar in play.bots.keys() {
            let place = play.solo.position(avatar).unwrap();
            assert!(play.world.contains(place), "step {step}: {avatar} is at {place}");
        }
    }
}

#[test]
fn one_seed_one_history() {
    let end = |seed| {
        let play = play(seed, &bots::NAMES);
        let all: Vec<_> =
            play.solo.objects().map(|it| (it, play.solo.motion(it), play.solo.get(it))).collect();
        (all, play.done, play.refused)
    };
    assert!(end(9) == end(9), "one seed had two histories");
}
