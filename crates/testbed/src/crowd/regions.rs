//! Region and borders of a world, from the description in a session.

use crate::BorderSegment;
use client::SessionInfo;
use space::{Polygon, Position};

/// The region of the whole world; `None` if its corners are invalid.
pub(super) fn region_of(info: &SessionInfo) -> Option<Polygon> {
    let corners: Result<Vec<_>, _> = info.world.region.iter().map(|it| Position::new(it[0], it[1])).collect();
    Polygon::new(&corners.ok()?).ok()
}

/// The sides of zones that are not sides of the world: each border twice, once from either zone.
pub(super) fn borders_of(info: &SessionInfo, world: &Polygon) -> Vec<BorderSegment> {
    let (low, high) = world.bounding_box();
    let is_inner = |[ax, ay]: [i32; 2], [bx, by]: [i32; 2]| {
        let on = |a: i32, b: i32, low: i32, high: i32| a == b && (a == low || a == high);
        !on(ax, bx, low.x(), high.x()) && !on(ay, by, low.y(), high.y())
    };
    let sides = info.world.zones.iter().flat_map(|it| {
        let next = it.corners.iter().cycle().skip(1);
        it.corners.iter().copied().zip(next.copied())
    });
    let inner = sides.filter(|&(from, to)| is_inner(from, to));
    inner.filter_map(|(from, to)| Some((position(from)?, position(to)?))).collect()
}

fn position([x, y]: [i32; 2]) -> Option<Position> {
    Position::new(x, y).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::{WorldInfo, ZoneInfo};

    #[test]
    fn borders_are_the_sides_that_zones_share() {
        let zone = |zone, west, east| ZoneInfo {
            zone,
            corners: vec![[west, -10], [east, -10], [east, 10], [west, 10]],
        };
        let region = vec![[-10, -10], [10, -10], [10, 10], [-10, 10]];
        let zones = vec![zone(1, -10, 0), zone(2, 0, 10)];
        let world = WorldInfo { game: String::new(), schema: String::new(), range: 1, region, zones };
        let info = SessionInfo { session: 1, player: 1, name: String::new(), world, hosts: Vec::new() };
        let (south, north) = (position([0, -10]).unwrap(), position([0, 10]).unwrap());
        let borders = borders_of(&info, &region_of(&info).unwrap());
        assert_eq!(borders, [(south, north), (north, south)]);
    }
}
