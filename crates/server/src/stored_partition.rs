//! The partition of a world: cut into zones when the world is founded, stored with it, its zones assigned to hosts.
//!
//! Only the cuts are stored; every process that reads them cuts again ([`space::Outline`]). So every host and the lobby
//! know the same borders, to the millimetre, whatever their configuration says later.

use serde::{Deserialize, Serialize};
use space::{Line, Outline, OutlineEntry, Partition, PartitionVersion, Polygon, Position, ZoneId};
use std::collections::BTreeMap;

/// The first zone of a world.
const FIRST: ZoneId = ZoneId(1);

/// A partition, as it is stored in the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPartition {
    version: u64,
    highest: u32,
    bounds: Vec<(Position, Position)>,
    tree: Vec<StoredNode>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum StoredNode {
    /// A line that splits its region.
    Split(Position, Position),
    /// A region that one zone owns.
    Zone(u32),
}

impl StoredPartition {
    /// The stored form of a partition.
    pub fn of(partition: &Partition) -> Self {
        let Outline { version, highest, bounds, tree } = partition.outline();
        let node = |it: &OutlineEntry| match it {
            OutlineEntry::Split(line) => StoredNode::Split(line.first(), line.second()),
            OutlineEntry::Zone(zone) => StoredNode::Zone(zone.0),
        };
        Self {
            version: version.0,
            highest: highest.0,
            bounds: bounds.iter().map(|it| (it.first(), it.second())).collect(),
            tree: tree.iter().map(node).collect(),
        }
    }

    /// The partition that was stored; an error if the cuts make no sense.
    pub fn partition(&self) -> anyhow::Result<Partition> {
        let line = |&(first, second): &(Position, Position)| Line::through(first, second);
        let entry = |it: &StoredNode| match *it {
            StoredNode::Split(first, second) => line(&(first, second)).map(OutlineEntry::Split),
            StoredNode::Zone(zone) => Ok(OutlineEntry::Zone(ZoneId(zone))),
        };
        let outline = Outline {
            version: PartitionVersion(self.version),
            highest: ZoneId(self.highest),
            bounds: self.bounds.iter().map(line).collect::<Result<_, _>>()?,
            tree: self.tree.iter().map(entry).collect::<Result<_, _>>()?,
        };
        Ok(Partition::from_outline(&outline)?)
    }
}

/// Cuts a region into this many zones of nearly the same size, always across the longer side.
pub fn divide(region: Polygon, zones: u32) -> anyhow::Result<Partition> {
    let (low, high) = region.bounding_box();
    let mut partition = Partition::new(region, FIRST);
    let mut uncut = vec![(FIRST, low, high, zones.max(1))];
    while let Some((zone, low, high, parts)) = uncut.pop() {
        if parts == 1 {
            continue;
        }
        let stays = parts.div_ceil(2);
        let new = ZoneId(partition.highest_zone().0 + 1);
        let (line, [kept, cut]) = halve(low, high, stays, parts)?;
        partition = partition.split(zone, line, new)?;
        uncut.push((new, cut.0, cut.1, parts - stays));
        uncut.push((zone, kept.0, kept.1, stays));
    }
    Ok(partition)
}

type Rectangle = (Position, Position);

/// The line across a rectangle's longer side with `stays` of `parts` on its left, to the west or south of it.
fn halve(low: Position, high: Position, stays: u32, parts: u32) -> anyhow::Result<(Line, [Rectangle; 2])> {
    // In 64 bits: the world's width times 256 does not fit into 32.
    let share = |from: i32, to: i32| {
        let offset = (i64::from(to) - i64::from(from)) * i64::from(stays) / i64::from(parts);
        (i64::from(from) + offset) as i32
    };
    let wide = i64::from(high.y()) - i64::from(low.y()) <= i64::from(high.x()) - i64::from(low.x());
    let (from, to) = if wide {
        let x = share(low.x(), high.x());
        (Position::new(x, low.y())?, Position::new(x, high.y())?)
    } else {
        let y = share(low.y(), high.y());
        (Position::new(high.x(), y)?, Position::new(low.x(), y)?)
    };
    // Looking north the west is on the left, looking west the south.
    let halves = if wide { [(low, to), (from, high)] } else { [(low, from), (to, high)] };
    Ok((Line::through(from, to)?, halves))
}

