//! The grid against looking at every point.

use proptest::prelude::*;
use space::{COORDINATE_MAX, COORDINATE_MIN, Distance, Grid};

fn mm(millimetres: u32) -> Distance {
    Distance::new(millimetres).unwrap()
}

fn is_near(point: (i32, i32), centre: (i32, i32), reach: Distance) -> bool {
    let squared = |a: i32, b: i32| u128::from(a.abs_diff(b)).pow(2);
    squared(point.0, centre.0) + squared(point.1, centre.1) <= u128::from(reach.squared())
}

/// The original indices of the points in the runs, in the order handed out.
fn visited(grid: &Grid, (x, y): (i32, i32), reach: Distance) -> Vec<u32> {
    let mut seen = Vec::new();
    grid.for_each_run(x, y, reach, |run| {
        assert!(!run.is_empty());
        seen.extend_from_slice(&grid.order()[run]);
    });
    seen
}

fn check(grid: &Grid, points: &[(i32, i32)], centre: (i32, i32), reach: Distance) {
    let mut seen = visited(grid, centre, reach);
    seen.sort_unstable();
    assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "a point was handed out twice");
    let near: Vec<_> =
        (0..points.len() as u32).filter(|&it| is_near(points[it as usize], centre, reach)).collect();
    let found: Vec<_> = seen.into_iter().filter(|&it| is_near(points[it as usize], centre, reach)).collect();
    assert_eq!(found, near, "around {centre:?} within {reach:?}");
}

fn rebuilt(grid: &mut Grid, points: &[(i32, i32)]) {
    let (xs, ys): (Vec<_>, Vec<_>) = points.iter().copied().unzip();
    grid.rebuild(&xs, &ys);
    let mut order = grid.order().to_vec();
    for ((&index, &x), &y) in order.iter().zip(grid.xs()).zip(grid.ys()) {
        assert_eq!(points[index as usize], (x, y));
    }
    order.sort_unstable();
    assert!(order.into_iter().eq(0..points.len() as u32));
}

#[test]
fn an_empty_grid_has_no_runs() {
    let mut grid = Grid::new(mm(1_000));
    assert_eq!(visited(&grid, (0, 0), mm(i32::MAX as u32)), []);
    rebuilt(&mut grid, &[(5, 5)]);
    rebuilt(&mut grid, &[]);
    assert_eq!(visited(&grid, (5, 5), mm(10)), []);
}

#[test]
fn many_points_at_one_place_are_one_run() {
    let mut grid = Grid::new(mm(1_000));
    let points = [(-7, 7); 500];
    rebuilt(&mut grid, &points);
    assert_eq!(visited(&grid, (-7, 7), Distance::ZERO), (0..500).collect::<Vec<_>>());
    let mut runs = 0;
    grid.for_each_run(-7, 7, mm(900), |_| runs += 1);
    assert_eq!(runs, 1);
}

#[test]
fn few_points_beyond_the_circle_are_visited() {
    let mut grid = Grid::new(mm(1_000));
    let points: Vec<_> = (0..10_000).map(|it| (it % 100 * 1_000, it / 100 * 1_000)).collect();
    rebuilt(&mut grid, &points);
    let seen = visited(&grid, (50_500, 50_500), mm(10_000)).len();
    let near = points.iter().filter(|&&it| is_near(it, (50_500, 50_500), mm(10_000))).count();
    assert!(near <= seen && seen < near * 4 / 3, "{seen} visited, {near} near");
}

/// Every distance from a cell's edge to the circle's edge occurs.
#[test]
fn no_point_of_a_lattice_is_missed() {
    let points: Vec<_> = (0..900).map(|it| (it % 30 - 15, it / 30 - 15)).collect();
    for cell in 2..6 {
        let mut grid = Grid::new(mm(cell));
        rebuilt(&mut grid, &points);
        for reach in 0..16 {
            for centre in [(0, 0), (1, -3), (-5, 2), (14, -15), (4, 5)] {
                check(&grid, &points, centre, mm(reach));
            }
        }
    }
}

