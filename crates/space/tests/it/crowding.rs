//! No circle of the range may meet five regions: plain arrangements, and random ones against sampling.

use crate::world::{RandomWorld, at, outlines, steps};
use machine::Rng;
use proptest::prelude::*;
use space::{Distance, GrowError, Line, Partition, Polygon, Position, SplitError, TooCrowded, ZoneId};

fn mm(millimetres: u32) -> Distance {
    Distance::new(millimetres).unwrap()
}

fn whole(side: i32) -> Partition {
    Partition::new(Polygon::rectangle(at(0, 0), at(side, side)).unwrap(), ZoneId(0))
}

/// West of `x` keeps the zone.
fn upright(x: i32) -> Line {
    Line::through(at(x, 0), at(x, 1)).unwrap()
}

/// South of `y` keeps the zone.
fn level(y: i32) -> Line {
    Line::through(at(1, y), at(0, y)).unwrap()
}

/// Splits by these (zone, line) in turn, each checked, the new zones numbered from one.
fn propose(side: i32, range: u32, splits: &[(u32, Line)]) -> Result<Partition, SplitError> {
    splits.iter().zip(1..).try_fold(whole(side), |partition, (&(zone, line), new)| {
        partition.propose_split(ZoneId(zone), line, ZoneId(new), mm(range))
    })
}

fn crowd(result: Result<Partition, SplitError>) -> TooCrowded {
    match result {
        Err(SplitError::Crowded(crowd)) => crowd,
        other => panic!("not refused as crowded: {:?}", other.map(|it| it.outline())),
    }
}

/// Checks that the circle of a refusal meets the zones that it names, give or take the tolerance.
fn check_witness(partition: &Partition, crowd: &TooCrowded) {
    let mut met = Vec::new();
    let range = crowd.range.millimetres();
    partition.zones_touching(crowd.centre, mm(range + range / 500 + 3), &mut met);
    assert!(4 < crowd.zones.len(), "{crowd:?}");
    assert!(crowd.zones.iter().all(|zone| met.contains(zone)), "{crowd:?} meets {met:?}");
}

#[test]
fn two_by_two_is_fine_whatever_the_range() {
    let cross = [(0, upright(5_000)), (0, level(5_000)), (1, level(5_000))];
    for range in [0, 10, 1_000, 100_000] {
        propose(10_000, range, &cross).unwrap().check_four(mm(range)).unwrap();
    }
}

#[test]
fn strips_wider_than_the_circle_are_fine() {
    let strips: Vec<_> = (1..10).map(|n| (n - 1, upright(n as i32 * 1_000))).collect();
    propose(10_000, 490, &strips).unwrap().check_four(mm(490)).unwrap();
    // Three between the outermost two: a circle 3 m across touches five.
    propose(10_000, 1_490, &strips).unwrap();
    let crowd = crowd(propose(10_000, 1_500, &strips));
    assert_eq!(crowd.zones, [0, 1, 2, 3, 4].map(ZoneId));
}

#[test]
fn squares_wider_than_the_circle_are_fine() {
    let mut splits: Vec<_> = (1..4).map(|n| (n - 1, upright(n as i32 * 1_000))).collect();
    for (row, new) in (1..4).zip([4, 8, 12]) {
        let below = if row == 1 { [0, 1, 2, 3] } else { [new - 4, new - 3, new - 2, new - 1] };
        splits.extend(below.map(|zone| (zone, level(row * 1_000))));
    }
    let squares = propose(4_000, 495, &splits).unwrap();
    assert_eq!(squares.zones().len(), 16);
    squares.check_four(mm(495)).unwrap();
    check_witness(&squares, &squares.check_four(mm(500)).unwrap_err());
}

#[test]
fn a_refusal_names_the_place_and_the_zones() {
    // Two borders from above meet the middle line one metre apart: five regions within half a metre.
    let splits = [(0, level(5_000)), (1, upright(5_000)), (0, upright(4_000)), (3, upright(6_000))];
    propose(10_000, 490, &splits).unwrap();
    let crowd = crowd(propose(10_000, 1_100, &splits));
    assert_eq!(crowd.zones, [0, 1, 2, 3, 4].map(ZoneId));
    let text = crowd.to_string();
    assert!(text.starts_with("a circle of 1.1 m around ("), "{text}");
    let end = "would meet zone 0, zone 1, zone 2, zone 3, zone 4; at most 4 regions may come together: \
               draw the line farther from there or in another direction, or merge some of them first";
    assert!(crowd.proven && text.ends_with(end), "{text}");
}

