//! The cost of a Voronoi diagram of moving sites: `cargo run --release -p ecumene-space --example voronoi`.
//!
//! 25 sites per square kilometre, or groups of 12 within 40 m at the same density, all of them walking
//! 4 m at a time. CPU time, the best of five measurements; seed 1.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use cpu_time::ThreadTime;
use machine::Rng;
use space::{Distance, Position, Voronoi};

const CALLS: u32 = 20_000;
const STEP: i64 = 4_000;
const RADIUS: Distance = Distance::of_metres(60);

struct WalkingSites {
    diagram: Voronoi<u32>,
    places: Vec<Position>,
    side: i64,
    rng: Rng,
}

impl WalkingSites {
    fn new(sites: u32, group: u32) -> Self {
        let mut rng = Rng::seeded(1);
        let side = f64::from(sites * 40_000).sqrt() as i64 * 1_000;
        let mut centre = (0, 0);
        let place = |it: u32| {
            if it.is_multiple_of(group) {
                centre = (rng.between(0, side), rng.between(0, side));
            }
            let wide = if group == 1 { 0 } else { 40_000 };
            Position::saturating(centre.0 + rng.between(-wide, wide), centre.1 + rng.between(-wide, wide))
        };
        let places: Vec<_> = (0..sites).map(place).collect();
        Self { diagram: built(&places), places, side, rng }
    }

    fn any_site(&mut self) -> u32 {
        self.rng.below(self.places.len() as u64) as u32
    }

    fn walk(&mut self) {
        let key = self.any_site();
        let place = &mut self.places[key as usize];
        let (x, y) = (self.rng.between(-STEP, STEP), self.rng.between(-STEP, STEP));
        *place = Position::saturating(i64::from(place.x()) + x, i64::from(place.y()) + y);
        self.diagram.put(key, *place);
    }

    fn leap(&mut self) {
        let (key, place) = (self.any_site(), self.anywhere());
        self.places[key as usize] = place;
        self.diagram.put(key, place);
    }

    fn anywhere(&mut self) -> Position {
        Position::saturating(self.rng.between(0, self.side), self.rng.between(0, self.side))
    }
}

fn built(places: &[Position]) -> Voronoi<u32> {
    let mut diagram = Voronoi::new();
    for (key, &place) in (0..).zip(places) {
        diagram.put(key, place);
    }
    diagram
}

/// Nanoseconds and allocations per call.
fn measure(
    sites_walking: &mut WalkingSites,
    calls: u32,
    mut call: impl FnMut(&mut WalkingSites),
) -> (f64, f64) {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = ThreadTime::now();
        (0..calls).for_each(|_| call(sites_walking));
        best = best.min(start.elapsed().as_secs_f64());
    }
    let counted = allocation_counter::measure(|| (0..calls).for_each(|_| call(sites_walking)));
    (best * 1e9 / f64::from(calls), counted.count_total as f64 / f64::from(calls))
}

fn report(sites: u32, group: u32) {
    let mut sites_walking = WalkingSites::new(sites, group);
    let (mut keys, mut known) = (Vec::new(), Vec::new());
    let say = |what, (nanos, allocations): (f64, f64)| {
        println!("{sites:6} {group:6} {what:12} {nanos:10.0} {allocations:8.1} {:12.0}", 1e9 / nanos);
    };
    say("walk", measure(&mut sites_walking, CALLS, WalkingSites::walk));
    say(
        "enclosing",
        measure(&mut sites_walking, CALLS, |it| {
            let key = it.any_site();
            it.diagram.enclosing(key, &mut keys);
        }),
    );
    say(
        "neighbours",
        measure(&mut sites_walking, CALLS, |it| {
            let key = it.any_site();
            it.diagram.neighbours(key, RADIUS, &mut known);
        }),
    );
    let meets = |it: &mut WalkingSites| {
        let (key, of) = (it.any_site(), it.any_site());
        std::hint::black_box(it.diagram.meets(key, it.places[of as usize], RADIUS));
    };
    say("meets", measure(&mut sites_walking, CALLS, meets));
    let nearest = |it: &mut WalkingSites| {
        let place = it.anywhere();
        std::hint::black_box(it.diagram.nearest(place));
    };
    say("nearest", measure(&mut sites_walking, CALLS, nearest));
    say("build", measure(&mut sites_walking, CALLS / sites.max(100), |it| it.diagram = built(&it.places)));
    say("leap", measure(&mut sites_walking, CALLS, WalkingSites::leap));
}

fn main() {
    println!(" sites  group what              ns/call   allocs      calls/s");
    for (sites, group) in [(12, 1), (60, 1), (60, 12), (300, 12), (10_000, 1), (10_000, 12)] {
        report(sites, group);
    }
}
