//! Partitions against their model: one owner for every place, and no near zone is missed.

use crate::model::ModelPiece;
use crate::world::{ChangeKind, PlaceChoice, RandomWorld, WorldStep, at, outlines, steps};
use proptest::prelude::*;
use space::{
    COORDINATE_MAX, COORDINATE_MIN, DEPTH_MAX, Distance, EDGES_MAX, GrowError, Line, MergeError, Outline,
    OutlineEntry, Partition, Polygon, Position, SplitError, ZONES_MAX, ZoneId,
};

fn mm(millimetres: u32) -> Distance {
    Distance::new(millimetres).unwrap()
}

fn line(ax: i32, ay: i32, bx: i32, by: i32) -> Line {
    Line::through(at(ax, ay), at(bx, by)).unwrap()
}

fn square(side: i32) -> Polygon {
    Polygon::rectangle(at(0, 0), at(side, side)).unwrap()
}

/// A hundred metres square, split into west (1) and east (2).
fn halves() -> Partition {
    let whole = Partition::new(square(100_000), ZoneId(1));
    whole.split(ZoneId(1), line(50_000, 0, 50_000, 1), ZoneId(2)).unwrap()
}

fn regions(partition: &Partition) -> Vec<(ZoneId, Polygon)> {
    partition.zones().map(|(zone, polygon)| (zone, polygon.clone())).collect()
}

/// The model's one owner, the tree and the regions must all agree.
fn check_owner(world: &RandomWorld, place: Position) {
    let owners = world.owners(place);
    let inside = world.partition.bounds().contains(place);
    assert_eq!(owners.len(), usize::from(inside), "{place} is owned by {owners:?}");
    assert_eq!(world.partition.locate(place), owners.first().copied(), "{place}");
    let by_region = world.partition.zones().filter(|(_, region)| region.contains(place));
    assert!(by_region.map(|(zone, _)| zone).eq(owners), "{place}");
}

fn check_touching(world: &RandomWorld, centre: Position, radius: Distance) {
    let mut touching = vec![ZoneId(999)];
    world.partition.zones_touching(centre, radius, &mut touching);
    let near = world.model.iter().filter(|(_, pieces)| pieces.iter().any(|it| it.meets_disc(centre, radius)));
    assert!(near.map(|(&zone, _)| zone).eq(touching.iter().copied()), "{centre} {radius:?}: {touching:?}");
}

#[test]
fn the_left_keeps_the_line_and_the_id() {
    let partition = halves();
    assert_eq!(partition.locate(at(50_000, 7)), Some(ZoneId(1)));
    assert_eq!(partition.locate(at(50_001, 7)), Some(ZoneId(2)));
    assert_eq!(partition.locate(at(100_000, 100_000)), Some(ZoneId(2)), "the world owns its edge");
    assert_eq!(partition.locate(at(100_001, 0)), None);
    assert_eq!((partition.version().0, partition.highest_zone()), (1, ZoneId(2)));
}

#[test]
fn a_disc_on_the_border_meets_both() {
    let (partition, mut met) = (halves(), Vec::new());
    let mut touching = |x, radius| {
        partition.zones_touching(at(x, 50_000), mm(radius), &mut met);
        met.clone()
    };
    assert_eq!(touching(50_000, 0), [ZoneId(1), ZoneId(2)]);
    assert_eq!(touching(60_000, 10_000), [ZoneId(1), ZoneId(2)]);
    assert_eq!(touching(60_000, 9_999), [ZoneId(2)]);
    assert_eq!(touching(110_000, 9_999), []);
}

#[test]
fn impossible_splits_say_what_to_do() {
    let partition = halves();
    let cut = line(0, 50_000, 1, 50_000);
    let refusal = |zone, line, new| partition.split(ZoneId(zone), line, ZoneId(new)).unwrap_err().to_string();
    assert_eq!(refusal(7, cut, 8), "there is no zone 7 to split: look up the zones of the newest version");
    assert_eq!(refusal(1, cut, 2), "zone 2 may be taken already: use an ID above zone 2");
    assert_eq!(
        refusal(1, line(50_000, 0, 50_000, 9), 3),
        "the line does not cross the region of zone 1: choose two points with some of it on either side"
    );
}