#[test]
fn a_refusal_that_is_not_proven_says_so() {
    // Three strips of 300 m between two more, the circle 299.98 m across: too near to tell.
    let strips = [(0, 100_000), (1, 300_000), (2, 400_000), (1, 200_000)].map(|(it, x)| (it, upright(x)));
    let crowd = crowd(propose(1_000_000, 149_990, &strips));
    assert!(!crowd.proven && crowd.to_string().contains(" may meet zone 0, zone 1,"), "{crowd}");
}

/// Four regions that meet `from_east` of the east side of a world 10 m square.
fn cross(from_east: i32) -> Partition {
    let x = 10_000 - from_east;
    propose(10_000, 500, &[(0, upright(x)), (0, level(5_000)), (1, level(5_000))]).unwrap()
}

fn wider() -> Polygon {
    Polygon::rectangle(at(0, 0), at(20_000, 10_000)).unwrap()
}

#[test]
fn growth_brings_no_fifth_region_near() {
    let grow =
        |partition: &Partition, range| partition.propose_grow(upright(10_000), wider(), ZoneId(9), mm(range));
    let refusal = grow(&cross(100), 500).unwrap_err();
    let GrowError::Crowded(crowd) = refusal else { panic!("{refusal}") };
    assert_eq!(crowd.zones, [0, 1, 2, 3, 9].map(ZoneId));
    check_witness(&cross(100).grow(upright(10_000), wider(), ZoneId(9)).unwrap(), &crowd);

    assert_eq!(grow(&cross(1_100), 500), Ok(cross(1_100).grow(upright(10_000), wider(), ZoneId(9)).unwrap()));
    assert!(matches!(grow(&cross(990), 500), Err(GrowError::Crowded(_))));
    assert_eq!(grow(&cross(990), 490).unwrap().check_four(mm(490)), Ok(()));
    assert_eq!(
        cross(1_100).propose_grow(upright(9_000), wider(), ZoneId(9), mm(5)),
        Err(GrowError::OldAreaChanged)
    );
}

#[test]
fn the_check_follows_growth_and_merges() {
    let grown = cross(100).grow(upright(10_000), wider(), ZoneId(9)).unwrap();
    check_witness(&grown, &grown.check_four(mm(500)).unwrap_err());
    grown.merge(ZoneId(1), ZoneId(3)).unwrap().check_four(mm(500)).unwrap();
    grown.merge(ZoneId(2), ZoneId(0)).unwrap().check_four(mm(500)).unwrap();
    grown.check_four(mm(49)).unwrap();
    // Crowded on the old side of the new border only, and on its new side only.
    let split = |zone, x, new| grown.split(ZoneId(zone), upright(x), ZoneId(new)).unwrap();
    check_witness(&split(1, 9_950, 10), &split(1, 9_950, 10).check_four(mm(49)).unwrap_err());
    let east = split(9, 10_030, 10).split(ZoneId(9), level(5_000), ZoneId(11)).unwrap();
    check_witness(&east, &east.check_four(mm(100)).unwrap_err());
}

#[test]
fn a_long_border_in_a_wide_world_is_settled_at_once() {
    let side = (1 << 30) - 1;
    let slanted = Line::through(at(0, 7), at(side, side - 9)).unwrap();
    let beside = Line::through(at(0, 90_007), at(side, side - 10_009)).unwrap();
    let splits = [(0, slanted), (0, upright(side / 2)), (1, upright(side / 3)), (0, beside)];
    for (count, range) in [(3, 1), (3, 1_000), (3, 1_000_000), (4, 10)] {
        propose(side, range, &splits[..count]).unwrap();
    }
}

