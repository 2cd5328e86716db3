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

/// The side of the square in which a crowd gathers, in millimetres: as wide as a voice is heard.
const MEETING_SIDE: i64 = 40_000;

/// A square in the middle of the zone that is nearest to the middle of the world.
pub(super) fn meeting_place(info: &SessionInfo, world: &Polygon) -> Option<Polygon> {
    let (low, high) = world.bounding_box();
    let centre = middle(low, high);
    let zones = info.world.zones.iter().filter_map(|it| {
        let corners: Option<Vec<_>> = it.corners.iter().copied().map(position).collect();
        Some(Polygon::new(&corners?).ok()?.bounding_box())
    });
    let (low, high) = zones.min_by_key(|&(low, high)| middle(low, high).distance_squared(centre))?;
    // In a small zone half of its width, so that the crowd stays within it.
    let (width, height) = low.step_to(high);
    let half = MEETING_SIDE.min(i64::from(width.min(height)) / 2) / 2;
    let (x, y) = (i64::from(middle(low, high).x()), i64::from(middle(low, high).y()));
    Polygon::rectangle(Position::saturating(x - half, y - half), Position::saturating(x + half, y + half))
        .ok()
}

/// The longest way to the meeting place, in millimetres.
pub(super) fn longest_way(info: &SessionInfo) -> Option<f64> {
    let world = region_of(info)?;
    let (low, high) = meeting_place(info, &world)?.bounding_box();
    let corners = info.world.region.iter().filter_map(|it| position(*it));
    let squared = corners.map(|it| it.distance_squared(middle(low, high))).max()?;
    Some((squared as f64).sqrt())
}

fn middle(low: Position, high: Position) -> Position {
    let half = |low: i32, high: i32| (i64::from(low) + i64::from(high)) / 2;
    Position::saturating(half(low.x(), high.x()), half(low.y(), high.y()))
}

fn position([x, y]: [i32; 2]) -> Option<Position> {
    Position::new(x, y).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::{WorldInfo, ZoneInfo};

    /// A square world of two zones, this far from the middle to its sides.
    fn two_zones(half: i32) -> SessionInfo {
        let zone = |zone, west, east| ZoneInfo {
            zone,
            corners: vec![[west, -half], [east, -half], [east, half], [west, half]],
        };
        let region = vec![[-half, -half], [half, -half], [half, half], [-half, half]];
        let zones = vec![zone(1, -half, 0), zone(2, 0, half)];
        let world = WorldInfo { game: String::new(), schema: String::new(), range: 1, region, zones };
        SessionInfo { session: 1, player: 1, name: String::new(), world, hosts: Vec::new() }
    }

    #[test]
    fn a_crowd_meets_within_one_zone() {
        let square = |info: &SessionInfo| {
            let place = meeting_place(info, &region_of(info).unwrap()).unwrap();
            let (low, high) = place.bounding_box();
            [low.x(), low.y(), high.x(), high.y()]
        };
        assert_eq!(square(&two_zones(100_000)), [-70_000, -20_000, -30_000, 20_000]);
        assert_eq!(square(&two_zones(10)), [-7, -2, -3, 2], "half as wide as a small zone");
        let way = longest_way(&two_zones(100_000)).unwrap();
        assert!((way - 150_000_f64.hypot(100_000.0)).abs() < 1.0, "{way}");
    }

    #[test]
    fn borders_are_the_sides_that_zones_share() {
        let info = two_zones(10);
        let (south, north) = (position([0, -10]).unwrap(), position([0, 10]).unwrap());
        let borders = borders_of(&info, &region_of(&info).unwrap());
        assert_eq!(borders, [(south, north), (north, south)]);
    }
}
