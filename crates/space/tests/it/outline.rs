//! Partitions as plain data: an outline is read back equal, and a damaged one does no harm.

use crate::world::{RandomWorld, WorldStep, at, outlines, steps};
use proptest::prelude::*;
use space::{
    COORDINATE_MAX, COORDINATE_MIN, DEPTH_MAX, EDGES_MAX, Line, Outline, OutlineEntry, OutlineError,
    Partition, PartitionVersion, Polygon, VERSION_MAX, ZONES_MAX, ZoneId,
};

fn line(ax: i32, ay: i32, bx: i32, by: i32) -> Line {
    Line::through(at(ax, ay), at(bx, by)).unwrap()
}

/// A world 100 mm square, split into west (1) and east (2).
fn halves() -> Outline {
    let bounds = Polygon::rectangle(at(0, 0), at(100, 100)).unwrap();
    let whole = Partition::new(bounds, ZoneId(1));
    whole.split(ZoneId(1), line(50, 0, 50, 1), ZoneId(2)).unwrap().outline()
}

/// The error of reading an outline after `damage`.
fn refusal(damage: impl FnOnce(&mut Outline)) -> OutlineError {
    let mut outline = halves();
    damage(&mut outline);
    Partition::from_outline(&outline).unwrap_err()
}

#[test]
fn an_outline_is_the_lines_and_the_zones() {
    let outline = halves();
    assert_eq!((outline.version, outline.highest), (PartitionVersion(1), ZoneId(2)));
    let sides = [line(0, 0, 1, 0), line(100, 0, 100, 1), line(1, 100, 0, 100), line(0, 1, 0, 0)];
    assert_eq!(outline.bounds, sides);
    let tree = [
        OutlineEntry::Split(line(50, 0, 50, 1)),
        OutlineEntry::Zone(ZoneId(1)),
        OutlineEntry::Zone(ZoneId(2)),
    ];
    assert_eq!(outline.tree, tree);
    assert_eq!(Partition::from_outline(&outline).unwrap().outline(), outline);
}

#[test]
fn bounds_must_be_the_sides_of_a_region() {
    assert_eq!(refusal(|it| it.bounds.clear()), OutlineError::Edges(0));
    assert_eq!(refusal(|it| it.bounds.truncate(2)), OutlineError::Edges(2));
    assert_eq!(
        refusal(|it| it.bounds = vec![it.bounds[0]; EDGES_MAX + 1]),
        OutlineError::Edges(EDGES_MAX + 1)
    );
    let bad = |damage: fn(&mut Vec<Line>)| {
        assert_eq!(refusal(|it| damage(&mut it.bounds)), OutlineError::Bounds);
    };
    bad(|it| it.truncate(3)); // Open to the west.
    bad(|it| it.reverse());
    bad(|it| it.swap(1, 2));
    bad(|it| it[0] = it[0].reversed());
    bad(|it| it.iter_mut().for_each(|line| *line = line.reversed()));
    bad(|it| it.extend_from_within(..)); // Twice around.
    bad(|it| it.insert(1, it[0])); // The same side twice.
    bad(|it| it.insert(2, line(100, 100, 99, 101))); // Touches a corner only.
    bad(|it| it.insert(2, line(200, 0, 199, 1))); // Misses the region.
    bad(|it| *it = vec![line(0, 0, 1, 0), line(9, 0, 8, 1), line(0, 2, 0, 1), line(0, 9, 1, 8)]);
    // A triangle whose peak lies beyond the coordinate range.
    let (low, high) = (COORDINATE_MIN, COORDINATE_MAX);
    let steep = [line(low, 0, high, 0), line(high, 0, high - 1, high), line(low + 1, high, low, 0)];
    assert_eq!(refusal(|it| it.bounds = steep.to_vec()), OutlineError::Bounds);
}

#[test]
fn the_tree_must_be_one_tree() {
    let zone = |id| OutlineEntry::Zone(ZoneId(id));
    assert_eq!(refusal(|it| it.tree.clear()), OutlineError::Unfinished);
    assert_eq!(refusal(|it| it.tree.truncate(2)), OutlineError::Unfinished);
    assert_eq!(refusal(|it| it.tree.push(zone(3))), OutlineError::Leftover(1));
    assert_eq!(refusal(|it| it.tree[2] = zone(1)), OutlineError::TwoRegions(ZoneId(1)));
    let above = OutlineError::AboveHighest { zone: ZoneId(3), highest: ZoneId(2) };
    assert_eq!(refusal(|it| it.tree[2] = zone(3)), above);
    let outside = line(100, 0, 100, 1);
    assert_eq!(refusal(|it| it.tree[0] = OutlineEntry::Split(outside)), OutlineError::Misses(outside));
}

#[test]
fn limits_come_first() {
    let entries = 2 * ZONES_MAX;
    let many = refusal(|it| it.tree = vec![it.tree[0]; entries]);
    assert_eq!(many, OutlineError::TooManyEntries(entries));
    let version = PartitionVersion(VERSION_MAX.0 + 1);
    assert_eq!(refusal(|it| it.version = version), OutlineError::Version(version));
}