#[test]
fn a_crowd_far_below_one_side_is_found() {
    // Strips 100 mm wide, five metres from the first line and all on one side of it.
    let strips = [2_000, 7_000, 7_100, 7_200, 7_300];
    let below = |turn: fn(Line) -> Line, zones: [u32; 5]| {
        let splits = strips.into_iter().zip(zones).zip(1..);
        let partition = splits.fold(whole(10_000), |partition, ((x, zone), new)| {
            partition.split(ZoneId(zone), turn(upright(x)), ZoneId(new)).unwrap()
        });
        let crowd = partition.check_four(mm(200)).unwrap_err();
        check_witness(&partition, &crowd);
        partition.check_four(mm(140)).unwrap();
    };
    below(|line| line, [0, 1, 2, 3, 4]);
    below(|line| line.reversed(), [0; 5]);
}

/// The most regions that sampled circles meet: around corners and the places a range away from them,
/// and anywhere.
fn most_met(partition: &Partition, range: i64, rng: &mut Rng) -> usize {
    let corners: Vec<_> = partition.zones().flat_map(|(_, region)| region.vertices_f64()).collect();
    let mut met = Vec::new();
    let mut most = 0;
    for _ in 0..400 {
        let [x, y] = corners[rng.below(corners.len() as u64) as usize];
        let mut near = || rng.between(-range, range);
        let centre = Position::saturating(x as i64 + near(), y as i64 + near());
        partition.zones_touching(centre, mm(range as u32), &mut met);
        most = most.max(met.len());
    }
    most
}

fn random_line(rng: &mut Rng, side: i64) -> Option<Line> {
    let mut place = || Position::saturating(rng.between(0, side), rng.between(0, side));
    Line::through(place(), place()).ok()
}

/// Random splits, taken unless `range` is given and the check refuses.
fn random_world(rng: &mut Rng, range: Option<u32>) -> Partition {
    let mut partition = whole(10_000);
    for new in 1..=7 {
        let zone = ZoneId(rng.below(u64::from(new)) as u32);
        let Some(line) = random_line(rng, 10_000) else { continue };
        let next = match range {
            Some(range) => partition.propose_split(zone, line, ZoneId(new), mm(range)),
            None => partition.split(zone, line, ZoneId(new)),
        };
        partition = next.unwrap_or(partition);
    }
    partition
}

#[test]
fn sampling_never_finds_more_than_the_check() {
    let (mut crowded, mut fine) = (0, 0);
    for seed in 0..150 {
        let mut rng = Rng::seeded(seed);
        let range = rng.between(1, 1_500);
        let partition = random_world(&mut rng, None);
        let most = most_met(&partition, range, &mut rng);
        match partition.check_four(mm(range as u32)) {
            Ok(()) => assert!(most <= 4, "seed {seed}: a circle meets {most}"),
            Err(crowd) => check_witness(&partition, &crowd),
        }
        crowded += usize::from(4 < most);
        fine += usize::from(partition.check_four(mm(range as u32)).is_ok());
    }
    assert!(20 < crowded && 20 < fine, "{crowded} crowded, {fine} fine: the test tests nothing");
}

#[test]
fn checked_splits_alone_keep_the_promise() {
    let mut zones = 0;
    for seed in 0..150 {
        let mut rng = Rng::seeded(seed);
        let range = rng.between(1, 1_500);
        let partition = random_world(&mut rng, Some(range as u32));
        partition.check_four(mm(range as u32)).unwrap();
        let most = most_met(&partition, range, &mut rng);
        assert!(most <= 4, "seed {seed}: a circle meets {most}");
        zones += partition.zones().len();
    }
    assert!(500 < zones, "{zones} zones: hardly any split was allowed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn sampling_agrees_after_growth_and_merges(
        outline in outlines(),
        steps in steps(20),
        scale in prop_oneof![Just(10_000), Just(1 << 30)],
        share in 0.0..0.25f64,
        seed: u64,
    ) {
        let partition = RandomWorld::grown(outline, scale, &steps).partition;
        let range = (share * f64::from(scale)) as i64 + 1;
        match partition.check_four(mm(range as u32)) {
            Ok(()) => prop_assert!(most_met(&partition, range, &mut Rng::seeded(seed)) <= 4),
            Err(crowd) => check_witness(&partition, &crowd),
        }
    }
}