/// The hosts that may hold each zone: all of them, founded by each host in turn, so that primaries spread.
pub fn assign_hosts(zones: impl Iterator<Item = ZoneId>, hosts: &[u32]) -> BTreeMap<u32, Vec<u32>> {
    let rotated = |zone: ZoneId| {
        // The configuration refuses an empty list; `max` only keeps this function from panicking.
        let turns = (zone.0 - FIRST.0) as usize % hosts.len().max(1);
        let mut hosts = hosts.to_vec();
        hosts.rotate_left(turns);
        (zone.0, hosts)
    };
    zones.map(rotated).collect()
}

/// A region's corners, counterclockwise, rounded to millimetres: for drawing.
pub fn corners(region: &Polygon) -> Vec<[i32; 2]> {
    region.vertices_f64().map(|it| it.map(|coordinate| coordinate.round() as i32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ZONES_MAX;

    fn square() -> Polygon {
        let corner = |it| Position::new(it, it).unwrap();
        Polygon::rectangle(corner(-150_000), corner(150_000)).unwrap()
    }

    /// The zones as west, south, east, north in metres.
    fn rectangles(zones: u32) -> Vec<String> {
        let partition = divide(square(), zones).unwrap();
        let line = |(zone, region): (ZoneId, &Polygon)| {
            let (low, high) = region.bounding_box();
            let metres = |it: i32| it / 1_000;
            format!(
                "{}: {} {} {} {}",
                zone.0,
                metres(low.x()),
                metres(low.y()),
                metres(high.x()),
                metres(high.y())
            )
        };
        partition.zones().map(line).collect()
    }

    #[test]
    fn six_zones_are_three_by_two() {
        assert_eq!(rectangles(1), ["1: -150 -150 150 150"]);
        assert_eq!(
            rectangles(6),
            [
                "1: -150 -150 0 -50",
                "2: 0 -150 150 -50",
                "3: -150 50 0 150",
                "4: -150 -50 0 50",
                "5: 0 50 150 150",
                "6: 0 -50 150 50",
            ]
        );
    }

    #[test]
    fn zones_are_nearly_equal_and_cover_the_world() {
        for zones in 1..=ZONES_MAX {
            let partition = divide(square(), zones).unwrap();
            assert_eq!(partition.zones().len(), zones as usize);
            let total = partition.bounds().area_f64();
            let mut covered = 0.0;
            for (_, region) in partition.zones() {
                let area = region.area_f64();
                covered += area;
                assert!((area * f64::from(zones) / total - 1.0).abs() < 0.01, "{zones}: {area}");
                let (low, high) = region.bounding_box();
                let (wide, high) = (f64::from(high.x() - low.x()), f64::from(high.y() - low.y()));
                assert!((0.3..3.4).contains(&(wide / high)), "{zones}: {wide} × {high}");
            }
            assert!((covered / total - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_stored_form_yields_the_same_partition() {
        for zones in [1, 6, 7, ZONES_MAX] {
            let partition = divide(square(), zones).unwrap();
            let bytes = crate::world_entry::write(&StoredPartition::of(&partition));
            let stored: StoredPartition = crate::world_entry::read(&bytes).unwrap();
            assert_eq!(stored.partition().unwrap(), partition);
        }
        let damaged =
            StoredPartition { tree: Vec::new(), ..StoredPartition::of(&divide(square(), 2).unwrap()) };
        assert!(damaged.partition().is_err());
    }

    #[test]
    fn founders_take_turns_and_every_host_may_hold_every_zone() {
        let assigned = assign_hosts((1..=6).map(ZoneId), &[1, 2, 3]);
        let founders: Vec<u32> = assigned.values().map(|hosts| hosts[0]).collect();
        assert_eq!(founders, [1, 2, 3, 1, 2, 3]);
        assert!(assigned.values().all(|hosts| [1, 2, 3].iter().all(|it| hosts.contains(it))));
    }
}
