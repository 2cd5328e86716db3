//! The promises of every kind of movement, over minutes and hours.

use super::*;
use machine::Time;
use space::Distance;

/// The time between two steps of a walker: 1.5 per second.
const TICK: Span = Span::from_micros(666_667);
const ROUNDS_PER_MINUTE: u32 = 90;
/// 6 m/s for one tick, in millimetres.
const PACE: u64 = 4_000;

fn crowd(movement: Movement, count: u32, seed: u64) -> Crowd {
    Crowd::new(movement, count, Ground::default(), &Rng::seeded(seed)).unwrap()
}

/// A crowd in which all walkers have joined.
fn joined(movement: Movement, count: u32, seed: u64) -> Crowd {
    let mut crowd = crowd(movement, count, seed);
    all_walkers(&crowd).for_each(|it| _ = crowd.join(it));
    crowd
}

fn all_walkers(crowd: &Crowd) -> impl Iterator<Item = WalkerId> + use<> {
    (0..crowd.walkers.len() as u32).map(WalkerId)
}

/// Moves every walker once, in an order that is not that of the numbers.
fn round(crowd: &mut Crowd) {
    all_walkers(crowd).filter(|it| it.0 % 2 == 1).for_each(|it| _ = crowd.step(it, TICK));
    all_walkers(crowd).filter(|it| it.0 % 2 == 0).for_each(|it| _ = crowd.step(it, TICK));
}

fn positions(crowd: &Crowd) -> Vec<Position> {
    all_walkers(crowd).map(|it| crowd.position(it)).collect()
}

fn distance(one: Position, other: Position) -> f64 {
    (one.distance_squared(other) as f64).sqrt()
}

/// The distance that each walker went in one round, in millimetres.
fn round_lengths(crowd: &mut Crowd) -> Vec<f64> {
    let before = positions(crowd);
    round(crowd);
    before.iter().zip(positions(crowd)).map(|(&from, to)| distance(from, to)).collect()
}