#[test]
fn an_id_is_never_used_again() {
    let merged = halves().merge(ZoneId(1), ZoneId(2)).unwrap();
    let again = merged.split(ZoneId(1), line(50_000, 0, 50_000, 1), ZoneId(2));
    assert_eq!(again, Err(SplitError::UsedId { new: ZoneId(2), highest: ZoneId(2) }));
}

#[test]
fn only_siblings_merge() {
    let partition = halves().split(ZoneId(2), line(0, 50_000, 1, 50_000), ZoneId(3)).unwrap();
    let refusal = |keeper, absorbed| partition.merge(ZoneId(keeper), ZoneId(absorbed)).unwrap_err();
    assert_eq!(refusal(1, 9), MergeError::UnknownZone(ZoneId(9)));
    assert_eq!(refusal(9, 1), MergeError::UnknownZone(ZoneId(9)));
    assert_eq!(refusal(1, 2), MergeError::SiblingIsSplit { keeper: ZoneId(1) });
    assert_eq!(
        refusal(2, 1).to_string(),
        "zone 2 and zone 1 are not the two halves of one split: merge zone 2 with zone 3"
    );
    let whole = Partition::new(square(10), ZoneId(1));
    assert_eq!(whole.merge(ZoneId(1), ZoneId(1)), Err(MergeError::OnlyZone(ZoneId(1))));
    // Either half may be the one that stays.
    let east = partition.merge(ZoneId(3), ZoneId(2)).unwrap();
    assert_eq!(east.locate(at(90_000, 90_000)), Some(ZoneId(3)));
    assert_eq!(east.polygon(ZoneId(3)), halves().polygon(ZoneId(2)));
    assert_eq!(east.polygon(ZoneId(2)), None);
}

#[test]
fn growth_leaves_the_old_world_alone() {
    let partition = halves();
    let east = line(100_000, 0, 100_000, 5);
    let wider = Polygon::rectangle(at(0, 0), at(150_000, 100_000)).unwrap();
    let grown = partition.grow(east, wider.clone(), ZoneId(5)).unwrap();
    assert_eq!(regions(&grown)[..2], regions(&partition)[..]);
    assert_eq!(grown.locate(at(100_000, 0)), Some(ZoneId(2)), "the old edge stays where it was");
    assert_eq!(grown.locate(at(100_001, 0)), Some(ZoneId(5)));

    let refusal =
        |line, bounds: &Polygon, new| partition.grow(line, bounds.clone(), ZoneId(new)).unwrap_err();
    assert_eq!(refusal(east, &wider, 2), GrowError::UsedId { new: ZoneId(2), highest: ZoneId(2) });
    assert_eq!(refusal(east.reversed(), &wider, 3), GrowError::OldAreaChanged);
    assert_eq!(refusal(line(100_001, 0, 100_001, 5), &wider, 3), GrowError::OldAreaChanged);
    assert_eq!(refusal(line(-5, 0, -5, 5), &wider, 3), GrowError::Misses);
    let taller = Polygon::rectangle(at(0, 0), at(150_000, 100_001)).unwrap();
    assert_eq!(refusal(east, &taller, 3), GrowError::OldAreaChanged);
}

#[test]
fn the_tree_has_a_deepest_level() {
    let mut partition = Partition::new(square(100_000), ZoneId(0));
    for new in 1..=DEPTH_MAX as u32 {
        let north = at(new as i32, 1);
        let cut = Line::through(north, at(new as i32, 0)).unwrap();
        partition = partition.split(ZoneId(0), cut, ZoneId(new)).unwrap();
    }
    let cut = line(5_000, 1, 5_000, 0);
    assert_eq!(partition.split(ZoneId(0), cut, ZoneId(999)), Err(SplitError::TooDeep(ZoneId(0))));
    let wider = Polygon::rectangle(at(0, 0), at(150_000, 100_000)).unwrap();
    assert_eq!(partition.grow(line(100_000, 0, 100_000, 5), wider, ZoneId(999)), Err(GrowError::TooDeep));
    assert_eq!(partition.locate(at(99_999, 3)), Some(ZoneId(0)));
    assert_eq!(partition.locate(at(64, 3)), Some(ZoneId(65)), "the line faces south: its left is east");
}

