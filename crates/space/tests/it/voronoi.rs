//! The Voronoi diagram against looking at every pair, every triple and every half-plane.

use crate::model::{ModelHalfPlane, ModelPiece};
use crate::world::at;
use machine::Rng;
use proptest::prelude::*;
use space::{COORDINATE_MAX, COORDINATE_MIN, Distance, Position, Voronoi, VoronoiNeighbour};
use std::collections::BTreeMap;

type Sites = BTreeMap<u8, Position>;

fn mm(millimetres: u32) -> Distance {
    Distance::new(millimetres).unwrap()
}

/// True if some point of the bisector is at least as near to both as to all others: every other site
/// leaves a half-line of it, and the two innermost ends must not have passed each other.
fn touch(sites: &Sites, one: Position, other: Position) -> bool {
    let wide = |step: (i32, i32)| (i128::from(step.0), i128::from(step.1));
    let neighbour = wide(one.step_to(other));
    if neighbour == (0, 0) {
        return true;
    }
    // Ends along the bisector as fractions, `under` positive; the lower ones are negated.
    let (mut low, mut high) = (None, None);
    for &third in sites.values() {
        let third = wide(one.step_to(third));
        let over = third.0 * (third.0 - neighbour.0) + third.1 * (third.1 - neighbour.1);
        let under = 2 * (neighbour.0 * third.1 - neighbour.1 * third.0);
        match under {
            0 if over < 0 => return false,
            0 => (),
            1.. => high = Some(high.map_or((over, under), |it| min(it, (over, under)))),
            _ => low = Some(low.map_or((over, -under), |it| min(it, (over, -under)))),
        }
    }
    low.zip(high).is_none_or(|(low, high)| -low.0 * high.1 <= high.0 * low.1)
}

fn min(one: (i128, i128), other: (i128, i128)) -> (i128, i128) {
    if one.0 * other.1 <= other.0 * one.1 { one } else { other }
}

fn region(sites: &Sites, key: u8) -> ModelPiece {
    let site = sites[&key];
    let others = sites.values().filter(|&&it| it != site);
    ModelPiece(others.map(|&it| ModelHalfPlane::nearer(site, it)).collect())
}

fn enclosing(diagram: &Voronoi<u8>, key: u8) -> Vec<u8> {
    let mut out = vec![7; 3];
    diagram.enclosing(key, &mut out);
    out
}

fn meeting(diagram: &Voronoi<u8>, centre: Position, radius: Distance) -> Vec<u8> {
    let mut out = vec![7; 3];
    diagram.meeting(centre, radius, &mut out);
    out
}

fn neighbours(diagram: &Voronoi<u8>, key: u8, radius: Distance) -> Vec<VoronoiNeighbour<u8>> {
    let mut out = Vec::new();
    diagram.neighbours(key, radius, &mut out);
    out
}

fn check_sites(diagram: &Voronoi<u8>, sites: &Sites) {
    assert!(diagram.iter().eq(sites.iter().map(|(&key, &place)| (key, place))));
    assert_eq!((diagram.len(), diagram.is_empty()), (sites.len(), sites.is_empty()));
    for key in 0..=u8::MAX {
        assert_eq!(diagram.place(key), sites.get(&key).copied());
    }
}

fn check_enclosing(diagram: &Voronoi<u8>, sites: &Sites) {
    for (&key, &place) in sites {
        let others = sites.iter().filter(|&(&other, _)| other != key);
        let expected: Vec<_> =
            others.filter(|&(_, &other)| touch(sites, place, other)).map(|(&other, _)| other).collect();
        assert_eq!(enclosing(diagram, key), expected, "around {key} in {sites:?}");
        for &other in sites.keys() {
            assert_eq!(diagram.are_enclosing(key, other), expected.contains(&other));
        }
    }
}

fn check_nearest(diagram: &Voronoi<u8>, sites: &Sites, place: Position) {
    let nearest = sites.iter().min_by_key(|&(&key, &it)| (it.distance_squared(place), key));
    assert_eq!(diagram.nearest(place), nearest.map(|(&key, _)| key), "to {place:?} in {sites:?}");
}

fn check_circle(diagram: &Voronoi<u8>, sites: &Sites, centre: Position, radius: Distance) {
    let regions = sites.keys().map(|&key| (key, region(sites, key)));
    let mut met = Vec::new();
    for (key, region) in regions {
        let meets = region.meets_disc(centre, radius);
        assert_eq!(diagram.meets(key, centre, radius), meets, "{key} {centre:?} {radius:?} {sites:?}");
        met.extend(meets.then_some(key));
        let beyond = region.reaches_beyond(centre, radius);
        assert_eq!(
            diagram.reaches_beyond(key, centre, radius),
            beyond,
            "{key} {centre:?} {radius:?} {sites:?}"
        );
    }
    assert_eq!(meeting(diagram, centre, radius), met, "{centre:?} {radius:?} {sites:?}");
}

