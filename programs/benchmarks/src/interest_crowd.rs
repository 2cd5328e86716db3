//! The workload of the interest benchmarks: all avatars walk and all observe, at one density
//! whatever the size of the world.

use interest::policies::A3;
use interest::{Engine, EngineConfig, Policy as _, Slot, SubjectView, TickCounts, UpdateSchedule};
use machine::{Rng, Span, Time};
use space::{Distance, Heading, Position};

/// Ticks per second, and updates per second at full relevance.
pub const HERTZ: u64 = 20;

/// About this many avatars are relevant to each, away from the world's edge.
const VISIBLE: f64 = 22.0;

const VIEW_METRES: f64 = 120.0;
const CRITICAL_METRES: f64 = 40.0;
const SPEED_MM_PER_TICK: i64 = 4_500 / HERTZ as i64;

/// A crowd on the move under A³ (view 120, critical 40, angle 180).
pub struct InterestCrowd {
    engine: Engine,
    policy: A3,
    walkers: Vec<CrowdWalker>,
    /// The side of the square world in millimetres.
    side: i64,
    now: Time,
}

#[derive(Clone, Copy)]
struct CrowdWalker {
    slot: Slot,
    at: (i64, i64),
    step: (i64, i64),
    heading: Heading,
}

/// The avatars that get updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObserverChoice {
    /// All avatars of the crowd observe.
    All,
    /// Only so many avatars observe, the first ones.
    First(usize),
}

impl InterestCrowd {
    /// A crowd of `avatars`, with its engine in the steady state.
    pub fn new(avatars: u32, observers: ObserverChoice, seed: u64) -> Self {
        let metres = |it| Distance::from_metres(it).expect("a constant is a distance");
        let policy =
            A3::new(metres(VIEW_METRES), metres(CRITICAL_METRES), 180.0).expect("constants make a policy");
        let schedule = UpdateSchedule::every(Span::from_micros(1_000_000 / HERTZ));
        let mut engine = Engine::new(EngineConfig { schedule, ..EngineConfig::default() });
        let (side, mut rng) = (side_of(avatars), Rng::seeded(seed));
        let walkers: Vec<CrowdWalker> =
            (0..avatars).map(|_| CrowdWalker::new(&mut engine, side, &mut rng)).collect();
        let observing = match observers {
            ObserverChoice::All => walkers.len(),
            ObserverChoice::First(count) => count.min(walkers.len()),
        };
        walkers[..observing].iter().for_each(|it| engine.observe(it.slot));
        let mut crowd = Self { engine, policy, walkers, side, now: Time::ZERO };
        // Two seconds: every pair that will ever be sent at this density has been, and buffers have
        // grown to their size.
        for _ in 0..2 * HERTZ {
            crowd.tick();
        }
        crowd
    }

    /// All avatars take a step, and all observers get the updates that are due.
    pub fn tick(&mut self) -> TickCounts {
        self.now += Span::from_micros(1_000_000 / HERTZ);
        for walker in &mut self.walkers {
            walker.walk(self.side, &mut self.engine);
        }
        self.engine.tick(self.now, &self.policy, |observer, updates| {
            std::hint::black_box((observer, updates));
        })
    }

    /// Mean number of avatars that are relevant to each of `sample` of them, by looking at every pair.
    pub fn visible(&self, sample: usize) -> f64 {
        let step = (self.walkers.len() / sample).max(1);
        let sampled: Vec<&CrowdWalker> = self.walkers.iter().step_by(step).collect();
        let seen: usize = sampled
            .iter()
            .map(|observer| self.walkers.iter().filter(|it| self.sees(observer, it)).count())
            .sum();
        seen as f64 / sampled.len() as f64
    }

    fn sees(&self, observer: &CrowdWalker, other: &CrowdWalker) -> bool {
        let view = SubjectView::new(
            observer.slot,
            observer.position(),
            observer.heading.unit(),
            other.slot,
            other.position(),
        );
        observer.slot != other.slot && 0.0 < self.policy.relevance(&view)
    }
}

impl CrowdWalker {
    fn new(engine: &mut Engine, side: i64, rng: &mut Rng) -> Self {
        let at = (rng.between(0, side), rng.between(0, side));
        let heading = Heading(rng.next_u64() as u16);
        let (x, y) = heading.unit();
        let step = ((x * SPEED_MM_PER_TICK as f32) as i64, (y * SPEED_MM_PER_TICK as f32) as i64);
        let slot = engine.enter(Position::saturating(at.0, at.1), heading);
        Self { slot, at, step, heading }
    }

    fn position(&self) -> Position {
        Position::saturating(self.at.0, self.at.1)
    }

    /// Moves straight on, and back from the edge of the world.
    fn walk(&mut self, side: i64, engine: &mut Engine) {
        let before = self.step;
        for (at, step) in [(&mut self.at.0, &mut self.step.0), (&mut self.at.1, &mut self.step.1)] {
            if !(0..=side).contains(&(*at + *step)) {
                *step = -*step;
            }
            *at += *step;
        }
        engine.place(self.slot, self.position());
        if before != self.step {
            self.heading = Heading::along(self.step.0 as i32, self.step.1 as i32).unwrap_or(self.heading);
            engine.face(self.slot, self.heading);
        }
    }
}

/// The world's side in millimetres, so that [`VISIBLE`] avatars lie in an area of interest: half a disc
/// of the view and half a disc of the critical distance.
fn side_of(avatars: u32) -> i64 {
    let squares = VIEW_METRES * VIEW_METRES + CRITICAL_METRES * CRITICAL_METRES;
    let area = std::f64::consts::PI * squares / 2.0;
    let density = VISIBLE / area;
    ((f64::from(avatars) / density).sqrt() * 1e3) as i64
}