/// As many zones as there may be: strips 10 mm wide.
fn full() -> Partition {
    let mut tree = Vec::new();
    strips(0, ZONES_MAX as i32, &mut tree);
    let outline = Partition::new(square(10 * ZONES_MAX as i32), ZoneId(0)).outline();
    Partition::from_outline(&Outline { tree, highest: ZoneId(ZONES_MAX as u32), ..outline }).unwrap()
}

fn strips(first: i32, count: i32, out: &mut Vec<OutlineEntry>) {
    if count == 1 {
        return out.push(OutlineEntry::Zone(ZoneId(first as u32)));
    }
    let middle = first + count / 2;
    out.push(OutlineEntry::Split(line(10 * middle, 0, 10 * middle, 1)));
    strips(first, count / 2, out);
    strips(middle, count - count / 2, out);
}

#[test]
fn a_world_has_so_many_zones_and_no_more() {
    let (full, new) = (full(), ZoneId(ZONES_MAX as u32 + 1));
    assert_eq!(full.zones().len(), ZONES_MAX);
    let side = 10 * ZONES_MAX as i32;
    let wider = Polygon::rectangle(at(0, 0), at(side + 1, side)).unwrap();
    let (cut, east) = (line(5, 0, 5, 1), line(side, 0, side, 1));
    assert_eq!(full.split(ZoneId(0), cut, new), Err(SplitError::TooManyZones));
    assert_eq!(full.grow(east, wider.clone(), new), Err(GrowError::TooManyZones));

    let fewer = full.merge(ZoneId(0), ZoneId(1)).unwrap();
    assert_eq!(fewer.split(ZoneId(0), cut, new).unwrap().zones().len(), ZONES_MAX);
    assert_eq!(fewer.grow(east, wider, new).unwrap().zones().len(), ZONES_MAX);
}

#[test]
fn partitions_are_equal_however_their_lines_were_given() {
    let split = |cut| Partition::new(square(10), ZoneId(1)).split(ZoneId(1), cut, ZoneId(2)).unwrap();
    let one = split(line(5, 0, 5, 1));
    assert_eq!(one, split(line(5, 0, 5, 2)));
    assert_eq!(one, split(line(5, -900, 5, -7)));
    assert_ne!(one, split(line(5, 1, 5, 0)));
    assert_ne!(one, split(line(6, 0, 6, 1)));
    let turned = Polygon::new(&[at(10, 10), at(0, 10), at(0, 0), at(10, 0)]).unwrap();
    assert_eq!(turned, square(10));
    assert_ne!(turned, square(11));
}

/// The part right of the line, which leaves that edge open.
fn right_of(cut: Line, low: Position, high: Position) -> Polygon {
    Polygon::rectangle(low, high).unwrap().cut(&cut).unwrap().1
}

#[test]
fn a_world_owns_its_edge_even_if_its_bounds_did_not() {
    let east = right_of(line(50, 0, 50, 1), at(0, 0), at(100, 100));
    assert!(!east.contains(at(50, 50)));
    let world = Partition::new(east, ZoneId(1));
    for y in [0, 50, 100] {
        assert_eq!(world.locate(at(50, y)), Some(ZoneId(1)));
    }
    // The old edge, open in the new bounds.
    let wider = right_of(line(50, 0, 50, 1), at(0, 0), at(150, 100));
    let grown = world.grow(line(100, 0, 100, 1), wider, ZoneId(2)).unwrap();
    assert_eq!(grown.locate(at(50, 100)), Some(ZoneId(1)));
    // The new edge.
    let wider = right_of(line(150, 1, 150, 0), at(50, 0), at(200, 100));
    assert!(!wider.contains(at(150, 50)));
    let grown = world.grow(line(100, 0, 100, 1), wider, ZoneId(2)).unwrap();
    for y in [0, 50, 100] {
        assert_eq!(grown.locate(at(150, y)), Some(ZoneId(2)));
        assert!(grown.polygon(ZoneId(2)).unwrap().contains(at(150, y)));
    }
}