/// A world whose newest zone lies under `depth` lines.
fn deep(depth: i32) -> Outline {
    let bounds = Polygon::rectangle(at(0, 0), at(1_000, 1_000)).unwrap();
    let mut outline = Partition::new(bounds, ZoneId(0)).outline();
    let splits = (1..=depth)
        .flat_map(|n| [OutlineEntry::Split(line(n, 0, n, 1)), OutlineEntry::Zone(ZoneId(n as u32))]);
    outline.tree = splits.chain([OutlineEntry::Zone(ZoneId(0))]).collect();
    outline.highest = ZoneId(depth as u32);
    outline
}

#[test]
fn no_zone_is_read_under_too_many_lines() {
    let depth = DEPTH_MAX as i32;
    assert_eq!(Partition::from_outline(&deep(depth)).unwrap().outline(), deep(depth));
    assert_eq!(Partition::from_outline(&deep(depth + 1)), Err(OutlineError::TooDeep));
}

/// One damage, in numbers that apply to any outline.
#[derive(Clone, Debug)]
enum OutlineDamage {
    Drop(usize),
    Swap(usize, usize),
    Put(usize, OutlineEntry),
    Bound(usize, Line),
    DropBound(usize),
    SwapBounds(usize, usize),
    Highest(u32),
}

fn lines() -> impl Strategy<Value = Line> {
    let coordinate = || prop_oneof![8 => -12..12, 1 => Just(COORDINATE_MIN), 1 => Just(COORDINATE_MAX)];
    let place = move || (coordinate(), coordinate()).prop_map(|(x, y)| at(x, y));
    (place(), place()).prop_filter_map("one point", |(from, to)| Line::through(from, to).ok())
}

fn damages() -> impl Strategy<Value = OutlineDamage> {
    let entry = prop_oneof![
        (0..12u32).prop_map(|id| OutlineEntry::Zone(ZoneId(id))),
        lines().prop_map(OutlineEntry::Split)
    ];
    let index = any::<usize>;
    prop_oneof![
        index().prop_map(OutlineDamage::Drop),
        (index(), index()).prop_map(|(one, other)| OutlineDamage::Swap(one, other)),
        (index(), entry).prop_map(|(at, entry)| OutlineDamage::Put(at, entry)),
        (index(), lines()).prop_map(|(at, line)| OutlineDamage::Bound(at, line)),
        index().prop_map(OutlineDamage::DropBound),
        (index(), index()).prop_map(|(one, other)| OutlineDamage::SwapBounds(one, other)),
        any::<u32>().prop_map(OutlineDamage::Highest),
    ]
}

fn damage(outline: &mut Outline, damage: &OutlineDamage) {
    let (entries, edges) = (outline.tree.len().max(1), outline.bounds.len().max(1));
    match *damage {
        OutlineDamage::Drop(at) if !outline.tree.is_empty() => drop(outline.tree.remove(at % entries)),
        OutlineDamage::Swap(one, other) if !outline.tree.is_empty() => {
            outline.tree.swap(one % entries, other % entries)
        }
        OutlineDamage::Put(at, entry) if !outline.tree.is_empty() => outline.tree[at % entries] = entry,
        OutlineDamage::Bound(at, line) if !outline.bounds.is_empty() => outline.bounds[at % edges] = line,
        OutlineDamage::DropBound(at) if !outline.bounds.is_empty() => drop(outline.bounds.remove(at % edges)),
        OutlineDamage::SwapBounds(one, other) if !outline.bounds.is_empty() => {
            outline.bounds.swap(one % edges, other % edges);
        }
        OutlineDamage::Highest(id) => outline.highest = ZoneId(id),
        _ => (),
    }
}

/// Every place around the middle has one owner, if it lies in the world.
fn check_owners(partition: &Partition) {
    for place in (-11..=11).flat_map(|x| (-11..=11).map(move |y| at(x, y))) {
        let mut owners = partition.zones().filter(|(_, region)| region.contains(place)).map(|(zone, _)| zone);
        assert_eq!(owners.next(), partition.locate(place), "{place}");
        assert_eq!(owners.next(), None, "{place}");
    }
}

fn grown_partition(outline: &[(f64, f64)], scale: i32, steps: &[WorldStep]) -> Partition {
    RandomWorld::grown(outline, scale, steps).partition
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn an_outline_is_read_back_equal(
        outline in outlines(),
        scale in prop_oneof![Just(9), Just(100_000), Just(1 << 29), Just(1 << 30)],
        steps in steps(24),
        region: prop::sample::Index,
    ) {
        let partition = grown_partition(outline, scale, &steps);
        prop_assert_eq!(Partition::from_outline(&partition.outline()), Ok(partition.clone()));
        // Its regions have corners between the whole millimetres, and may be worlds of their own.
        let regions: Vec<_> = partition.zones().map(|(_, region)| region.clone()).collect();
        let part = Partition::new(region.get(&regions).clone(), ZoneId(7));
        prop_assert_eq!(Partition::from_outline(&part.outline()), Ok(part));
    }

    #[test]
    fn damage_is_refused_or_harmless(
        outline in outlines(),
        steps in steps(12),
        damages in prop::collection::vec(damages(), 1..4),
    ) {
        let mut outline = grown_partition(outline, 9, &steps).outline();
        damages.iter().for_each(|it| damage(&mut outline, it));
        if let Ok(partition) = Partition::from_outline(&outline) {
            prop_assert_eq!(partition.outline(), outline);
            check_owners(&partition);
        }
    }
}