#[test]
fn an_outlier_does_not_slow_the_others() {
    let mut grid = Grid::new(mm(1_000));
    let mut points: Vec<_> = (0..1_024).map(|it| (it % 32 * 1_000, it / 32 * 1_000)).collect();
    points.extend([(COORDINATE_MIN, COORDINATE_MAX), (COORDINATE_MAX, COORDINATE_MIN)]);
    rebuilt(&mut grid, &points);
    let seen = visited(&grid, (16_500, 16_500), mm(2_000)).len();
    assert!(seen <= 32, "{seen} visited");
    check(&grid, &points, (COORDINATE_MIN, COORDINATE_MAX), mm(1));
}

/// The most points that a query around one of `points` gets, with three cells to the reach, as in interest management.
fn most_visited(points: &[(i32, i32)], reach: u32) -> usize {
    let mut grid = Grid::new(mm(reach / 3));
    rebuilt(&mut grid, points);
    points.iter().map(|&it| visited(&grid, it, mm(reach)).len()).max().unwrap()
}

/// Points in regular patterns may share slots, but no more in a larger world: a query gets at most this many points
/// where 12 to 25 are near. (If the table were a torus, it would get all points of some of these towns, and √n on
/// roads.)
const VISITED_MAX: usize = 300;

#[test]
fn points_on_a_road_seldom_share_slots() {
    for length in [1_000, 4_000, 16_000] {
        for (right, up) in [(10, 0), (0, 10), (7, 7), (7, -7), (10, 1), (1, 10), (6, -8), (9, 4)] {
            let road: Vec<_> = (0..length).map(|it| (it * right * 1_000, it * up * 1_000)).collect();
            let seen = most_visited(&road, 120_000);
            assert!(seen <= VISITED_MAX, "{length} in steps of {right}, {up}: {seen} visited");
        }
    }
}

/// Twelve points in each town, towns in a square.
#[test]
fn points_of_different_towns_seldom_share_slots() {
    for side in [9, 18, 36] {
        for spacing in [16, 50, 64, 65, 100, 128, 256, 500, 512, 768] {
            let at = |it: i32| (it % side * spacing * 20_000, it / side * spacing * 20_000);
            let towns: Vec<_> = (0..12 * side * side).map(|it| at(it / 12)).collect();
            let seen = most_visited(&towns, 60_000);
            assert!(seen <= VISITED_MAX, "{side} x {side} towns, {spacing} cells apart: {seen} visited");
        }
    }
}

fn coordinate() -> impl Strategy<Value = i32> {
    prop_oneof![
        4 => -5_000..5_000,
        2 => -200_000..200_000,
        1 => COORDINATE_MIN..=COORDINATE_MAX,
        1 => prop_oneof![Just(COORDINATE_MIN), Just(COORDINATE_MAX), Just(i32::MIN), Just(i32::MAX)],
    ]
}

fn reach() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), 0..10_000u32, 0..=i32::MAX as u32, Just(i32::MAX as u32)]
}

proptest! {
    #[test]
    fn every_near_point_is_handed_out_once(
        cell in prop_oneof![0..4u32, 100..2_000u32, 0..=i32::MAX as u32],
        rounds in prop::collection::vec(prop::collection::vec((coordinate(), coordinate()), 0..120), 1..4),
        queries in prop::collection::vec((coordinate(), coordinate(), reach()), 8),
    ) {
        let mut grid = Grid::new(mm(cell));
        for points in &rounds {
            rebuilt(&mut grid, points);
            for &(x, y, reach) in &queries {
                check(&grid, points, (x, y), mm(reach));
            }
            for (&centre, &(.., reach)) in points.iter().zip(&queries) {
                check(&grid, points, centre, mm(reach));
            }
        }
    }
}