/// The region above the tangents of a parabola, up to a level line.
fn bowl(edges: usize) -> Polygon {
    let above = Polygon::rectangle(at(0, -100_000), at(100_000, 100_000)).unwrap();
    (1..=edges as i32 - 2)
        .fold(above, |polygon, n| polygon.cut(&line(n, n * n, n + 1, n * n + 2 * n)).unwrap().0)
}

#[test]
fn bounds_have_so_many_edges_and_no_more() {
    let north = line(1, 100_000, 0, 100_000);
    let (most, more) = (bowl(EDGES_MAX), bowl(EDGES_MAX + 1));
    let world = Partition::new(most, ZoneId(0));
    assert_eq!(world.outline().bounds.len(), EDGES_MAX);
    assert_eq!(Partition::from_outline(&world.outline()), Ok(world.clone()));
    assert_eq!(world.grow(north, more.clone(), ZoneId(1)), Err(GrowError::TooManyEdges));
    assert!(std::panic::catch_unwind(|| Partition::new(more, ZoneId(0))).is_err());
}

#[test]
fn neighbours_are_the_others_in_reach() {
    let partition = halves().split(ZoneId(2), line(75_000, 0, 75_000, 1), ZoneId(3)).unwrap();
    let neighbours = |zone, reach| partition.neighbours(ZoneId(zone), mm(reach));
    assert_eq!(neighbours(1, 24_999), Some(vec![ZoneId(2)]));
    assert_eq!(neighbours(1, 25_000), Some(vec![ZoneId(2), ZoneId(3)]));
    assert_eq!(neighbours(3, 0), Some(vec![ZoneId(2)]));
    assert_eq!(neighbours(4, 0), None);
}

