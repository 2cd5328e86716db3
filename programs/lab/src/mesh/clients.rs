//! Who plays in an experiment: where each client lives, how it behaves, and what its line is like.

use super::bot::{Resident, Sentry};
use super::ground::{Ground, Place};
use game::{Bot, Game as _, PlayerId, Rules};
use kosmos::{Kosmos, bots};
use kosmos_scenario::KosmosScenario;
use machine::{Address, Rng, Span};
use sim::Profile;
use space::{Polygon, Position};
use std::sync::Arc;
use trial::{Count, Layout, Scenario};

/// A zone's primary and its backup stand side by side, one way.
const SAME_RACK: Span = Span::from_micros(100);

/// What a client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// Walks about its home and does one thing after the other.
    Lives,
    /// Stands where it is and fires along the line it stands on.
    Fires,
    /// Walks over the nearest border, back and forth, all the time.
    Crosses,
    /// Does what the experiment tells it.
    Obeys,
}

/// What clients' lines are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// As in the paper: 10 to 300 ms one way, and up to one message in 200 lost, drawn evenly for each client.
    Various,
    /// All alike: 20 ms and no loss.
    Alike,
}

/// The players of an experiment.
pub struct Clients {
    ground: Arc<Ground>,
    homes: Vec<(PlayerId, Place, Position)>,
    lines: Vec<Profile>,
    habit: Habit,
    between: Span,
}

impl Clients {
    /// Clients at places of the kinds that `kind` names, with servers `between` apart, one way.
    pub fn new(
        ground: &Arc<Ground>,
        kinds: impl IntoIterator<Item = Place>,
        (habit, lines): (Habit, Lines),
        between: Span,
        seed: u64,
    ) -> Self {
        let mut rng = Rng::seeded(seed).fork_named(0x6d65_7368);
        let game = Kosmos::new(ground.world().clone());
        // Where somebody enters depends on who they are: those are taken who enter at the right place.
        let mut next = rng.next_u64() >> 16;
        let homes: Vec<_> = kinds.into_iter().map(|kind| settle(ground, &game, kind, &mut next)).collect();
        let lines = homes.iter().map(|_| line(lines, &mut rng)).collect();
        Self { ground: Arc::clone(ground), homes, lines, habit, between }
    }

    /// How many there are.
    pub const fn count(&self) -> u32 {
        self.homes.len() as u32
    }

    /// How long a message takes to a client, one way.
    pub fn delay(&self, player: PlayerId) -> Span {
        let number = self.homes.iter().position(|it| it.0 == player);
        number.map_or(Span::ZERO, |it| self.lines[it].delay())
    }
}

fn settle(ground: &Ground, game: &Kosmos, kind: Place, next: &mut u64) -> (PlayerId, Place, Position) {
    loop {
        let player = PlayerId(*next);
        *next += 1;
        let home = game.entrance(player);
        if ground.is_home(kind, home) {
            return (player, kind, home);
        }
    }
}

fn line(lines: Lines, rng: &mut Rng) -> Profile {
    match lines {
        Lines::Various => {
            let delay = Span::from_micros(rng.between(10_000, 300_000) as u64);
            Profile::new(delay).with_loss(0.005 * rng.unit()).expect("a probability")
        }
        Lines::Alike => Profile::new(Span::from_millis(20)),
    }
}

impl Scenario for Clients {
    fn name(&self) -> &'static str {
        KosmosScenario.name()
    }

    fn rules(&self, world: &Polygon) -> Arc<dyn Rules> {
        KosmosScenario.rules(world)
    }

    fn player(&self, number: u32) -> PlayerId {
        self.homes[number as usize].0
    }

    fn bot(&self, layout: &Layout, number: u32, _: bool) -> Box<dyn Bot> {
        let (_, kind, home) = self.homes[number as usize];
        match self.habit {
            Habit::Lives => Box::new(Resident::new(Arc::clone(&self.ground), kind, home)),
            Habit::Fires => Box::new(Sentry::new(number.is_multiple_of(2))),
            Habit::Crosses => {
                let borders = self.ground.borders();
                bots::by_name_near("border", layout.world(), &borders).expect("there are such bots")
            }
            Habit::Obeys => Box::new(Obedient),
        }
    }

    fn count(&self) -> Option<Count> {
        KosmosScenario.count()
    }

    fn line(&self, layout: &Layout, from: Address, to: Address) -> Option<Profile> {
        let client = |it: Address| self.lines.get((it.0 as usize).checked_sub(layout.replicas().count())?);
        if let Some(line) = client(from).or_else(|| client(to)) {
            return Some(*line);
        }
        let same_zone = layout.zone_of(from) == layout.zone_of(to);
        Some(Profile::new(if same_zone { SAME_RACK } else { self.between }))
    }
}

/// Wants nothing.
struct Obedient;

impl Bot for Obedient {
    fn decide(&mut self, _: &game::Sight<'_>, _: &mut Rng, _: &mut Vec<game::Intent>) {}
}
