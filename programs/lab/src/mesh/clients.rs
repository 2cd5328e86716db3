//! The clients of an experiment: where each lives, how it plays, and what its line is like.

use super::bot::{ResidentBot, SentryBot};
use super::ground::{HomeKind, MeshGround};
use game::{Bot, Game as _, HostedGame, PlayerId};
use kosmos::{Kosmos, bots};
use kosmos_scenario::KosmosScenario;
use machine::{Address, Rng, Span};
use sim::Profile;
use simtest::{Count, Layout, Scenario};
use space::{Polygon, Position};
use std::sync::Arc;

/// Delay between a zone's primary and its backup, one way: they stand side by side.
const SAME_RACK: Span = Span::from_micros(100);

/// The behaviour of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// Walks about its home and sends one action after the other.
    Lives,
    /// Stands where it is and fires along the line it stands on.
    Fires,
    /// Walks over the nearest border, back and forth, all the time.
    Crosses,
    /// Acts only when the experiment tells it.
    Obeys,
}

/// The kind of lines between clients and servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// As in the paper: 10 to 300 ms one way, and up to one message in 200 lost, drawn evenly for each client.
    Various,
    /// All the same: 20 ms and no loss.
    Alike,
}

/// The clients of an experiment, as a scenario for the simulated world.
pub struct MeshClients {
    ground: Arc<MeshGround>,
    homes: Vec<(PlayerId, HomeKind, Position)>,
    lines: Vec<Profile>,
    habit: Habit,
    between: Span,
}

impl MeshClients {
    /// Clients with homes of these kinds; servers are `between` apart, one way.
    pub fn new(
        ground: &Arc<MeshGround>,
        kinds: impl IntoIterator<Item = HomeKind>,
        (habit, lines): (Habit, LineKind),
        between: Span,
        seed: u64,
    ) -> Self {
        let mut rng = Rng::seeded(seed).fork_named(0x6d65_7368);
        let game = Kosmos::new(ground.world().clone());
        // The place at which a player enters depends on its id, so ids are tried until one enters at a home of the
        // right kind.
        let mut next = rng.next_u64() >> 16;
        let homes: Vec<_> = kinds.into_iter().map(|kind| find_home(ground, &game, kind, &mut next)).collect();
        let lines = homes.iter().map(|_| line(lines, &mut rng)).collect();
        Self { ground: Arc::clone(ground), homes, lines, habit, between }
    }

    /// Number of clients in the experiment.
    pub const fn count(&self) -> u32 {
        self.homes.len() as u32
    }

    /// Delay of a client's line, one way.
    pub fn delay(&self, player: PlayerId) -> Span {
        let number = self.homes.iter().position(|it| it.0 == player);
        number.map_or(Span::ZERO, |it| self.lines[it].delay())
    }
}

fn find_home(
    ground: &MeshGround,
    game: &Kosmos,
    kind: HomeKind,
    next: &mut u64,
) -> (PlayerId, HomeKind, Position) {
    loop {
        let player = PlayerId(*next);
        *next += 1;
        let home = game.entrance(player);
        if ground.is_home(kind, home) {
            return (player, kind, home);
        }
    }
}

fn line(lines: LineKind, rng: &mut Rng) -> Profile {
    match lines {
        LineKind::Various => {
            let delay = Span::from_micros(rng.between(10_000, 300_000) as u64);
            Profile::new(delay).with_loss(0.005 * rng.unit()).expect("a probability")
        }
        LineKind::Alike => Profile::new(Span::from_millis(20)),
    }
}

impl Scenario for MeshClients {
    fn name(&self) -> &'static str {
        KosmosScenario.name()
    }

    fn rules(&self, world: &Polygon) -> Arc<dyn HostedGame> {
        KosmosScenario.rules(world)
    }

    fn player(&self, number: u32) -> PlayerId {
        self.homes[number as usize].0
    }

    fn bot(&self, layout: &Layout, number: u32, _: bool) -> Box<dyn Bot> {
        let (_, kind, home) = self.homes[number as usize];
        match self.habit {
            Habit::Lives => Box::new(ResidentBot::new(Arc::clone(&self.ground), kind, home)),
            Habit::Fires => Box::new(SentryBot::new(number.is_multiple_of(2))),
            Habit::Crosses => {
                let borders = self.ground.borders();
                bots::by_name_near("border", layout.world(), &borders).expect("there are such bots")
            }
            Habit::Obeys => Box::new(IdleBot),
        }
    }

    fn count(&self) -> Option<Count> {
        KosmosScenario.count()
    }

    fn link_profile(&self, layout: &Layout, from: Address, to: Address) -> Option<Profile> {
        // Clients have the addresses after those of the replicas.
        let client = |it: Address| self.lines.get((it.0 as usize).checked_sub(layout.replicas().count())?);
        if let Some(line) = client(from).or_else(|| client(to)) {
            return Some(*line);
        }
        let same_zone = layout.zone_of(from) == layout.zone_of(to);
        Some(Profile::new(if same_zone { SAME_RACK } else { self.between }))
    }
}

/// A bot without wishes of its own.
struct IdleBot;

impl Bot for IdleBot {
    fn decide(&mut self, _: &game::BotView<'_>, _: &mut Rng, _: &mut Vec<game::Intent>) {}
}