fn scales() -> impl Strategy<Value = i32> {
    prop_oneof![Just(40), Just(100_000), Just(1 << 29), Just(1 << 30)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Every place of a world so small that lines and corners fall on whole places all the time.
    #[test]
    fn every_place_of_a_small_world_has_one_owner(outline in outlines(), steps in steps(16)) {
        let world = RandomWorld::grown(outline, 9, &steps);
        let (low, high) = world.partition.bounds().bounding_box();
        for x in low.x() - 1..=high.x() + 1 {
            for y in low.y() - 1..=high.y() + 1 {
                check_owner(&world, at(x, y));
            }
        }
    }

    #[test]
    fn every_place_has_one_owner(
        outline in outlines(),
        scale in scales(),
        steps in steps(20),
        places in prop::collection::vec((-1.2..1.2, -1.2..1.2), 30),
    ) {
        let world = RandomWorld::grown(outline, scale, &steps);
        let fresh = places.into_iter().map(|(x, y)| world.place_at(PlaceChoice::Fresh(x, y)));
        let rounded = world.partition.zones().flat_map(|(_, region)| region.vertices_f64());
        let corners = rounded.map(|[x, y]| Position::saturating(x.round() as i64, y.round() as i64));
        let ends = [COORDINATE_MIN, COORDINATE_MAX].map(|x| at(x, x));
        for place in fresh.chain(corners).chain(ends).chain(world.used.iter().copied()) {
            check_owner(&world, place);
        }
    }

    #[test]
    fn every_zone_that_a_disc_meets_is_found(
        outline in outlines(),
        scale in scales(),
        steps in steps(10),
        discs in prop::collection::vec((-1.2..1.2, -1.2..1.2, 0.0..1.0f64), 4),
    ) {
        let world = RandomWorld::grown(outline, scale, &steps);
        for (x, y, radius) in discs {
            let radius = mm((radius * radius * radius * 2.0 * f64::from(scale)).min(f64::from(i32::MAX)) as u32);
            check_touching(&world, world.place_at(PlaceChoice::Fresh(x, y)), radius);
        }
        for &centre in world.used.iter().take(6) {
            check_touching(&world, centre, Distance::ZERO);
        }
    }

    /// Needs no model of distance: a disc meets every zone that owns a place in it.
    #[test]
    fn owners_of_places_in_a_disc_are_found(outline in outlines(), steps in steps(12), x in -10..10, y in -10..10) {
        let world = RandomWorld::grown(outline, 9, &steps);
        let (centre, radius) = (at(x, y), 4);
        let mut touching = Vec::new();
        world.partition.zones_touching(centre, mm(radius), &mut touching);
        for (x, y) in (x - 4..=x + 4).flat_map(|x| (y - 4..=y + 4).map(move |y| (x, y))) {
            if !centre.is_within(mm(radius), at(x, y)) { continue }
            let owner = world.partition.locate(at(x, y));
            prop_assert!(owner.is_none_or(|it| touching.contains(&it)), "{:?} at {x} {y}", owner);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn near_regions_are_found(
        outline in outlines(),
        scale in scales(),
        steps in steps(7),
        reach in 0.0..1.0f64,
    ) {
        let world = RandomWorld::grown(outline, scale, &steps);
        let reach = mm((reach * reach * reach * f64::from(scale)) as u32);
        for (&zone, mine) in &world.model {
            let near = |other: &[_]| mine.iter().any(|a| other.iter().any(|b| a.is_within(reach, b)));
            let expected = world.model.iter().filter(|&(&it, pieces)| it != zone && near(pieces));
            let expected: Vec<_> = expected.map(|(&it, _)| it).collect();
            prop_assert_eq!(world.partition.neighbours(zone, reach), Some(expected), "{} {:?}", zone, reach);
        }
    }

    /// Any polygon may ask, such as a region of another version or one that lies outside.
    #[test]
    fn regions_near_a_foreign_polygon_are_found(
        outline in outlines(),
        scale in scales(),
        steps in steps(7),
        corners in [(-3.0..3.0, -3.0..3.0), (-3.0..3.0, -3.0..3.0), (-3.0..3.0, -3.0..3.0)],
        reach in 0.0..1.0f64,
    ) {
        let world = RandomWorld::grown(outline, scale, &steps);
        let mut corners = corners.map(|(x, y)| world.place_at(PlaceChoice::Fresh(x, y)));
        if Polygon::new(&corners).is_err() {
            corners.reverse();
        }
        let Ok(foreign) = Polygon::new(&corners) else { return Ok(()) };
        let reach = mm((reach * reach * reach * f64::from(scale)) as u32);
        let piece = ModelPiece::bounded(&corners);
        let near = world.model.iter().filter(|(_, pieces)| pieces.iter().any(|it| it.is_within(reach, &piece)));
        let near: Vec<_> = near.map(|(&zone, _)| zone).collect();
        prop_assert_eq!(world.partition.zones_near(&foreign, reach), near);
    }

    #[test]
    fn a_merge_undoes_a_split(outline in outlines(), steps in steps(12), pick: usize, from_right: bool) {
        let mut world = RandomWorld::grown(outline, 1_000, &steps);
        let before = world.partition.clone();
        let (from, to) = (PlaceChoice::Fresh(-0.3, -0.4), PlaceChoice::Fresh(0.2, 0.5));
        world.take(&WorldStep { kind: ChangeKind::Split, pick, from, to });
        if world.partition.version() == before.version() {
            return Ok(());
        }
        let new = world.partition.highest_zone();
        let (old, _) = regions(&before)[pick % before.zones().len()].clone();
        let (keeper, absorbed) = if from_right { (new, old) } else { (old, new) };
        let after = world.partition.merge(keeper, absorbed).unwrap();
        let mut expected = regions(&before);
        for (zone, _) in expected.iter_mut().filter(|(zone, _)| *zone == old) {
            *zone = keeper;
        }
        expected.sort_by_key(|(zone, _)| *zone);
        prop_assert_eq!(regions(&after), expected);
    }
}