/// A site whose region meets the circle or touches the site's own is a neighbour; the parts are checked on their own.
fn check_neighbours(diagram: &Voronoi<u8>, sites: &Sites, radius: Distance) {
    for (&key, &centre) in sites {
        let others = sites.keys().filter(|&&other| other != key);
        let known = others.filter_map(|&other| {
            let enclosing = diagram.are_enclosing(key, other);
            let boundary = diagram.reaches_beyond(other, centre, radius);
            (enclosing || diagram.meets(other, centre, radius)).then_some(VoronoiNeighbour {
                key: other,
                enclosing,
                boundary,
            })
        });
        assert_eq!(neighbours(diagram, key, radius), known.collect::<Vec<_>>());
    }
}

fn diagram_of(sites: &Sites) -> Voronoi<u8> {
    grown(sites.iter().map(|(&key, &place)| (key, Some(place)))).0
}

/// The diagram after these puts and removals, and what it is of.
fn grown(steps: impl IntoIterator<Item = (u8, Option<Position>)>) -> (Voronoi<u8>, Sites) {
    let (mut diagram, mut sites) = (Voronoi::new(), Sites::new());
    for step in steps {
        apply(&mut diagram, &mut sites, step);
    }
    (diagram, sites)
}

fn apply(diagram: &mut Voronoi<u8>, sites: &mut Sites, (key, place): (u8, Option<Position>)) {
    match place {
        Some(place) => assert_eq!(diagram.put(key, place), sites.insert(key, place)),
        None => assert_eq!(diagram.remove(key), sites.remove(&key)),
    }
}

fn sites(places: &[(i32, i32)]) -> Sites {
    (0..).zip(places.iter().map(|&(x, y)| at(x, y))).collect()
}

fn around_each(places: &[(i32, i32)]) -> Vec<Vec<u8>> {
    let sites = sites(places);
    let diagram = diagram_of(&sites);
    check_enclosing(&diagram, &sites);
    sites.keys().map(|&key| enclosing(&diagram, key)).collect()
}

#[test]
fn an_empty_diagram_and_a_single_site_have_no_neighbours() {
    let mut diagram = Voronoi::new();
    let radius = mm(5);
    for _ in 0..2 {
        check_sites(&diagram, &Sites::new());
        assert_eq!(diagram.nearest(at(0, 0)), None);
        assert_eq!((enclosing(&diagram, 3), meeting(&diagram, at(0, 0), radius)), (vec![], vec![]));
        assert!(!diagram.meets(3, at(0, 0), radius) && !diagram.reaches_beyond(3, at(0, 0), radius));
        assert!(!diagram.are_enclosing(3, 3) && neighbours(&diagram, 3, radius).is_empty());
        assert_eq!(diagram.remove(3), None);

        assert_eq!(diagram.put(3, at(9, 9)), None);
        assert_eq!(diagram.put(3, at(8, 8)), Some(at(9, 9)));
        assert_eq!(diagram.put(3, at(8, 8)), Some(at(8, 8)));
        assert_eq!((enclosing(&diagram, 3), meeting(&diagram, at(0, 0), radius)), (vec![], vec![3]));
        assert!(diagram.meets(3, at(-500, 0), radius) && diagram.reaches_beyond(3, at(0, 0), Distance::MAX));
        assert!(!diagram.are_enclosing(3, 3) && neighbours(&diagram, 3, radius).is_empty());
        assert_eq!(diagram.nearest(at(0, 0)), Some(3));
        assert_eq!(diagram.remove(3), Some(at(8, 8)));
    }
}

#[test]
fn on_a_line_the_next_are_the_neighbours() {
    let line = [(0, 0), (30, 60), (10, 20), (20, 40)];
    assert_eq!(around_each(&line), [vec![2], vec![3], vec![0, 3], vec![1, 2]]);
    // One step aside, and the ends see each other past the middle.
    assert_eq!(around_each(&[(0, 0), (20, 40), (10, 21)]), [[1, 2], [0, 2], [0, 1]]);
}