/// The distance of each group's members from its centre, in metres.
fn distances_to_centre(crowd: &Crowd) -> Vec<Vec<f64>> {
    let Movers::Together { size, .. } = crowd.movers else { panic!("the crowd has no groups") };
    let of_group = |group: &[Position]| {
        let count = group.len() as i64;
        let mean = |of: fn(Position) -> i32| group.iter().map(|&it| i64::from(of(it))).sum::<i64>() / count;
        let centre = Position::saturating(mean(Position::x), mean(Position::y));
        group.iter().map(|&it| distance(it, centre) / 1e3).collect()
    };
    positions(crowd).chunks(size).map(of_group).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A hash of all positions in three minutes with joins, a leave and a return.
fn history(movement: Movement, seed: u64) -> u64 {
    let mut crowd = joined(movement, 50, seed);
    let mut hash = 0xcbf2_9ce4_8422_2325u64; // FNV-1a
    for number in 0..3 * ROUNDS_PER_MINUTE {
        if number == ROUNDS_PER_MINUTE {
            crowd.leave(WalkerId(7));
            crowd.join(WalkerId(7));
        }
        round(&mut crowd);
        for it in positions(&crowd) {
            for coordinate in [it.x(), it.y()] {
                hash = (hash ^ u64::from(coordinate.unsigned_abs())).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    hash
}

const ALL: [fn() -> Movement; 4] =
    [|| Movement::Random, Movement::groups, Movement::gathering, Movement::teleport];

#[test]
fn one_seed_one_history() {
    let hashes = ALL.map(|it| history(it(), 1));
    assert_eq!(hashes, ALL.map(|it| history(it(), 1)));
    assert!(ALL.iter().zip(hashes).all(|(it, hash)| history(it(), 2) != hash));
    // Golden: the same on every platform.
    let golden = [
        5_063_798_311_426_893_445,
        14_585_366_980_609_663_143,
        8_377_757_577_667_128_241,
        13_627_857_453_991_757_177,
    ];
    assert_eq!(hashes, golden);
}

#[test]
fn no_walker_is_too_fast_or_outside() {
    for movement in [Movement::Random, Movement::groups(), Movement::gathering()] {
        // A world so small that groups bump into its edge all the time.
        let ground = Ground { side: Distance::of_metres(70), ..Ground::default() };
        let mut crowd = Crowd::new(movement, 50, ground, &Rng::seeded(3)).unwrap();
        all_walkers(&crowd).for_each(|it| _ = crowd.join(it));
        for _ in 0..10 * ROUNDS_PER_MINUTE {
            let longest = round_lengths(&mut crowd).into_iter().fold(0.0, f64::max);
            assert!(longest * 1e6 <= 6_000.0 * TICK.as_micros() as f64, "{movement:?}: {longest} mm");
            let inside = |it: Position| (0..=70_000).contains(&it.x()) && (0..=70_000).contains(&it.y());
            assert!(positions(&crowd).into_iter().all(inside), "{movement:?}");
        }
    }
}

#[test]
fn a_lone_walker_goes_straight_without_a_pause() {
    let mut crowd = joined(Movement::Random, 1, 4);
    let walker = WalkerId(0);
    let (mut turns, mut last) = (0, crowd.position(walker));
    let mut step = crowd.position(walker).step_to(crowd.step(walker, TICK));
    for _ in 0..600 * ROUNDS_PER_MINUTE {
        let at = crowd.position(walker);
        let next = at.step_to(crowd.step(walker, TICK));
        let turned = 2 < (next.0 - step.0).abs() || 2 < (next.1 - step.1).abs();
        turns += u32::from(turned);
        let length = distance(Position::ORIGIN, Position::new(next.0, next.1).unwrap());
        assert!(length > PACE as f64 - 2.0, "{length} mm at {last}");
        (last, step) = (at, next);
    }
    // A square's mean distance between two places is 0.521 sides: 14.5 minutes, so 41 turns in 10 hours.
    assert!((25..60).contains(&turns), "{turns} turns");
}

#[test]
fn a_walker_s_draws_are_its_own() {
    let (mut crowd, mut busier) = (joined(Movement::teleport(), 5, 5), joined(Movement::teleport(), 9, 5));
    for _ in 0..1_000 {
        busier.step(WalkerId(1), TICK);
        busier.step(WalkerId(8), TICK);
        assert_eq!(crowd.step(WalkerId(3), TICK), busier.step(WalkerId(3), TICK));
    }
}

#[test]
fn five_hundred_make_forty_one_groups_and_one_of_eight() {
    let mut crowd = crowd(Movement::groups(), 500, 6);
    assert_eq!(crowd.group(WalkerId(11)), 0..12);
    assert_eq!(crowd.group(WalkerId(12)), 12..24);
    assert_eq!(crowd.group(WalkerId(499)), 492..500);
    // Each member starts within 15 m of the group's start; groups start anywhere.
    let starts: Vec<Position> = all_walkers(&crowd).map(|it| crowd.join(it)).collect();
    for group in starts.chunks(12) {
        let width = |of: fn(Position) -> i32| {
            let coordinates = || group.iter().map(|&it| of(it));
            coordinates().max().unwrap() - coordinates().min().unwrap()
        };
        assert!(width(Position::x) <= 30_000 && width(Position::y) <= 30_000);
        assert!(5_000 < width(Position::x) && 5_000 < width(Position::y));
    }
    let west = starts.chunks(12).filter(|it| it[0].x() < 5_000_000).count();
    assert!((10..32).contains(&west), "{west} of 42 groups start in the west");
}

#[test]
fn groups_stay_together_and_do_not_collapse() {
    for seed in 0..4 {
        let mut crowd = joined(Movement::groups(), 44, seed);
        let mut walked = 0.0;
        for _ in 0..60 * ROUNDS_PER_MINUTE {
            walked += mean(&round_lengths(&mut crowd));
            for group in distances_to_centre(&crowd) {
                let (mean, farthest) = (mean(&group), group.iter().copied().fold(0.0, f64::max));
                assert!((3.0..40.0).contains(&mean), "seed {seed}: {mean} m from the centre");
                assert!(farthest < 100.0, "seed {seed}: left behind by {farthest} m");
            }
        }
        // They get on, and do not wait for each other all the time.
        let per_step = walked / f64::from(60 * ROUNDS_PER_MINUTE);
        assert!(0.9 * (PACE as f64) < per_step, "seed {seed}: {per_step} mm");
    }
}

#[test]
fn groups_go_far_and_mix() {
    let nearest = |crowd: &Crowd, me: WalkerId| {
        let others = crowd.group(me).map(WalkerId).filter(|&it| it != me);
        others.min_by_key(|&it| crowd.position(it).distance_squared(crowd.position(me))).unwrap()
    };
    let mut crowd = joined(Movement::groups(), 120, 8);
    let neighbors = |crowd: &Crowd| all_walkers(crowd).map(|it| nearest(crowd, it)).collect::<Vec<_>>();
    (0..ROUNDS_PER_MINUTE).for_each(|_| round(&mut crowd));
    let (before, started) = (neighbors(&crowd), positions(&crowd));
    (0..5 * ROUNDS_PER_MINUTE).for_each(|_| round(&mut crowd));
    let changed = before.iter().zip(neighbors(&crowd)).filter(|(a, b)| **a != *b).count();
    assert!(80 < changed, "{changed} of 120 have another nearest neighbor after five minutes");
    let far = started.iter().zip(positions(&crowd)).filter(|(a, b)| 1e6 < distance(**a, *b)).count();
    assert!(60 < far, "{far} of 120 went more than a kilometre");
}

#[test]
fn a_group_leaves_a_member_that_never_moves_and_waits_for_a_late_one() {
    let mut crowd = joined(Movement::groups(), 12, 9);
    let (late, others) = (WalkerId(5), |it: &WalkerId| it.0 != 5);
    let start = crowd.position(late);
    for _ in 0..ROUNDS_PER_MINUTE {
        all_walkers(&crowd).filter(others).for_each(|it| _ = crowd.step(it, TICK));
    }
    assert_eq!(crowd.position(late), start);
    let ahead = distance(start, crowd.position(WalkerId(0)));
    assert!(200_000.0 < ahead, "{ahead} mm ahead");
    (0..2 * ROUNDS_PER_MINUTE).for_each(|_| round(&mut crowd));
    let farthest = distances_to_centre(&crowd)[0].iter().copied().fold(0.0, f64::max);
    assert!(farthest < 45.0, "{farthest} m from the centre");
}

#[test]
fn a_walker_that_comes_back_is_near_its_group() {
    let mut crowd = joined(Movement::groups(), 24, 10);
    round(&mut crowd);
    let (gone, mate) = (WalkerId(13), WalkerId(14));
    crowd.leave(gone);
    for _ in 0..20 * ROUNDS_PER_MINUTE {
        all_walkers(&crowd).filter(|&it| it != gone).for_each(|it| _ = crowd.step(it, TICK));
    }
    let left_at = crowd.position(gone);
    let back_at = crowd.join(gone);
    assert!(1e5 < distance(left_at, crowd.position(mate)), "the group has not moved");
    assert!(distance(back_at, crowd.position(mate)) < 6e4, "it is not back with its group");

    let mut alone = joined(Movement::Random, 1, 10);
    let left_at = alone.step(WalkerId(0), TICK);
    alone.leave(WalkerId(0));
    assert_eq!(alone.join(WalkerId(0)), left_at);
}

#[test]
fn a_crowd_gathers_and_wanders() {
    let mut crowd = joined(Movement::gathering(), 100, 11);
    let square = 4_970_000..=5_030_000;
    let inside = |it: &Position| square.contains(&it.x()) && square.contains(&it.y());
    assert!(positions(&crowd).iter().filter(|it| inside(it)).count() < 5);
    // 7.1 km at 6 m/s are 20 minutes.
    (0..20 * ROUNDS_PER_MINUTE).for_each(|_| round(&mut crowd));
    let mut west = 0;
    for _ in 0..ROUNDS_PER_MINUTE {
        assert!(mean(&round_lengths(&mut crowd)) > 0.95 * PACE as f64);
        assert!(positions(&crowd).iter().all(inside));
        west += positions(&crowd).iter().filter(|it| it.x() < 5_000_000).count();
    }
    assert!((3_500..5_500).contains(&west), "{west} of 9000 in the western half");
}

#[test]
fn jumps_come_once_a_minute_and_lead_anywhere() {
    for rounds_at_once in [1, 3] {
        let mut crowd = joined(Movement::teleport(), 100, 12);
        let (mut jumps, mut west) = (0, 0);
        for _ in 0..30 * ROUNDS_PER_MINUTE / rounds_at_once {
            for walker in all_walkers(&crowd) {
                let from = crowd.position(walker);
                let to = crowd.step(walker, TICK.times(rounds_at_once.into()));
                let jumped = (PACE as f64 + 1.0) * f64::from(rounds_at_once) < distance(from, to);
                jumps += u32::from(jumped);
                west += u32::from(jumped && to.x() < 5_000_000);
            }
        }
        // 3000 expected, less those that fall into one step; the standard deviation is 55.
        assert!((2_750..3_250).contains(&jumps), "{jumps} jumps");
        assert!((jumps * 45 / 100..jumps * 55 / 100).contains(&west), "{west} of {jumps} to the west");
    }
}

#[test]
#[should_panic(expected = "moves while away")]
fn no_walker_moves_before_joining() {
    crowd(Movement::Random, 2, 13).step(WalkerId(1), TICK);
}

#[test]
fn impossible_parameters_are_refused() {
    let refusal = |movement, side, speed| {
        let ground = Ground { side: Distance::new(side).unwrap(), speed };
        Crowd::new(movement, 3, ground, &Rng::seeded(14)).map(|_| ()).unwrap_err()
    };
    assert_eq!(refusal(Movement::Random, 0, 1), CrowdError::Side(0));
    assert_eq!(refusal(Movement::Random, 1 << 30, 1), CrowdError::Side(1 << 30));
    assert_eq!(refusal(Movement::Random, 1_000, 0), CrowdError::Speed);
    assert_eq!(refusal(Movement::gathering(), 59_999, 1), CrowdError::Gathering(60_000));
    assert_eq!(refusal(Movement::Teleport { mean: Span::ZERO }, 1, 1), CrowdError::MeanTime("jumps"));
    let no_members = Movement::Groups(Groups { size: 0, ..Groups::default() });
    assert_eq!(refusal(no_members, 1, 1), CrowdError::GroupSize);
}

#[test]
fn a_population_and_a_crowd_agree_on_the_joined_walkers() {
    let rng = Rng::seeded(15);
    let churn = Some(Churn::abrupt(Span::from_secs(20)));
    let failures = vec![MassFailure { at: Time::from_millis(60_000), percent: 50, back_after: None }];
    let schedule = PopulationSchedule { churn, failures, ..PopulationSchedule::default() };
    let mut crowd = Crowd::new(Movement::groups(), 60, Ground::default(), &rng).unwrap();
    let end = Time::from_millis(300_000);
    // The crowd panics if a walker joins twice or leaves without having joined.
    for (_, instruction) in Population::new(60, schedule, &rng).unwrap().take_while(|(at, _)| *at < end) {
        match instruction {
            Instruction::Join { walker, .. } => _ = (crowd.join(walker), crowd.step(walker, TICK)),
            Instruction::Leave { walker, .. } => crowd.leave(walker),
            Instruction::Cut(_) | Instruction::Mend => unreachable!("nothing is cut"),
        }
    }
    assert!(crowd.walkers.iter().filter(|it| it.presence == Presence::Away).count() < 45);
}
