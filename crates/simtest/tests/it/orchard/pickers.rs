//! The players of the orchard: they walk to and fro over borders, pick what is ripe and give it away.

use super::rules::{Orchard, OrchardAction, OrchardShown};
use game::{Bot, BotView, Game as _, Hosted, HostedGame, Intent};
use machine::{Rng, Span, Time};
use simtest::{Layout, Scenario};
use space::{Distance, Heading, ObjectId, Polygon, Position, Velocity, ZoneId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A scenario in which all players pick apples, and hostile ones lie.
pub struct Pickers;

impl Scenario for Pickers {
    fn name(&self) -> &'static str {
        Orchard::NAME
    }

    fn rules(&self, _: &Polygon) -> Arc<dyn HostedGame> {
        Arc::new(Hosted(Orchard))
    }

    fn bot(&self, layout: &Layout, _: u32, hostile: bool) -> Box<dyn Bot> {
        match hostile {
            true => Box::new(Liar),
            false => Box::new(Picker { places: meeting_places(layout), goal: None, rests_until: Time::ZERO }),
        }
    }
}

/// Places under the trees, and where the other zones begin on the way from there: so players of two zones meet.
fn meeting_places(layout: &Layout) -> Vec<Position> {
    let home = layout.map.locate(Position::ORIGIN);
    let mut gates: BTreeMap<ZoneId, (i64, Position)> = BTreeMap::new();
    for direction in 0..64 {
        let (x, y) = Heading(direction << 10).unit();
        let mut way = (1..=60).map(|metres: i64| {
            let part = |unit: f32| (unit * 1_000.0) as i64 * metres;
            (metres, Position::saturating(part(x), part(y)))
        });
        let gate = way.find_map(|it| Some((layout.map.locate(it.1).filter(|&zone| Some(zone) != home)?, it)));
        if let Some((zone, it)) = gate {
            let nearest = gates.entry(zone).or_insert(it);
            *nearest = it.min(*nearest);
        }
    }
    let trees = [-6_000, 6_000].map(|x| Position::saturating(x, 0));
    trees.into_iter().chain(gates.into_values().map(|it| it.1)).collect()
}

/// A bot that goes from one meeting place to another, picks what is ripe and gives away what it has.
struct Picker {
    places: Vec<Position>,
    goal: Option<Position>,
    rests_until: Time,
}

impl Bot for Picker {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, wants: &mut Vec<Intent>) {
        let Some(mine) = sight.objects.get(&sight.me) else { return };
        let Ok(OrchardShown::Picker { apples: Some(apples), .. }) = postcard::from_bytes(&mine.shown) else {
            return;
        };
        let here = mine.motion.position_at(sight.now);
        let velocity = self.course(here, sight.now, rng);
        if velocity != mine.motion.velocity {
            wants.push(Intent::Steer(velocity, mine.motion.heading));
        }
        if sight.unanswered == 0 {
            wants.extend(wish(sight, here, apples, rng));
        }
    }
}

impl Picker {
    fn course(&mut self, here: Position, now: Time, rng: &mut Rng) -> Velocity {
        if self.goal.is_some_and(|it| here.is_within(Distance::of_metres(1), it)) {
            self.goal = None;
            self.rests_until = now + Span::from_millis(rng.below(4_000));
        }
        if self.goal.is_none() && self.rests_until <= now {
            let place = self.places[rng.below(self.places.len() as u64) as usize];
            let off = |at: i32, rng: &mut Rng| i64::from(at) + rng.between(-5_000, 5_000);
            self.goal = Some(match rng.coin() {
                true => place,
                false => Position::saturating(off(place.x(), rng), off(place.y(), rng)),
            });
        }
        let (dx, dy) = self.goal.map_or((0, 0), |it| here.step_to(it));
        let Some((x, y)) = Heading::along(dx, dy).map(Heading::unit) else { return Velocity::ZERO };
        Velocity::from_metres(f64::from(x) * 1.9, f64::from(y) * 1.9).unwrap()
    }
}

/// Picks from a ripe tree, or gives a picker nearby some of its apples; now and then more than it has, or to a tree.
fn wish(sight: &BotView<'_>, here: Position, apples: u32, rng: &mut Rng) -> Option<Intent> {
    let in_reach = sight.objects.iter().filter(|(id, it)| {
        let place = it.motion.position_at(sight.now);
        **id != sight.me && here.is_within(Distance::of_metres(2), place)
    });
    let looks: Vec<(ObjectId, OrchardShown)> =
        in_reach.filter_map(|(&id, it)| Some((id, postcard::from_bytes(&it.shown).ok()?))).collect();
    let ripe = looks.iter().find(|it| it.1 == OrchardShown::Tree { ripe: true });
    if let Some(&(tree, _)) = ripe {
        return Some(act(&OrchardAction::Pick { tree }));
    }
    let (to, _) = looks.get(rng.below(looks.len().max(1) as u64) as usize)?;
    let more = u32::from(rng.below(8) == 0);
    let gives = 0 < apples + more && rng.coin();
    gives.then(|| act(&OrchardAction::Give { to: *to, apples: (apples / 2).max(1) + more * apples }))
}

fn act(wish: &OrchardAction) -> Intent {
    Intent::Act(postcard::to_stdvec(wish).unwrap())
}

/// A bot that asks for what no player may do. All of it decodes, so that the game's refusals are tested, not its codec.
struct Liar;

impl Bot for Liar {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, wants: &mut Vec<Intent>) {
        let whom = rng.below(sight.objects.len() as u64 + 1) as usize;
        let to = sight.objects.keys().nth(whom).copied().unwrap_or(game::WORLD);
        wants.push(match rng.below(4) {
            0 => Intent::Steer(Velocity::new(50_000, 50_000).unwrap(), Heading::EAST),
            1 => act(&OrchardAction::Pick { tree: to }),
            2 => act(&OrchardAction::Give { to, apples: rng.next_u64() as u32 }),
            _ => act(&OrchardAction::Give { to: sight.me, apples: 1 }),
        });
    }
}