#[test]
fn sites_at_one_place_share_a_region() {
    let places = [(0, 0), (5, 5), (0, 0), (10, 10), (0, 0), (5, 5)];
    assert_eq!(
        around_each(&places),
        [
            vec![1, 2, 4, 5],
            vec![0, 2, 3, 4, 5],
            vec![0, 1, 4, 5],
            vec![1, 5],
            vec![0, 1, 2, 5],
            vec![0, 1, 2, 3, 4]
        ]
    );
    let diagram = diagram_of(&sites(&places));
    assert_eq!(diagram.nearest(at(6, 6)), Some(1));
    assert_eq!(around_each(&[(1, 1), (1, 1)]), [vec![1], vec![0]]);
}

#[test]
fn regions_that_meet_in_a_point_touch() {
    let lattice: Vec<_> = (0..9).map(|it| (it % 3 * 100, it / 3 * 100)).collect();
    assert_eq!(around_each(&lattice)[4], [0, 1, 2, 3, 5, 6, 7, 8]);
    assert_eq!(around_each(&lattice)[0], [1, 3, 4]);
    assert_eq!(around_each(&lattice)[1], [0, 2, 3, 4, 5]);
    // Twelve sites on a circle: each touches all others, until a site is put in the middle.
    let steps = [(0, 5), (3, 4), (4, 3)];
    let mut circle: Vec<_> = steps.iter().flat_map(|&(x, y)| [(x, y), (y, -x), (-x, -y), (-y, x)]).collect();
    assert!(around_each(&circle).iter().all(|it| it.len() == 11));
    circle.push((0, 0));
    assert!(around_each(&circle)[..12].iter().all(|it| it.len() == 3));
    assert_eq!(around_each(&circle)[12].len(), 12);
}

#[test]
fn the_edge_of_a_circle_belongs_to_it() {
    // The region of 4 is the square from (-50, -50) to (50, 50).
    let cross = sites(&[(100, 0), (-100, 0), (0, 100), (0, -100), (0, 0)]);
    let diagram = diagram_of(&cross);
    assert!(diagram.meets(4, at(90, 10), mm(40)) && !diagram.meets(4, at(90, 10), mm(39)));
    assert!(diagram.meets(4, at(53, 54), mm(5)) && !diagram.meets(4, at(54, 54), mm(5)));
    assert!(diagram.meets(4, at(49, 3), Distance::ZERO) && !diagram.meets(4, at(51, 3), Distance::ZERO));
    assert!(!diagram.reaches_beyond(4, at(0, 0), mm(71)) && diagram.reaches_beyond(4, at(0, 0), mm(70)));
    assert!(
        !diagram.reaches_beyond(4, at(-10, 30), mm(100)) && diagram.reaches_beyond(4, at(-10, 31), mm(100))
    );
    assert!(diagram.reaches_beyond(0, at(0, 0), Distance::MAX), "a region without end");

    let found: Vec<_> =
        neighbours(&diagram, 0, mm(49)).iter().map(|it| (it.key, it.enclosing, it.boundary)).collect();
    assert_eq!(found, [(2, true, true), (3, true, true), (4, true, true)]);
    let found: Vec<_> =
        neighbours(&diagram, 0, mm(200)).iter().map(|it| (it.key, it.enclosing, it.boundary)).collect();
    assert_eq!(found, [(1, false, true), (2, true, true), (3, true, true), (4, true, false)]);
}

/// Walkers on a lattice, many of them at one place or on one circle, against a diagram that was never
/// changed.
#[test]
fn a_diagram_is_what_its_sites_make_it() {
    let mut rng = Rng::seeded(1);
    for (sites, width) in [(500, 16), (1_500, 48), (1_500, 1_000)] {
        let mut walked = Voronoi::new();
        let mut places = vec![(0, 0); sites];
        for _ in 0..10 * sites {
            let key = rng.below(sites as u64) as usize;
            let (x, y) = places[key];
            let step = |at: i64, by: i64| (at + by).rem_euclid(width);
            places[key] = if rng.chance(0.2) {
                (rng.between(0, width - 1), rng.between(0, width - 1))
            } else {
                (step(x, rng.between(-1, 1)), step(y, rng.between(-1, 1)))
            };
            walked.put(key, Position::saturating(places[key].0, places[key].1));
        }
        let mut fresh = Voronoi::new();
        for (key, place) in walked.iter().collect::<Vec<_>>().into_iter().rev() {
            fresh.put(key, place);
        }
        let (mut one, mut other) = (Vec::new(), Vec::new());
        for (key, _) in walked.iter() {
            walked.enclosing(key, &mut one);
            fresh.enclosing(key, &mut other);
            assert_eq!(one, other, "around {key}");
        }
    }
}

