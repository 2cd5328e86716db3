//! A game as the simulator, the testbed and the benchmarks need it, put together from what its author gave.

use crate::noise_bot::NoiseBot;
use crate::roaming_bot::RoamingBot;
use game::postcard_schema::Schema as _;
use game::postcard_schema::schema::DataModelType;
use game::{Bot, Game, HostedGame, Intent, VisibleObject};
use simtest::{ConservedGoods, Count, Layout, Scenario};
use space::{Distance, Motion, Polygon};
use std::sync::Arc;
use testbed::{BorderSegment, TestedGame};

/// The world in which a bot plays.
#[derive(Clone, Copy, Debug)]
pub struct BotGround<'a> {
    /// The bounds of the world.
    pub world: &'a Polygon,
    /// The borders between its zones, each twice; none on the simulator.
    pub borders: &'a [BorderSegment],
}

type BotMaker = dyn Fn(&BotGround<'_>) -> Box<dyn Bot> + Send + Sync;

/// Makes the rules of a game in a world with these bounds.
pub type RulesMaker = dyn Fn(&Polygon) -> Arc<dyn HostedGame> + Send + Sync;

/// Returns whether an object is an avatar, by what clients are shown of it.
pub type AvatarTest = dyn Fn(&[u8]) -> bool + Send + Sync;

/// The bots of one name.
pub struct BotKind {
    name: &'static str,
    /// True if they take part in the mixed crowd.
    is_mixed: bool,
    make: Box<BotMaker>,
}

impl BotKind {
    pub fn new<B: Bot + 'static>(
        name: &'static str,
        is_mixed: bool,
        make: impl Fn(&BotGround<'_>) -> B + Send + Sync + 'static,
    ) -> Self {
        Self { name, is_mixed, make: Box::new(move |ground| Box::new(make(ground))) }
    }
}

/// The name of the bots of a game that brings none.
const ROAMING: &str = "roam";

/// The name of the bots that break every rule.
pub const HOSTILE: &str = "hostile";

/// Walking speed of a game that gives none, in millimetres per second.
const WALKING_SPEED: f32 = 1_000.0;

/// A game without its types, and what it brought along.
pub struct AppGame {
    /// [`Game::NAME`].
    pub name: &'static str,
    rules: Box<RulesMaker>,
    pub bots: Vec<BotKind>,
    pub hostile: BotKind,
    pub everyday_action: Option<Vec<u8>>,
    pub walking_speed: f32,
    pub is_avatar: Option<Box<AvatarTest>>,
    /// Whether what clients are shown begins with the number of a variant.
    shows_variants: bool,
    pub count: Option<Count>,
    pub scenario: Option<Arc<dyn Scenario>>,
    /// The names of the bots in the mixed crowd; filled by [`AppGame::complete`].
    mixed: Vec<&'static str>,
}

impl AppGame {
    pub fn new<G: Game>(rules: Box<RulesMaker>) -> Self {
        Self {
            name: G::NAME,
            rules,
            bots: Vec::new(),
            hostile: BotKind::new(HOSTILE, false, |_| NoiseBot),
            everyday_action: None,
            walking_speed: WALKING_SPEED,
            is_avatar: None,
            shows_variants: matches!(<G::Shown>::SCHEMA.ty, DataModelType::Enum(_)),
            count: None,
            scenario: None,
            mixed: Vec::new(),
        }
    }

    /// Adds the bots of a game that brings none, once everything else is given.
    pub fn complete(&mut self) {
        if !self.bots.iter().any(|it| it.is_mixed) {
            // A speed that cannot be is one at which bots stand still.
            let speed = Distance::new(self.walking_speed as u32).unwrap_or_default();
            let action = self.everyday_action.clone();
            let roam = move |ground: &BotGround<'_>| RoamingBot::new(ground.world, speed, action.clone());
            self.bots.insert(0, BotKind::new(ROAMING, true, roam));
        }
        self.mixed = self.bots.iter().filter(|it| it.is_mixed).map(|it| it.name).collect();
    }

    /// The names of the bots, but for the hostile ones: those of the mixed crowd, and those that play only when named.
    pub fn bot_names(&self) -> (&[&'static str], Vec<&'static str>) {
        (&self.mixed, self.bots.iter().filter(|it| !it.is_mixed).map(|it| it.name).collect())
    }

    /// The rules in a world with these bounds.
    pub fn rules_in(&self, world: &Polygon) -> Arc<dyn HostedGame> {
        (self.rules)(world)
    }

    fn kind(&self, name: &str) -> Option<&BotKind> {
        self.bots.iter().chain([&self.hostile]).find(|it| it.name == name)
    }
}

impl TestedGame for AppGame {
    fn scenario(&self) -> &dyn Scenario {
        self.scenario.as_deref().unwrap_or(self)
    }

    fn mixed_bots(&self) -> &[&'static str] {
        &self.mixed
    }

    fn bot(&self, name: &str, world: &Polygon, borders: &[BorderSegment]) -> Option<Box<dyn Bot>> {
        Some((self.kind(name)?.make)(&BotGround { world, borders }))
    }

    fn is_avatar(&self, own: &[u8], shown: &[u8]) -> bool {
        match &self.is_avatar {
            Some(is_avatar) => is_avatar(shown),
            // An enum's encoding begins with the number of its variant, one byte for the first 128.
            None => !self.shows_variants || own.first() == shown.first(),
        }
    }

    fn everyday_action(&self) -> Vec<u8> {
        // A command that needs one has looked whether there is one.
        self.everyday_action.clone().unwrap_or_default()
    }

    fn walking_speed(&self) -> f32 {
        self.walking_speed
    }
}

impl Scenario for AppGame {
    fn name(&self) -> &'static str {
        self.name
    }

    fn rules(&self, world: &Polygon) -> Arc<dyn HostedGame> {
        self.rules_in(world)
    }

    fn bot(&self, layout: &Layout, number: u32, hostile: bool) -> Box<dyn Bot> {
        let mixed: Vec<&BotKind> = self.bots.iter().filter(|it| it.is_mixed).collect();
        let kind = match mixed.get(number as usize % mixed.len().max(1)) {
            Some(kind) if !hostile => kind,
            _ => &self.hostile,
        };
        (kind.make)(&BotGround { world: layout.world(), borders: &[] })
    }

    fn count(&self) -> Option<Count> {
        self.count.clone()
    }

    fn everyday_action(&self) -> Option<Vec<u8>> {
        self.everyday_action.clone()
    }
}

/// The encoded action; `None` if it is too long to be sent.
pub fn encoded(action: &impl game::Data) -> Option<Vec<u8>> {
    match Intent::action(action)? {
        Intent::Act(bytes) => Some(bytes),
        Intent::Steer(..) => None,
    }
}

/// The test of avatars, on bytes.
pub fn avatar_test<G: Game>(
    is_avatar: impl Fn(&G::Shown) -> bool + Send + Sync + 'static,
) -> Box<AvatarTest> {
    Box::new(move |shown| {
        let object = VisibleObject { motion: Motion::default(), shown: shown.to_vec() };
        object.shown_as::<G::Shown>().is_some_and(|it| is_avatar(&it))
    })
}

/// The count of goods, on bytes.
pub fn counter<G: Game>(count: impl Fn(&G::State) -> ConservedGoods + Send + Sync + 'static) -> Count {
    Arc::new(move |state| Ok(count(&game::decode_state::<G>(state)?)))
}