fn end() -> impl Strategy<Value = i32> {
    let ends = [COORDINATE_MIN, COORDINATE_MIN + 1, -1, 0, 1, COORDINATE_MAX - 1, COORDINATE_MAX];
    prop::sample::select(ends.to_vec())
}

fn anywhere() -> impl Strategy<Value = i32> {
    COORDINATE_MIN..=COORDINATE_MAX
}

/// The 36 whole points on a circle.
fn circle(scale: i32) -> BoxedStrategy<Position> {
    let square = (-65..=65).flat_map(|x| (-65..=65).map(move |y| (x, y)));
    let round: Vec<_> = square.filter(|(x, y)| x * x + y * y == 65 * 65).collect();
    prop::sample::select(round).prop_map(move |(x, y)| at(x * scale, y * scale)).boxed()
}

/// Places of one kind: the awkward ones come from few places, which many share.
fn kind() -> impl Strategy<Value = BoxedStrategy<Position>> {
    let pair = |one: BoxedStrategy<i32>| (one.clone(), one).prop_map(|(x, y)| at(x, y)).boxed();
    let lattice = |half: i32, width: i32| pair((-half..=half).prop_map(move |it| it * width).boxed());
    prop_oneof![
        Just(lattice(1, 1)),
        Just(lattice(3, 1)),
        Just(lattice(3, COORDINATE_MAX / 3)),
        (1..1_000).prop_map(circle),
        Just(circle(COORDINATE_MAX / 65)),
        (-9..9, -9..9).prop_map(|(x, y)| (-99..99).prop_map(move |it| at(x * it, y * it)).boxed()),
        Just(pair(end().boxed())),
        Just(pair(prop_oneof![end(), anywhere()].boxed())),
        Just(pair(anywhere().boxed())),
        Just(pair((-10_000..10_000).boxed())),
    ]
}

/// Places of one kind, or of two.
fn places() -> impl Strategy<Value = BoxedStrategy<Position>> {
    prop_oneof![
        2 => kind(),
        1 => (kind(), kind()).prop_map(|(one, other)| prop_oneof![3 => one, 1 => other].boxed()),
    ]
}

/// Puts and removals, in order, and some places of the same kind.
fn steps(keys: u8, most: usize) -> impl Strategy<Value = (Vec<(u8, Option<Position>)>, Vec<Position>)> {
    places().prop_flat_map(move |place| {
        let step = (0..keys, prop::option::weighted(0.8, place.clone()));
        (prop::collection::vec(step, 0..most), prop::collection::vec(place, 3))
    })
}

fn radius() -> impl Strategy<Value = u32> {
    prop_oneof![0..4u32, 0..100u32, 0..10_000u32, 0..=i32::MAX as u32, Just(i32::MAX as u32)]
}

proptest! {
    #[test]
    fn neighbours_are_the_sites_whose_regions_share_a_point((steps, _) in steps(14, 60)) {
        let (mut diagram, mut sites) = (Voronoi::new(), Sites::new());
        for step in steps {
            apply(&mut diagram, &mut sites, step);
            check_enclosing(&diagram, &sites);
        }
        check_sites(&diagram, &sites);
    }

    #[test]
    fn many_sites_come_and_go((steps, _) in steps(60, 400)) {
        let (diagram, sites) = grown(steps);
        check_sites(&diagram, &sites);
        check_enclosing(&diagram, &sites);
    }

    #[test]
    fn the_nearest_is_the_nearest(
        (steps, near) in steps(40, 90),
        far in prop::collection::vec((anywhere(), anywhere()), 8),
    ) {
        let (diagram, sites) = grown(steps);
        for place in near.into_iter().chain(far.into_iter().map(|(x, y)| at(x, y))) {
            check_nearest(&diagram, &sites, place);
        }
    }

    #[test]
    fn a_circle_meets_what_the_half_planes_say(
        (steps, centres) in steps(10, 24),
        radii in (radius(), radius()),
        far in (anywhere(), anywhere()),
    ) {
        let (diagram, sites) = grown(steps);
        for centre in centres.into_iter().chain([at(far.0, far.1)]) {
            // Just touching and just not: as far as a site, and half as far.
            let site = sites.values().next().copied().unwrap_or_default();
            let touching = (centre.distance_squared(site) / 4).isqrt().min(i32::MAX as u64) as u32;
            for radius in [radii.0, radii.1, touching, touching.saturating_sub(1)] {
                check_circle(&diagram, &sites, centre, mm(radius));
            }
        }
        check_neighbours(&diagram, &sites, mm(radii.0));
    }
}
